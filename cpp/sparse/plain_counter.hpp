// Counting sparse rows of small whole numbers, without weights: the fast half of sparse/count_and_score.hpp.
#pragma once

#include <type_traits>

#include "sparse/hash.hpp"

namespace tally::TALLY_ISA {

inline bool bad_entry(double x) { return !(x >= 0.0) || is_infinite(x); }
inline bool bad_entry(float x) { return bad_entry(static_cast<double>(x)); }
inline bool bad_entry(i64 x) { return x < 0; }
inline bool bad_entry(i32 x) { return x < 0; }

// Return what an entry adds to a plain counter: an integer in [0, 2^31), or presence. For any other entry set a
// bit of `odd`. There are no branches, so the compiler can vectorise the loop.
inline u64 whole(double x, u64& odd) {
    constexpr double kUnits = 4503599627370496.0;  // 2^52: adding it rounds x to an integer in the low bits
    const double sum = x + kUnits;
    const u64 value = bits_of(sum) ^ bits_of(kUnits);
    odd |= (value >> 31) | static_cast<u64>(sum - kUnits != x);
    return value;
}
inline u64 whole(float x, u64& odd) { return whole(static_cast<double>(x), odd); }
inline u64 whole(i64 x, u64& odd) {
    odd |= static_cast<u64>(x) >> 31;
    return static_cast<u64>(x);
}
inline u64 whole(i32 x, u64& odd) { return whole(static_cast<i64>(x), odd); }

// The same for four entries, which are returned as doubles, too.
template <class Entry>
inline I4 whole_four(const Entry* from, F4& x, I4& odd) {
    const F4 units = all(4503599627370496.0);
    I4 value;
    if constexpr (std::is_floating_point_v<Entry>) {
        x = load_four(from);
        const F4 sum = x + units;
        value = bits(sum) ^ bits(units);
        odd = odd | (bits(sum - units) ^ bits(x));  // also for -0.0, which no count is
    } else {
        value = load(from);
        x = doubles(value | bits(units)) - units;
    }
    odd = odd | shift_right<31>(value);
    return value;
}

template <bool Binary, class Entry>
inline u64 plain(Entry x, u64& odd) {
    if constexpr (!Binary) return whole(x, odd);
    odd |= static_cast<u64>(bad_entry(x));
    return static_cast<u64>(x > 0);
}

// Counters without weights, for integer entries below 2^31 or for presence; no sum can overflow before 2^32 entries.
//
// Entries are read in memory order and packed into one word each, column and value. If the counters of all classes are
// too many for the cache, half a million words at a time are sorted by class, and the classes are counted one after the
// other in 16-bit counters that carry into the full ones. (Two alternatives take twice the time: visiting rows class by
// class, because they are on pages far from each other; and full counters, because for a hundred thousand columns they
// exceed the second-level cache.)
template <class Index, class Entry, bool Binary>
class PlainCounter {
public:
    PlainCounter(const CountSparseTask& task, SparseHasher<Index, Entry>& hasher)
        : task_(task), hasher_(hasher), F_(task.matrix.n_columns), C_(task.n_classes),
          direct_(C_ * F_ <= kCached || task.matrix.n_entries < C_ * F_), counters_(C_ * F_, direct_),
          zeroed_(C_), words_(direct_ ? kBlock : kChunk), small_(direct_ ? 0 : C_ * F_), starts_(C_ + 1), ends_(C_) {
        for (i64 c = 0; c < C_; ++c) zeroed_[c] = direct_;
    }

    // Return the counters (C, F), to be freed by std::free; null if an entry is not plain or there is a fault.
    i64* run() { return count() ? counters_.release() : nullptr; }

private:
    static constexpr i64 kCached = 1 << 16;  // counters that stay in the second-level cache
    static constexpr i64 kChunk = 1 << 19;   // entries
    static constexpr i64 kBlock = 1 << 9;    // entries whose words stay in the first-level cache

