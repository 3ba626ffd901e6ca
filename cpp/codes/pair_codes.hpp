// Codes of rows as pairs with their class, and as bins: what a fit of weights looks up.
//
// No instruction set matters here: gathers are bound by the loads.
// IN: table (n, F) of codes; code v of column f is row v - low if 0 <= v - low < its size.
// OUT: pairs (F, n): row * C + class, and size * C for a code outside, unless that is the last row of its column; bins
// (F, n): places[offsets[f] + row], and `missing[f]` for a code outside; terms (F, D, n): values[offsets[f] + row], D
// numbers, and 0 for a code outside.
// Of pairs (F, n) that are known, terms and bins in one pass; a pair outside is the last one of its column.
// Also the terms of pairs (C, P) as rows of values (P + F, C), less the largest of each and not below `least`, with a row
// of zeros after those of each column: that of a missing value. And rows of
// terms, (n, C) or (C, n), as columns (C, n), likewise.
// The caller guarantees classes in range. Cost: about 1 ns per code. Twins: tests/kernels/cells_reference.py.
#pragma once

#include <cstdint>

#include "bind/interface.hpp"

namespace tally::pairs {

using i64 = std::int64_t;

constexpr i64 kRows = 1024;  // of a block, whose places stay in the first cache

// Write the row of each code, or `outside`.
template <class Code>
inline void find_rows(const Column& column, i64 start, i64 count, i64 low, i64 size, i64 outside, i64* rows) {
    const char* from = column.base + start * column.stride;
    for (i64 i = 0; i < count; ++i, from += column.stride) {
        const i64 code = static_cast<i64>(*reinterpret_cast<const Code*>(from)) - low;
        rows[i] = code >= 0 && code < size ? code : outside;
    }
}

inline void find_rows(const Column& column, i64 start, i64 count, i64 low, i64 size, i64 outside, i64* rows) {
    switch (column.type) {
        case Type::i8: return find_rows<std::int8_t>(column, start, count, low, size, outside, rows);
        case Type::u8: return find_rows<std::uint8_t>(column, start, count, low, size, outside, rows);
        case Type::i16: return find_rows<std::int16_t>(column, start, count, low, size, outside, rows);
        case Type::i32: return find_rows<std::int32_t>(column, start, count, low, size, outside, rows);
        default: return find_rows<i64>(column, start, count, low, size, outside, rows);
    }
}

inline void codes(const Table& table, i64 low, bool last, const i64* offsets, const std::int32_t* classes, i64 C,
                  std::int32_t* out) {
    const i64 n = table.n_rows;
    i64 rows[kRows];
    for (i64 f = 0; f < table.n_columns; ++f) {
        const i64 size = offsets[f + 1] - offsets[f];
        for (i64 start = 0; start < n; start += kRows) {
            const i64 count = n - start < kRows ? n - start : kRows;
            find_rows(table.columns[f], start, count, low, size, last ? size - 1 : -1, rows);
            std::int32_t* to = out + f * n + start;
            for (i64 i = 0; i < count; ++i)
                to[i] = static_cast<std::int32_t>(rows[i] < 0 ? size * C : rows[i] * C + classes[start + i]);
        }
    }
}

// The largest of C numbers that are `step` apart; 0 if that is not a finite number, as that of a NaN is not.
inline double greatest_of(const double* from, i64 C, i64 step) {
    double most = from[0];
    bool unknown = most != most;
    for (i64 c = 1; c < C; ++c) {
        const double one = from[c * step];
        unknown |= one != one;
        most = one > most ? one : most;
    }
    return unknown || most - most != 0.0 ? 0.0 : most;
}

// Return whether all values are numbers.
inline bool rows(const double* by_pair, i64 C, i64 F, const i64* offsets, double least, double* out) {
    const i64 P = offsets[F];
    bool known = true;
    for (i64 f = 0; f < F; ++f) {
        for (i64 p = offsets[f]; p < offsets[f + 1]; ++p, out += C) {
            const double most = greatest_of(by_pair + p, C, P);
            for (i64 c = 0; c < C; ++c) {
                const double value = by_pair[c * P + p] - most;
                known &= value == value;
                out[c] = value < least ? least : value;
            }
        }
        for (i64 c = 0; c < C; ++c) *out++ = 0.0;
    }
    return known;
}

// Return whether all values are numbers.
inline bool shift(const double* rows, i64 n, i64 C, bool by_class, double least, double* out) {
    const i64 next = by_class ? 1 : C, step = by_class ? n : 1;
    bool known = true;
    for (i64 i = 0; i < n; ++i, rows += next) {
        const double most = greatest_of(rows, C, step);
        for (i64 c = 0; c < C; ++c) {
            const double value = rows[c * step] - most;
            known &= value == value;
            out[c * n + i] = value < least ? least : value;
        }
    }
    return known;
}

inline void terms(const Table& table, const i64* offsets, const double* values, i64 D, double* out) {
    const i64 n = table.n_rows;
    i64 rows[kRows];
    for (i64 f = 0; f < table.n_columns; ++f) {
        const double* own = values + offsets[f] * D;
        for (i64 start = 0; start < n; start += kRows) {
            const i64 count = n - start < kRows ? n - start : kRows;
            find_rows(table.columns[f], start, count, 0, offsets[f + 1] - offsets[f], -1, rows);
            double* const to = out + f * D * n + start;
            for (i64 i = 0; i < count; ++i) {
                const double* from = own + rows[i] * D;
                for (i64 c = 0; c < D; ++c) to[c * n + i] = rows[i] < 0 ? 0.0 : from[c];
            }
        }
    }
}

inline void bins(const Table& table, const i64* offsets, const std::int32_t* places, const std::int32_t* missing,
                 std::int32_t* out) {
    const i64 n = table.n_rows;
    i64 rows[kRows];
    for (i64 f = 0; f < table.n_columns; ++f)
        for (i64 start = 0; start < n; start += kRows) {
            const i64 count = n - start < kRows ? n - start : kRows;
            find_rows(table.columns[f], start, count, 0, offsets[f + 1] - offsets[f], -1, rows);
            std::int32_t* to = out + f * n + start;
            for (i64 i = 0; i < count; ++i) to[i] = rows[i] < 0 ? missing[f] : places[offsets[f] + rows[i]];
        }
}

// Write the terms (F, D, n), and the bins (F, n) unless there are no places.
inline void terms_and_bins(const std::int32_t* pairs, i64 n, i64 F, const i64* offsets, const double* values, i64 D,
                           const std::int32_t* places, float* terms, std::int32_t* bins) {
    for (i64 f = 0; f < F; ++f) {
        const i64 size = offsets[f + 1] - offsets[f];
        const std::int32_t *of = pairs + f * n, *place = places == nullptr ? nullptr : places + offsets[f];
        const double* own = values + offsets[f] * D;
        float* const to = terms + f * D * n;
        for (i64 i = 0; i < n; ++i) {
            const i64 row = of[i] >= 0 && of[i] < size ? of[i] : size - 1;
            for (i64 c = 0; c < D; ++c) to[c * n + i] = static_cast<float>(own[row * D + c]);
            if (place != nullptr) bins[f * n + i] = place[row];
        }
    }
}

}  // namespace tally::pairs
