// Hashes of rows of numbers: the sums of their cells' hashes, so that the order of columns does not matter.
//
// IN: a table of doubles or floats, a seed per column. OUT: out (n,), added to, modulo 2^64. NaN adds nothing; -0.0 is
// 0.0. Cost: about ten operations on four cells. Twins: reference.hash_dense, reference.mix_words.
#pragma once

#include "dense/simd.hpp"

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

inline I4 hash_bits(I4 bits, I4 keys) {
    const I4 sum = bits + keys, product = multiply_low_halves(sum, shift_right<32>(sum));
    return product ^ shift_right<32>(product);
}

inline I4 hash_cells(F4 x, I4 keys) { return bits(drop(missing(x), doubles(hash_bits(bits(x + all(0.0)), keys)))); }

// Numbers that are sized are neither missing nor 0.
template <bool Sized>
inline I4 hash_some(F4 x, I4 keys) {
    return Sized ? hash_bits(bits(x), keys) : hash_cells(x, keys);
}

inline u64 sum_of(I4 words) {
    i64 four[4];
    store(four, words);
    u64 sum = 0;
    for (const i64 each : four) sum += static_cast<u64>(each);
    return sum;
}

inline F4 load_some(const double* p, First which, i64) { return load_first(p, which); }
inline F4 load_some(const float* p, First, i64 count) {
    double four[4] = {};
    for (i64 k = 0; k < count; ++k) four[k] = static_cast<double>(p[k]);
    return load(four);
}

// Add the sums of each of four lanes to four words.
inline void add_lane_sums(const I4 (&lanes)[4], u64* out) {
    F4 a = doubles(lanes[0]), b = doubles(lanes[1]), c = doubles(lanes[2]), d = doubles(lanes[3]);
    transpose(a, b, c, d);
    i64* const four = reinterpret_cast<i64*>(out);
    store(four, load(four) + (bits(a) + bits(b)) + (bits(c) + bits(d)));
}

// Hash `Rows` rows of adjacent numbers, with a key of 0 for each column that is lacking to a multiple of four.
template <class Real, bool Sized, int Rows>
inline void hash_some_rows(const char* from, i64 stride, i64 n_columns, const u64* keys, I4 (&sums)[Rows]) {
    const auto row = [&](int i) { return reinterpret_cast<const Real*>(from + i * stride); };
    for (int i = 0; i < Rows; ++i) sums[i] = all(i64{0});
    i64 f = 0;
    for (; f + 4 <= n_columns; f += 4) {
        const I4 key = load(reinterpret_cast<const i64*>(keys + f));
        for (int i = 0; i < Rows; ++i) sums[i] = sums[i] + hash_some<Sized>(load_four(row(i) + f), key);
    }
    if (f == n_columns) return;
    const First rest = first(n_columns - f);
    const I4 key = load(reinterpret_cast<const i64*>(keys + f));
    for (int i = 0; i < Rows; ++i) sums[i] = sums[i] + hash_some<Sized>(load_some(row(i) + f, rest, n_columns - f), key);
}

// Hash rows [start, stop) of adjacent numbers, one by one: memory is read from end to end.
template <class Real>
inline void hash_rows(const Table& table, i64 start, i64 stop, const u64* keys, u64* out) {
    const i64 stride = table.columns->stride;
    for (; start < stop; ++start) {
        I4 sums[1];
        hash_some_rows<Real, false>(table.columns->base + start * stride, stride, table.n_columns, keys, sums);
        out[start] += sum_of(sums[0]);
    }
}

// Hash rows [start, stop) of adjacent doubles that are in a cache, four at a time; return the first row that is left.
template <bool Sized>
inline i64 hash_cached_rows(const Table& table, i64 start, i64 stop, const u64* keys, u64* out) {
    const i64 stride = table.columns->stride;
    for (; start + 4 <= stop; start += 4) {
        I4 sums[4];
        hash_some_rows<double, Sized>(table.columns->base + start * stride, stride, table.n_columns, keys, sums);
        add_lane_sums(sums, out + start);
    }
    return start;
}

// Hash rows [start, stop) of `Width` columns of contiguous numbers; return the first row that is left, for want of four.
template <class Real, int Width, bool Sized>
inline i64 hash_columns(const Column* columns, i64 start, i64 stop, const u64* keys, u64* out) {
    const Real* from[Width];
    for (int k = 0; k < Width; ++k) from[k] = reinterpret_cast<const Real*>(columns[k].base);
    i64 i = start;
    for (; i + 4 <= stop; i += 4) {
        i64* const four = reinterpret_cast<i64*>(out + i);
        I4 sums = load(four);
        for (int k = 0; k < Width; ++k)
            sums = sums + hash_some<Sized>(load_four(from[k] + i), all(static_cast<i64>(keys[k])));
        store(four, sums);
    }
    return i;
}

