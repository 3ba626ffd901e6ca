// Hashes of rows: a row's is the sum of its cells', so that neither the order of columns nor that of rows matters.
//
// IN: a table of doubles or floats with a seed per column; codes with a hash per value; sparse rows with one seed.
// OUT: out (n,), added to, modulo 2^64. A missing value (NaN, a code outside, an entry of 0) adds nothing; -0.0 is 0.0.
// The caller guarantees only stated lengths: sparse bounds and indices are checked here.
// Cost: about ten operations a cell. Twins: reference.hash_dense, hash_codes, hash_sparse.
#pragma once

#include "code_index.hpp"
#include "sparse.hpp"

namespace tally::TALLY_ISA {

inline u64 mixed(u64 bits, u64 seed) {
    bits = (bits ^ seed) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 32)) * 0xD6E8FEB86659FD93u;
    return bits ^ (bits >> 29);
}

inline u64 hash_cell(double x, u64 seed) {
    const u64 hash = mixed(bits_of(x + 0.0), seed);
    return is_nan(x) ? 0 : hash;
}

template <class Real>
inline void hash_adjacent(const Table& table, const u64* seeds, u64* out) {
    const Column& first = table.columns[0];
    for (i64 i = 0; i < table.n_rows; ++i) {
        const auto* row = reinterpret_cast<const Real*>(first.base + i * first.stride);
        u64 sum = 0;
        for (i64 f = 0; f < table.n_columns; ++f) sum += hash_cell(static_cast<double>(row[f]), seeds[f]);
        out[i] += sum;
    }
}

inline Fault hash_dense(const HashDenseTask& task) {
    const Table& table = task.table;
    if (table.n_columns == 0 || table.n_rows == 0) return {};
    const Column& first = table.columns[0];
    const i64 size = first.type == Type::f64 ? 8 : 4;
    bool adjacent = true;
    for (i64 f = 1; f < table.n_columns; ++f)
        adjacent = adjacent && table.columns[f].type == first.type && table.columns[f].stride == first.stride &&
                   table.columns[f].base == first.base + f * size;
    if (adjacent && table.n_columns > 1) {
        if (first.type == Type::f64)
            hash_adjacent<double>(table, task.seeds, task.out);
        else
            hash_adjacent<float>(table, task.seeds, task.out);
        return {};
    }
    constexpr i64 kTile = 4096;  // rows whose sums stay in cache from column to column
    for (i64 start = 0; start < table.n_rows; start += kTile) {
        const i64 stop = smaller(table.n_rows, start + kTile);
        for (i64 f = 0; f < table.n_columns; ++f) {
            const Column& column = table.columns[f];
            const u64 seed = task.seeds[f];
            if (column.type == Type::f64 && column.stride == 8) {
                const auto* x = reinterpret_cast<const double*>(column.base);
                for (i64 i = start; i < stop; ++i) task.out[i] += hash_cell(x[i], seed);
            } else {
                for (i64 i = start; i < stop; ++i) task.out[i] += hash_cell(real_element(column, i), seed);
            }
        }
    }
    return {};
}

inline Fault hash_codes(const HashCodesTask& task) {
    const i64 n = task.table.n_rows, F = task.table.n_columns;
    for (i64 f = 0; f < F; ++f) {
        const u64* hashes = task.hashes + task.offsets[f];
        const u64 size = static_cast<u64>(task.offsets[f + 1] - task.offsets[f]), low = static_cast<u64>(task.low);
        const Column& column = task.table.columns[f];
        with_code_type(column.type, [&](auto zero) {
            const char* from = column.base;
            for (i64 i = 0; i < n; ++i, from += column.stride) {
                const u64 place = static_cast<u64>(i64{*reinterpret_cast<const decltype(zero)*>(from)}) - low;
                if (place < size) task.out[i] += hashes[place];
            }
        });
    }
    return {};
}

inline Fault hash_sparse(const HashSparseTask& task) {
    const Sparse& matrix = task.matrix;
    return with_index_type(matrix.indices.type, [&](auto index_zero) {
        return with_entry_type(matrix.data.type, [&](auto entry_zero) -> Fault {
            const auto* indices = reinterpret_cast<const decltype(index_zero)*>(matrix.indices.base);
            const auto* data = reinterpret_cast<const decltype(entry_zero)*>(matrix.data.base);
            for (i64 i = 0; i < matrix.n_rows; ++i) {
                const Span span = row_span(matrix, i);
                if (!span.ok) return {FaultKind::bad_indptr, i, 0, 0.0};
                u64 sum = 0;
                for (i64 k = span.from; k < span.to; ++k) {
                    const double x = static_cast<double>(data[k]);
                    if (x != 0.0) sum += hash_cell(x, mixed(static_cast<u64>(indices[k]), task.seed));
                }
                task.out[i] += sum;
            }
            return {};
        });
    });
}

}  // namespace tally::TALLY_ISA
