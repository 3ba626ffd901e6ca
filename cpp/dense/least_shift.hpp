// How many low bits the keys of a column's numbers have to lose: see dense/buckets.hpp.
//
// IN: keys (n,), overwritten. OUT: the shift. Cost: two to six passes of a radix sort.
#pragma once

#include "dense/scratch.hpp"

namespace tally::TALLY_ISA {

// The least number of bits to drop from keys so that at most kMost of them are left.
class LeastShift {
public:
    static constexpr i64 kMost = FindBucketsTask::kMost;

    // keys are overwritten.
    static i64 of(i64* keys, i64 count) {
        if (count <= kMost) return 0;
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

private:
    static constexpr i64 kBits = 11;

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
