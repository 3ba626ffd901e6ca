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
        gather_numbers(V_, codes_of, start_of, count_, values_.get(), sum);
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
        for (i64 v = 0; v < V_; ++v) {
            const i64 u = task_.coded.terms[v];
            if (u < 0) continue;
            const double* table = values_.get() + entries_.start(v);
            const i32* code = codes(v);
            for (i64 i = 0; i < count_; ++i) spread_[i] = spread_of(by_row_.get() + i * width_, table + code[i] * width_);
            for (i64 i = 0; i < count_; ++i) task_.sums->scale_curve[u] += s_[i] * spread_[i];
            gather_rows(table, code, count_, width_, sum_rows_.get());
        }
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) of(sum_, c)[i] += sum_rows_[i * width_ + c];
    }

    double spread_of(const double* p, const double* x) const {
        F4 mean = all(0.0), square = all(0.0);
        for (i64 c = 0; c < width_; c += 4) {
            const F4 value = load(x + c), px = load(p + c) * value;
            mean = mean + px;
            square = square + px * value;
        }
        const double whole = total_of(mean);
        return total_of(square) - whole * whole;
    }

    // The curvatures by the bias and the entries: s * p * (1 - p) of each class, the last too.
    void add_each_class() {
        const i64 width = each_.width();
        for (i64 c = 0; c <= D_; ++c) {
            const double* p = c < D_ ? of(p_, c) : last_.get();
            for (i64 i = 0; i < count_; ++i) {
                const double curve = s_[i] * p[i] * (1.0 - p[i]);
                task_.sums->bias_curve[c] += curve;
                curve_rows_[i * width + c] = curve;
            }
        }
        for (i64 v = 0; v < V_; ++v)
            scatter_rows(curve_rows_.get(), codes(v), count_, width, curves_.get() + each_.start(v));
    }

    Scratch<double> sum_, copied_, spread_;
    Scratch<const double*> pointers_;
    Scratch<double> by_row_, sum_rows_, values_;
    const EntryRows each_;  // the same with a number for every class, or one for two of them
    Scratch<double> curve_rows_, curves_;
};

}  // namespace tally::TALLY_ISA
