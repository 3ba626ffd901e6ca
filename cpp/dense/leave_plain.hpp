// Leave-one-out scores under normal densities without a prior, by shorter formulas than those of leave_one_out.hpp.
//
// Without a prior a class's density depends on its own moments n, mean and m2 alone. With a = x - mean and s the scale2
// that all of m2 makes, a row's own class adds, with the coefficients for one row less,
//
//   constant - log(s) / 2 - log(u) / 2 - w / u      t = a^2 * n / (n - 1) / m2, the row's share of m2, and u = 1 - t
//                                                   w = (a * n / (n - 1))^2 / s / 2
//
// because without the row the mean moves away from it by a / (n - 1). Any other class adds, with the coefficients for
// all rows, constant - log(s) / 2 - a^2 / s / 2. What is the same for all rows is computed once. The fractions w / u of
// a chunk of columns are added up as one, numerator / product: a division and a logarithm per row, not per cell.
// IN, OUT: as for leave_one_out.hpp. The caller guarantees: chunks of at most kMost columns, so that a product of u
// above kCancelled is a normal number.
// Cost: 12 vector operations per 4 rows and column for the own class, 5 for another. Twin: reference.leave_dense.
#pragma once

#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

constexpr double kCancelled = 1e-4;  // a difference below this fraction of its operand has lost too many digits
constexpr double kTopScale = 1e300, kLowScale = 1e-300;
constexpr double kShare = 0.25;  // of m2: rows that take less in each plain column leave enough of all

// The columns without a prior in chunks, and what their densities share.
class PlainColumns {
public:
    static constexpr i64 kMost = 32;  // columns of a chunk

    PlainColumns(const LeaveDenseTask& task, i64 chunk)
        : task_(task), F_(task.table.n_columns), chunk_(chunk), chunks_((F_ + chunk - 1) / chunk), plain_(chunks_),
          room_(task.student ? 0 : 5 * task.n_classes * F_), sums_(2 * task.n_classes * chunks_) {
        for (i64 k = 0; k < chunks_ && !task.student; ++k) {
            const i64 first = k * chunk, stop = smaller(F_, first + chunk);
            bool plain = true;
            for (i64 f = first; f < stop && plain; ++f) plain = is_plain(f);
            plain_[k] = plain;
            for (i64 c = 0; c < task.n_classes && plain; ++c) prepare(c, k, first, stop);
        }
    }

    bool has(i64 f) { return plain_[f / chunk_]; }  // the chunk of column f
    const double* taken() { return part(0); }  // (C, F): t / a^2
    const double* own() { return part(1); }    // (C, F): w / a^2
    const double* other() { return part(2); }  // (C, F): 1 / s / 2
    // (C, F): what scores have in common for all rows of the class itself, or of others.
    const double* constant(bool own) { return part(own ? 3 : 4); }
    // The same for the chunk of column f.
    double sum(bool own, i64 c, i64 f) { return sums_[2 * (c * chunks_ + f / chunk_) + own]; }

private:
    // Whether a column has no prior, and no scale2 is so small, or so large, that it is replaced. A row that takes less
    // than kShare of its class's m2 must leave enough of M2, too: by (p + q)^2 <= 2 p^2 + 2 q^2 it takes less than
    // twice that share and the squared distance of both means. A thousandth is far more than kCancelled and rounding.
    bool is_plain(i64 f) const {
        const double N = task_.whole_n[f], M2 = task_.whole_m2[f];
        const double least = larger(task_.floor * (M2 * (1.0 / (N - 1.0))), kLowScale);
        bool plain = N > 1.0 && M2 > 0.0;
        for (i64 c = 0; c < task_.n_classes && plain; ++c) {
            const i64 j = c * F_ + f;
            const double n = task_.n[j], m2 = task_.m2[j];
            const double gap = (task_.mean[j] - task_.whole_mean[f]) + (task_.rest[j] - task_.whole_rest[f]);
            plain = has_no_prior(task_.full, j) && has_no_prior(task_.less, j) && n > 1.0 && m2 > 0.0 &&
                    fits(task_.full.share[j] * m2, least) && fits(task_.less.share[j] * m2 * kCancelled, least) &&
                    task_.less.share[j] * m2 <= kTopScale &&
                    (2.0 * kShare * m2 + 2.0 * gap * gap) * (N / (N - 1.0)) <= 0.999 * M2;
        }
        return plain;
    }

    static bool has_no_prior(const LeaveCoefficients& of, i64 j) {
        return of.pull[j] == 0.0 && of.between[j] == 0.0 && of.whole[j] == 0.0;
    }
    static bool fits(double scale2, double least) { return least <= scale2 && scale2 <= kTopScale; }

