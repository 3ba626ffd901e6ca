// Squared distances of rows from the mean of each class, |Rᵀ(x − m)|², R upper triangular: lanes are rows.
//
// IN: table (n, d) of doubles or floats, d at most kChunk; mean (C, d); root (C, d, d), whose lower triangle is not read.
// OUT: out (n, C), written; NaN for a row in which a number is missing.
// Every sum runs from the first column to the last, so a row's distance depends on that row alone, to the last bit.
// Cost: d (d + 1) / 2 multiplications and additions per 4 rows and class. Twin: reference.distances.
#pragma once

#include "dense/score.hpp"

namespace tally::TALLY_ISA {

constexpr int kAbreast = 4;  // vectors of rows: sixteen rows, their deviations and a root of 50 columns fill the first cache

// The upper triangles, two columns at a time: both entries of each row, and at last the one that only the second has.
inline void pack_root(const double* root, i64 d, double* to) {
    for (i64 j = 0; j < d; j += 2)
        for (i64 i = 0; i <= smaller(j + 1, d - 1); ++i)
            for (i64 k = j; k < smaller(j + 2, d); ++k)
                if (i <= k) *to++ = root[i * d + k];
}

// Sum the squares of Rᵀu, two columns of R at a time: eight independent chains of additions.
inline void sum_squares(const double* u, const double* root, i64 d, F4 (&sum)[kAbreast]) {
    constexpr int V = kAbreast;
    for (int v = 0; v < V; ++v) sum[v] = all(0.0);
    i64 j = 0;
    for (; j + 1 < d; j += 2) {
        F4 one[V], two[V];
        for (int v = 0; v < V; ++v) one[v] = two[v] = all(0.0);
        const double* x = u;
        for (i64 i = 0; i <= j; ++i, x += 4 * V, root += 2) {
            const F4 first = all(root[0]), second = all(root[1]);
            for (int v = 0; v < V; ++v) {
                const F4 at = load(x + 4 * v);
                one[v] = one[v] + first * at;
                two[v] = two[v] + second * at;
            }
        }
        const F4 last = all(*root++);
        for (int v = 0; v < V; ++v) {
            two[v] = two[v] + last * load(x + 4 * v);
            sum[v] = sum[v] + one[v] * one[v];
            sum[v] = sum[v] + two[v] * two[v];
        }
    }
    if (j == d) return;
    F4 one[V];
    for (int v = 0; v < V; ++v) one[v] = all(0.0);
    for (i64 i = 0; i < d; ++i)
        for (int v = 0; v < V; ++v) one[v] = one[v] + all(root[i]) * load(u + (i * V + v) * 4);
    for (int v = 0; v < V; ++v) sum[v] = sum[v] + one[v] * one[v];
}

inline Fault distances(const DistancesTask& task) {
    constexpr i64 kRows = 4 * kAbreast;
    const PlainArithmetic plain;
    const i64 n = task.table.n_rows, d = task.table.n_columns, C = task.n_classes, size = d * (d + 1) / 2;
    Scratch<double> roots(C * size);
    for (i64 c = 0; c < C; ++c) pack_root(task.root + c * d * d, d, roots.get() + c * size);
    Block<kAbreast> block;
    alignas(64) double u[kChunk * kRows];
    for (i64 row = 0; row < n; row += kRows) {
        const i64 count = smaller(kRows, n - row);
        if (d > 0) block.read(task.table, row, count, 0, d);
        for (i64 c = 0; c < C; ++c) {
            for (i64 f = 0; f < d; ++f) {
                const F4 mean = all(task.mean[c * d + f]);
                for (i64 at = f * kRows; at < (f + 1) * kRows; at += 4) store(u + at, load(block.x + at) - mean);
            }
            F4 sum[kAbreast];
            sum_squares(u, roots.get() + c * size, d, sum);
            double each[kRows];
            for (int v = 0; v < kAbreast; ++v) store(each + 4 * v, sum[v]);
            for (i64 i = 0; i < count; ++i) task.out[(row + i) * C + c] = each[i];
        }
    }
    return {};
}

}  // namespace tally::TALLY_ISA
