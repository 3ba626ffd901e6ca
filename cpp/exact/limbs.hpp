// Exact accumulators: every cell is a long integer in 32-bit digits ("limbs"), stored in 64-bit words so that carries
// can wait. All cells of an array have the same range of limbs; it grows as the data need and is trimmed at the end.
//
// IN: numbers as mantissa and exponent. OUT: Limbs (cells, L).
// The caller guarantees: no more than 2^28 additions to a cell between two calls of settle().
// Cost: adding a word changes three limbs; more words, four limbs at a time. Twin: reference.limbs.
#pragma once

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

constexpr u64 kDigit = 0xFFFFFFFFu;
constexpr i64 kRowsPerSettle = i64{1} << 26;

// A finite number as (-1)^negative * mantissa * 2^exponent.
struct Parts {
    u64 mantissa;
    int exponent;
    bool negative;
};

inline Parts parts_of(double x) {
    const u64 bits = bits_of(x);
    const int field = static_cast<int>((bits >> 52) & 0x7FF);
    const u64 fraction = bits & 0xFFFFFFFFFFFFFu;
    const bool negative = (bits >> 63) != 0;
    if (field == 0) return {fraction, -1074, negative};
    return {fraction | (u64{1} << 52), field - 1075, negative};
}

inline Parts parts_of(float x) { return parts_of(static_cast<double>(x)); }
inline Parts parts_of(i64 x) { return {x < 0 ? u64{0} - static_cast<u64>(x) : static_cast<u64>(x), 0, x < 0}; }
inline Parts parts_of(i32 x) { return parts_of(static_cast<i64>(x)); }

// The range of exponents that contains all bits of some numbers.
struct Range {
    int low = 1 << 20, high = -(1 << 20);

    void include(const Parts& p) {
        if (p.mantissa == 0) return;
        low = smaller(low, p.exponent);
        high = larger(high, p.exponent + 64);
    }
    bool empty() const { return low > high; }
};

inline i64 word_of(i64 exponent) { return exponent >= 0 ? exponent / 32 : -((31 - exponent) / 32); }

class LimbArray {
public:
    explicit LimbArray(i64 cells) : cells_(cells) {}
    ~LimbArray() { std::free(data_); }
    LimbArray(const LimbArray&) = delete;
    LimbArray& operator=(const LimbArray&) = delete;

    // Make room for numbers with digits at words [low, high), and for the carries of their sums.
    void reserve(i64 low, i64 high) {
        high += 1;  // the highest limb has 31 spare bits, this one 31 more
        if (length_ != 0 && low >= base_ && high <= base_ + length_) return;
        if (length_ != 0) {
            low = smaller(low, base_);
            high = larger(high, base_ + length_);
        }
        const i64 length = high - low;
        auto* grown = static_cast<i64*>(zeroed(cells_ * length, sizeof(i64)));
        for (i64 i = 0; length_ != 0 && i < cells_; ++i)
            std::memcpy(grown + i * length + (base_ - low), data_ + i * length_,
                        static_cast<std::size_t>(length_) * sizeof(i64));
        std::free(data_);
        data_ = grown;
        base_ = low;
        length_ = length;
    }

    // Make room once, not at each addition, for products of `times` numbers in range x and one in range w.
    void reserve(const Range& x, int times, const Range& w) {
        if (x.empty() || w.empty()) return;
        const i64 low = i64{times} * x.low + w.low, high = i64{times} * x.high + w.high;
        reserve(word_of(low), word_of(high) + 4);
    }

    // cell += (-1)^negative * m * 2^exponent
    void add(i64 cell, u64 m, i64 exponent, bool negative) {
        if (m == 0) return;
        const i64 word = word_of(exponent);
        reserve(word, word + 3);
        add_at(cell, m, word, static_cast<int>(exponent - 32 * word), negative);
    }

    void add(i64 cell, i64 value, i64 exponent) {
        add(cell, value < 0 ? u64{0} - static_cast<u64>(value) : static_cast<u64>(value), exponent, value < 0);
    }

    // cell += (-1)^negative * (words[0] + words[1] * 2^64 + ...) * 2^exponent
    template <int N>
    void add_words(i64 cell, const u64 (&words)[N], i64 exponent, bool negative) {
        constexpr int kFours = (N + 2) / 2;  // 2 * N + 1 digits, by fours
        const i64 word = word_of(exponent);
        const int bit = static_cast<int>(exponent - 32 * word);
        reserve(word, word + 4 * kFours);
        i64* limbs = data_ + cell * length_ + (word - base_);
        u64 shifted[2 * kFours] = {};
        for (int k = 0; k < N; ++k) {
            shifted[k] |= words[k] << bit;
            shifted[k + 1] = words[k] >> 1 >> (63 - bit);
        }
        const I4 sign = all(negative ? i64{-1} : i64{0});  // (d ^ -1) + 1 == -d
        for (int k = 0; k < kFours; ++k, limbs += 4)
            store(limbs, load(limbs) + ((digits_of(shifted[2 * k], shifted[2 * k + 1]) ^ sign) - sign));
    }

