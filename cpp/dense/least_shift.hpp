// How many low bits the keys of a column's numbers have to lose: see dense/buckets.hpp.
//
// IN: keys (n,), overwritten. OUT: the shift. Cost: about 3 ns per key, or two to six passes of a radix sort.
#pragma once

#include "dense/scratch.hpp"

namespace tally::TALLY_ISA {

// The bits of a key's number without its sign.
inline i64 magnitude(i64 key) { return key < 0 ? -1 - key : key; }

// The least number of bits to drop from keys so that at most kMost of them are left.
class LeastShift {
public:
    static constexpr i64 kMost = FindBucketsTask::kMost;

    // keys are overwritten.
    static i64 of(i64* keys, i64 count) {
        if (count <= kMost) return 0;
        const i64 found = by_marks(keys, count);
        return found != kUnknown ? found : by_sorting(keys, count);
    }

private:
    static constexpr i64 kUnknown = -1, kBits = 11;

    // Mark the buckets of some shift, and join neighbours until they are few enough: most columns of fractions need such
    // a shift, of at most 52 bits, which keeps 0.0 in a bucket of its own.
    static i64 by_marks(const i64* keys, i64 count) {
        constexpr i64 kLast = 52, kSide = 4096;  // kSide: marks of each sign
        i64 least = INT64_MAX, most = 0, zeros = 0;
        for (i64 i = 0; i < count; ++i) {
            const i64 size = magnitude(keys[i]);
            zeros += size == 0 ? 1 : 0;
            least = smaller(least, size == 0 ? INT64_MAX : size);
            most = larger(most, size);
        }
        const i64 octaves = (most >> kLast) - (least >> kLast) + 1;
        if (least >> kLast == 0 || octaves < 1 || octaves > kSide) return kUnknown;
        i64 shift = kLast, side = octaves;
        for (; 2 * side <= kSide; side *= 2) --shift;
        const i64 first = least >> kLast << (kLast - shift), finest = shift;
        std::uint8_t room[2][2 * kSide] = {}, *marks = room[0], *joined = room[1];
        for (i64 i = 0; i < count; ++i)
            if (keys[i] != 0) marks[(magnitude(keys[i]) >> shift) - first + (keys[i] >> 63 & side)] = 1;
        for (i64 width = 2 * side; shift <= kLast; ++shift, width /= 2) {
            std::uint32_t buckets = zeros > 0 ? 1 : 0;
            for (i64 k = 0; k < width; ++k) buckets += marks[k];
            if (buckets <= kMost) return shift > finest ? shift : kUnknown;  // at first, a finer one might do
            for (i64 k = 0; k < width / 2; ++k) joined[k] = static_cast<std::uint8_t>(marks[2 * k] | marks[2 * k + 1]);
            std::uint8_t* const other = marks;
            marks = joined;
            joined = other;
        }
        return kUnknown;
    }

    static i64 by_sorting(i64* keys, i64 count) {
        Scratch<i64> room(count);
        i64* other = room.get();
        const i64 tried[] = {64 - 2 * kBits, 64 - 3 * kBits, 0};  // two passes over the upper bits are mostly enough
        for (const i64 lowest : tried) {
            i64* const sorted = sort(keys, other, count, lowest);
            // Of neighbours that differ at some highest bit, each has a bucket of its own with up to that shift.
            i64 apart[64] = {};
            for (i64 i = 1; i < count; ++i) {
                const u64 differ = static_cast<u64>(sorted[i] ^ sorted[i - 1]) >> lowest;
                if (differ != 0) ++apart[lowest + 63 - leading_zeros(differ)];
            }
            i64 buckets = 1, shift = 63;
            for (; shift >= lowest && buckets + apart[shift] <= kMost; --shift) buckets += apart[shift];
            if (shift >= lowest) return shift + 1;
            if (sorted != keys) {
                other = keys;
                keys = sorted;
            }
        }
        return 0;
    }

    static i64 leading_zeros(u64 word) {  // of a word that is not 0
#if defined(__GNUC__) || defined(__clang__)
        return __builtin_clzll(word);
#else
        i64 zeros = 0;
        for (i64 step = 32; step > 0; step /= 2)
            if (word >> (64 - step) == 0) {
                word <<= step;
                zeros += step;
            }
        return zeros;
#endif
    }

    // Sort by all bits from the lowest given one on; return where the keys are then.
    static i64* sort(i64* from, i64* to, i64 count, i64 lowest) {
        for (i64 digit = lowest; digit < 64; digit += kBits) {
            i64 starts[(1 << kBits) + 1] = {};
            const auto place = [&](i64 key) { return static_cast<u64>(key) >> digit & ((u64{1} << kBits) - 1); };
            for (i64 i = 0; i < count; ++i) ++starts[place(from[i]) + 1];
            for (i64 k = 0; k < 1 << kBits; ++k) starts[k + 1] += starts[k];
            for (i64 i = 0; i < count; ++i) to[starts[place(from[i])]++] = from[i];
            i64* const sorted = to;
            to = from;
            from = sorted;
        }
        return from;
    }
};

}  // namespace tally::TALLY_ISA
