// Numbers as codes: buckets of equal leading bits, found while reading.
//
// A bucket is a run of doubles whose order-preserving integers agree in all but the `shift` lowest bits. The shift of a
// column is the least with which it has at most kMost buckets. Whenever one too many appears, the shift grows and the
// codes given so far are rewritten, so the result does not depend on the order of rows.
// IN: table (n, F) of doubles or floats. OUT: codes (F, n); NaN has -1.
// The caller guarantees: room for smaller(n, kMost) keys per column; classes in range, and at most 2^32 - 1 rows to count.
// Cost: 3 to 5 ns per value, for few rows more. Twin: reference.find_buckets.
#pragma once

#include "dense/column_tiles.hpp"
#include "dense/least_shift.hpp"

namespace tally::TALLY_ISA {

using i16 = std::int16_t;

// The integer whose order is that of the doubles; -0.0 is 0.0.
inline i64 ordered_bits(double x) {
    const auto bits = static_cast<i64>(bits_of(x + 0.0));
    return bits ^ static_cast<i64>(static_cast<u64>(bits >> 63) >> 1);
}

// The buckets of one column: an open-addressing table from keys to codes, in the order of first appearance. Keys that are
// close to each other, without the low bits that all of them lack, are looked up in a plain array instead (`near`).
class BucketTable {
public:
    static constexpr i64 kMost = FindBucketsTask::kMost, kPlaces = 4 * kMost, kNear = 1024;
    static constexpr i64 kFirstRows = 4096;

    BucketTable() = default;
    ~BucketTable() { std::free(memory_); }
    BucketTable(const BucketTable&) = delete;
    BucketTable& operator=(const BucketTable&) = delete;

    // Where the plain array is: a number of magnitude a is at (a's bits >> shift) - low, a negative one kNear further, if
    // that is from 0 to kNear - 1 and the bits in `mask` are zero; 0.0, NaN and all others are after them. The array has 0
    // for what is not known, else one more than code + 1 times C, the place of the code's counters.
    struct Near {
        i64 shift, low, mask;
    };
    static constexpr i64 kZero = 2 * kNear, kMissing = kZero + 1, kFar = kZero + 2, kTile = kFar + 1;
    Near near{};
    u32* places = nullptr;  // the plain array

    // Begin with a column of n rows, of C counters for each bucket.
    void clear(const Column& column, i64 n, i64 C) {
        if (memory_ == nullptr) {
            memory_ = static_cast<Memory*>(zeroed(1, sizeof(Memory)));
            places_ = memory_->places;
            keys_ = memory_->keys;
            places = memory_->near;
            places[kMissing] = 1;
        }
        forget_near();
        std::memset(places_, 0, sizeof memory_->places);
        near = {0, 1, 0};
        size_ = shift_ = missed_ = moved_ = 0;
        C_ = C;
        if (n > 2 * kMost) start_with(column, n);
    }

    // Write the codes of `count` values to all[done ..]; earlier codes change if the shift does. C must be 1.
    void add(const double* values, i64 count, i16* all, i64 done) {
        i64 at[kTileRows];
        place(values, count, at);
        for (i64 i = 0; i < count; ++i) {
            u32 found = places[at[i]];
            if (found == 0) {
                found = find_far(values[i], at[i], [&](const i16* now) {
                    for (i64 k = 0; k < done + i; ++k) all[k] = now[all[k]];
                });
                place(values, count, at);
            }
            all[done + i] = static_cast<i16>(static_cast<i64>(found) - 2);
        }
    }

    // Return one more than the place of a value's counters, which the plain array lacks at `at`. The plain array and the
    // counters (kMost + 2, C), whose row k + 1 is that of code k, may change.
    u32 find_counter(double x, i64 at, u32* counters) {
        return find_far(x, at, [&](const i16* now) { merge(now, counters); });
    }

    // Counters by place of each class, kTile of them. That of kFar counts what has to be counted again.
    struct Tile {
        u16* first;
        i64 step;  // from one class to the next
        u16* of(i64 own) const { return first + own * step; }
    };

    // Count a row of class `own` whose number may have no place in the plain array. If that moves, the counters by place
    // are emptied before into those by code.
    void count_far(double x, i64 own, const Tile& tile, u32* counters) {
        const i64 at = place(x);
        if (at != kFar) {  // the plain array has moved since the number was found to be far
            ++tile.of(own)[at];
            return;
        }
        const i64 before = shift_, code = settle(ordered_bits(x), counters);
        ++counters[(code + 1) * C_ + own];
        if (shift_ == before) {
            if (++missed_ < kMissed) return;
            missed_ = -(kMissed << smaller<i64>(moved_++, 20));
        }
        take(tile, counters);
        choose_near();
    }

