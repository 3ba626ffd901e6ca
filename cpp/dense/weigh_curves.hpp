// The diagonal of the curvature of the log loss of weighted terms: see dense/weigh_block.hpp.
//
// Of two classes, s * p * (1 - p) is the same for both, and times the square of a term it is the term's part.
#pragma once

#include "dense/weigh_block.hpp"

namespace tally::TALLY_ISA {

// A block of rows whose curvatures are added up as well.
class CurvedBlock : public WeighBlock {
public:
    explicit CurvedBlock(const WeighTask& task)
        : WeighBlock(task), sum_(D_ * kWeighRows), copied_(D_ * kWeighRows), spread_(kWeighRows), pointers_(D_), by_row_(width_ * kWeighRows),
          sum_rows_(width_ * kWeighRows), values_(entries_.size()),
          each_(task.coded, D_ == 1 ? 1 : padded_to_four(D_ + 1)),
          curve_rows_(each_.width() * kWeighRows), curves_(each_.size()) {
        for (i64 v = 0; v < V_; ++v) shared_ = shared_ || task.coded.terms[v] >= 0;
        entries_.each([&](i64 v, i64 p, i64 at) {
            if (task.coded.terms[v] < 0) return;
            for (i64 c = 0; c < D_; ++c) values_[at + c] = task.coded.values[p * D_ + c];
        });
    }

    Fault run(i64 start, i64 count) {
        const Fault fault = WeighBlock::run(start, count);
        if (fault.kind == FaultKind::none) add_curves();
        return fault;
    }

    // Also the curvatures by the entries.
    void finish() {
        WeighBlock::finish();
        WeighSums& sums = *task_.sums;
        each_.each([&](i64 v, i64 p, i64 at) {
            const i64 u = task_.coded.terms[v], k = task_.coded.bins[p];
            if (D_ == 1 && u >= 0) sums.scale_curve[u] += curves_[at] * task_.coded.values[p] * task_.coded.values[p];
            for (i64 c = 0; k >= 0 && c <= D_; ++c)
                sums.table_curve[k * (D_ + 1) + c] += curves_[D_ == 1 ? at : at + c];
        });
    }

private:
    void add_curves() {
        for (i64 k = 0; k < D_ * kWeighRows; ++k) sum_[k] = 0.0;
        if (D_ == 1) return add_curves_of_two();
        for (i64 t = 0; t < T_; ++t) task_.sums->scale_curve[task_.numbers[t]] += curve_of_term(t);
        add_rows();
        for (i64 c = 0; c < D_; ++c) pointers_[c] = of(sum_, c);
        task_.sums->all_curve += variance();
        add_each_class();
    }

    void add_curves_of_two() {
        WeighSums& sums = *task_.sums;
        double *curve = spread_.get(), *sum = sum_.get(), *copy = copied_.get();
        double total = 0.0;
        for (i64 i = 0; i < padded_; ++i) curve[i] = s_[i] * p_[i] * (1.0 - p_[i]);
        for (i64 i = 0; i < count_; ++i) total += curve[i];
        for (i64 c = 0; c < 2; ++c) sums.bias_curve[c] += total;
        for (i64 t = 0; t < T_; ++t) {
            const float* x = term(t, 0);
            for (i64 i = 0; i < count_; ++i) sum[i] += copy[i] = static_cast<double>(x[i]);
            for (i64 i = count_; i < padded_; ++i) copy[i] = 0.0;
            sums.scale_curve[task_.numbers[t]] += curve_of_squares(copy);
        }
        const auto codes_of = [&](i64 v) { return codes(v); };
        const auto start_of = [&](i64 v) { return entries_.start(v); };
        if (shared_) gather_numbers(V_, codes_of, start_of, count_, values_.get(), sum);
        scatter_numbers(V_, codes_of, start_of, count_, curve, curves_.get());
        sums.all_curve += curve_of_squares(sum);
    }

    // The sum of the curvature of each row times a square.
    double curve_of_squares(const double* x) {
        F4 total = all(0.0);
        for (i64 i = 0; i < padded_; i += 4) total = total + load(spread_.get() + i) * (load(x + i) * load(x + i));
        return total_of(total);
    }

