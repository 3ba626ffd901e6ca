// Hashes of rows. A row's hash is the sum of its cells' hashes, so the order of columns and of rows does not matter.
//
// IN: a table of doubles or floats with a seed per column; codes with a hash per value; sparse rows with one seed.
// OUT: out (n,), added to, modulo 2^64. A missing value (NaN, a code outside, an entry of 0) adds nothing; -0.0 is 0.0.
// OUT for codes: outside, to which the number of codes outside is added.
// The caller guarantees only stated lengths: sparse bounds and indices are checked here.
// Cost: about ten operations per cell, of numbers on four cells at a time.
// Twins: reference.hash_dense, reference.hash_codes, reference.hash_sparse.
#pragma once

#include <algorithm>

#include "codes/code_index.hpp"
#include "sparse/count_and_score.hpp"

namespace tally::TALLY_ISA {

constexpr u64 kColumnKey = 0xA0761D6478BD642Fu;  // any large odd number: it spreads small seeds over 64 bits
constexpr u64 kFirstFactor = 0x9E3779B97F4A7C15u, kSecondFactor = 0xD6E8FEB86659FD93u;  // large and odd, too

inline u64 mixed(u64 bits, u64 seed) {
    bits = (bits ^ seed) * kFirstFactor;
    bits = (bits ^ (bits >> 32)) * kSecondFactor;
    return bits ^ (bits >> 29);
}

inline I4 mixed(I4 bits, I4 seed) {
    bits = (bits ^ seed) * all(static_cast<i64>(kFirstFactor));
    bits = (bits ^ shift_right<32>(bits)) * all(static_cast<i64>(kSecondFactor));
    return bits ^ shift_right<29>(bits);
}

// Return the product of the two halves of (bits + column key). This is one multiplication, of a kind that vector units
// have. Small integers differ only in the upper bits, so the upper half is folded into the lower: then all bits of a
// sum depend on its terms. The caller mixes the sum.
inline u64 hash_cell(double x, u64 key) {
    const u64 bits = bits_of(x + 0.0) + key;
    const u64 product = static_cast<u64>(i64{static_cast<i32>(bits)} * i64{static_cast<i32>(bits >> 32)});
    return is_nan(x) ? 0 : product ^ (product >> 32);
}

inline I4 hash_cells(F4 x, I4 keys) {
    const I4 bits_here = bits(x + all(0.0)) + keys, product = multiply_low_halves(bits_here, shift_right<32>(bits_here));
    return bits(drop(missing(x), doubles(product ^ shift_right<32>(product))));
}

template <class Integer>
inline F4 load_four(const Integer* x) {
    const double four[4] = {static_cast<double>(x[0]), static_cast<double>(x[1]), static_cast<double>(x[2]),
                            static_cast<double>(x[3])};
    return load(four);
}

inline u64 sum_of(I4 words) {
    i64 four[4];
    store(four, words);
    u64 sum = 0;
    for (const i64 each : four) sum += static_cast<u64>(each);
    return sum;
}

// Hash rows of adjacent numbers.
template <class Real>
inline void hash_rows(const Table& table, const u64* keys, u64* out) {
    const Column& first = table.columns[0];
    for (i64 i = 0; i < table.n_rows; ++i) {
        const auto* row = reinterpret_cast<const Real*>(first.base + i * first.stride);
        I4 sums = all(i64{0});
        i64 f = 0;
        for (; f + 4 <= table.n_columns; f += 4)
            sums = sums + hash_cells(load_four(row + f), load(reinterpret_cast<const i64*>(keys + f)));
        u64 sum = out[i] + sum_of(sums);
        for (; f < table.n_columns; ++f) sum += hash_cell(static_cast<double>(row[f]), keys[f]);
        out[i] = sum;
    }
}

// Hash rows [start, stop) of `Width` columns of contiguous numbers; return the first row that is left, for want of four.
template <class Real, int Width>
inline i64 hash_columns(const Column* columns, i64 start, i64 stop, const u64* keys, u64* out) {
    const Real* from[Width];
    for (int k = 0; k < Width; ++k) from[k] = reinterpret_cast<const Real*>(columns[k].base);
    i64 i = start;
    for (; i + 4 <= stop; i += 4) {
        i64* const four = reinterpret_cast<i64*>(out + i);
        I4 sums = load(four);
        for (int k = 0; k < Width; ++k)
            sums = sums + hash_cells(load_four(from[k] + i), all(static_cast<i64>(keys[k])));
        store(four, sums);
    }
    return i;
}

// Hash rows [start, stop) of some columns of one type, eight at a time where their numbers are contiguous.
template <class Real>
inline void hash_tile(const Column* columns, i64 count, i64 start, i64 stop, const u64* keys, u64* out) {
    constexpr i64 kTogether = 8;  // columns whose sums are read and written once
    for (i64 f = 0; f < count;) {
        i64 width = 0;
        while (width < kTogether && f + width < count && columns[f + width].stride == sizeof(Real)) ++width;
        i64 i = start;
        if (width == kTogether) {
            i = hash_columns<Real, kTogether>(columns + f, start, stop, keys + f, out);
        } else {
            if (width > 0) i = hash_columns<Real, 1>(columns + f, start, stop, keys + f, out);
            width = 1;
        }
        for (; i < stop; ++i)
            for (i64 k = f; k < f + width; ++k)
                out[i] += hash_cell(static_cast<double>(element<Real>(columns[k], i)), keys[k]);
        f += width;
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
    Scratch<u64> keys(table.n_columns);
    for (i64 f = 0; f < table.n_columns; ++f) keys[f] = mixed(task.seeds[f], kColumnKey);
    if (adjacent && table.n_columns > 1) {
        if (first.type == Type::f64)
            hash_rows<double>(table, keys.get(), task.out);
        else
            hash_rows<float>(table, keys.get(), task.out);
        return {};
    }
    constexpr i64 kTile = 4096;  // rows whose sums stay in cache from column to column
    for (i64 start = 0; start < table.n_rows; start += kTile) {
        const i64 stop = smaller(table.n_rows, start + kTile);
        for (i64 f = 0, end; f < table.n_columns; f = end) {
            const Column* const columns = table.columns + f;
            for (end = f; end < table.n_columns && table.columns[end].type == columns->type;) ++end;
            if (columns->type == Type::f64)
                hash_tile<double>(columns, end - f, start, stop, keys.get() + f, task.out);
            else
                hash_tile<float>(columns, end - f, start, stop, keys.get() + f, task.out);
        }
    }
    return {};
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
    for (i64 row = 0; row < n; row += CodeIndex::kRows) {
        const i64 count = smaller(CodeIndex::kRows, n - row);
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