// Hash rows [start, stop) of some columns of one type, eight at a time where their numbers are contiguous.
template <class Real, bool Sized>
inline void hash_tile(const Column* columns, i64 count, i64 start, i64 stop, const u64* keys, u64* out) {
    constexpr i64 kTogether = 8;  // columns whose sums are read and written once
    for (i64 f = 0; f < count;) {
        i64 width = 0;
        while (width < kTogether && f + width < count && columns[f + width].stride == sizeof(Real)) ++width;
        i64 i = start;
        if (width == kTogether) {
            i = hash_columns<Real, kTogether, Sized>(columns + f, start, stop, keys + f, out);
        } else {
            if (width > 0) i = hash_columns<Real, 1, Sized>(columns + f, start, stop, keys + f, out);
            width = 1;
        }
        for (; i < stop; ++i)
            for (i64 k = f; k < f + width; ++k)
                out[i] += hash_cell(static_cast<double>(element<Real>(columns[k], i)), keys[k]);
        f += width;
    }
}

// Adds the hashes of a table's rows, some rows at a time; without seeds it adds nothing.
class RowHasher {
public:
    RowHasher(const Table& table, const u64* seeds, u64* out)
        : table_(table), wanted_(seeds != nullptr), out_(out), keys_(table.n_columns + 3), adjacent_(table.n_columns > 1) {
        for (i64 f = 0; wanted_ && f < table.n_columns; ++f) keys_[f] = mixed(seeds[f], kColumnKey);
        const Column* const first = table.columns;
        for (i64 f = 1; f < table.n_columns; ++f)
            adjacent_ = adjacent_ && first[f].type == first->type && first[f].stride == first->stride &&
                        first[f].base == first->base + f * (first->type == Type::f64 ? 8 : 4);
    }

    // Add the hashes of rows [start, stop) that were just read; if they are sized, no number is missing or 0.
    void add_cached(i64 start, i64 stop, bool sized) {
        if (wanted_ && adjacent_ && table_.columns->type == Type::f64)
            start = sized ? hash_cached_rows<true>(table_, start, stop, keys_.get(), out_)
                          : hash_cached_rows<false>(table_, start, stop, keys_.get(), out_);
        if (sized) add<true>(start, stop);
        else add<false>(start, stop);
    }

    template <bool Sized = false>
    void add(i64 start, i64 stop) {
        if (!wanted_) return;
        if (adjacent_ && table_.columns->type == Type::f64) return hash_rows<double>(table_, start, stop, keys_.get(), out_);
        if (adjacent_) return hash_rows<float>(table_, start, stop, keys_.get(), out_);
        constexpr i64 kTile = 4096;  // rows whose sums stay in cache from column to column
        for (; start < stop; start += kTile) {
            const i64 end_row = smaller(stop, start + kTile);
            for (i64 f = 0, end; f < table_.n_columns; f = end) {
                const Column* const columns = table_.columns + f;
                for (end = f; end < table_.n_columns && table_.columns[end].type == columns->type;) ++end;
                if (columns->type == Type::f64)
                    hash_tile<double, Sized>(columns, end - f, start, end_row, keys_.get() + f, out_);
                else
                    hash_tile<float, Sized>(columns, end - f, start, end_row, keys_.get() + f, out_);
            }
        }
    }

private:
    const Table table_;
    const bool wanted_;
    u64* const out_;
    Scratch<u64> keys_;
    bool adjacent_;
};

// Spread the sums of hashes: afterwards every bit of a word depends on all of its bits.
inline Fault mix_words(const MixWordsTask& task) {
    constexpr u64 kFirst = 0x7FB5D329728EA185u, kSecond = 0x81DADEF4BC2DD44Du;  // large and odd
    i64* const words = reinterpret_cast<i64*>(task.words);
    i64 i = 0;
    for (; i + 4 <= task.count; i += 4) {
        I4 four = load(words + i);
        four = (four ^ shift_right<31>(four)) * all(static_cast<i64>(kFirst));
        four = (four ^ shift_right<27>(four)) * all(static_cast<i64>(kSecond));
        store(words + i, four ^ shift_right<33>(four));
    }
    for (; i < task.count; ++i) {
        u64 word = task.words[i];
        word = (word ^ (word >> 31)) * kFirst;
        word = (word ^ (word >> 27)) * kSecond;
        task.words[i] = word ^ (word >> 33);
    }
    return {};
}

inline Fault hash_dense(const HashDenseTask& task) {
    RowHasher(task.table, task.seeds, task.out).add(0, task.table.n_rows);
    return {};
}

}  // namespace tally::TALLY_ISA