    bool count() {
        const Sparse& matrix = task_.matrix;
        if (matrix.n_entries >= i64{1} << 32 || F_ > i64{1} << 32) return false;
        for (i64 row = 0, stop; row < matrix.n_rows; row = stop) {
            i64 entries = 0;
            for (stop = row; stop < matrix.n_rows; ++stop) {
                const Span span = row_span(matrix, stop);
                if (!span.ok) return false;
                if (stop > row && entries + (span.to - span.from) > kChunk) break;
                entries += span.to - span.from;
            }
            // a row longer than a chunk has one class, so sorting does not help
            if (!(direct_ || entries > kChunk ? count_rows(row, stop) : deal_rows(row, stop))) return false;
        }
        for (i64 c = 0; c < C_ && !direct_; ++c) {
            const u16* const small = small_.get() + c * F_;
            i64* const counter = counters_.get() + c * F_;
            if (zeroed_[c])
                for (i64 f = 0; f < F_; ++f) counter[f] += small[f];
            else
                for (i64 f = 0; f < F_; ++f) counter[f] = small[f];
        }
        return true;
    }

    // Return the counters of a class. Most classes need none before the end: to zero them all takes a tenth of the time.
    i64* counter_of(i64 c) {
        i64* const counter = counters_.get() + c * F_;
        if (!zeroed_[c]) {
            for (i64 f = 0; f < F_; ++f) counter[f] = 0;
            zeroed_[c] = true;
        }
        return counter;
    }

    // Pack entries [from, to): column in the lower half, value in the upper. Return false if an entry is not plain.
    bool words_of(i64 from, i64 to, u64* words) const {
        using Unsigned = std::make_unsigned_t<Index>;
        const auto* indices = reinterpret_cast<const Unsigned*>(task_.matrix.indices.base);
        const auto* data = reinterpret_cast<const Entry*>(task_.matrix.data.base);
        constexpr Unsigned kNegative = ~Unsigned{0} / 2 + 1;  // indices from here on are negative as signed numbers
        const Unsigned end = static_cast<u64>(F_) < kNegative ? static_cast<Unsigned>(F_) : kNegative;
        u64 odd = 0;
        Unsigned outside = 0;
        for (i64 k = from; k < to; ++k) {
            const Unsigned f = indices[k];
            outside |= static_cast<Unsigned>(f >= end);
            words[k - from] = static_cast<u64>(f) | plain<Binary>(data[k], odd) << 32;
        }
        return (odd | outside) == 0;
    }

    // The same, and add the hashes of the entries to `hash` where they are wanted.
    bool pack(i64 from, i64 to, u64* words, u64& hash) const {
        if constexpr (Binary) {  // the entries need not be whole
            if (hasher_.wanted()) hash += hasher_.of(from, to);
            return words_of(from, to, words);
        } else {
            return hasher_.wanted() ? pack_whole<true>(from, to, words, hash) : pack_whole<false>(from, to, words, hash);
        }
    }

    template <bool Hashed>
    bool pack_whole(i64 from, i64 to, u64* words, u64& hash) const {
        constexpr i64 kLast[8] = {0, 0, 0, 0, -1, -1, -1, -1};  // from k on: a mask of the last k lanes of four
        const auto* indices = reinterpret_cast<const Index*>(task_.matrix.indices.base) + from;
        const auto* data = reinterpret_cast<const Entry*>(task_.matrix.data.base) + from;
        const I4 seed = all(static_cast<i64>(hasher_.seed())), last = all(F_ - 1);
        I4 odd = all(i64{0}), outside = odd, sums = odd;
        const auto four = [&](const Index* index, const Entry* entry, u64* word) {
            const I4 f = load(index);
            F4 x;
            const I4 value = whole_four(entry, x, odd);
            outside = outside | f | (last - f);  // one of them is negative
            store(reinterpret_cast<i64*>(word), f | shift_left<32>(value));
            return Hashed ? bits(keep(less(all(0.0), x), doubles(hash_bits(bits(x), mixed(f, seed))))) : f;
        };
        const i64 count = to - from;
        i64 k = 0;
        for (; k + 4 <= count; k += 4) sums = sums + four(indices + k, data + k, words + k);
        if (k < count && count >= 4) {  // some entries once more
            const i64 start = count - 4;
            sums = sums + (four(indices + start, data + start, words + start) & load(kLast + (count - k)));
        } else if (k < count) {
            Index few[4] = {};
            Entry entries[4] = {};
            u64 packed[4];
            for (i64 j = 0; j < count; ++j) {
                few[j] = indices[j];
                entries[j] = data[j];
            }
            sums = four(few, entries, packed);
            for (i64 j = 0; j < count; ++j) words[j] = packed[j];
        }
        if (Hashed) hash += sum_of(sums);
        return !any(odd | shift_right<63>(outside));
    }

