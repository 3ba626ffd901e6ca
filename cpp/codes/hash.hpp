// Hashes of rows of codes: the sums of their cells' hashes (see dense/hash.hpp).
//
// IN: codes with a hash per value. OUT: out (n,), added to, modulo 2^64; outside, to which the number of codes outside
// is added: they add nothing to a hash. Cost: about two operations per code. Twin: reference.hash_codes.
#pragma once

#include <algorithm>

#include "codes/code_index.hpp"
#include "dense/hash.hpp"

namespace tally::TALLY_ISA {

// For fewer codes than hashes: one by one.
inline Fault hash_few_codes(const HashCodesTask& task) {
    for (i64 f = 0; f < task.table.n_columns; ++f) {
        const u64* hashes = task.hashes + task.offsets[f];
        const u64 size = static_cast<u64>(task.offsets[f + 1] - task.offsets[f]);
        for (i64 i = 0; i < task.table.n_rows; ++i) {
            const u64 place = static_cast<u64>(integer_element(task.table.columns[f], i)) - static_cast<u64>(task.low);
            if (place < size)
                task.out[i] += hashes[place];
            else
                ++*task.outside;
        }
    }
    return {};
}

inline Fault hash_codes(const HashCodesTask& task) {
    const i64 n = task.table.n_rows, F = task.table.n_columns, places = task.offsets[F];
    if (n * F < places) return hash_few_codes(task);
    // The hash after the last is the 0 that a code outside adds: without a branch for each code.
    Scratch<u64> room(places + 1);
    u64* const hashes = room.get();
    std::copy(task.hashes, task.hashes + places, hashes);
    CodeIndex index(task.table, task.low, 1);
    for (i64 f = 0; f < F; ++f) index.set(f, task.offsets[f + 1] - task.offsets[f], task.offsets[f], places);
    i64 outside = 0;
    for (i64 row = 0; row < n; row += index.rows()) {
        const i64 count = smaller(index.rows(), n - row);
        for (i64 f0 = 0; f0 < F; f0 += CodeIndex::kWidth) {
            const i64 width = smaller(CodeIndex::kWidth, F - f0);
            index.fill(row, count, f0, f0 + width);
            const i64 pitch = index.pitch();
            for (i64 i = 0; i < count; ++i) {
                const i64* const at = index.row(i);
                u64 sum = 0;
                for (i64 f = 0; f < width; ++f) {
                    sum += hashes[at[f * pitch]];
                    outside += at[f * pitch] == places;
                }
                task.out[row + i] += sum;
            }
        }
    }
    *task.outside += outside;
    return {};
}

}  // namespace tally::TALLY_ISA
