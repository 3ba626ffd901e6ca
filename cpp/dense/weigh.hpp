// The log loss of weighted terms, its gradient, and the diagonal of its curvature.
//
// Only differences of scores matter, so base and terms are those of the first D = C - 1 classes less the last class's:
//   score[c, i] = base[c, i] + share[i] * (bias[c] + sum_u scale[u] * terms[u, c, i] + sum_v table[codes[v, i], c])
//   loss        = sum_i w[i] * (log(1 + sum_c exp(score[c, i])) - score[class[i], i]), a score of the last class being 0
// where bias and table, too, are less the last class's.
//
// With p the probabilities of a row's classes, r = w * share * (p - own class) and s = w * share^2, the gradient is
//   by scale[u]: sum r[c, i] * terms[u, c, i];  by bias[c]: sum r[c, i];  by table[k, c]: sum of r[c, i] over rows of code k
// and by those of the last class minus the sum of the others. The curvature by scale[u] is sum_i s * Var_p(terms[u, :, i]),
// by the others sum s * p * (1 - p); `all` is the curvature by a number added to every scale.
// IN: base (D, n); terms (U, D, n); codes (V, n) below K, -1 adds nothing; classes, share (n,); weights (n,) or null.
// The caller guarantees finite numbers and codes in range. OUT: sums, as WeighTask says; all are set.
// Cost: two passes over the terms, block by block of rows, and an exponential per score. Twin: reference.weigh_terms.
#pragma once

#include "dense/temperature.hpp"

namespace tally::TALLY_ISA {

constexpr i64 kWeighRows = 256;  // of a block: its terms stay in the second cache from scores to gradient
constexpr i64 kTermsAtOnce = 4;  // so that scores are loaded and stored once for four terms

// Sum of a * b over a block padded to a multiple of four; two sums, so that one need not wait for the other.
inline double dot(const double* a, const double* b, i64 rows) {
    F4 even = all(0.0), odd = all(0.0);
    i64 i = 0;
    for (; i + 8 <= rows; i += 8) {
        even = even + load(a + i) * load(b + i);
        odd = odd + load(a + i + 4) * load(b + i + 4);
    }
    if (i < rows) even = even + load(a + i) * load(b + i);
    return total_of(even + odd);
}

// One block of at most kWeighRows rows; arrays are padded with zeros to a multiple of four rows.
class WeighBlock {
public:
    explicit WeighBlock(const WeighTask& task)
        : task_(task), D_(task.n_classes - 1), U_(task.n_terms), width_(D_ == 1 ? 1 : (D_ + 3) / 4 * 4),
          p_(D_ * kWeighRows), r_(D_ * kWeighRows), term_(D_ * kWeighRows), sum_(D_ * kWeighRows), last_(kWeighRows),
          spread_(kWeighRows), s_(kWeighRows), bias_(D_), rows_(width_ * kWeighRows),
          table_((task.n_corrections + 1) * width_), slopes_((task.n_corrections + 1) * width_), pointers_(D_) {
        for (i64 c = 0; c < D_; ++c) bias_[c] = task.bias[c] - task.bias[D_];
        for (i64 k = 0; k < task.n_corrections; ++k)
            for (i64 c = 0; c < D_; ++c)
                table_[(k + 1) * width_ + c] = task.table[k * (D_ + 1) + c] - task.table[k * (D_ + 1) + D_];
    }

    Fault run(i64 start, i64 count) {
        start_ = start;
        count_ = count;
        padded_ = (count + 3) / 4 * 4;
        if (const Fault fault = check(); fault.kind != FaultKind::none) return fault;
        score();
        normalise();
        if (task_.sloped) slopes();
        if (task_.curved) curves();
        return {};
    }

    // The slopes by the table, and those of the last class.
    void finish() {
        subtract_others(task_.sums->bias);
        for (i64 k = 0; k < task_.n_corrections; ++k) {
            double* to = task_.sums->table + k * (D_ + 1);
            for (i64 c = 0; c < D_; ++c) to[c] += slopes_[(k + 1) * width_ + c];
            subtract_others(to);
        }
    }

private:
    static double* of(Scratch<double>& values, i64 c) { return values.get() + c * kWeighRows; }
    const double* term(i64 u, i64 c) const { return task_.terms + (u * D_ + c) * task_.n_rows + start_; }

    void score() {
        for (i64 c = 0; c < D_; ++c) {
            double* to = of(p_, c);
            for (i64 i = 0; i < kWeighRows; ++i) to[i] = bias_[c];
            i64 u = 0;
            for (; u + kTermsAtOnce <= U_; u += kTermsAtOnce) add_terms<kTermsAtOnce>(u, c, to);
            for (; u < U_; ++u) add_terms<1>(u, c, to);
        }
        if (task_.n_tables > 0) add_corrections();
        for (i64 c = 0; c < D_; ++c) {
            double* to = of(p_, c);
            const double *base = task_.base + c * task_.n_rows + start_, *share = task_.share + start_;
            for (i64 i = 0; i < count_; ++i) to[i] = base[i] + share[i] * to[i];
            for (i64 i = count_; i < padded_; ++i) to[i] = 0.0;
        }
    }

