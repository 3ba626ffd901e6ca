// A table of doubles or floats, column by column in tiles: up to eight columns and 256 rows at a time.
//
// IN: table (n, F). OUT: each tile as doubles, a column after the other; NaN stays NaN.
// Cost: one pass over memory.
#pragma once

#include <cstdint>

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

// Columns are read by eights, a cache line of a row-major table, in tiles of rows. Eights of some columns take turns
// after a block of rows, which stays in the third cache: they share cache lines.
constexpr i64 kTogether = 8, kTileRows = 256, kBlockRows = i64{1} << 14, kBlockColumns = 64;
constexpr i64 kPitch = kTileRows + 8;  // doubles; columns a power of two apart would share cache sets
constexpr i64 kAhead = 16;             // rows to prefetch

// Copy rows of `width` adjacent numbers of type T, transposed; a constant width lets the inner loop be unrolled.
template <class T, i64 Width>
inline void copy_rows(const Column& first, i64 start, i64 count, i64 width, double* values) {
    const char* from = first.base + start * first.stride;
    for (i64 i = 0; i < count; ++i, from += first.stride) {
        const T* row = reinterpret_cast<const T*>(from);
        prefetch(from + kAhead * first.stride);
        prefetch(from + kAhead * first.stride + (kTogether - 1) * i64{sizeof(T)});  // often on the next cache line
        for (i64 k = 0; k < (Width > 0 ? Width : width); ++k) values[k * kPitch + i] = static_cast<double>(row[k]);
    }
}

template <class T>
inline void copy_column(const Column& column, i64 start, i64 count, double* values) {
    const char* from = column.base + start * column.stride;
    for (i64 i = 0; i < count; ++i, from += column.stride)
        values[i] = static_cast<double>(*reinterpret_cast<const T*>(from));
}

template <class T>
inline void copy_tile(const Column* columns, i64 start, i64 count, i64 width, bool adjacent, double* values) {
    if (adjacent && width == kTogether) return copy_rows<T, kTogether>(*columns, start, count, width, values);
    if (adjacent) return copy_rows<T, 0>(*columns, start, count, width, values);
    for (i64 k = 0; k < width; ++k) copy_column<T>(columns[k], start, count, values + k * kPitch);
}

// Up to eight columns of a table.
struct Eight {
    const Column* columns = nullptr;
    i64 first = 0, width = 0;  // the number of the first, and how many
    bool same = false, adjacent = false;

    Eight() = default;
    Eight(const Table& table, i64 f) : columns(table.columns + f), first(f) {
        width = smaller(kTogether, table.n_columns - f);
        const i64 bytes = columns->type == Type::f64 ? 8 : 4;
        same = adjacent = true;
        for (i64 k = 0; k < width; ++k) {
            same &= columns[k].type == columns->type;
            adjacent &= columns[k].stride == columns->stride && columns[k].base == columns->base + k * bytes;
        }
    }

    void copy(i64 start, i64 count, double* values) const {
        if (same && columns->type == Type::f64) return copy_tile<double>(columns, start, count, width, adjacent, values);
        if (same) return copy_tile<float>(columns, start, count, width, adjacent, values);
        for (i64 k = 0; k < width; ++k)
            for (i64 i = 0; i < count; ++i) values[k * kPitch + i] = real_element(columns[k], start + i);
    }
};

// Call visit(eight, start, count, values) for each tile; column k of the eight is at values + k * kPitch. NaN stays NaN.
template <class Visit>
inline void for_each_tile(const Table& table, Visit visit) {
    Scratch<double> values(kTogether * kPitch);
    for (i64 from = 0; from < table.n_columns; from += kBlockColumns)
        for (i64 block = 0; block < table.n_rows; block += kBlockRows)
            for (i64 f = from; f < smaller(from + kBlockColumns, table.n_columns); f += kTogether) {
                const Eight eight(table, f);
                const i64 end = smaller(block + kBlockRows, table.n_rows);
                for (i64 start = block; start < end; start += kTileRows) {
                    const i64 count = smaller(kTileRows, end - start);
                    eight.copy(start, count, values.get());
                    visit(eight, start, count, values.get());
                }
            }
}

}  // namespace tally::TALLY_ISA
