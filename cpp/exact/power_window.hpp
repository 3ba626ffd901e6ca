// Exact sums of x and x*x over a run of rows of one class, four columns at a time.
//
// x is split on a window of three signed 28-bit parts, x = p0*2^e + p1*2^(e-28) + p2*2^(e-56), by adding and
// subtracting M_k = 1.5 * 2^(52 + e - 28k). The low half of the bits of t = x + M is then the part itself, as a two's
// complement integer, which a 32 x 32 -> 64 bit multiply reads in place. |p_k| <= 2^27, so products are at most 2^54
// and kSegment rows of (p1*p1 + 2*p0*p2) stay below 2^63.
//
// A value that does not fit the window (too large, too fine, NaN, infinite) is detected, and the run is refused: at first
// by the size of the numbers, which takes half the operations but refuses 0 and the smallest that fit, then by what is
// left of them. An accepted run is exact, so the choice of window never changes the result.
// IN, OUT: see sum_segment. The caller guarantees runs of at most kSegment rows. Twin: reference.power_sums.
// Cost: about 30 vector operations per row of four columns.
#pragma once

#include "exact/limbs.hpp"

namespace tally::TALLY_ISA {

constexpr int kPartBits = 28;
constexpr int kSegment = 128;
constexpr int kHeadroom = 4;  // bits left free above the largest value seen when a window is chosen
constexpr int kSums = 8;      // three of parts, five of products: p0p0, p0p1, p1p1 + 2*p0p2, p1p2, p2p2

struct Window {
    double magic[3][4];
    i64 bias[4];  // brings p0 in [-2^27, 2^27) to [0, 2^28)
    i64 least[4], most[4];  // bits of a power of two from which on a number fits, and of one below which it does
    int exponent[4];

    void choose(int lane, double greatest) {
        // |x| < 2^top; the bounds keep all three magic numbers normal and finite
        int top = greatest == 0.0 ? 1 : static_cast<int>((bits_of(greatest) >> 52) & 0x7FF) - 1022;
        top = smaller(larger(top, -900), 980);
        exponent[lane] = top + kHeadroom - (kPartBits - 1);
        for (int k = 0; k < 3; ++k) {
            const int field = 1023 + 52 + exponent[lane] - kPartBits * k;
            magic[k][lane] = double_of((static_cast<u64>(field) << 52) | (u64{1} << 51));
        }
        bias[lane] = (i64{1} << (kPartBits - 1)) - static_cast<i64>(bits_of(magic[0][lane]));
        // the last of a number's 53 bits is in the third part, and its first has a bit to spare in the first part
        least[lane] = i64{1023 + 52 + exponent[lane] - 2 * kPartBits} << 52;
        most[lane] = i64{1023 + exponent[lane] + kPartBits - 2} << 52;
    }

    // Return whether sum_segment would accept x: the same test for one value.
    bool holds(int lane, double x) const {
        const double t0 = x + magic[0][lane];
        double rest = x - (t0 - magic[0][lane]);
        rest = rest - ((rest + magic[1][lane]) - magic[1][lane]);
        rest = rest - ((rest + magic[2][lane]) - magic[2][lane]);
        return (bits_of(t0) + static_cast<u64>(bias[lane])) >> kPartBits == 0 && bits_of(rest) << 1 == 0;
    }
};

// A window, how it was chosen, and how well it fits.
struct ChosenWindow {
    Window window;
    bool chosen;
    i64 rows, refused;  // since it was chosen
    i64 patience;       // rows before it may be chosen again

    void choose(const double* base, i64 stride, i64 count) {
        F4 most = all(0.0);
        const F4 infinity = all(double_of(u64{0x7FF} << 52));
        for (i64 i = 0; i < count; ++i) {
            const F4 size = keep(doubles(all(~(i64{1} << 63))), load(base + i * stride));
            most = greatest(keep(less(size, infinity), size), most);
        }
        double sizes[4];
        store(sizes, most);
        for (int lane = 0; lane < 4; ++lane) window.choose(lane, sizes[lane]);
        chosen = true;
        rows = refused = 0;
        patience = larger<i64>(1024, 2 * patience);  // otherwise data wider than any window would change it forever
    }

    void refuse(const i64 (&by_lane)[4]) {
        refused += larger(larger(by_lane[0], by_lane[1]), larger(by_lane[2], by_lane[3]));
    }

    bool tired() const { return refused > 16 && refused * 8 > rows && rows >= patience; }
};

// N sums of many segments, each as low + 2^32 * high, for one class and four columns.
template <int N>
struct Totals {
    i64 low[N][4];
    i64 high[N][4];

