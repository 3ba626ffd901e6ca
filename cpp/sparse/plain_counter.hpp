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
// Entries are read in memory order, and some hundred at a time are packed into one word each: the place of their counter
// and their value. If the counters are too many for the cache, they have 16 bits, those of a column next to each other
// for all classes: most entries are of few columns. What they do not hold is listed, and added now and then. (With 8 bits
// entries above 255 take three times as long. Other alternatives, too, take longer: visiting rows class by class, because
// they are on pages far from each other; sorting entries by class, to count one class after the other, because they are
// written and read once more; and full counters, because for a hundred thousand columns they exceed the second-level
// cache.)
template <class Index, class Entry, bool Binary>
class PlainCounter {
public:
    PlainCounter(const CountSparseTask& task, SparseHasher<Index, Entry>& hasher)
        : task_(task), hasher_(hasher), F_(task.matrix.n_columns), C_(task.n_classes),
          direct_(C_ * F_ <= kCached || task.matrix.n_entries < C_ * F_), step_(direct_ ? 1 : C_),
          counters_(C_ * F_, direct_), words_(kBlock), small_(direct_ ? 0 : C_ * F_),
          carried_(direct_ ? 0 : kCarried, false) {}

    // Return the counters (C, F), to be freed by std::free; null if an entry is not plain or there is a fault.
    i64* run() { return count() ? counters_.release() : nullptr; }

private:
    static constexpr i64 kCached = 1 << 16;   // counters that stay in the second-level cache
    static constexpr i64 kBlock = 1 << 10;    // entries whose words stay in the first-level cache
    static constexpr i64 kCarried = 1 << 16;  // multiples of 2^16 that are listed

    bool count() {
        const Sparse& matrix = task_.matrix;
        if (matrix.n_entries >= i64{1} << 32 || F_ > i64{1} << 31) return false;  // so that places have 32 bits
        for (i64 row = 0; row < matrix.n_rows; ++row) {
            const Span span = row_span(matrix, row);
            const i64 c = task_.classes[row];
            if (!span.ok || c < 0 || c >= C_) return false;
            u64 hash = 0;
            for (i64 from = span.from, to; from < span.to; from = to) {
                to = smaller(from + kBlock - packed_, span.to);
                if (!pack(from, to, direct_ ? 0 : c, &words_[packed_], hash)) return false;
                packed_ += to - from;
                if (direct_) count_directly(c);
                else if (packed_ == kBlock) count_small();
            }
            hasher_.add(hash);
        }
        if (direct_) return true;
        count_small();
        add_small();
        add_carried();
        return true;
    }

    // Pack entries [from, to): the place of the counter, counted from `first`, in the lower half, the value in the upper.
    // Return false if an entry is not plain.
    bool words_of(i64 from, i64 to, i64 first, u64* words) const {
        using Unsigned = std::make_unsigned_t<Index>;
        const auto* indices = reinterpret_cast<const Unsigned*>(task_.matrix.indices.base);
        const auto* data = reinterpret_cast<const Entry*>(task_.matrix.data.base);
        constexpr Unsigned kNegative = ~Unsigned{0} / 2 + 1;  // indices from here on are negative as signed numbers
        const Unsigned end = static_cast<u64>(F_) < kNegative ? static_cast<Unsigned>(F_) : kNegative;
        const u64 step = static_cast<u64>(step_), start = static_cast<u64>(first);
        u64 odd = 0;
        Unsigned outside = 0;
        for (i64 k = from; k < to; ++k) {
            const Unsigned f = indices[k];
            outside |= static_cast<Unsigned>(f >= end);
            words[k - from] = (static_cast<u64>(f) * step + start) | plain<Binary>(data[k], odd) << 32;
        }
        return (odd | outside) == 0;
    }

    // The same, and add the hashes of the entries to `hash` where they are wanted.
    bool pack(i64 from, i64 to, i64 first, u64* words, u64& hash) const {
        if constexpr (Binary) {  // the entries need not be whole
            if (hasher_.wanted()) hash += hasher_.of(from, to);
            return words_of(from, to, first, words);
        } else {
            return hasher_.wanted() ? pack_whole<true>(from, to, first, words, hash)
                                    : pack_whole<false>(from, to, first, words, hash);
        }
    }

