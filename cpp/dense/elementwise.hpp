// exp, log, log1p and log Gamma of each number, and products of matrices, with the same bits on every processor.
//
// What a library computes changes with its version and with the processor's instructions, so nothing that a prediction
// rests on may come from one.
// IN: numbers (n,) of any value; or left (n, F) and right (F, C). OUT: out (n,), may be the input; or (n, C), added to.
// Each entry of a product grows in the order of f. Cost: elementary.hpp's for 4 numbers; F * C / 4 vector operations a row.
// Twins: NumPy's and SciPy's functions and matmul, which tests/kernels/test_elementwise.py compares with.
#pragma once

#include <limits>

#include "dense/elementary.hpp"
#include "dense/log_gamma.hpp"

namespace tally::TALLY_ISA {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestNormal = 0x1p-1022, kMostNormal = 0x1.fffffffffffffp1023;

struct Log {
    static F4 plain(F4 x) { return logarithm(x); }
    static F4 special(F4 x) { return either(not_at_most(all(kSmallestNormal), x), not_at_most(x, all(kMostNormal))); }
    static double one(double x) {
        if (!(x > 0.0)) return x == 0.0 ? -kInfinity : kNan;
        if (x < kSmallestNormal) return logarithm(x * 0x1p54) - 54 * (kLn2High + kLn2Low);
        return x;  // infinity
    }
};

struct Log1p {
    static F4 plain(F4 x) { return logarithm_of_one_plus(x); }
    static F4 special(F4 x) { return either(not_at_most(x, all(kMostNormal)), not_at_most(all(0.0), x)); }
    static double one(double x) {
        if (!(x < 0.0)) return x;  // infinity, NaN
        if (x <= -1.0) return x == -1.0 ? -kInfinity : kNan;
        double out[4];
        const double moved = 1.0 + x;
        store(out, logarithm(all(moved), all((x - (moved - 1.0)) / moved)));
        return out[0];
    }
};

struct Exp {
    static F4 plain(F4 x) { return exponential(x); }
    static F4 special(F4 x) { return not_at_most(x, all(kTopExponent)); }
    static double one(double x) {
        if (!(x < 710.0)) return is_nan(x) ? x : kInfinity;
        double out[4];
        store(out, exponential(all(x - 2.0)));  // the square of e is not rounded up, or the largest double is lost
        return out[0] * 7.3890560989306495;
    }
};

struct LogGamma {
    static F4 plain(F4 x) { return log_gamma(x); }
    static F4 special(F4 x) { return either(not_at_most(all(kLeastOfGamma), x), not_at_most(x, all(kMostNormal))); }
    // Gamma(x) is 1 / x near 0.
    static double one(double x) {
        if (x == kInfinity) return x;
        return x >= kSmallestNormal ? -logarithm(x) : -Log::one(x);
    }
};

// At most four numbers, some of them special or beyond the last.
template <class Function>
TALLY_NOINLINE void map_some(const double* from, i64 count, double* to) {
    double in[4] = {1.0, 1.0, 1.0, 1.0}, out[4];
    for (i64 k = 0; k < count; ++k) in[k] = from[k];
    const F4 x = load(in), special = Function::special(x);
    const int wild = lanes(special);
    store(out, Function::plain(either(drop(special, x), keep(special, all(0.5)))));
    for (i64 k = 0; k < count; ++k) to[k] = (wild >> k & 1) == 0 ? out[k] : Function::one(in[k]);
}

template <class Function>
inline void map_numbers(const ElementwiseTask& task) {
    i64 start = 0;
    for (; start + 4 <= task.n; start += 4) {
        const F4 x = load(task.in + start);
        if (lanes(Function::special(x)) == 0) store(task.out + start, Function::plain(x));
        else map_some<Function>(task.in + start, 4, task.out + start);
    }
    if (start < task.n) map_some<Function>(task.in + start, task.n - start, task.out + start);
}

inline Fault elementwise(const ElementwiseTask& task) {
    if (task.function == 0) map_numbers<Log>(task);
    if (task.function == 1) map_numbers<Log1p>(task);
    if (task.function == 2) map_numbers<Exp>(task);
    if (task.function == 3) map_numbers<LogGamma>(task);
    return {};
}

// Four rows at a time, whose sums of four classes stay in registers.
inline Fault add_product(const ProductTask& task) {
    const i64 F = task.width, C = task.n_classes, padded = (C + 3) / 4 * 4;
    Scratch<double> right(F * padded);
    for (i64 f = 0; f < F; ++f)
        for (i64 c = 0; c < C; ++c) right[f * padded + c] = task.right[f * C + c];
    for (i64 row = 0; row < task.n_rows; row += 4) {
        const i64 count = smaller<i64>(4, task.n_rows - row);
        const double* left[4];
        for (i64 k = 0; k < 4; ++k) left[k] = task.left + (row + smaller(k, count - 1)) * F;
        for (i64 c = 0; c < C; c += 4) {
            F4 sum[4] = {all(0.0), all(0.0), all(0.0), all(0.0)};
            for (i64 f = 0; f < F; ++f) {
                const F4 entry = load(right.get() + f * padded + c);
                for (int k = 0; k < 4; ++k) sum[k] = sum[k] + all(left[k][f]) * entry;
            }
            for (i64 k = 0; k < count; ++k) {
                double score[4];
                store(score, sum[k]);
                for (i64 d = c; d < smaller(C, c + 4); ++d) task.out[(row + k) * C + d] += score[d - c];
            }
        }
    }
    return {};
}

}  // namespace tally::TALLY_ISA
