// Numbers as codes: buckets of equal leading bits, found while reading, and cells between given edges.
//
// A bucket is a run of doubles whose order-preserving integers agree in all but the `shift` lowest bits. The shift of a
// column is the least with which it has at most kMost buckets. Whenever one too many appears, the shift grows and the
// codes given so far are rewritten, so the result does not depend on the order of rows.
// IN: table (n, F) of doubles or floats; edges, rising in each column. OUT: codes (F, n); NaN has -1, or kMissing.
// The caller guarantees: room for smaller(n, kMost) keys per column; at most kMissing - 1 edges per column.
// Cost: 2 to 3 ns per value. Twins: reference.find_buckets, reference.find_cells.
#pragma once

#include <cmath>
#include <cstdint>

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

using i16 = std::int16_t;

// Columns are read by eights, a cache line of a row-major table, in tiles of rows.
constexpr i64 kTogether = 8, kTileRows = 256;
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

// Call visit(f, start, count, values) for each tile of each column; NaN stays NaN.
template <class Visit>
inline void for_each_tile(const Table& table, Visit visit) {
    Scratch<double> values(kTogether * kPitch);
    for (i64 f0 = 0; f0 < table.n_columns; f0 += kTogether) {
        const i64 width = smaller(kTogether, table.n_columns - f0);
        const Column* columns = table.columns + f0;
        const i64 bytes = columns->type == Type::f64 ? 8 : 4;
        bool same = true, adjacent = true;
        for (i64 k = 0; k < width; ++k) {
            same &= columns[k].type == columns->type;
            adjacent &= columns[k].stride == columns->stride && columns[k].base == columns->base + k * bytes;
        }
        for (i64 start = 0; start < table.n_rows; start += kTileRows) {
            const i64 count = smaller(kTileRows, table.n_rows - start);
            if (same && columns->type == Type::f64)
                copy_tile<double>(columns, start, count, width, adjacent, values.get());
            else if (same)
                copy_tile<float>(columns, start, count, width, adjacent, values.get());
            else
                for (i64 k = 0; k < width; ++k)
                    for (i64 i = 0; i < count; ++i) values[k * kPitch + i] = real_element(columns[k], start + i);
            for (i64 k = 0; k < width; ++k) visit(f0 + k, start, count, values.get() + k * kPitch);
        }
    }
}

// The buckets of one column: an open-addressing table from keys to codes, in the order of first appearance. Once bits
// are dropped, keys are close to each other, and most are looked up in a plain array instead (`near_`).
class BucketTable {
public:
    static constexpr i64 kMost = FindBucketsTask::kMost, kPlaces = 4 * kMost, kNear = i64{1} << 17;

    BucketTable() : places_(kPlaces), keys_(kMost + 1), codes_(kMost + 2), merged_(kMost + 1) {}
    ~BucketTable() { std::free(near_); }
    BucketTable(const BucketTable&) = delete;
    BucketTable& operator=(const BucketTable&) = delete;

    void clear() {
        forget_near();
        std::memset(places_.get(), 0, kPlaces * sizeof(u16));
        size_ = shift_ = 0;
        low_ = kFar;
    }

