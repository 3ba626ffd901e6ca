// Whole numbers added to columns at given places: merges counts by value.
//
// IN: values (R, V), and the place of each column among the S of the sums; places may repeat. OUT: sums (R, S), added
// to, modulo 2^64. The caller guarantees only stated lengths: a place outside is refused, as it is read. Cost: one pass.
// Twin: reference.add_columns.
#pragma once

#include <cstdint>

namespace tally::exact {

struct AddColumnsTask {
    const std::int64_t *values, *places;
    std::int64_t n_rows, n_columns;
    std::int64_t* sums;
    std::int64_t n_sums;  // S
};

// Return false where a place is outside.
inline bool add_columns(const AddColumnsTask& task) {
    for (std::int64_t r = 0; r < task.n_rows; ++r) {
        const std::int64_t* const from = task.values + r * task.n_columns;
        std::int64_t* const to = task.sums + r * task.n_sums;
        for (std::int64_t v = 0; v < task.n_columns; ++v) {
            const std::int64_t at = task.places[v];
            if (at < 0 || at >= task.n_sums) return false;
            to[at] = static_cast<std::int64_t>(static_cast<std::uint64_t>(to[at]) + static_cast<std::uint64_t>(from[v]));
        }
    }
    return true;
}

}  // namespace tally::exact
