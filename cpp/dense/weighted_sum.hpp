// The sum of terms, each times a weight: out[d, i] = sum of weights[u] * terms[u, d, i], in the order of u.
//
// No instruction set matters here: the sum is bound by the loads.
// IN: weights (U,); terms (U, D, n) of doubles or floats, whose rows of n follow each other at any distance. A product is
// rounded to the type of its term; a weight of 0 adds nothing. OUT: out (D, n).
// Cost: one pass over the terms. Twin: weighted_sum in tests/kernels/reference.py.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::weighted {

using i64 = std::int64_t;

// `by_term` and `by_class` are distances in bytes.
template <class Real>
inline void sum(const double* weights, const char* terms, i64 U, i64 D, i64 n, std::ptrdiff_t by_term,
                std::ptrdiff_t by_class, double* out) {
    constexpr i64 kAtOnce = 1024;  // sums, which stay in the first cache
    for (i64 d = 0; d < D; ++d)
        for (i64 start = 0; start < n; start += kAtOnce) {
            const i64 count = n - start < kAtOnce ? n - start : kAtOnce;
            double* const sums = out + d * n + start;
            for (i64 i = 0; i < count; ++i) sums[i] = 0.0;
            for (i64 u = 0; u < U; ++u) {
                if (weights[u] == 0.0) continue;
                const Real weight = static_cast<Real>(weights[u]);
                const Real* const term = reinterpret_cast<const Real*>(terms + u * by_term + d * by_class) + start;
                for (i64 i = 0; i < count; ++i) sums[i] += static_cast<double>(weight * term[i]);
            }
        }
}

}  // namespace tally::weighted
