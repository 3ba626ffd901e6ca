// Exact sums of one class after another that change row by row, and the score of a row under the densities they give.
//
// For each class, and for all classes together, the state has the weight of missing values, the weight of the others,
// sum of w*x and sum of w*x*x of each column: long integers, changed in place. Beside them it keeps their moments as
// doubles, computed anew for the class that a row belongs to and for the whole.
// IN: one row (F,), NaN where a value is missing; the caller guarantees that no value is infinite.
// OUT: limbs (C, F); or a score for each class, added to `out` (C,).
// Cost: about 0.4 microseconds per column to change the sums, 0.1 per class and column to score a row.
// Twins: power_sums and exact_moments for the sums; for the score, families/normal.py.
#pragma once

#include "dense/elementary.hpp"
#include "exact/bigint.hpp"

namespace tally::TALLY_ISA {

constexpr double kLargestScale = 1e300, kSmallestScale = 1e-300;

class NormalSums {
public:
    explicit NormalSums(i64 columns)
        : F_(columns), missing_(columns), weight_(columns), first_(columns), second_(columns), rows_(1),
          values_(static_cast<double*>(zeroed(kMoments * columns, sizeof(double)))) {}
    ~NormalSums() { std::free(values_); }
    NormalSums(const NormalSums&) = delete;
    NormalSums& operator=(const NormalSums&) = delete;

    i64 classes() const { return C_; }

    // Add a class without rows. Room doubles, so that many classes cost no more than their number.
    void extend() {
        ++C_;
        if (C_ < room_) return;
        room_ *= 2;
        for (int k = 0; k < kSums; ++k) sums(k).extend(room_ * F_);
        rows_.extend(room_);
        auto* wider = static_cast<double*>(zeroed(kMoments * room_ * F_, sizeof(double)));
        std::memcpy(wider, values_, static_cast<std::size_t>(kMoments * (room_ / 2) * F_) * sizeof(double));
        std::free(values_);
        values_ = wider;
    }

    // Add a row to class c, or take it away; false if no rows could have the sums that this leaves, and nothing changed.
    bool change(i64 c, const double* x, double w, bool minus) {
        put(c, x, w, minus);
        if (!minus || possible(c)) return true;
        put(c, x, w, false);
        return false;
    }

    // Add the sums of class c: limbs (C, F) of each kind, and (C,) of rows.
    void load(i64 c, const LimbsView* from) {
        for (int k = 0; k < kSums; ++k)
            for (i64 f = 0; f < F_; ++f) {
                sums(k).add_view((c + 1) * F_ + f, from[k], c * F_ + f);
                sums(k).add_view(f, from[k], c * F_ + f);
            }
        rows_.add_view(c + 1, from[kSums], c);
        rows_.add_view(0, from[kSums], c);
        settle(c);
    }

    double rows(i64 c) const { return row_weight(c + 1); }

    void copy(i64 which, Limbs& out) {
        if (which < kSums)
            sums(static_cast<int>(which)).copy(out, F_, C_ * F_);
        else
            rows_.copy(out, 1, C_);
    }

    void score(const NormalScoreTask& task) const {
        const double whole_rows = row_weight(0);
        const double log_total = whole_rows > 0 ? logarithm(whole_rows) : 0.0;
        for (i64 c = 0; c < C_; ++c) {
            double sum = 0.0;
            if (task.learned_prior) sum = log_share(row_weight(c + 1), log_total);
            for (i64 f = 0; f < F_; ++f)
                if (!is_nan(task.x[f])) sum += log_density(c, f, task);
            task.out[c] += sum;
        }
    }

private:
    static constexpr int kSums = 4, kMoments = 4;
    LimbArray& sums(int k) { return k == 0 ? missing_ : k == 1 ? weight_ : k == 2 ? first_ : second_; }

    static double log_share(double rows, double log_total) {
        return rows > 0 ? logarithm(rows) - log_total : -double_of(u64{0x7FF} << 52);
    }

    static double square(double x) { return x * x; }

    // values_: n, mean, m2, rest of block b (0 is the whole, c + 1 a class), each (F,)
    const double* block(i64 b) const { return values_ + kMoments * b * F_; }

    // The log of the density of x, as estimate_normal in families/normal.py makes it from the moments.
    double log_density(i64 c, i64 f, const NormalScoreTask& task) const {
        const double *own = block(c + 1) + f, *whole = block(0) + f;
        const double n = own[0], m2 = own[2 * F_], N = whole[0], M = whole[F_], M2 = whole[2 * F_];
        const double mean = n > 0 ? own[F_] : M, rest = n > 0 ? own[3 * F_] : whole[3 * F_];
        const double alpha = task.alpha[f], weight = n + alpha;
        const double divisor = task.student ? weight : weight - task.ddof;
        const double pull = weight > 0 ? alpha / weight : 1.0;
        double share = 0.0, of_whole = 1.0;  // without a variance of its own, the class has the column's
        if (divisor > 0) {
            share = task.student ? (1 + 1 / weight) / weight : 1 / divisor;
            of_whole = alpha * share;
        }
        const double variance = N > 0 ? smaller(M2, kLargestScale) / N : 0.0;
        const double spread = variance > 0 ? variance : smaller(larger(square(M), 1.0), kLargestScale);
        const double apart = (mean - M) + (rest - whole[3 * F_]);
        const double between = n * pull * smaller(square(apart), kLargestScale);
        double scale2 = share * (smaller(m2, kLargestScale) + between) + of_whole * variance;
        scale2 = smaller(larger(scale2, larger(task.floor * spread, kSmallestScale)), kLargestScale);
        const double away = (task.x[f] - mean) - rest + pull * apart;
        const double log_scale = 0.5 * logarithm(scale2);
        if (!task.student) {
            const double z = away * std::sqrt(0.5 / scale2);
            return kLogNormal - log_scale - square(z);
        }
        const double freedom = weight > 0 ? weight : 1.0;
        const double z = std::fabs(away) * std::sqrt(1 / (freedom * scale2));
        const double log_odds = z < kFar ? log_of_one_plus(square(z)) : 2 * logarithm(z);
        return kLogNormal + half_step(freedom / 2) - log_scale - (freedom + 1) / 2 * log_odds;
    }