    void add(int k, I4 sum) {
        store(low[k], load(low[k]) + (sum & all(static_cast<i64>(kDigit))));
        store(high[k], load(high[k]) + high_half(sum));
    }

    // Move one sum, in units of 2^exponent, to a limb array: as one number, unless there were too many segments.
    void empty(int k, int lane, LimbArray& to, i64 cell, i64 exponent) const {
        const i64 upper = high[k][lane] + (low[k][lane] >> 32);
        const u64 lower = static_cast<u64>(low[k][lane]) & kDigit;
        if (upper >= -(i64{1} << 31) && upper < i64{1} << 31)
            return to.add(cell, static_cast<i64>(static_cast<u64>(upper) << 32 | lower), exponent);
        to.add(cell, static_cast<i64>(lower), exponent);
        to.add(cell, upper, exponent + 32);
    }
};

// How sum_segment finds values that do not fit.
enum class Fit { by_size, by_rest };

// IN: `count` <= kSegment rows of four doubles, row j at base + (Indexed ? order[j] * stride : 4 * j);
// memory `ahead` bytes further is prefetched.
// OUT: adds to totals and returns true; or adds nothing and returns false if some value does not fit.
template <bool Squares, bool Indexed, Fit Test, int N>
inline bool sum_segment(const double* base, i64 stride, const i32* order, i64 count, i64 ahead, const Window& window,
                        Totals<N>& totals) {
    static_assert(N == (Squares ? kSums : 3));
    const F4 m0 = load(window.magic[0]), m1 = load(window.magic[1]), m2 = load(window.magic[2]);
    const I4 bias = load(window.bias);
    const I4 zero = all(i64{0});
    I4 s0 = zero, s1 = zero, s2 = zero;
    I4 q00 = zero, q01 = zero, q11 = zero, q12 = zero, q22 = zero;  // one more would not fit in 16 registers
    I4 unfit = zero, smallest = all(i64{-1}), greatest = zero;
    for (i64 j = 0; j < count; ++j) {
        const double* row = Indexed ? base + order[j] * stride : base + 4 * j;
        const F4 x = load(row);
        if constexpr (Indexed) prefetch(reinterpret_cast<const char*>(row) + ahead);
        if constexpr (Test == Fit::by_size) {
            const I4 size = bits(x) & all(INT64_MAX);
            smallest = smallest_high(smallest, size);
            greatest = greatest_high(greatest, size);
        }
        const F4 t0 = x + m0;
        const F4 r0 = x - (t0 - m0);
        const F4 t1 = r0 + m1;
        const F4 r1 = r0 - (t1 - m1);
        const F4 t2 = r1 + m2;
        const I4 b0 = bits(t0), b1 = bits(t1), b2 = bits(t2);
        if constexpr (Test == Fit::by_rest)  // the rest of -0.0 has a sign
            unfit = unfit | shift_right<kPartBits>(b0 + bias) | shift_left<1>(bits(r1 - (t2 - m2)));
        s0 = s0 + b0;
        s1 = s1 + b1;
        s2 = s2 + b2;
        if constexpr (Squares) {
            q00 = q00 + multiply_low_halves(b0, b0);
            q01 = q01 + multiply_low_halves(b0, b1);
            q11 = q11 + multiply_low_halves(b1, b1) + multiply_low_halves(b0 + b0, b2);
            q12 = q12 + multiply_low_halves(b1, b2);
            q22 = q22 + multiply_low_halves(b2, b2);
        }
    }
    if constexpr (Test == Fit::by_size) {
        const I4 high = all(-(i64{1} << 32));
        unfit = less(smallest & high, load(window.least)) | less(load(window.most), (greatest & high) + all(i64{1}));
    }
    if (any(unfit)) return false;
    // subtract the magic number's bits, which every part includes, modulo 2^64
    const I4 part_sums[3] = {s0, s1, s2};
    for (int k = 0; k < 3; ++k) {
        i64 magic[4];
        for (int lane = 0; lane < 4; ++lane)
            magic[lane] = static_cast<i64>(static_cast<u64>(count) * bits_of(window.magic[k][lane]));
        totals.add(k, part_sums[k] - load(magic));
    }
    if constexpr (Squares) {
        totals.add(3, q00);
        totals.add(4, q01);
        totals.add(5, q11);
        totals.add(6, q12);
        totals.add(7, q22);
    }
    return true;
}

// Return the number of rows sorted by class at a time: enough per class to make runs worth their overhead. Columns are
// copied four at a time, so that more rows stay in the first cache.
inline i64 tile_length(i64 n_classes, bool in_columns = false) {
    return smaller<i64>(larger<i64>((in_columns ? 64 : 32) * n_classes, 256), 2048);
}

}  // namespace tally::TALLY_ISA
