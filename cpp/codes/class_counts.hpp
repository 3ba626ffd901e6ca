// The number of rows of each class.
//
// No instruction set matters here. Rows of one class often follow each other, and each sum would wait for the one
// before: neighbours are counted in tables of their own.
// IN: classes (n,). OUT: counts (C,). Returns the first row whose class is outside 0 to C - 1, or n.
// Cost: about 0.4 ns per row. Twin: numpy.bincount.
#pragma once

#include <cstdint>
#include <vector>

namespace tally {

inline std::int64_t count_rows_of_classes(const std::int32_t* classes, std::int64_t n, std::int64_t C,
                                          std::int64_t* counts) {
    constexpr std::int64_t kTables = 4;
    std::vector<std::int64_t> tables(static_cast<std::size_t>(kTables * C));
    const auto outside = [&](std::int64_t i) { return classes[i] < 0 || classes[i] >= C; };
    std::int64_t i = 0;
    for (; i + kTables <= n; i += kTables) {
        bool any = false;
        for (std::int64_t k = 0; k < kTables; ++k) any |= outside(i + k);
        if (any) break;
        for (std::int64_t k = 0; k < kTables; ++k) ++tables[k * C + classes[i + k]];
    }
    for (; i < n; ++i) {
        if (outside(i)) return i;
        ++tables[classes[i]];
    }
    for (std::int64_t c = 0; c < C; ++c) {
        counts[c] = 0;
        for (std::int64_t k = 0; k < kTables; ++k) counts[c] += tables[k * C + c];
    }
    return n;
}

}  // namespace tally