    bool count_rows(i64 row, i64 stop) {
        for (; row < stop; ++row) {
            const Span span = row_span(task_.matrix, row);
            const i64 c = task_.classes[row];
            if (!span.ok || c < 0 || c >= C_) return false;
            i64* const counter = counter_of(c);
            u64 hash = 0;
            for (i64 from = span.from, to; from < span.to; from = to) {
                to = smaller(from + kBlock, span.to);
                if (!pack(from, to, words_.get(), hash)) return false;
                for (i64 k = 0; k < to - from; ++k) counter[words_[k] & kDigit] += static_cast<i64>(words_[k] >> 32);
            }
            hasher_.add(hash);
        }
        return true;
    }

    bool deal_rows(i64 row, i64 stop) {
        Scratch<i32> classes(stop - row);
        for (i64 c = 0; c <= C_; ++c) starts_[c] = 0;
        for (i64 i = row; i < stop; ++i) {
            const Span span = row_span(task_.matrix, i);
            const i32 c = task_.classes[i];
            if (!span.ok || c < 0 || c >= C_) return false;
            classes[i - row] = c;
            starts_[c + 1] += span.to - span.from;
        }
        for (i64 c = 0; c < C_; ++c) starts_[c + 1] += starts_[c];
        if (starts_[C_] > kChunk) return false;
        for (i64 c = 0; c < C_; ++c) ends_[c] = starts_[c];
        for (i64 i = row; i < stop; ++i) {
            const i64 c = classes[i - row];
            const Span span = row_span(task_.matrix, i);
            // another thread may have changed indptr since rows were measured: never write out of bounds
            if (!span.ok || span.to - span.from > starts_[c + 1] - ends_[c]) return false;
            u64 hash = 0;
            if (!pack(span.from, span.to, &words_[ends_[c]], hash)) return false;
            ends_[c] += span.to - span.from;
            hasher_.add(hash);
        }
        for (i64 c = 0; c < C_; ++c) count_dealt(starts_[c], ends_[c], c);
        return true;
    }

    void count_dealt(i64 from, i64 to, i64 c) {
        constexpr i64 kAhead = 32;
        const u64* words = words_.get();
        u16* const small = small_.get() + c * F_;
        const auto add = [=, this](u64 word) {
            const u64 f = word & kDigit, sum = small[f] + (word >> 32);
            small[f] = static_cast<u16>(sum);
            if (sum >> 16 != 0) counter_of(c)[f] += static_cast<i64>(sum >> 16 << 16);
        };
        i64 k = from;
        for (; k + kAhead < to; ++k) {
            prefetch(small + (words[k + kAhead] & kDigit));
            add(words[k]);
        }
        for (; k < to; ++k) add(words[k]);
    }

    const CountSparseTask& task_;
    SparseHasher<Index, Entry>& hasher_;
    const i64 F_, C_;
    const bool direct_;           // few counters, or so many that most stay 0
    Scratch<i64> counters_;       // (C, F)
    Scratch<bool> zeroed_;        // (C,), whether the counters of a class are more than memory
    Scratch<u64> words_;          // entries of a chunk, class by class
    Scratch<u16> small_;          // (C, F), counts not yet in counters_
    Scratch<i64> starts_, ends_;  // of each class in words_
};

}  // namespace tally::TALLY_ISA
