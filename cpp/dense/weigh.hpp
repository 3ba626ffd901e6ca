// The log loss of weighted terms, its gradient, and the diagonal of its curvature.
//
//   score[c, i] = base[c, i] + share[i] * (bias[c] + sum_u scale[u] * terms[u, c, i] + sum_v table[codes[v, i], c])
//   loss        = sum_i w[i] * (log(sum_c exp(score[c, i])) - score[class[i], i])
//
// With p the softmax of a row's scores, r = w * share * (p - own class) and s = w * share^2, the gradient is
//   by scale[u]: sum r[c, i] * terms[u, c, i];  by bias[c]: sum r[c, i];  by table[k, c]: sum of r[c, i] over rows of code k
// and the curvature by scale[u] is sum_i s * Var_p(terms[u, :, i]), by the others sum s * p * (1 - p); `all` is the
// curvature by a number added to every scale.
// IN: base (C, n); terms (U, C, n); codes (V, n) below K, -1 adds nothing; classes, share (n,); weights (n,) or null.
// The caller guarantees finite numbers and codes in range. OUT: sums, as WeighTask says; all are set.
// Cost: two passes over the terms, block by block of rows, and an exponential per score. Twin: reference.weigh_terms.
#pragma once

#include "dense/temperature.hpp"

namespace tally::TALLY_ISA {

constexpr i64 kWeighRows = 256;  // of a block: its terms stay in the second cache from scores to gradient

// Sum of a * b over a block padded to a multiple of four.
inline double dot(const double* a, const double* b, i64 rows) {
    F4 sum = all(0.0);
    for (i64 i = 0; i < rows; i += 4) sum = sum + load(a + i) * load(b + i);
    return total_of(sum);
}

// One block of at most kWeighRows rows; arrays are padded with zeros to a multiple of four rows.
class WeighBlock {
public:
    explicit WeighBlock(const WeighTask& task)
        : task_(task), C_(task.n_classes), U_(task.n_terms), p_(C_ * kWeighRows), r_(C_ * kWeighRows), term_(C_ * kWeighRows),
          sum_(C_ * kWeighRows), spread_(kWeighRows), s_(kWeighRows), pointers_(C_) {}

    void run(i64 start, i64 count) {
        start_ = start;
        count_ = count;
        padded_ = (count + 3) / 4 * 4;
        score();
        normalise();
        slopes();
        if (task_.curved) curves();
    }

private:
    static double* of(Scratch<double>& values, i64 c) { return values.get() + c * kWeighRows; }
    const double* term(i64 u, i64 c) const { return task_.terms + (u * C_ + c) * task_.n_rows + start_; }

    void score() {
        for (i64 c = 0; c < C_; ++c) {
            double* to = of(p_, c);
            for (i64 i = 0; i < kWeighRows; ++i) to[i] = task_.bias[c];
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
                const double* row = task_.table + code[i] * C_;
                for (i64 c = 0; c < C_; ++c) of(p_, c)[i] += row[c];
            }
        }
        for (i64 c = 0; c < C_; ++c) {
            double* to = of(p_, c);
            const double* base = task_.base + c * task_.n_rows + start_;
            for (i64 i = 0; i < count_; ++i) to[i] = base[i] + task_.share[start_ + i] * to[i];
            for (i64 i = count_; i < padded_; ++i) to[i] = 0.0;
        }
    }

    // Scores become probabilities and residuals; their loss is added up.
    void normalise() {
        double own[kWeighRows], mass[kWeighRows] = {};
        for (i64 i = 0; i < padded_; ++i) {
            double top = of(p_, 0)[i];
            for (i64 c = 1; c < C_; ++c) top = larger(top, of(p_, c)[i]);
            for (i64 c = 0; c < C_; ++c) of(p_, c)[i] -= top;
        }
        for (i64 i = 0; i < count_; ++i) own[i] = of(p_, task_.classes[start_ + i])[i];
        for (i64 c = 0; c < C_; ++c) {
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
            for (i64 c = 0; c < C_; ++c) {
                const double p = of(p_, c)[i] / mass[i];
                of(p_, c)[i] = p;
                of(r_, c)[i] = w * m * p;
            }
            if (real) of(r_, task_.classes[start_ + i])[i] -= w * m;
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
            for (i64 c = 0; c < C_; ++c) task_.sums->scale[u] += dot(of(r_, c), block_of(u, c), padded_);
        for (i64 c = 0; c < C_; ++c)
            for (i64 i = 0; i < count_; ++i) task_.sums->bias[c] += of(r_, c)[i];
        by_code(task_.sums->table, r_);
    }

    void by_code(double* to, Scratch<double>& values) {
        for (i64 v = 0; v < task_.n_tables; ++v) {
            const i32* code = task_.codes + v * task_.n_rows + start_;
            for (i64 i = 0; i < count_; ++i) {
                if (code[i] < 0) continue;
                for (i64 c = 0; c < C_; ++c) to[code[i] * C_ + c] += of(values, c)[i];
            }
        }
    }

    // The sum over rows of s times the variance of a term, given its pointer for each class.
    double variance() {
        for (i64 i = 0; i < padded_; i += 4) {
            F4 mean = all(0.0), square = all(0.0);
            for (i64 c = 0; c < C_; ++c) {
                const F4 x = load(pointers_[c] + i), px = load(of(p_, c) + i) * x;
                mean = mean + px;
                square = square + px * x;
            }
            store(spread_.get() + i, square - mean * mean);
        }
        return dot(s_.get(), spread_.get(), padded_);
    }

    void curves() {
        for (i64 k = 0; k < C_ * kWeighRows; ++k) sum_[k] = 0.0;
        for (i64 u = 0; u < U_; ++u) {
            for (i64 c = 0; c < C_; ++c) {
                const double* x = pointers_[c] = block_of(u, c);
                double* to = of(sum_, c);
                for (i64 i = 0; i < padded_; i += 4) store(to + i, load(to + i) + load(x + i));
            }
            task_.sums->scale_curve[u] += variance();
        }
        for (i64 c = 0; c < C_; ++c) pointers_[c] = of(sum_, c);
        task_.sums->all_curve += variance();
        for (i64 c = 0; c < C_; ++c) {
            double* p = of(r_, c);  // the residuals are no longer needed
            for (i64 i = 0; i < count_; ++i) p[i] = s_[i] * of(p_, c)[i] * (1.0 - of(p_, c)[i]);
            for (i64 i = 0; i < count_; ++i) task_.sums->bias_curve[c] += p[i];
        }
        by_code(task_.sums->table_curve, r_);
    }

    const WeighTask& task_;
    i64 C_, U_, start_ = 0, count_ = 0, padded_ = 0;
    Scratch<double> p_, r_, term_, sum_, spread_, s_;
    Scratch<const double*> pointers_;
};

inline Fault weigh_terms(const WeighTask& task) {
    WeighBlock block(task);
    for (i64 start = 0; start < task.n_rows; start += kWeighRows)
        block.run(start, smaller(kWeighRows, task.n_rows - start));
    return {};
}

}  // namespace tally::TALLY_ISA
