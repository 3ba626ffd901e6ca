// What counts stand for, such as their logarithms, looked up and transposed in one pass.
//
// IN: counts (C, F); columns [first, first + R) of them; values (K,), those of the counts 0, ..., K - 1. OUT: out (R, C),
// NaN for any other count. Returns how many those are. Cost: one pass over these counts and out. Twin:
// reference.look_up_counts.
#pragma once

#include <cstdint>
#include <limits>

namespace tally::exact {

struct LookUpCountsTask {
    const std::int64_t* counts;
    std::int64_t n_classes, n_columns;  // C, F
    std::int64_t first, n_read;         // R
    const double* values;
    std::int64_t n_values;  // K
    double* out;
};

inline std::int64_t look_up_counts(const LookUpCountsTask& task) {
    constexpr std::int64_t kTogether = 8;  // columns: a cache line of counts of each class
    const std::int64_t C = task.n_classes, F = task.n_columns, R = task.n_read;
    const auto known = static_cast<std::uint64_t>(task.n_values);
    std::int64_t others = 0;
    for (std::int64_t from = 0; from < R; from += kTogether) {
        const std::int64_t width = R - from < kTogether ? R - from : kTogether;
        for (std::int64_t c = 0; c < C; ++c) {
            const std::int64_t* const mine = task.counts + c * F + task.first + from;
            double* const to = task.out + from * C + c;
            for (std::int64_t k = 0; k < width; ++k) {
                const auto count = static_cast<std::uint64_t>(mine[k]);
                others += count >= known;
                to[k * C] = count < known ? task.values[count] : std::numeric_limits<double>::quiet_NaN();
            }
        }
    }
    return others;
}

}  // namespace tally::exact
