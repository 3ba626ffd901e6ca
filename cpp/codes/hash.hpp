// Hashes of rows of codes, and of sparse rows: the sums of their cells' hashes (see dense/hash.hpp).
//
// IN: codes with a hash per value; sparse rows with one seed.
// OUT: out (n,), added to, modulo 2^64. A missing value (a code outside, an entry of 0) adds nothing.
// OUT for codes: outside, to which the number of codes outside is added.
// The caller guarantees only stated lengths: sparse bounds and indices are checked here.
// Cost: about two operations per code, ten per entry on four at a time. Twins: reference.hash_codes, hash_sparse.
#pragma once

#include <algorithm>

#include "codes/code_index.hpp"
#include "dense/hash.hpp"
#include "sparse/count_and_score.hpp"

namespace tally::TALLY_ISA {

template <class Integer>
inline F4 load_four(const Integer* x) {
    const double four[4] = {static_cast<double>(x[0]), static_cast<double>(x[1]), static_cast<double>(x[2]),
                            static_cast<double>(x[3])};
    return load(four);
}

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

// Return the sum of the hashes of entries [from, to); an entry of 0 adds nothing.
template <class Index, class Entry>
inline u64 hash_entries(const Index* indices, const Entry* data, i64 from, i64 to, u64 seed) {
    const I4 seeds = all(static_cast<i64>(seed));
    const F4 zero = all(0.0);
    I4 sums = all(i64{0});
    i64 k = from;
    for (; k + 4 <= to; k += 4) {
        const F4 x = load_four(data + k), some = either(less(x, zero), not_at_most(x, zero));
        sums = sums + bits(keep(some, doubles(hash_cells(x, mixed(load(indices + k), seeds)))));
    }
    u64 sum = sum_of(sums);
    for (; k < to; ++k) {
        const double x = static_cast<double>(data[k]);
        if (x != 0.0) sum += hash_cell(x, mixed(static_cast<u64>(indices[k]), seed));
    }
    return sum;
}

inline Fault hash_sparse(const HashSparseTask& task) {
    const Sparse& matrix = task.matrix;
    const u64 seed = task.seed ^ kColumnKey;
    return with_index_type(matrix.indices.type, [&](auto index_zero) {
        return with_entry_type(matrix.data.type, [&](auto entry_zero) -> Fault {
            const auto* indices = reinterpret_cast<const decltype(index_zero)*>(matrix.indices.base);
            const auto* data = reinterpret_cast<const decltype(entry_zero)*>(matrix.data.base);
            for (i64 i = 0; i < matrix.n_rows; ++i) {
                const Span span = row_span(matrix, i);
                if (!span.ok) return {FaultKind::bad_indptr, i, 0, 0.0};
                task.out[i] += hash_entries(indices, data, span.from, span.to, seed);
            }
            return {};
        });
    });
}

}  // namespace tally::TALLY_ISA