    void prepare(i64 c, i64 k, i64 first, i64 stop) {
        for (i64 f = first; f < stop; ++f) {
            const i64 j = c * F_ + f;
            const double n = task_.n[j], m2 = task_.m2[j], ratio = n / (n - 1.0);
            part(0)[j] = ratio / m2;
            part(1)[j] = 0.5 * (ratio * ratio) / (task_.less.share[j] * m2);
            part(2)[j] = 0.5 / (task_.full.share[j] * m2);
        }
        for (i64 own = 0; own < 2; ++own) {
            const LeaveCoefficients& of = own == 1 ? task_.less : task_.full;
            double logs[kMost];
            for (i64 f = 0; f < kMost; ++f)
                logs[f] = first + f < stop ? of.share[c * F_ + first + f] * task_.m2[c * F_ + first + f] : 1.0;
            for (i64 f = 0; f < stop - first; f += 4) store(logs + f, all(0.5) * logarithm(load(logs + f)));
            for (i64 f = first; f < stop; ++f) {
                part(own == 1 ? 3 : 4)[c * F_ + f] = of.constant[c * F_ + f] - logs[f - first];
                sums_[2 * (c * chunks_ + k) + own] += part(own == 1 ? 3 : 4)[c * F_ + f];
            }
        }
    }

    double* part(i64 k) { return room_.get() + k * task_.n_classes * F_; }

    const LeaveDenseTask& task_;
    const i64 F_, chunk_, chunks_;
    Scratch<bool> plain_;
    Scratch<double> room_, sums_;
};

// Scores of 4 * V rows in a chunk of plain columns from f on. x (width, 4 * V) holds their values. Whole: none of them
// is missing.
template <int V, bool Whole>
class PlainRows {
public:
    PlainRows(const LeaveDenseTask& task, PlainColumns& columns, const double* x, i64 f, i64 width)
        : task_(task), columns_(columns), x_(x), f_(f), width_(width) {}

    // Score the rows' own class c; return whether no value is missing and none takes more than kShare.
    bool own(i64 c, F4 (&score)[V]) const {
        const i64 j = c * task_.table.n_columns + f_;
        const double *mean = task_.mean + j, *rest = task_.rest + j, *taken = columns_.taken() + j,
                     *own = columns_.own() + j, *x = x_;
        F4 numerator[V], product[V], most = all(0.0);
        for (int v = 0; v < V; ++v) {
            numerator[v] = all(0.0);
            product[v] = all(1.0);
        }
        for (i64 f = 0; f < width_; ++f)
            for (int v = 0; v < V; ++v, x += 4) {
                const F4 away = load(x) - all(mean[f]) - all(rest[f]), square = away * away;
                const F4 t = known(away, square * all(taken[f])), w = known(away, square * all(own[f]));
                const F4 u = all(1.0) - t;
                most = greatest(t, most);
                numerator[v] = numerator[v] * u + w * product[v];
                product[v] = product[v] * u;
            }
        F4 doubtful = not_at_most(most, all(kShare));
        for (int v = 0; v < V; ++v) {
            doubtful = either(doubtful, missing(product[v]));
            score[v] = constant(true, c, v) - all(0.5) * logarithm(product[v]) - numerator[v] / product[v];
        }
        return lanes(doubtful) == 0;
    }

    // Score another class c.
    void other(i64 c, F4 (&score)[V]) const {
        const i64 j = c * task_.table.n_columns + f_;
        const double *mean = task_.mean + j, *rest = task_.rest + j, *other = columns_.other() + j, *x = x_;
        F4 sum[V];
        for (int v = 0; v < V; ++v) sum[v] = all(0.0);
        for (i64 f = 0; f < width_; ++f)
            for (int v = 0; v < V; ++v, x += 4) {
                const F4 away = load(x) - all(mean[f]) - all(rest[f]);
                sum[v] = sum[v] + known(away, away * away * all(other[f]));
            }
        for (int v = 0; v < V; ++v) score[v] = constant(false, c, v) - sum[v];
    }

private:
    static F4 known(F4 away, F4 term) {
        if constexpr (Whole) return term;
        return drop(missing(away), term);
    }

    F4 constant(bool own, i64 c, int v) const {
        if constexpr (Whole) return all(columns_.sum(own, c, f_));
        const double* of = columns_.constant(own) + c * task_.table.n_columns + f_;
        F4 sum = all(0.0);
        for (i64 f = 0; f < width_; ++f) sum = sum + known(load(x_ + (f * V + v) * 4), all(of[f]));
        return sum;
    }

    const LeaveDenseTask& task_;
    PlainColumns& columns_;
    const double* const x_;
    const i64 f_, width_;
};

}  // namespace tally::TALLY_ISA