    // cell += a cell of another array
    void add_cell(i64 cell, const LimbArray& other, i64 from) {
        if (other.length_ == 0) return;
        reserve(other.base_, other.base_ + other.length_);
        for (i64 k = 0; k < other.length_; ++k)
            data_[cell * length_ + other.base_ - base_ + k] += other.data_[from * other.length_ + k];
    }

    // cell += a borrowed number
    void add_view(i64 cell, const LimbsView& other, i64 from) {
        reserve(other.base, other.base + other.length);
        for (i64 k = 0; k < other.length; ++k)
            data_[cell * length_ + other.base - base_ + k] += other.data[from * other.length + k];
    }

    // Make room for more cells, all zero.
    void extend(i64 cells) {
        auto* grown = static_cast<i64*>(zeroed(cells * length_, sizeof(i64)));
        if (length_ != 0) std::memcpy(grown, data_, static_cast<std::size_t>(cells_ * length_) * sizeof(i64));
        std::free(data_);
        data_ = grown;
        cells_ = cells;
    }

    // Cells from `cell` on; valid until the next change.
    LimbsView view(i64 cell) const { return {data_ + cell * length_, length_, base_}; }

    // Copy `count` cells from `first` on, as they are.
    void copy(Limbs& out, i64 first, i64 count) const {
        const i64 length = larger<i64>(length_, 1);
        Scratch<i64> cells(count * length);
        if (length_ != 0)
            std::memcpy(cells.get(), data_ + first * length_, static_cast<std::size_t>(count * length_) * sizeof(i64));
        out = {cells.release(), count, length, base_};
    }

    // Whether a settled cell is below zero, or zero.
    bool negative(i64 cell) const { return length_ != 0 && data_[cell * length_ + length_ - 1] < 0; }
    bool zero(i64 cell) const {
        for (i64 k = 0; k < length_; ++k)
            if (data_[cell * length_ + k] != 0) return false;
        return true;
    }

    // Prefetch a cell's limbs.
    void fetch(i64 cell) const { prefetch(data_ + cell * length_); }

    // Bring all limbs but the last of each cell into [0, 2^32).
    void settle() {
        for (i64 i = 0; i < cells_; ++i) settle(i);
    }

    void settle(i64 cell) {
        i64* limbs = data_ + cell * length_;
        i64 carry = 0;
        for (i64 k = 0; k + 1 < length_; ++k) {
            const i64 sum = limbs[k] + carry;
            limbs[k] = static_cast<i64>(static_cast<u64>(sum) & kDigit);
            carry = sum >> 32;
        }
        if (length_ != 0) limbs[length_ - 1] += carry;
    }

    // Release the limbs to `out`, without limbs that are zero (or only sign) in every cell.
    void finish(Limbs& out) { finish(out, cells_, cells_, nullptr); }

    // The same if the array has only some blocks of `width` cells out of `total`: block k becomes number to[k].
    void finish(Limbs& out, i64 total, i64 width, const i32* to) {
        if (length_ == 0) reserve(0, 1);
        settle();
        i64 low = length_, high = 0;  // first limb that is not zero; last limb that is not only sign
        for (i64 i = 0; i < cells_; ++i) {
            const i64* limbs = data_ + i * length_;
            i64 first = 0, last = length_ - 1;
            while (first < length_ && limbs[first] == 0) ++first;
            if (first == length_) continue;
            i64 top = limbs[last];
            while (last > first && (top == 0 || top == -1)) top = join(top, limbs[--last]);
            low = smaller(low, first);
            high = larger(high, last);
        }
        if (low == length_) {  // all cells are zero: one limb, at any base
            low = high = 0;
            base_ = 0;
        }
        const i64 length = high - low + 1;
        Scratch<i64> trimmed(total * length);
        for (i64 i = 0; i < cells_; ++i) {
            const i64* limbs = data_ + i * length_;
            i64* trim = &trimmed[(to == nullptr ? i : to[i / width] * width + i % width) * length];
            i64 top = limbs[length_ - 1];
            for (i64 k = length_ - 2; k >= high; --k) top = join(top, limbs[k]);
            std::memcpy(trim, limbs + low, static_cast<std::size_t>(length - 1) * sizeof(i64));
            trim[length - 1] = top;
        }
        out = {trimmed.release(), total, length, base_ + low};
    }

private:
    // The caller has reserved word .. word + 3.
    void add_at(i64 cell, u64 m, i64 word, int bit, bool negative) {
        i64* limbs = data_ + cell * length_ + (word - base_);
        const u64 shifted = m << bit;
        const u64 over = bit == 0 ? 0 : m >> (64 - bit);
        const i64 sign = negative ? -1 : 0;  // (d ^ -1) + 1 == -d
        limbs[0] += (static_cast<i64>(shifted & kDigit) ^ sign) - sign;
        limbs[1] += (static_cast<i64>(shifted >> 32) ^ sign) - sign;
        limbs[2] += (static_cast<i64>(over) ^ sign) - sign;
    }

    static i64 join(i64 top, i64 digit) {
        return static_cast<i64>((static_cast<u64>(top) << 32) + static_cast<u64>(digit));
    }

    i64* data_ = nullptr;
    i64 cells_;
    i64 base_ = 0;
    i64 length_ = 0;
};

}  // namespace tally::TALLY_ISA