    double curve_of_term(i64 t) {
        for (i64 c = 0; c < D_; ++c) {
            const float* x = term(t, c);
            double *sum = of(sum_, c), *copy = of(copied_, c);
            for (i64 i = 0; i < count_; ++i) sum[i] += copy[i] = static_cast<double>(x[i]);
            for (i64 i = count_; i < padded_; ++i) copy[i] = 0.0;
            pointers_[c] = copy;
        }
        return variance();
    }

    // The sum over rows of s times the variance of a term, given its pointer for each class but the last, which has 0.
    double variance() {
        for (i64 i = 0; i < padded_; i += 4) {
            F4 mean = all(0.0), square = all(0.0);
            for (i64 c = 0; c < D_; ++c) {
                const F4 x = load(pointers_[c] + i), px = load(of(p_, c) + i) * x;
                mean = mean + px;
                square = square + px * x;
            }
            store(spread_.get() + i, square - mean * mean);
        }
        return dot(s_.get(), spread_.get(), padded_);
    }

    // The variance of each coded term, row by row: its classes are in one row.
    void add_rows() {
        for (i64 k = 0; k < width_ * kWeighRows; ++k) sum_rows_[k] = 0.0;
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) by_row_[i * width_ + c] = of(p_, c)[i];
        with_vectors(width_, [&](auto vectors) {
            for (i64 v = 0; v < V_; ++v)
                if (const i64 u = task_.coded.terms[v]; u >= 0)
                    task_.sums->scale_curve[u] = plus_curves_of<vectors>(v, task_.sums->scale_curve[u]);
        });
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) of(sum_, c)[i] += sum_rows_[i * width_ + c];
    }

    // Add s times the variance of a table's term to a sum, and the term itself to that of all; four rows at a time.
    template <int Vectors>
    double plus_curves_of(i64 v, double sum) {
        const double *table = values_.get() + entries_.start(v), *s = s_.get();
        const i32* code = codes(v);
        const i64 width = Vectors > 0 ? 4 * Vectors : width_;
        for (i64 i = 0; i < count_; i += 4) {
            const i64 rows = smaller<i64>(4, count_ - i);
            F4 mean[4], square[4];
            for (i64 j = 0; j < 4; ++j) {
                mean[j] = square[j] = all(0.0);
                if (j >= rows) continue;
                const double *p = by_row_.get() + (i + j) * width, *x = table + code[i + j] * width;
                double* total = sum_rows_.get() + (i + j) * width;
                for (i64 c = 0; c < width; c += 4) {
                    const F4 value = load(x + c), px = load(p + c) * value;
                    mean[j] = mean[j] + px;
                    square[j] = square[j] + px * value;
                    store(total + c, load(total + c) + value);
                }
            }
            const F4 whole = totals_of(mean);
            double parts[4];
            store(parts, load(s + i) * (totals_of(square) - whole * whole));
            for (i64 j = 0; j < rows; ++j) sum += parts[j];
        }
        return sum;
    }

    // The sum of the lanes of each of four.
    static F4 totals_of(F4 (&rows)[4]) {
        transpose(rows[0], rows[1], rows[2], rows[3]);
        return (rows[0] + rows[1]) + (rows[2] + rows[3]);
    }

    // The curvatures by the bias and the entries: s * p * (1 - p) of each class, the last too.
    void add_each_class() {
        const i64 width = each_.width();
        for (i64 c = 0; c <= D_; ++c) {
            const double *p = c < D_ ? of(p_, c) : last_.get(), *s = s_.get();
            double sum = task_.sums->bias_curve[c], *to = curve_rows_.get() + c;
            for (i64 i = 0; i < count_; ++i, to += width) {
                *to = s[i] * p[i] * (1.0 - p[i]);
                sum += *to;
            }
            task_.sums->bias_curve[c] = sum;
        }
        scatter_rows(
            V_, [&](i64 v) { return codes(v); }, [&](i64 v) { return each_.start(v); }, count_, width, curve_rows_.get(),
            curves_.get());
    }

    AlignedScratch<double> sum_, copied_, spread_;
    Scratch<const double*> pointers_;
    AlignedScratch<double> by_row_, sum_rows_, values_;
    bool shared_ = false;  // whether a table has terms, and not only corrections
    const EntryRows each_;  // the same with a number for every class, or one for two of them
    AlignedScratch<double> curve_rows_, curves_;
};

}  // namespace tally::TALLY_ISA
