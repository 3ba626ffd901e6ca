// The sum of some rows of a table, in the order of the indices.
//
// IN: table (V, C), indices (n,) within it (checked by the caller). OUT: sums (C,), added to.
// One strip of classes at a time, whose sums stay in registers. The caller passes no more rows than fit the first-level
// cache, where each strip then finds them. Each sum grows in the order of the indices, so all instruction sets give the
// same bits. Cost: C additions per row. Twin: Lookup.score in kernels/text_reference.py.
#pragma once

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

template <int Vectors>
inline void sum_strip(const SumRowsTask& task, i64 first) {
    F4 sums[Vectors];
    for (int v = 0; v < Vectors; ++v) sums[v] = load(task.sums + first + 4 * v);
    for (i64 k = 0; k < task.n; ++k) {
        const double* row = task.table + static_cast<i64>(task.indices[k]) * task.n_classes + first;
        for (int v = 0; v < Vectors; ++v) sums[v] = sums[v] + load(row + 4 * v);
    }
    for (int v = 0; v < Vectors; ++v) store(task.sums + first + 4 * v, sums[v]);
}

inline void sum_rows(const SumRowsTask& task) {
    i64 c = 0;
    for (; c + 32 <= task.n_classes; c += 32) sum_strip<8>(task, c);
    if (c + 16 <= task.n_classes) sum_strip<4>(task, c), c += 16;
    if (c + 8 <= task.n_classes) sum_strip<2>(task, c), c += 8;
    if (c + 4 <= task.n_classes) sum_strip<1>(task, c), c += 4;
    for (; c < task.n_classes; ++c) {
        double sum = task.sums[c];
        for (i64 k = 0; k < task.n; ++k) sum += task.table[static_cast<i64>(task.indices[k]) * task.n_classes + c];
        task.sums[c] = sum;
    }
}

}  // namespace tally::TALLY_ISA
