// Two experts on the cells of numeric columns: a tree of counts, and a Student t.
//
// A column has K cells, each with a value and the rows of every class. For each cell and class an expert gives three
// log-terms: `now` from all rows, and for a row of weight 1 left out `other`, where the class is another one than the
// row's, and `own`. Tree: the sum over levels of log sum_a omega_a (N_vc / q_v + a) / (N_pc + a), with N_vc the rows of
// node v, p its parent and q_v its share of p; omega_a ~ the probability of a level's counts in the column under a.
// Student t: dense/leave_one_out.hpp has the formulas.
// IN: cells, one column after the other; nodes (L, K), those of parent p being 2p and 2p + 1, -1 for none; moments and
// coefficients (F, C). OUT: as the task says. The caller guarantees that nodes are below n_nodes and of one column each.
// Cost: some logarithms per cell, class and level. Twin: reference.expert_terms.
#pragma once

#include "dense/leave_one_out.hpp"
#include "dense/log_gamma.hpp"

namespace tally::TALLY_ISA {

constexpr double kRounding = 1e-12;    // a difference below this share of its operand is rounding
constexpr double kNegligible = 1e-12;  // a smoothing with less of the probability is left out
constexpr double kMostLoss = 1e6;      // nats of one value, so that losses can be compared

// Numbers of which four at a time are replaced by a function of them.
class Numbers {
public:
    explicit Numbers(i64 most) : values_(most + 4) {}
    double* get() { return values_.get(); }
    double& operator[](i64 i) { return values_[i]; }
    template <class Function>
    void apply(i64 size, Function function) {
        for (i64 i = size; i % 4 != 0; ++i) values_[i] = 1.0;
        for (i64 i = 0; i < size; i += 4) store(&values_[i], function(load(&values_[i])));
    }

private:
    Scratch<double> values_;
};

inline double left_of(double count, double weight) {
    const double less = count - weight;
    return less > kRounding * count ? less : 0.0;
}

inline double share_of(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

// One level of the trees of all columns.
class TreeLevel {
public:
    TreeLevel(const ExpertTermsTask& task, i64 level)
        : task_(task), node_(task.nodes + level * task.offsets[task.n_columns]), V_(task.n_nodes[level]),
          C_(task.n_classes), A_(task.n_alphas), omega_(task.omegas + level * A_ * task.n_columns),
          counts_(V_ * C_), totals_(V_ / 2 * C_), pooled_(V_), whole_(V_ / 2), column_(V_), now_(V_ * C_),
          other_(V_ * C_), own_(V_ * C_) {
        for (i64 f = 0; f < task.n_columns; ++f)
            for (i64 k = task.offsets[f]; k < task.offsets[f + 1]; ++k) {
                if (node_[k] < 0) continue;
                column_[node_[k]] = f;
                for (i64 c = 0; c < C_; ++c) counts_[node_[k] * C_ + c] += task.counts[k * C_ + c];
            }
        for (i64 v = 0; v < V_; ++v)
            for (i64 c = 0; c < C_; ++c) {
                pooled_[v] += counts_[v * C_ + c];
                totals_[v / 2 * C_ + c] += counts_[v * C_ + c];
            }
        for (i64 v = 0; v < V_; ++v) whole_[v / 2] += pooled_[v];
    }

    // Set the probability of each smoothing in each column.
    void choose() {
        const i64 F = task_.n_columns;
        Numbers gain(V_ * C_), none(V_), loss(V_ / 2 * C_);
        for (i64 a = 0; a < A_; ++a) {
            const double alpha = task_.alphas[a];
            double* const log = omega_ + a * F;
            for (i64 f = 0; f < F; ++f) log[f] = 0.0;
            for (i64 v = 0; v < V_; ++v) {
                none[v] = alpha * share_of(pooled_[v], whole_[v / 2]);
                for (i64 c = 0; c < C_; ++c) gain[v * C_ + c] = counts_[v * C_ + c] + none[v];
                if (pooled_[v] == 0.0) none[v] = 1.0;
            }
            for (i64 k = 0; k < V_ / 2 * C_; ++k) loss[k] = totals_[k] + alpha;
            gain.apply(V_ * C_, [](F4 x) { return log_gamma(x); });
            none.apply(V_, [](F4 x) { return log_gamma(x); });
            loss.apply(V_ / 2 * C_, [](F4 x) { return log_gamma(x); });
            double first[4];
            store(first, log_gamma(all(alpha)));
            for (i64 v = 0; v < V_; ++v)
                for (i64 c = 0; c < C_; ++c)  // a count of zero adds nothing
                    if (counts_[v * C_ + c] > 0.0) log[column_[v]] += gain[v * C_ + c] - none[v];
            for (i64 k = 0; k < V_ / 2 * C_; ++k) log[column_[2 * (k / C_)]] -= loss[k] - first[0];
        }
        for (i64 f = 0; f < F; ++f) normalise(f);
    }

    // Add the terms of each cell's node.
    void add() {
        Numbers each(3 * C_), whole(3 * C_);  // counts over their node's share, and their parent's rows
        for (i64 v = 0; v < V_; ++v) {
            const double share = share_of(pooled_[v], whole_[v / 2]);
            const double less = share_of(left_of(pooled_[v], 1.0), left_of(whole_[v / 2], 1.0));
            for (i64 c = 0; c < C_; ++c) {
                const double count = counts_[v * C_ + c], total = totals_[v / 2 * C_ + c];
                each[c] = share_of(count, share);
                each[C_ + c] = share_of(count, less);
                each[2 * C_ + c] = share_of(left_of(count, 1.0), less);
                whole[c] = whole[C_ + c] = total;
                whole[2 * C_ + c] = left_of(total, 1.0);
            }
            average(column_[v], each, whole);
            for (i64 c = 0; c < C_; ++c) {
                now_[v * C_ + c] = each[c];
                other_[v * C_ + c] = each[C_ + c];
                own_[v * C_ + c] = each[2 * C_ + c];
            }
        }
        for (Numbers* table : {&now_, &other_, &own_}) table->apply(V_ * C_, [](F4 x) { return logarithm(x); });
        double *now = task_.tree[0], *other = task_.tree[1], *own = task_.tree[2];
        for (i64 k = 0; k < task_.offsets[task_.n_columns]; ++k, now += C_, other += C_, own += C_) {
            if (node_[k] < 0) continue;
            const i64 at = node_[k] * C_;
            for (i64 c = 0; c < C_; ++c) {
                now[c] += now_[at + c];
                other[c] += other_[at + c];
                own[c] += own_[at + c];
            }
        }
    }

private:
    void normalise(i64 f) {
        const i64 F = task_.n_columns;
        double top = omega_[f], sum = 0.0, kept = 0.0;
        for (i64 a = 1; a < A_; ++a) top = larger(top, omega_[a * F + f]);
        Numbers each(A_);
        for (i64 a = 0; a < A_; ++a) each[a] = omega_[a * F + f] - top;
        each.apply(A_, [](F4 x) { return exponential(x); });
        for (i64 a = 0; a < A_; ++a) sum += each[a];
        for (i64 a = 0; a < A_; ++a) {
            each[a] = each[a] / sum;
            if (each[a] < kNegligible) each[a] = 0.0;
            kept += each[a];
        }
        for (i64 a = 0; a < A_; ++a) omega_[a * F + f] = each[a] / kept;
    }

    // Replace each number by its average over the column's smoothings.
    void average(i64 f, Numbers& each, Numbers& whole) const {
        for (i64 i = 0; i < 3 * C_; i += 4) {
            const F4 rows = load(&each[i]), all_rows = load(&whole[i]);
            F4 out = all(0.0);
            for (i64 a = 0; a < A_; ++a) {
                const double weight = omega_[a * task_.n_columns + f], alpha = task_.alphas[a];
                if (weight > 0.0) out = out + all(weight) * (rows + all(alpha)) / (all_rows + all(alpha));
            }
            store(&each[i], out);
        }
    }

    const ExpertTermsTask& task_;
    const i32* node_;
    const i64 V_, C_, A_;
    double* omega_;  // (A, F)
    Scratch<double> counts_, totals_, pooled_, whole_;
    Scratch<i64> column_;
    Numbers now_, other_, own_;
};

// The Student t of one column, four cells at a time.
class StudentColumn {
public:
    StudentColumn(const ExpertTermsTask& task, i64 f) : task_(task), f_(f), C_(task.n_classes) {}

    void add() {
        for (i64 k = task_.offsets[f_]; k < task_.offsets[f_ + 1]; k += 4) {
            const i64 count = smaller<i64>(4, task_.offsets[f_ + 1] - k);
            double x[4];
            for (i64 i = 0; i < 4; ++i) x[i] = task_.value[k + smaller(i, count - 1)];
            four(k, count, load(x));
        }
    }

private:
    struct Left {
        F4 mean, m2, lost;
    };

    // The column over all classes: location, variance, and the least squared scale.
    struct Whole {
        F4 mean, variance, least;
    };

    void four(i64 k, i64 count, F4 x) {
        const double N = task_.whole_n[f_], M = task_.whole_mean[f_], M2 = task_.whole_m2[f_];
        const Left all_rows{all(M), all(M2), all(0.0)}, less_rows = without(x, N, M, M2);
        const Whole full = whole(all_rows, N), less = whole(less_rows, N - smaller(N, 1.0));
        F4 doubtful = less_rows.lost;
        for (i64 c = 0; c < C_; ++c) {
            const i64 j = f_ * C_ + c;
            const double n = task_.n[j], mean = task_.mean[j], m2 = task_.m2[j];
            const Left own = without(x, n, mean, m2);
            put(0, k, count, c, density(x, all(mean), all(m2), full, task_.full, j));
            put(1, k, count, c, density(x, all(mean), all(m2), less, task_.full, j));
            put(2, k, count, c, density(x, own.mean, own.m2, less, task_.less, j));
            double there[4];
            for (i64 i = 0; i < 4; ++i) there[i] = i < count ? task_.counts[(k + i) * C_ + c] : 0.0;
            doubtful = either(doubtful, keep(tally::TALLY_ISA::less(all(0.0), load(there)), own.lost));
        }
        for (i64 i = 0; i < count; ++i) {
            double rows = 0.0;
            for (i64 c = 0; c < C_; ++c) rows += task_.counts[(k + i) * C_ + c];
            task_.lost[k + i] = rows > 0.0 && (lanes(doubtful) >> i & 1) != 0;
        }
    }

    void put(int t, i64 k, i64 count, i64 c, F4 values) {
        double out[4];
        store(out, values);
        for (i64 i = 0; i < count; ++i) task_.student[t][(k + i) * C_ + c] = out[i];
    }

    // Moments without a row of weight 1 and value x, and where subtracting it cancels too many digits.
    static Left without(F4 x, double n, double mean, double m2) {
        const double w = smaller(n, 1.0), rest = n - w;
        if (!(rest > 0.0)) return {all(0.0), all(0.0), all(0.0)};  // nothing is left
        const bool enough = rest > kCancelled * n;
        if (m2 == 0.0 && enough) return {all(mean), all(0.0), all(0.0)};
        const F4 away = x - all(mean), left = all(m2) - all(w) * (away * away) * all(n) / all(rest);
        const F4 fine = enough ? less(all(kCancelled * m2), left) : all(0.0);
        const F4 centre = all(mean) - all(w) * away / all(rest);
        return {keep(fine, centre), keep(fine, greatest(left, all(0.0))), drop(fine, less(all(0.0), all(1.0)))};
    }

    Whole whole(const Left& of, double n) const {
        const F4 variance = n > 0.0 ? smallest(of.m2, all(kTopScale)) / all(n) : all(0.0);
        const F4 square = smallest(greatest(of.mean * of.mean, all(1.0)), all(kTopScale));
        const F4 spread = pick(less(all(0.0), variance), variance, square);
        return {of.mean, variance, greatest(all(task_.floor) * spread, all(kLowScale))};
    }

    static F4 density(F4 x, F4 mean, F4 m2, const Whole& whole, const LeaveCoefficients& of, i64 j) {
        const F4 top = all(kTopScale), apart = mean - whole.mean;
        const F4 between = all(of.between[j]) * smallest(apart * apart, top);
        F4 scale2 = all(of.share[j]) * (smallest(m2, top) + between) + all(of.whole[j]) * whole.variance;
        scale2 = smallest(greatest(scale2, whole.least), top);
        const F4 d = x - (mean - all(of.pull[j]) * apart), q = d * d / scale2 / all(of.freedom[j]);
        F4 log = logarithm_of_one_plus(smallest(q, top));
        const F4 far = not_at_most(q, top);
        if (lanes(far) != 0) {  // the square overflows
            const F4 size = smallest(greatest(d, all(0.0) - d), all(1.7976931348623157e308));
            const F4 logs = all(2.0) * logarithm(greatest(size, all(1.0))) - logarithm(scale2) - all(logarithm(of.freedom[j]));
            log = pick(far, logs, log);
        }
        const F4 result = all(of.constant[j]) - all(0.5) * logarithm(scale2) - all((of.freedom[j] + 1.0) / 2.0) * log;
        return greatest(result, all(-kMostLoss));
    }

    const ExpertTermsTask& task_;
    const i64 f_, C_;
};

inline Fault expert_terms(const ExpertTermsTask& task) {
    const PlainArithmetic plain;
    for (i64 level = 0; level < task.n_levels; ++level) {
        TreeLevel one(task, level);
        if (!task.chosen) one.choose();
        one.add();
    }
    for (i64 f = 0; f < task.n_columns; ++f) StudentColumn(task, f).add();
    return {};
}

}  // namespace tally::TALLY_ISA