    template <i64 Many>
    void add_terms(i64 u, i64 c, double* to) {
        const double* from[Many];
        for (i64 k = 0; k < Many; ++k) from[k] = term(u + k, c);
        i64 i = 0;
        for (; i + 4 <= count_; i += 4) {
            F4 sum = load(to + i);
            for (i64 k = 0; k < Many; ++k) sum = sum + all(task_.scale[u + k]) * load(from[k] + i);
            store(to + i, sum);
        }
        for (; i < count_; ++i)
            for (i64 k = 0; k < Many; ++k) to[i] += task_.scale[u + k] * from[k][i];
    }

    // There are as many codes as terms: checked here, they are read from memory once.
    Fault check() const {
        for (i64 v = 0; v < task_.n_tables; ++v) {
            const i32* code = codes(v);
            i32 least = 0, most = -1;
            for (i64 i = 0; i < count_; ++i) {
                least = smaller(least, code[i]);
                most = larger(most, code[i]);
            }
            if (least >= -1 && most < task_.n_corrections) continue;
            const i32 bad = least < -1 ? least : most;
            i64 i = 0;
            while (code[i] != bad) ++i;
            return {FaultKind::bad_code, start_ + i, bad, 0.0};
        }
        return {};
    }

    // Row 0 of `table_` is that of no code, so that no code needs a branch.
    i64 place(const i32* code, i64 i) const { return (code[i] + 1) * width_; }
    const i32* codes(i64 v) const { return task_.codes + v * task_.n_rows + start_; }

    void add_corrections() {
        if (D_ == 1) return add_numbers();
        double* const to = rows_.get();
        for (i64 k = 0; k < width_ * kWeighRows; ++k) to[k] = 0.0;
        for (i64 v = 0; v < task_.n_tables; ++v) {
            const i32* code = codes(v);
            for (i64 i = 0; i < count_; ++i) add_row(table_.get() + place(code, i), to + i * width_);
        }
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) of(p_, c)[i] += to[i * width_ + c];
    }

    // The same for two classes: a correction is one number. Four tables at once wait for each other less.
    void add_numbers() {
        double *to = p_.get(), *table = table_.get() + 1;
        i64 v = 0;
        for (; v + 4 <= task_.n_tables; v += 4) {
            const i32 *one = codes(v), *two = codes(v + 1), *three = codes(v + 2), *four = codes(v + 3);
            for (i64 i = 0; i < count_; ++i)
                to[i] = to[i] + table[one[i]] + table[two[i]] + table[three[i]] + table[four[i]];
        }
        for (; v < task_.n_tables; ++v) {
            const i32* one = codes(v);
            for (i64 i = 0; i < count_; ++i) to[i] += table[one[i]];
        }
    }

    void add_row(const double* from, double* to) const {
        for (i64 c = 0; c < width_; c += 4) store(to + c, load(to + c) + load(from + c));
    }

    // Scores become probabilities and residuals; their loss is added up.
    void normalise() {
        double own[kWeighRows], mass[kWeighRows], weight[kWeighRows], part[kWeighRows];
        for (i64 i = 0; i < padded_; ++i) {
            const bool real = i < count_;
            weight[i] = !real ? 0.0 : task_.weights == nullptr ? 1.0 : task_.weights[start_ + i];
            part[i] = real ? weight[i] * task_.share[start_ + i] : 0.0;
            s_[i] = real ? part[i] * task_.share[start_ + i] : 0.0;
        }
        for (i64 i = 0; i < padded_; i += 4) {
            F4 top = all(0.0);
            for (i64 c = 0; c < D_; ++c) top = greatest(top, load(of(p_, c) + i));
            for (i64 c = 0; c < D_; ++c) store(of(p_, c) + i, load(of(p_, c) + i) - top);
            store(last_.get() + i, all(0.0) - top);
        }
        for (i64 i = 0; i < padded_; ++i) {
            const i64 c = i < count_ ? task_.classes[start_ + i] : D_;
            own[i] = c < D_ ? of(p_, c)[i] : last_[i];
        }
        for (i64 i = 0; i < padded_; i += 4) {
            F4 sum = exponential(load(last_.get() + i));
            store(last_.get() + i, sum);
            for (i64 c = 0; c < D_; ++c) {
                const F4 e = exponential(load(of(p_, c) + i));
                store(of(p_, c) + i, e);
                sum = sum + e;
            }
            store(mass + i, sum);
        }
        for (i64 i = 0; i < padded_; i += 4) store(own + i, logarithm(load(mass + i)) - load(own + i));
        task_.sums->loss += dot(weight, own, padded_);
        for (i64 i = 0; i < padded_; i += 4) {
            const F4 sum = load(mass + i), factor = load(part + i);
            store(last_.get() + i, load(last_.get() + i) / sum);
            for (i64 c = 0; c < D_; ++c) {
                const F4 p = load(of(p_, c) + i) / sum;
                store(of(p_, c) + i, p);
                store(of(r_, c) + i, factor * p);
            }
        }
        for (i64 i = 0; i < count_; ++i)
            if (task_.classes[start_ + i] < D_) of(r_, task_.classes[start_ + i])[i] -= part[i];
    }