    // Write the codes of `count` values to all[done ..]; earlier codes change if the shift does.
    void add(const double* values, i64 count, i16* all, i64 done) {
        for (i64 i = 0; i < count; ++i) {
            if (is_nan(values[i])) {
                all[done + i] = -1;
                continue;
            }
            const i64 key = ordered_bits(values[i]) >> shift_;
            const u64 at = static_cast<u64>(key) - static_cast<u64>(low_);
            i64 code = at < kNear ? i64{near_[static_cast<i64>(at)]} - 1 : -1;
            if (code < 0) {
                code = find(key);
                if (code == kMost) {
                    coarsen(all, done + i);
                    --i;  // again, with the new shift
                    continue;
                }
                if (at < kNear) near_[static_cast<i64>(at)] = static_cast<u16>(code + 1);
            }
            all[done + i] = static_cast<i16>(code);
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

    // Return the code of a key; a new key gets the next one.
    i64 find(i64 key) {
        i64 at = place_of(key);
        for (; places_[at] != 0; at = (at + 1) % kPlaces)
            if (keys_[places_[at] - 1] == key) return places_[at] - 1;
        keys_[size_] = key;
        places_[at] = static_cast<u16>(size_ + 1);
        return size_++;
    }

    // Drop more bits until there are at most kMost keys; rewrite the first `done` codes.
    void coarsen(i16* all, i64 done) {
        forget_near();
        i16* const now = codes_.get() + 1;  // the present code of each code that was given; -1 stays
        for (i64 code = -1; code < size_; ++code) now[code] = static_cast<i16>(code);
        drop(1, now);
        if (size_ > kMost) {  // far from enough, as at first: find the last shift that is too small, then the next
            for (i64 more = 32; more > 0; more /= 2)
                if (shift_ + more < 63 && count_without(more) > kMost) drop(more, now);
            drop(1, now);
        }
        for (i64 i = 0; i < done; ++i) all[i] = now[all[i]];
        choose_near();
    }

    // Drop more bits of all keys, and bring the present codes up to date.
    void drop(i64 bits, i16* now) {
        const i64 old = size_;
        std::memset(places_.get(), 0, kPlaces * sizeof(u16));
        size_ = 0;
        shift_ += bits;
        for (i64 code = 0; code < old; ++code) merged_[code] = static_cast<i16>(find(keys_[code] >> bits));
        for (i64 code = 0; code <= kMost; ++code) now[code] = merged_[now[code]];
    }

    // Return how many keys would remain.
    i64 count_without(i64 bits) {
        Scratch<i64> kept(kPlaces);
        i64 count = 0;
        for (i64 code = 0; code < size_; ++code) {
            const i64 key = keys_[code] >> bits;
            i64 at = place_of(key);
            for (; kept[at] != 0; at = (at + 1) % kPlaces)
                if (keys_[kept[at] - 1] >> bits == key) break;
            if (kept[at] == 0) {
                kept[at] = code + 1;
                ++count;
            }
        }
        return count;
    }

    // Centre the plain array on the keys, if they fit.
    void choose_near() {
        i64 least = keys_[0], most = keys_[0];
        for (i64 code = 1; code < size_; ++code) {
            least = smaller(least, keys_[code]);
            most = larger(most, keys_[code]);
        }
        const u64 span = static_cast<u64>(most) - static_cast<u64>(least);
        low_ = span < kNear ? least - (kNear - static_cast<i64>(span)) / 2 : kFar;
        if (low_ != kFar && near_ == nullptr) near_ = static_cast<u16*>(zeroed(kNear, sizeof(u16)));
    }

    // Empty the plain array: only keys that were found can be in it.
    void forget_near() {
        for (i64 code = 0; code < size_; ++code) {
            const u64 at = static_cast<u64>(keys_[code]) - static_cast<u64>(low_);
            if (at < kNear) near_[static_cast<i64>(at)] = 0;
        }
    }

    Scratch<u16> places_;  // code + 1 of the key at each place; 0 if empty
    Scratch<i64> keys_;    // (kMost + 1,) without the low bits
    Scratch<i16> codes_, merged_;
    u16* near_ = nullptr;  // (kNear,) code + 1 of the key low_ + i, 0 if not known; allocated when first needed
    i64 size_ = 0, shift_ = 0, low_ = kFar;
};

inline Fault find_buckets(const FindBucketsTask& task) {
    const PlainArithmetic plain;
    const i64 n = task.table.n_rows, room = smaller(n, BucketTable::kMost);
    BucketTable tables[kTogether];
    for_each_tile(task.table, [&](i64 f, i64 start, i64 count, const double* values) {
        BucketTable& buckets = tables[f % kTogether];
        if (start == 0) buckets.clear();
        buckets.add(values, count, task.codes + f * n, start);
        if (start + count < n) return;
        for (i64 code = 0; code < buckets.size(); ++code) task.keys[f * room + code] = buckets.key(code);
        task.sizes[f] = buckets.size();
        task.shifts[f] = buckets.shift();
    });
    return {};
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
        I4 above = all(i64{0});
        for (i64 k = 0; k < kSide; k += 4) above = above + bits(not_at_most(load(edges + k), value));  // -1 if above
        i64 lane[4];
        store(lane, above);
        return kSide + lane[0] + lane[1] + lane[2] + lane[3];
    }

    alignas(64) double edge_[kSide * kSide];
    alignas(64) double last_[kSide];
    i64 size_ = 0;
};

inline Fault find_cells(const FindCellsTask& task) {
    const PlainArithmetic plain;
    EdgeBlocks blocks[kTogether];
    for_each_tile(task.table, [&](i64 f, i64 start, i64 count, const double* values) {
        EdgeBlocks& of_column = blocks[f % kTogether];
        if (start == 0) of_column.set(task.edges + task.offsets[f], task.offsets[f + 1] - task.offsets[f]);
        of_column.find(values, count, task.codes + f * task.table.n_rows + start);
    });
    return {};
}

}  // namespace tally::TALLY_ISA