    template <bool Hashed>
    bool pack_whole(i64 from, i64 to, i64 first, u64* words, u64& hash) const {
        constexpr i64 kLast[8] = {0, 0, 0, 0, -1, -1, -1, -1};  // from k on: a mask of the last k lanes of four
        constexpr i64 kFar = kBlock;  // counting in between makes processors forget what is read next
        const auto* indices = reinterpret_cast<const Index*>(task_.matrix.indices.base) + from;
        const auto* data = reinterpret_cast<const Entry*>(task_.matrix.data.base) + from;
        const I4 seed = all(static_cast<i64>(hasher_.seed())), last = all(F_ - 1);
        const I4 step = all(step_), begin = all(first);
        I4 odd = all(i64{0}), outside = odd, sums = odd;
        const auto four = [&](const Index* index, const Entry* entry, u64* word) {
            const I4 f = load(index);
            F4 x;
            const I4 value = whole_four(entry, x, odd);
            outside = outside | f | (last - f);  // one of them is negative
            store(reinterpret_cast<i64*>(word), (multiply_low_halves(f, step) + begin) | shift_left<32>(value));
            return Hashed ? bits(keep(less(all(0.0), x), doubles(hash_bits(bits(x), mixed(f, seed))))) : f;
        };
        const i64 count = to - from;
        i64 k = 0;
        for (; k + 4 <= count; k += 4) {
            prefetch(indices + k + kFar);
            prefetch(data + k + kFar);
            sums = sums + four(indices + k, data + k, words + k);
        }
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

    // Count the packed words of a row.
    void count_directly(i64 c) {
        i64* const counter = counters_.get() + c * F_;
        for (i64 k = 0; k < packed_; ++k) counter[words_[k] & kDigit] += static_cast<i64>(words_[k] >> 32);
        packed_ = 0;
    }

    void count_small() {
        constexpr i64 kAhead = 32;
        const u64* const words = words_.get();
        const i64 count = packed_;
        packed_ = 0;
        if (n_carried_ + count > kCarried) add_carried();
        u16* const small = small_.get();
        u64* carried = carried_.get() + n_carried_;
        const auto add = [&](u64 word) {
            const u64 place = word & kDigit, sum = small[place] + (word >> 32);
            small[place] = static_cast<u16>(sum);
            if (sum >> 16 != 0) *carried++ = place | sum >> 16 << 48;
        };
        i64 k = 0;
        for (; k + kAhead < count; ++k) {
            prefetch(small + (words[k + kAhead] & kDigit));
            add(words[k]);
        }
        for (; k < count; ++k) add(words[k]);
        n_carried_ = carried - carried_.get();
    }

    // Add the small counters to the full ones, at last. They are read by tiles: some columns of all classes.
    void add_small() {
        constexpr i64 kTile = 128;  // columns
        const i64 F = F_, C = C_;
        for (i64 first = 0; first < F; first += kTile) {
            const i64 end = smaller(first + kTile, F);
            for (i64 c = 0; c < C; ++c) {
                const u16* const small = small_.get() + c;
                i64* const counter = counters_.get() + c * F;
                if (begun_)
                    for (i64 f = first; f < end; ++f) counter[f] += small[f * C];
                else
                    for (i64 f = first; f < end; ++f) counter[f] = small[f * C];
            }
        }
        begun_ = true;
    }

    // Add what small counters did not hold to the full ones. Where entries are large this is done often: it must not read
    // all of them.
    void add_carried() {
        if (!begun_) std::memset(counters_.get(), 0, static_cast<std::size_t>(C_ * F_) * sizeof(i64));
        begun_ = true;
        const u32 C = static_cast<u32>(C_);  // places have 32 bits, and so no more classes
        for (i64 k = 0; k < n_carried_; ++k) {
            const u32 place = static_cast<u32>(carried_[k]), f = place / C, c = place % C;
            counters_[i64{c} * F_ + i64{f}] += static_cast<i64>(carried_[k] >> 32);
        }
        n_carried_ = 0;
    }

    const CountSparseTask& task_;
    SparseHasher<Index, Entry>& hasher_;
    const i64 F_, C_;
    const bool direct_;                 // few counters, or so many that most stay 0
    const i64 step_;                    // from the place of a column to that of the next
    Scratch<i64> counters_;             // (C, F), memory as it was until `begun_` unless direct
    Scratch<u64> words_;
    Scratch<u16> small_;                 // (F, C), what is not yet in counters_
    Scratch<u64> carried_;              // multiples of 2^16 that were taken from them
    i64 packed_ = 0, n_carried_ = 0;
    bool begun_ = false;
};

}  // namespace tally::TALLY_ISA
