// Numbers as codes: buckets of equal leading bits, found while reading, and cells between given edges.
//
// A bucket is a run of doubles whose order-preserving integers agree in all but the `shift` lowest bits. The shift of a
// column is the least with which it has at most kMost buckets. Whenever one too many appears, the shift grows and the
// codes given so far are rewritten, so the result does not depend on the order of rows.
// IN: table (n, F) of doubles or floats; edges, rising in each column. OUT: codes (F, n); NaN has -1, or kMissing; or
// the rows of each class in each bucket.
// The caller guarantees: room for smaller(n, kMost) keys per column; at most kMissing - 1 edges per column; classes in
// range, and at most 2^32 - 1 rows to count.
// Cost: 5 to 7 ns per value, for few rows more. Twins: reference.find_buckets, count_buckets, find_cells.
#pragma once

#include <cmath>
#include <cstdint>

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

using i16 = std::int16_t;

// Columns are read by eights, a cache line of a row-major table, in tiles of rows. Eights of some columns take turns
// after a block of rows, which stays in the third cache: they share cache lines.
constexpr i64 kTogether = 8, kTileRows = 256, kBlockRows = i64{1} << 14, kBlockColumns = 64;
constexpr i64 kPitch = kTileRows + 8;  // doubles; columns a power of two apart would share cache sets
constexpr i64 kAhead = 16;             // rows to prefetch

// The integer whose order is that of the doubles; -0.0 is 0.0.
inline i64 ordered_bits(double x) {
    const auto bits = static_cast<i64>(bits_of(x + 0.0));
    return bits ^ static_cast<i64>(static_cast<u64>(bits >> 63) >> 1);
}

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
    const Column* columns;
    i64 first, width;  // the number of the first, and how many
    bool same, adjacent;

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

// The buckets of one column: an open-addressing table from keys to codes, in the order of first appearance. Once bits
// are dropped, keys are close to each other, and most are looked up in a plain array instead (`near_`).
class BucketTable {
public:
    static constexpr i64 kMost = FindBucketsTask::kMost, kPlaces = 4 * kMost, kNear = i64{1} << 17;
    static constexpr i64 kFirstRows = 4096;

    BucketTable() = default;
    ~BucketTable() {
        if (near_ != &none_) std::free(near_);
        std::free(memory_);
    }
    BucketTable(const BucketTable&) = delete;
    BucketTable& operator=(const BucketTable&) = delete;

    // Begin with a column of n rows.
    void clear(const Column& column, i64 n) {
        if (memory_ == nullptr) {
            memory_ = static_cast<Memory*>(zeroed(1, sizeof(Memory)));
            places_ = memory_->places;
            keys_ = memory_->keys;
        }
        forget_near();
        std::memset(places_, 0, sizeof memory_->places);
        size_ = shift_ = 0;
        column_ = &column;
        n_ = n;
    }

    // Write the codes of `count` values to all[done ..]; earlier codes change if the shift does.
    void add(const double* values, i64 count, i16* all, i64 done) {
        i64 at[kTileRows];
        place(values, count, at);
        for (i64 i = 0; i < count; ++i) {
            i64 code = near_[at[i]];
            if (code == 0 && !is_nan(values[i]))
                code = find_far(values, i, count, at, [&](const i16* now) {
                    for (i64 k = 0; k < done + i; ++k) all[k] = now[all[k]];
                });
            all[done + i] = static_cast<i16>(code - 1);
        }
    }

    // Write one more than the code of each value to codes[0], codes[kTogether] ..., and 0 for NaN. If the shift changes,
    // so do the counters (kMost + 2, C), whose row k + 1 is that of code k.
    void find(const double* values, i64 count, u16* codes, i64 C, u32* counters) {
        i64 at[kTileRows];
        place(values, count, at);
        for (i64 i = 0; i < count; ++i) {
            i64 code = near_[at[i]];
            if (code == 0 && !is_nan(values[i]))
                code = find_far(values, i, count, at, [&](const i16* now) {
                    for (i64 k = 0; k < i; ++k) codes[k * kTogether] = static_cast<u16>(now[codes[k * kTogether] - 1] + 1);
                    merge(now, C, counters);
                });
            codes[i * kTogether] = static_cast<u16>(code);
        }
    }