    // Add counters by place to those by code, and clear them; the plain array moves where buckets become too many.
    void empty(const Tile& tile, u32* counters) {
        const i64 before = shift_;
        take(tile, counters);
        if (shift_ != before) choose_near();
    }

    i64 size() const { return size_; }
    i64 shift() const { return shift_; }
    i64 key(i64 code) { return static_cast<i64>(static_cast<u64>(keys_[code]) << shift_); }

private:
    static u32 place_of(i64 key) {
        static_assert(kPlaces == i64{1} << 12);
        // the halves are mixed apart: x and -x differ in every bit, so that adding or xoring them would give the same
        const u32 low = static_cast<u32>(key), high = static_cast<u32>(static_cast<u64>(key) >> 32);
        return (low + high * 0x85EBCA6Bu) * 0x9E3779B1u >> 20;
    }

    // Write the place of each value in the plain array.
    void place(const double* values, i64 count, i64* at) const;
    i64 place(double x) const;

    // Return one more than the place of the counters of a value; `rewrite` is told of codes that changed.
    template <class Rewrite>
    u32 find_far(double x, i64 at, Rewrite rewrite) {
        if (is_nan(x)) return 1;
        i64 code = find(ordered_bits(x) >> shift_);
        if (code >= kMost) {
            do {
                rewrite(coarsen());
                code = find(ordered_bits(x) >> shift_);
            } while (code >= kMost);
            choose_near();
            return number(code);
        }
        if (at != kFar) places[at] = number(code);
        else if (++missed_ >= kMissed) {  // the more have missed it, the rarer it is moved
            missed_ = -(kMissed << smaller<i64>(moved_++, 20));
            choose_near();
        }
        return number(code);
    }

    // Return the code of a number's bits; where it is one too many, buckets grow and counters are merged.
    i64 settle(i64 ordered, u32* counters) {
        i64 code = find(ordered >> shift_);
        for (; code >= kMost; code = find(ordered >> shift_)) merge(coarsen(), counters);
        return code;
    }

    void take(const Tile& tile, u32* counters) {
        const Near then = near;
        u16 some[kTile] = {};
        for (i64 c = 0; c < C_; ++c) {
            const u16* const own = tile.of(c);
            for (i64 at = 0; at < kTile; ++at) some[at] = static_cast<u16>(some[at] | own[at]);
        }
        for (i64 at = 0; at < kFar; ++at) {
            if (some[at] == 0) continue;
            const i64 size = at == kZero ? 0 : ((at & (kNear - 1)) + then.low) << then.shift;
            const bool minus = at >= kNear && at < kZero;
            u32* const to = counters + (at == kMissing ? 0 : settle(minus ? -1 - size : size, counters) + 1) * C_;
            for (i64 c = 0; c < C_; ++c) to[c] += tile.of(c)[at];
        }
        for (i64 c = 0; c < C_; ++c) std::memset(tile.of(c), 0, kTile * sizeof(u16));
    }

    u32 number(i64 code) const { return static_cast<u32>((code + 1) * C_ + 1); }