    // log Gamma(z + 1/2) - log Gamma(z) - log(z) / 2: see families/normal.py.
    static double half_step(double z) {
        const bool low = z < kSeries;
        const double big = low ? z + kSeries : z, r = 1 / square(big);
        double sum = -(1.0 / 8 - r * (1.0 / 192 - r * (1.0 / 640 - r * (17.0 / 14336 - r * 31 / 18432)))) / big;
        if (!low) return sum;
        double product = 1.0;
        for (int k = 0; k < kSeries; ++k) product *= (z + k) / (z + k + 0.5);
        return sum + logarithm(product) + 0.5 * log_of_one_plus(kSeries / z);
    }

    static double log_of_one_plus(double u) {
        double out[4];
        store(out, logarithm_of_one_plus(all(u)));
        return out[0];
    }

    void put(i64 c, const double* x, double w, bool minus) {
        const Parts parts = parts_of(w);
        for (i64 b = 0;; b = c + 1) {  // the whole, then the class
            rows_.add(b, parts.mantissa, parts.exponent, minus);
            for (i64 f = 0; f < F_; ++f) {
                const i64 cell = b * F_ + f;
                if (is_nan(x[f])) {
                    missing_.add(cell, parts.mantissa, parts.exponent, minus);
                    continue;
                }
                weight_.add(cell, parts.mantissa, parts.exponent, minus);
                add_powers(cell, parts_of(x[f]), parts, w == 1.0, minus);
            }
            if (b != 0) break;
        }
        settle(c);
    }

    void add_powers(i64 cell, const Parts& p, const Parts& w, bool one, bool minus) {
        if (p.mantissa == 0 || w.mantissa == 0) return;
        if (one) {
            const Pair xx = multiply(p.mantissa, p.mantissa);
            first_.add(cell, p.mantissa, p.exponent, p.negative != minus);
            second_.add_words(cell, {xx.low, xx.high}, 2 * p.exponent, minus);
            return;
        }
        const Pair wx = multiply(w.mantissa, p.mantissa);
        first_.add_words(cell, {wx.low, wx.high}, w.exponent + p.exponent, p.negative != minus);
        const Pair lower = multiply(wx.low, p.mantissa), upper = multiply(wx.high, p.mantissa);
        const u64 middle = lower.high + upper.low, carry = middle < lower.high ? 1 : 0;
        second_.add_words(cell, {lower.low, middle, upper.high + carry}, w.exponent + 2 * p.exponent, minus);
    }

    // Carry, and compute the moments of class c and of the whole.
    void settle(i64 c) {
        for (i64 b = 0;; b = c + 1) {
            for (int k = 0; k < kSums; ++k)
                for (i64 f = 0; f < F_; ++f) sums(k).settle(b * F_ + f);
            rows_.settle(b);
            double* n = values_ + kMoments * b * F_;
            exact_moments({weight_.view(b * F_), first_.view(b * F_), second_.view(b * F_), F_, n, n + F_, n + 2 * F_,
                           n + 3 * F_});
            if (b != 0) break;
        }
    }

    bool possible(i64 c) const {
        if (row_weight(c + 1) < 0) return false;
        const double* n = block(c + 1);
        for (i64 f = 0; f < F_; ++f) {
            const i64 cell = (c + 1) * F_ + f;
            if (missing_.negative(cell) || weight_.negative(cell) || second_.negative(cell)) return false;
            if (weight_.zero(cell) ? !first_.zero(cell) || !second_.zero(cell) : n[2 * F_ + f] < 0) return false;
        }
        return true;
    }

    double row_weight(i64 b) const {
        double out = 0.0;
        to_float({rows_.view(b), 1, &out});
        return out;
    }

    static constexpr double kLogNormal = -0.91893853320467274178;  // -log(2 pi) / 2
    static constexpr double kFar = 1e150;                          // its square is still a double
    static constexpr int kSeries = 16;                             // from here on the series has all digits

    const i64 F_;
    i64 C_ = 0, room_ = 1;
    LimbArray missing_, weight_, first_, second_, rows_;
    double* values_;  // (C + 1, kMoments, F)
};

inline void* normals_new(i64 columns) { return new NormalSums(columns); }
inline void normals_delete(void* sums) { delete static_cast<NormalSums*>(sums); }
inline void normals_extend(void* sums) { static_cast<NormalSums*>(sums)->extend(); }
inline bool normals_change(void* sums, i64 c, const double* x, double w, bool minus) {
    return static_cast<NormalSums*>(sums)->change(c, x, w, minus);
}
inline void normals_load(void* sums, i64 c, const LimbsView* from) {
    static_cast<NormalSums*>(sums)->load(c, from);
}
inline void normals_copy(void* sums, i64 which, Limbs& out) { static_cast<NormalSums*>(sums)->copy(which, out); }
inline double normals_rows(void* sums, i64 c) { return static_cast<NormalSums*>(sums)->rows(c); }
inline void normals_score(void* sums, const NormalScoreTask& task) { static_cast<NormalSums*>(sums)->score(task); }

}  // namespace tally::TALLY_ISA
