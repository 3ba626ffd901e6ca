// exp, log and log1p of four lanes at once, each within about 2 units in the last place.
//
// They use additions, multiplications and divisions only, each rounded by itself, so results have the same bits on
// every processor. A library's results change with its version and with the processor's instructions.
// IN and OUT: four doubles; each function states its domain, which the caller guarantees. Cost: a few dozen vector
// operations. Twins: NumPy's exp, log and log1p in reference.softmax and reference.score_student.
// Range reduction, the fraction for exp and the log polynomial are those of FreeBSD's msun (e_exp.c, s_log1p.c:
// Copyright (C) 1993 by Sun Microsystems, Inc.; permission to use, copy, modify, and distribute is freely granted,
// provided that this notice is preserved).
#pragma once

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves the nearest integer in the low bits
constexpr double kTopExponent = 709.0;         // e^x is a double up to here

// The sum of the lanes.
inline double total_of(F4 a) {
    double v[4];
    store(v, a);
    return (v[0] + v[1]) + (v[2] + v[3]);
}

// x as a whole number of logarithms of 2, in the low bits of `shifted`, and a rest, the difference of `high` and `low`.
struct Reduced {
    F4 shifted, high, low;
};
inline Reduced reduced(F4 x) {
    const F4 shifted = x * all(1.44269504088896338700) + all(kRound), k = shifted - all(kRound);
    return {shifted, x - k * all(kLn2High), k * all(kLn2Low)};
}

// The part c of e^r for a rest r: e^r = 1 + r + r * c / (2 - c).
inline F4 fraction_of(F4 r) {
    const F4 t = r * r;
    F4 p = t * all(4.13813679705723846039e-08) + all(-1.65339022054652515390e-06);
    p = p * t + all(6.61375632143793436117e-05);
    p = p * t + all(-2.77777777770155933842e-03);
    p = p * t + all(1.66666666666666019037e-01);
    return r - p * t;
}

inline F4 raised_rest(F4 high, F4 low, F4 c) { return all(1.0) - ((low - (high - low) * c / (all(2.0) - c)) - high); }

// e^r times the power of 2.
inline F4 scaled(F4 y, F4 shifted) { return doubles(bits(y) + shift_left<52>(bits(shifted))); }

// Where the exponent field of e^x underflows, or x is NaN.
inline F4 is_tiny(F4 x) { return not_at_most(all(-708.0), x); }

// The result where some x is tiny.
inline F4 scaled_tiny(F4 x, F4 y, F4 shifted) {
    const F4 result = scaled(y, shifted);
    const F4 gone = less(x, all(-746.0));  // where e^x is 0, as of most classes of a row with many columns
    if (lanes(gone) == lanes(is_tiny(x))) return drop(gone, result);
    double in[4], out[4], raised[4];
    store(in, x);
    store(out, result);
    store(raised, doubles(bits(y) + shift_left<52>(bits(shifted) + all(i64{128}))));
    for (int lane = 0; lane < 4; ++lane) {
        if (is_nan(in[lane])) out[lane] = in[lane];
        else if (in[lane] < -708.0) out[lane] = in[lane] < -746.0 ? 0.0 : raised[lane] * 0x1p-128;
    }
    return load(out);
}

// e^x for x <= kTopExponent; 0 for -inf, NaN for NaN.
inline F4 exponential(F4 x) {
    const Reduced parts = reduced(x);
    const F4 y = raised_rest(parts.high, parts.low, fraction_of(parts.high - parts.low));
    return lanes(is_tiny(x)) == 0 ? scaled(y, parts.shifted) : scaled_tiny(x, y, parts.shifted);
}