    i64 size() const { return size_; }
    i64 shift() const { return shift_; }
    i64 key(i64 code) { return static_cast<i64>(static_cast<u64>(keys_[code]) << shift_); }

private:
    static constexpr i64 kFar = INT64_MIN;  // no key is near it: that would be a NaN

    static u32 place_of(i64 key) {
        static_assert(kPlaces == i64{1} << 12);
        // the halves are mixed apart: x and -x differ in every bit, so that adding or xoring them would give the same
        const u32 low = static_cast<u32>(key), high = static_cast<u32>(static_cast<u64>(key) >> 32);
        return (low + high * 0x85EBCA6Bu) * 0x9E3779B1u >> 20;
    }

    // Write the place of each value's key in the plain array: its last one, which is empty, if it is not near or missing.
    void place(const double* values, i64 count, i64* at) const {
        // unsigned integers in the order of the doubles: the sign bit flipped, or all bits of a negative number
        const u64 low = static_cast<u64>(low_) + (u64{1} << (63 - shift_));
        const I4 lowest = all(static_cast<i64>(low)), size = all(near_size_), sign = all(INT64_MIN), none = all(i64{0});
        for (i64 i = 0; i < count; i += 4) {  // tiles have room for three more
            const F4 x = load(values + i) + all(0.0);
            const I4 from = shift_right(bits(x) ^ (less(bits(x), none) | sign), shift_) - lowest;
            const I4 far = less(from, none) | less(size, from) | bits(missing(x));
            store(at + i, choose(far, size, from));
        }
    }

    // Return one more than the code of value i, which the plain array lacks; `rewrite` is told of codes that changed.
    template <class Rewrite>
    i64 find_far(const double* values, i64 i, i64 count, i64* at, Rewrite rewrite) {
        while (true) {
            const i64 code = find(ordered_bits(values[i]) >> shift_);
            if (code < kMost) {
                if (at[i] < near_size_) near_[at[i]] = static_cast<u16>(code + 1);
                return code + 1;
            }
            rewrite(coarsen());
            place(values, count, at);
        }
    }

    // Bring counters up to date with codes that changed; a code never grows.
    void merge(const i16* now, i64 C, u32* counters) {
        for (i64 code = 0; code <= kMost; ++code) {
            if (now[code] == code) continue;
            u32 *from = counters + (code + 1) * C, *to = counters + (now[code] + 1) * C;
            for (i64 c = 0; c < C; ++c) {
                to[c] += from[c];
                from[c] = 0;
            }
        }
    }

    // Return the code of a key; a new key gets the next one.
    i64 find(i64 key) {
        i64 at = place_of(key);
        for (; places_[at] != 0; at = (at + 1) % kPlaces)
            if (keys_[places_[at] - 1] == key) return places_[at] - 1;
        keys_[size_] = key;
        places_[at] = static_cast<u16>(size_ + 1);
        return size_++;
    }

    // Drop more bits until there are at most kMost keys; return the present code of each code, from -1 on.
    const i16* coarsen() {
        forget_near();
        i16* const now = memory_->codes + 1;  // the present code of each code that was given; -1 stays
        for (i64 code = -1; code < size_; ++code) now[code] = static_cast<i16>(code);
        i64 bits = 0;  // at first many, then one by one
        if (shift_ == 0 && n_ > 2 * kMost) bits = shift_of_first_rows();
        if (shift_ == 0 && bits == 0) bits = least_shift(keys_, size_);
        drop(larger<i64>(1, bits), now);
        while (size_ > kMost) drop(1, now);
        choose_near();
        return now;
    }

