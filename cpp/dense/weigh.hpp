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
        : task_(task), D_(task.n_classes - 1), U_(task.n_terms), p_(D_ * kWeighRows), r_(D_ * kWeighRows),
          term_(D_ * kWeighRows), sum_(D_ * kWeighRows), last_(kWeighRows), spread_(kWeighRows), s_(kWeighRows),
          bias_(D_), table_(task.n_corrections * D_), pointers_(D_) {
        for (i64 c = 0; c < D_; ++c) bias_[c] = task.bias[c] - task.bias[D_];
        for (i64 k = 0; k < task.n_corrections; ++k)
            for (i64 c = 0; c < D_; ++c) table_[k * D_ + c] = task.table[k * (D_ + 1) + c] - task.table[k * (D_ + 1) + D_];
    }

    void run(i64 start, i64 count) {
        start_ = start;
        count_ = count;
        padded_ = (count + 3) / 4 * 4;
        score();
        normalise();
        slopes();
        if (task_.curved) curves();
    }

    // The slopes by bias and table of the last class.
    void finish() {
        subtract_others(task_.sums->bias);
        for (i64 k = 0; k < task_.n_corrections; ++k) subtract_others(task_.sums->table + k * (D_ + 1));
    }

private:
    static double* of(Scratch<double>& values, i64 c) { return values.get() + c * kWeighRows; }
    const double* term(i64 u, i64 c) const { return task_.terms + (u * D_ + c) * task_.n_rows + start_; }

    void score() {
        for (i64 c = 0; c < D_; ++c) {
            double* to = of(p_, c);
            for (i64 i = 0; i < kWeighRows; ++i) to[i] = bias_[c];
            for (i64 u = 0; u < U_; ++u) {
                const double *from = term(u, c), scale = task_.scale[u];
                i64 i = 0;
                for (; i + 4 <= count_; i += 4) store(to + i, load(to + i) + all(scale) * load(from + i));
                for (; i < count_; ++i) to[i] += scale * from[i];
            }
        }
        for (i64 v = 0; v < task_.n_tables; ++v) {
            const i32* code = task_.codes + v * task_.n_rows + start_;
            for (i64 i = 0; i < count_; ++i) {
                if (code[i] < 0) continue;
                const double* row = table_.get() + code[i] * D_;
                for (i64 c = 0; c < D_; ++c) of(p_, c)[i] += row[c];
            }
        }
        for (i64 c = 0; c < D_; ++c) {
            double* to = of(p_, c);
            const double* base = task_.base + c * task_.n_rows + start_;
            for (i64 i = 0; i < count_; ++i) to[i] = base[i] + task_.share[start_ + i] * to[i];
            for (i64 i = count_; i < padded_; ++i) to[i] = 0.0;
        }
    }

    // Scores become probabilities and residuals; their loss is added up.
    void normalise() {
        double own[kWeighRows], mass[kWeighRows];
        for (i64 i = 0; i < padded_; ++i) {
            double top = 0.0;
            for (i64 c = 0; c < D_; ++c) top = larger(top, of(p_, c)[i]);
            for (i64 c = 0; c < D_; ++c) of(p_, c)[i] -= top;
            last_[i] = -top;
        }
        for (i64 i = 0; i < count_; ++i) {
            const i64 c = task_.classes[start_ + i];
            own[i] = c < D_ ? of(p_, c)[i] : last_[i];
        }
        for (i64 i = 0; i < padded_; i += 4) {
            const F4 e = exponential(load(last_.get() + i));
            store(last_.get() + i, e);
            store(mass + i, e);
        }
        for (i64 c = 0; c < D_; ++c) {
            double* to = of(p_, c);
            for (i64 i = 0; i < padded_; i += 4) {
                const F4 e = exponential(load(to + i));
                store(to + i, e);
                store(mass + i, load(mass + i) + e);
            }
        }
        double logs[kWeighRows];
        for (i64 i = 0; i < padded_; i += 4) store(logs + i, logarithm(load(mass + i)));
        for (i64 i = 0; i < padded_; ++i) {
            const bool real = i < count_;
            const double w = !real ? 0.0 : task_.weights == nullptr ? 1.0 : task_.weights[start_ + i];
            const double m = real ? task_.share[start_ + i] : 0.0;
            if (real) task_.sums->loss += w * (logs[i] - own[i]);
            s_[i] = w * m * m;
            last_[i] = last_[i] / mass[i];
            for (i64 c = 0; c < D_; ++c) {
                const double p = of(p_, c)[i] / mass[i];
                of(p_, c)[i] = p;
                of(r_, c)[i] = w * m * p;
            }
            if (real && task_.classes[start_ + i] < D_) of(r_, task_.classes[start_ + i])[i] -= w * m;
        }
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
            for (i64 c = 0; c < D_; ++c) task_.sums->scale[u] += dot(of(r_, c), block_of(u, c), padded_);
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) task_.sums->bias[c] += of(r_, c)[i];
        for (i64 c = 0; c < D_; ++c) by_code(of(r_, c), task_.sums->table + c);
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
    i64 D_, U_, start_ = 0, count_ = 0, padded_ = 0;
    Scratch<double> p_, r_, term_, sum_, last_, spread_, s_, bias_, table_;
    Scratch<const double*> pointers_;
};

inline Fault weigh_terms(const WeighTask& task) {
    WeighBlock block(task);
    for (i64 start = 0; start < task.n_rows; start += kWeighRows)
        block.run(start, smaller(kWeighRows, task.n_rows - start));
    block.finish();
    return {};
}

}  // namespace tally::TALLY_ISA