    // Bring counters up to date with codes that changed; a code never grows.
    void merge(const i16* now, u32* counters) const {
        for (i64 code = 0; code <= kMost; ++code) {
            if (now[code] == code) continue;
            u32 *from = counters + (code + 1) * C_, *to = counters + (now[code] + 1) * C_;
            for (i64 c = 0; c < C_; ++c) {
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
        i64 bits = 1;
        if (shift_ == 0) {  // at first many
            Scratch<i64> copy(size_);
            for (i64 code = 0; code < size_; ++code) copy[code] = keys_[code];
            bits = larger<i64>(1, LeastShift::of(copy.get(), size_));
        }
        drop(bits, now);
        while (size_ > kMost) drop(1, now);
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

    // Begin with the shift that the first rows need: more rows need no less.
    void start_with(const Column& column, i64 n) {
        Scratch<i64> keys(kFirstRows);
        i64 count = 0, least = INT64_MAX, most = 0;
        for (i64 i = 0; i < smaller(n, kFirstRows); ++i) {
            const double x = real_element(column, i);
            if (is_nan(x)) continue;
            const i64 key = keys[count++] = ordered_bits(x), size = magnitude(key);
            least = size == 0 ? least : smaller(least, size);
            most = larger(most, size);
        }
        shift_ = LeastShift::of(keys.get(), count);
        if (shift_ > 0) set_near(least, most, shift_);
    }

    // Move the plain array to where the keys are.
    void choose_near() {
        forget_near();
        i64 any = 0, least = INT64_MAX, most = 0, bits = shift_;  // any: bits that some number has
        for (i64 code = 0; code < size_; ++code) {
            const i64 size = magnitude(keys_[code]);
            least = size == 0 ? least : smaller(least, size);
            most = larger(most, size);
            any |= size;
        }
        if (shift_ == 0)
            for (; bits < 52 && (any >> bits & 1) == 0; ++bits) {}
        set_near(least << shift_, most << shift_, bits);
        for (i64 code = 0; code < size_; ++code) {
            const i64 at = near_place(keys_[code]);
            if (at != kFar) places[at] = number(code);
        }
    }

    // Centre the plain array on magnitudes, without their low bits; if they are too many, on the largest of them.
    void set_near(i64 least, i64 most, i64 bits) {
        const i64 first = smaller(least, most) >> bits, span = (most >> bits) - first;
        const i64 low = span < kNear ? first - (kNear - span) / 2 : first + span - kNear + kNear / 8;
        near = {bits, larger<i64>(1, low), ((i64{1} << bits) - 1) & ~((i64{1} << shift_) - 1)};
    }

    // The place in the plain array of a key, shorter by the shift.
    i64 near_place(i64 key) const {
        if (key == 0 && shift_ == 0) return kZero;
        if (near.shift < shift_) return kFar;  // the shift has grown since
        const i64 size = magnitude(key), at = (size >> (near.shift - shift_)) - near.low;
        if (at < 0 || at >= kNear || (static_cast<i64>(static_cast<u64>(size) << shift_) & near.mask) != 0) return kFar;
        return key < 0 ? at + kNear : at;
    }

    // Empty the plain array: only keys that were found can be in it.
    void forget_near() {
        for (i64 code = 0; code < size_; ++code) places[near_place(keys_[code])] = 0;
        places[kZero] = places[kFar] = 0;
    }

    struct Memory {
        u16 places[kPlaces];  // code + 1 of the key at each place; 0 if empty
        i64 keys[kMost + 1];  // without the low bits
        i16 codes[kMost + 2], merged[kMost + 1];
        u32 near[kFar + 1];
    };
    static constexpr i64 kMissed = 16;  // lookups beside the plain array, at first, until it is moved
    Memory* memory_ = nullptr;          // allocated when first needed
    u16* places_ = nullptr;
    i64* keys_ = nullptr;
    i64 size_ = 0, shift_ = 0, C_ = 1, missed_ = 0, moved_ = 0;
};

// The plain arrays of four columns, or of one column four times.
struct NearLanes {
    I4 shift, low, mask;

    NearLanes() = default;
    NearLanes(const BucketTable::Near& a, const BucketTable::Near& b, const BucketTable::Near& c,
              const BucketTable::Near& d) {
        const auto four = [](i64 w, i64 x, i64 y, i64 z) {
            const i64 lanes[4] = {w, x, y, z};
            return load(lanes);
        };
        shift = four(a.shift, b.shift, c.shift, d.shift);
        low = four(a.low, b.low, c.low, d.low);
        mask = four(a.mask, b.mask, c.mask, d.mask);
    }

    I4 place(F4 given) const {
        using Table = BucketTable;
        const I4 none = all(i64{0}), x = bits(given + all(0.0)), size = x & all(INT64_MAX);
        const I4 from = shift_right(size, shift) - low;
        const I4 far = less(from, none) | less(all(Table::kNear - 1), from) | less(none, size & mask);
        const I4 near = choose(less(x, none), from + all(Table::kNear), from);
        const I4 found = choose(less(size, all(i64{1})), all(Table::kZero), choose(far, all(Table::kFar), near));
        return choose(bits(missing(given)), all(Table::kMissing), found);
    }
};

inline void BucketTable::place(const double* values, i64 count, i64* at) const {
    const NearLanes lanes(near, near, near, near);
    for (i64 i = 0; i < count; i += 4) store(at + i, lanes.place(load(values + i)));  // tiles have room for three more
}

inline i64 BucketTable::place(double x) const {
    i64 at[4];
    store(at, NearLanes(near, near, near, near).place(all(x)));
    return at[0];
}

inline void finish_column(BucketTable& buckets, const FindBucketsTask& task, i64 f) {
    const i64 room = smaller(task.table.n_rows, BucketTable::kMost);
    for (i64 code = 0; code < buckets.size(); ++code) task.keys[f * room + code] = buckets.key(code);
    task.sizes[f] = buckets.size();
    task.shifts[f] = buckets.size() == 0 ? 0 : buckets.shift();
}

}  // namespace tally::TALLY_ISA