    // Drop more bits of all keys, and bring the present codes up to date.
    void drop(i64 bits, i16* now) {
        const i64 old = size_;
        std::memset(places_, 0, sizeof memory_->places);
        size_ = 0;
        shift_ += bits;
        for (i64 code = 0; code < old; ++code) memory_->merged[code] = static_cast<i16>(find(keys_[code] >> bits));
        for (i64 code = 0; code <= kMost; ++code) now[code] = memory_->merged[now[code]];
    }

    // Return the shift that the first rows need: more rows need no less, so there are fewer steps to the last one.
    i64 shift_of_first_rows() {
        Scratch<i64> keys(kFirstRows);
        i64 count = 0;
        for (i64 i = 0; i < smaller(n_, kFirstRows); ++i) {
            const double x = real_element(*column_, i);
            if (!is_nan(x)) keys[count++] = ordered_bits(x);
        }
        return least_shift(keys.get(), count);
    }

    // Return the least number of bits to drop from keys so that at most kMost are left.
    static i64 least_shift(const i64* keys, i64 count) {
        i64 shift = 0;
        for (i64 more = 32; more > 0; more /= 2)
            if (shift + more < 63 && has_many(keys, count, shift + more)) shift += more;
        return has_many(keys, count, shift) ? shift + 1 : shift;
    }

    // Return whether more than kMost keys remain without their lowest bits.
    static bool has_many(const i64* keys, i64 count, i64 bits) {
        Scratch<i64> kept(kPlaces);  // one more than the place of a key among all
        i64 found = 0;
        for (i64 i = 0; i < count && found <= kMost; ++i) {
            const i64 key = keys[i] >> bits;
            i64 at = place_of(key);
            while (kept[at] != 0 && keys[kept[at] - 1] >> bits != key) at = (at + 1) % kPlaces;
            if (kept[at] != 0) continue;
            kept[at] = i + 1;
            ++found;
        }
        return found > kMost;
    }

    // Centre the plain array on the keys, if they fit.
    void choose_near() {
        i64 least = keys_[0], most = keys_[0];
        for (i64 code = 1; code < size_; ++code) {
            least = smaller(least, keys_[code]);
            most = larger(most, keys_[code]);
        }
        const u64 span = static_cast<u64>(most) - static_cast<u64>(least);
        if (span >= kNear) return;
        low_ = least - (kNear - static_cast<i64>(span)) / 2;
        if (near_ == &none_) near_ = static_cast<u16*>(zeroed(kNear + 1, sizeof(u16)));
        near_size_ = kNear;
    }

    // Empty the plain array: only keys that were found can be in it.
    void forget_near() {
        for (i64 code = 0; code < size_ && low_ != kFar; ++code) {
            const u64 at = static_cast<u64>(keys_[code]) - static_cast<u64>(low_);
            if (at < kNear) near_[static_cast<i64>(at)] = 0;
        }
        low_ = kFar;
    }

    struct Memory {
        u16 places[kPlaces];  // code + 1 of the key at each place; 0 if empty
        i64 keys[kMost + 1];  // without the low bits
        i16 codes[kMost + 2], merged[kMost + 1];
    };
    Memory* memory_ = nullptr;  // allocated when first needed
    u16* places_ = nullptr;
    i64* keys_ = nullptr;
    // Code + 1 of the key low_ + i, 0 if not known, and at near_size_ a 0 for all others; allocated when first needed.
    u16 none_ = 0, *near_ = &none_;
    const Column* column_ = nullptr;
    i64 size_ = 0, shift_ = 0, low_ = kFar, near_size_ = 0, n_ = 0;
};

// Add each row of a tile to the counters of its codes (row, eight), column after column: an increment need not wait for
// the one before.
inline void count_tile(const u16* codes, const i32* classes, i64 count, i64 width, i64 C, u32* counters) {
    constexpr i64 rows = FindBucketsTask::kMost + 2;
    for (i64 i = 0; i < count; ++i, codes += kTogether) {
        u32* counter = counters + classes[i];
        for (i64 k = 0; k < width; ++k, counter += rows * C) ++counter[codes[k] * C];
    }
}

