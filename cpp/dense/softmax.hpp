// From rows of scores to probabilities or log-probabilities, and the log of each row's sum of exponentials.
//
// IN: scores (n, C). OUT: out (n, C), which may be scores, or null if only the norms of logs are needed; log_norm (n,). The
// caller guarantees nothing about values: a row of -inf becomes zeros (logs: stays -inf) with log_norm -inf; NaN or +inf in
// a row makes the row NaN.
// Cost: about 8 cycles a score. Twins: reference.softmax, reference.log_softmax, reference.log_norm.
#pragma once

#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

inline Fault softmax(const SoftmaxTask& task) {
    const i64 C = task.n_classes;
    const bool logs_out = task.log && task.out != nullptr;
    const double nothing = -double_of(u64{0x7FF} << 52);
    const i64 rows = larger<i64>(1, smaller<i64>(task.n_rows, smaller<i64>(64, 4096 / larger<i64>(C, 1))));
    Scratch<double> shifted(rows * C + 4), tops(rows), sums(rows + 4), logs(rows + 4);
    for (i64 start = 0; start < task.n_rows; start += rows) {
        const i64 count = smaller(rows, task.n_rows - start);
        for (i64 i = 0; i < count; ++i) {
            const double* row = task.scores + (start + i) * C;
            double top = nothing;
            for (i64 c = 0; c < C; ++c) top = top > row[c] ? top : row[c];
            tops[i] = top == nothing ? 0.0 : top;
            double* shift = &shifted[i * C];
            for (i64 c = 0; c < C; ++c) shift[c] = row[c] - tops[i];
        }
        if (logs_out)
            for (i64 k = 0; k < count * C; ++k) task.out[start * C + k] = shifted[k];
        for (i64 k = 0; k < count * C; k += 4) store(&shifted[k], exponential(load(&shifted[k])));
        for (i64 i = 0; i < count; ++i) {
            const double* row = &shifted[i * C];
            double sum = 0.0;
            for (i64 c = 0; c < C; ++c) sum += row[c];
            sums[i] = sum;
            if (task.log) continue;
            const double scale = sum == 0.0 ? 0.0 : 1.0 / sum;
            double* out = task.out + (start + i) * C;
            for (i64 c = 0; c < C; ++c) out[c] = row[c] * scale;
        }
        for (i64 i = 0; i < count; i += 4) store(&logs[i], logarithm(load(&sums[i])));
        for (i64 i = 0; i < count; ++i) {
            if (sums[i] == 0.0) {
                task.log_norm[start + i] = nothing;
                continue;
            }
            const double log = is_nan(sums[i]) ? sums[i] : logs[i];
            task.log_norm[start + i] = tops[i] + log;
            if (!logs_out) continue;
            double* out = task.out + (start + i) * C;
            for (i64 c = 0; c < C; ++c) out[c] -= log;
        }
    }
    return {};
}

}  // namespace tally::TALLY_ISA
