// The score test of coded columns: slope and curvature of the log-likelihood by the weight of each column's terms.
//
// With x[c] a row's term in class c (`less` for its own class, `full` for the others) and p its probabilities so far,
//   slope[f] = sum_i a[i] * (x[own] - sum_c p[c] x[c]),   curve[f] = sum_i b[i] * Var_p(x)
// A code outside [0, size) adds nothing.
// IN: table (n, F) of integers of any width, full and less (offsets[F], C), classes (n,), p (n, C), a and b (n,). The
// caller guarantees shapes and classes below C. OUT: slope and curve (F,); set.
// Cost: three operations per row, column and class. Twin: reference.score_test.
#pragma once

#include "codes/code_index.hpp"

namespace tally::TALLY_ISA {

template <class Code>
inline void score_test_column(const ScoreTestTask& task, i64 f) {
    const Column& column = task.table.columns[f];
    const i64 C = task.n_classes, size = task.offsets[f + 1] - task.offsets[f];
    const double *full = task.full + task.offsets[f] * C, *less = task.less + task.offsets[f] * C;
    double slope = 0.0, curve = 0.0;
    for (i64 i = 0; i < task.table.n_rows; ++i) {
        const i64 code = *reinterpret_cast<const Code*>(column.base + i * column.stride);
        if (code < 0 || code >= size) continue;
        const double *x = full + code * C, *p = task.p + i * C;
        const i64 own = task.classes[i];
        const double mine = less[code * C + own];
        double mean = 0.0, square = 0.0;
        for (i64 c = 0; c < C; ++c) {
            const double value = c == own ? mine : x[c], part = p[c] * value;
            mean += part;
            square += part * value;
        }
        slope += task.slope_weights[i] * (mine - mean);
        curve += task.curve_weights[i] * (square - mean * mean);
    }
    task.slope[f] = slope;
    task.curve[f] = curve;
}

inline Fault score_test(const ScoreTestTask& task) {
    for (i64 f = 0; f < task.table.n_columns; ++f)
        with_code_type(task.table.columns[f].type, [&](auto zero) { score_test_column<decltype(zero)>(task, f); });
    return {};
}

}  // namespace tally::TALLY_ISA