inline Fault find_buckets(const FindBucketsTask& task) {
    const PlainArithmetic plain;
    const i64 n = task.table.n_rows, room = smaller(n, BucketTable::kMost), C = task.n_classes;
    BucketTable tables[kBlockColumns];
    const i64 n_tables = n <= kBlockRows ? kTogether : kBlockColumns;  // few rows come in one block
    Scratch<u16> codes(kTogether * kTileRows);
    for_each_tile(task.table, [&](const Eight& eight, i64 start, i64 count, const double* values) {
        u32* const counters = task.counts + (task.codes == nullptr ? eight.first * (BucketTable::kMost + 2) * C : 0);
        for (i64 k = 0; k < eight.width; ++k, values += kPitch) {
            const i64 f = eight.first + k;
            BucketTable& buckets = tables[f % n_tables];
            if (start == 0) buckets.clear(eight.columns[k], n);
            if (task.codes != nullptr) buckets.add(values, count, task.codes + f * n, start);
            else buckets.find(values, count, codes.get() + k, C, counters + k * (BucketTable::kMost + 2) * C);
            if (start + count < n) continue;
            for (i64 code = 0; code < buckets.size(); ++code) task.keys[f * room + code] = buckets.key(code);
            task.sizes[f] = buckets.size();
            task.shifts[f] = buckets.shift();
        }
        if (task.codes == nullptr) count_tile(codes.get(), task.classes + start, count, eight.width, C, counters);
    });
    return {};
}

// The place of the lowest bit that is set.
inline i64 lowest_bit(int mask) {
#if defined(_MSC_VER)
    unsigned long place;
    _BitScanForward(&place, static_cast<unsigned long>(mask));
    return static_cast<i64>(place);
#else
    return __builtin_ctz(static_cast<unsigned>(mask));
#endif
}

// The edges of a column as blocks of sixteen, and the last edge of each block: two steps of sixteen comparisons each
// find a cell without a branch.
class EdgeBlocks {
public:
    void set(const double* edges, i64 size) {
        size_ = size;
        for (i64 k = 0; k < kSide * kSide; ++k) edge_[k] = k < size ? edges[k] : INFINITY;
        for (i64 block = 0; block < kSide; ++block) last_[block] = edge_[kSide * block + kSide - 1];
    }

    // Write how many edges are at most each value.
    void find(const double* values, i64 count, std::uint8_t* codes) const {
        for (i64 i = 0; i < count; ++i) {
            const i64 block = smaller<i64>(at_most(last_, values[i]), kSide - 1);
            const i64 code = kSide * block + at_most(edge_ + kSide * block, values[i]);
            codes[i] = static_cast<std::uint8_t>(is_nan(values[i]) ? FindCellsTask::kMissing : smaller(code, size_));
        }
    }

private:
    static constexpr i64 kSide = 16;

    static i64 at_most(const double* edges, double x) {
        const F4 value = all(x);
        int above = 0;  // edges rise: as a binary number, ones from the first edge above on
        for (int k = 0; k < kSide; k += 4) above |= lanes(not_at_most(load(edges + k), value)) << k;
        return lowest_bit(above | 1 << kSide);
    }

    double edge_[kSide * kSide], last_[kSide];
    i64 size_;
};

inline Fault find_cells(const FindCellsTask& task) {
    const PlainArithmetic plain;
    Scratch<EdgeBlocks> blocks(smaller(kBlockColumns, task.table.n_columns));
    for_each_tile(task.table, [&](const Eight& eight, i64 start, i64 count, const double* values) {
        for (i64 k = 0; k < eight.width; ++k, values += kPitch) {
            const i64 f = eight.first + k;
            EdgeBlocks& of_column = blocks[f % kBlockColumns];
            if (start == 0) of_column.set(task.edges + task.offsets[f], task.offsets[f + 1] - task.offsets[f]);
            of_column.find(values, count, task.codes + f * task.table.n_rows + start);
        }
    });
    return {};
}

}  // namespace tally::TALLY_ISA
