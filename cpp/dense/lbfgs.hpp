// The two-loop recursion of L-BFGS: the inverse curvature that pairs of steps and changes of slope suggest, times a slope.
//
// No instruction set matters here: there are some hundred numbers, and the order of additions is fixed.
// IN: `pairs` steps `moved` and changes of slope `turned`, (K,) each, oldest first; their products `curved`, above 0.
// OUT: out (K,), the slope on entry. Cost: 4 pairs passes over K numbers. Twin: tests/kernels/lbfgs_reference.py.
#pragma once

#include <cstdint>

namespace tally::lbfgs {

using i64 = std::int64_t;

constexpr i64 kMost = 32;  // pairs

// Four sums, so that one need not wait for the other.
inline double dot(const double* a, const double* b, i64 K) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    i64 k = 0;
    for (; k + 4 <= K; k += 4)
        for (int lane = 0; lane < 4; ++lane) sums[lane] += a[k + lane] * b[k + lane];
    for (; k < K; ++k) sums[0] += a[k] * b[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

inline void add(double factor, const double* from, i64 K, double* to) {
    for (i64 k = 0; k < K; ++k) to[k] += factor * from[k];
}

inline void inverse_times(const double* const* moved, const double* const* turned, const double* curved, i64 pairs, i64 K,
                          double* out) {
    double shares[kMost];
    for (i64 p = pairs - 1; p >= 0; --p) {
        shares[p] = dot(moved[p], out, K) / curved[p];
        add(-shares[p], turned[p], K, out);
    }
    if (pairs > 0) {
        const double* last = turned[pairs - 1];
        const double scale = curved[pairs - 1] / dot(last, last, K);
        for (i64 k = 0; k < K; ++k) out[k] *= scale;
    }
    for (i64 p = 0; p < pairs; ++p) add(shares[p] - dot(turned[p], out, K) / curved[p], moved[p], K, out);
}

}  // namespace tally::lbfgs