// The same of many numbers, in place; `count` is a multiple of four.
//
// Each of the thirty operations waits for the one before, and a processor looks ahead over no more than the next few
// exponentials for something to do meanwhile. In three passes over some numbers it finds more of them: a third faster.
inline void exponentials(double* x, i64 count) {
    constexpr i64 kAtOnce = 64;
    alignas(64) double shifted[kAtOnce], high[kAtOnce], low[kAtOnce], c[kAtOnce];
    for (; count > 0; x += kAtOnce, count -= kAtOnce) {
        const i64 some = smaller(count, kAtOnce);
        F4 tiny = all(0.0);
        for (i64 i = 0; i < some; i += 4) {
            const F4 from = load(x + i);
            const Reduced parts = reduced(from);
            store(shifted + i, parts.shifted);
            store(high + i, parts.high);
            store(low + i, parts.low);
            tiny = either(tiny, is_tiny(from));
        }
        for (i64 i = 0; i < some; i += 4) store(c + i, fraction_of(load(high + i) - load(low + i)));
        if (lanes(tiny) == 0) {
            for (i64 i = 0; i < some; i += 4)
                store(x + i, scaled(raised_rest(load(high + i), load(low + i), load(c + i)), load(shifted + i)));
            continue;
        }
        for (i64 i = 0; i < some; i += 4) {
            const F4 y = raised_rest(load(high + i), load(low + i), load(c + i));
            store(x + i, scaled_tiny(load(x + i), y, load(shifted + i)));
        }
    }
}

// log(x) + correction for normal x > 0.
inline F4 logarithm(F4 x, F4 correction) {
    const i64 half_root = 0x3FE6A09E667F3BCD;  // sqrt(1/2): the significand is in [sqrt(1/2), sqrt(2))
    const I4 raised = bits(x) + all(i64{0x3FF0000000000000} - half_root);
    const I4 significand = (raised & all(i64{0x000FFFFFFFFFFFFF})) + all(half_root);
    const F4 k = doubles(shift_right<52>(raised) | all(i64{0x4330000000000000})) - all(4503599627370496.0 + 1023.0);
    const F4 f = doubles(significand) - all(1.0);
    const F4 s = f / (f + all(2.0));
    const F4 z = s * s, w = z * z;  // odd and even powers apart: shorter chains of operations
    F4 odd = w * all(1.479819860511658591e-01) + all(1.818357216161805012e-01);
    F4 even = w * all(1.531383769920937332e-01) + all(2.222219843214978396e-01);
    odd = odd * w + all(2.857142874366239149e-01);
    even = even * w + all(3.999999999940941908e-01);
    odd = odd * w + all(6.666666666666735130e-01);
    const F4 r = odd * z + even * w, half = all(0.5) * f * f;
    const F4 low = s * (half + r) + (k * all(kLn2Low) + correction);
    return k * all(kLn2High) + (f - (half - low));
}

inline F4 logarithm(F4 x) { return logarithm(x, all(0.0)); }

// log(x) for one normal, infinite or missing x > 0.
inline double logarithm(double x) {
    if (!(x < double_of(u64{0x7FF} << 52))) return x;
    double out[4];
    store(out, logarithm(all(x)));
    return out[0];
}

// log(1 + u) for 0 <= u <= 1/64, where its series to degree 9 leaves out less than half a unit in the last place.
inline F4 logarithm_of_little_more_than_one(F4 u) {
    const F4 u2 = u * u, u4 = u2 * u2;  // pairs of pairs: shorter chains of operations
    const F4 a = u * all(-1.0 / 2.0) + all(1.0), b = u * all(-1.0 / 4.0) + all(1.0 / 3.0);
    const F4 c = u * all(-1.0 / 6.0) + all(1.0 / 5.0), d = u * all(-1.0 / 8.0) + all(1.0 / 7.0);
    return u * (u4 * (u4 * all(1.0 / 9.0) + (u2 * d + c)) + (u2 * b + a));
}

// log(1 + u) for finite u >= 0, with full relative precision for small u.
inline F4 logarithm_of_one_plus(F4 u) {
    const F4 x = all(1.0) + u;
    // the rounding error of 1 + u: part of u if u is small, part of 1 (negligible) if it is large
    const F4 lost = drop(less(all(9007199254740992.0), u), u - (x - all(1.0)));
    return logarithm(x, lost / x);
}

}  // namespace tally::TALLY_ISA