    // Ask for the same of the next block: runs this short start anew for each, too late for the processor to foresee.
    template <class T>
    void fetch_next(const T* now) const {
        if (start_ + kWeighRows >= task_.end) return;
        const char* next = reinterpret_cast<const char*>(now + kWeighRows);
        for (i64 byte = 0; byte < kWeighRows * i64{sizeof(T)}; byte += 64) prefetch(next + byte);
    }

    // A term of the block, padded with zeros.
    const double* block_of(i64 u, i64 c) {
        const double* from = term(u, c);
        if (padded_ == count_) return from;
        double* to = of(term_, c);
        for (i64 i = 0; i < padded_; ++i) to[i] = i < count_ ? from[i] : 0.0;
        return to;
    }

    void slopes() {
        for (i64 u = 0; u < U_; ++u)
            for (i64 c = 0; c < D_; ++c) {
                fetch_next(term(u, c));
                task_.sums->scale[u] += dot(of(r_, c), block_of(u, c), padded_);
            }
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) task_.sums->bias[c] += of(r_, c)[i];
        if (task_.n_tables > 0) slopes_by_code();
    }

    void slopes_by_code() {
        if (D_ == 1) return slopes_of_numbers();
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) rows_[i * width_ + c] = of(r_, c)[i];
        for (i64 v = 0; v < task_.n_tables; ++v) {
            const i32* code = codes(v);
            fetch_next(code);
            for (i64 i = 0; i < count_; ++i) add_row(rows_.get() + i * width_, slopes_.get() + place(code, i));
        }
    }

    void slopes_of_numbers() {
        const double* from = r_.get();
        double* slopes = slopes_.get() + 1;
        i64 v = 0;
        for (; v + 4 <= task_.n_tables; v += 4) {
            const i32* code[4] = {codes(v), codes(v + 1), codes(v + 2), codes(v + 3)};
            for (const i32* one : code) fetch_next(one);
            for (i64 i = 0; i < count_; ++i) {
                const double r = from[i];
                slopes[code[0][i]] += r;
                slopes[code[1][i]] += r;
                slopes[code[2][i]] += r;
                slopes[code[3][i]] += r;
            }
        }
        for (; v < task_.n_tables; ++v) {
            const i32* one = codes(v);
            for (i64 i = 0; i < count_; ++i) slopes[one[i]] += from[i];
        }
    }

    // Add each row's value to its place of every table.
    void by_code(const double* values, double* to) {
        for (i64 v = 0; v < task_.n_tables; ++v) {
            const i32* code = task_.codes + v * task_.n_rows + start_;
            for (i64 i = 0; i < count_; ++i)
                if (code[i] >= 0) to[code[i] * (D_ + 1)] += values[i];
        }
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

    void curves() {
        for (i64 k = 0; k < D_ * kWeighRows; ++k) sum_[k] = 0.0;
        for (i64 u = 0; u < U_; ++u) {
            for (i64 c = 0; c < D_; ++c) {
                const double* x = pointers_[c] = block_of(u, c);
                double* to = of(sum_, c);
                for (i64 i = 0; i < padded_; i += 4) store(to + i, load(to + i) + load(x + i));
            }
            task_.sums->scale_curve[u] += variance();
        }
        for (i64 c = 0; c < D_; ++c) pointers_[c] = of(sum_, c);
        task_.sums->all_curve += variance();
        for (i64 c = 0; c <= D_; ++c) {
            const double* p = c < D_ ? of(p_, c) : last_.get();
            double* curve = spread_.get();
            for (i64 i = 0; i < count_; ++i) curve[i] = s_[i] * p[i] * (1.0 - p[i]);
            for (i64 i = 0; i < count_; ++i) task_.sums->bias_curve[c] += curve[i];
            by_code(curve, task_.sums->table_curve + c);
        }
    }

    void subtract_others(double* slopes) const {
        for (i64 c = 0; c < D_; ++c) slopes[D_] -= slopes[c];
    }

    const WeighTask& task_;
    const i64 D_, U_, width_;  // of a row of the table: D, or a multiple of four
    i64 start_ = 0, count_ = 0, padded_ = 0;
    Scratch<double> p_, r_, term_, sum_, last_, spread_, s_, bias_, rows_, table_, slopes_;
    Scratch<const double*> pointers_;
};

inline Fault weigh_terms(const WeighTask& task) {
    WeighBlock block(task);
    for (i64 start = task.first; start < task.end; start += kWeighRows) {
        const Fault fault = block.run(start, smaller(kWeighRows, task.end - start));
        if (fault.kind != FaultKind::none) return fault;
    }
    block.finish();
    return {};
}

}  // namespace tally::TALLY_ISA
