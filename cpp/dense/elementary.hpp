// exp, log and log1p of four lanes at once, each within about 2 units in the last place.
//
// Range reduction and the log polynomial are those of FreeBSD's msun (e_exp.c, s_log1p.c: Copyright (C) 1993 by Sun
// Microsystems, Inc.; permission to use, copy, modify, and distribute is freely granted, provided that this notice is
// preserved). The exp polynomial is Taylor's to degree 13, whose error on |r| <= ln(2)/2 is 4e-18.
#pragma once

#include <cmath>

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves the nearest integer in the low bits

// e^x for x <= 709; 0 for -inf, NaN for NaN.
inline F4 exponential(F4 x) {
    const F4 shifted = multiply_add(x, all(1.44269504088896338700), all(kRound));
    const F4 k = shifted - all(kRound);
    const F4 r = multiply_add(k, all(-kLn2Low), multiply_add(k, all(-kLn2High), x));
    F4 p = all(1.0 / 6227020800.0);
    p = multiply_add(p, r, all(1.0 / 479001600.0));
    p = multiply_add(p, r, all(1.0 / 39916800.0));
    p = multiply_add(p, r, all(1.0 / 3628800.0));
    p = multiply_add(p, r, all(1.0 / 362880.0));
    p = multiply_add(p, r, all(1.0 / 40320.0));
    p = multiply_add(p, r, all(1.0 / 5040.0));
    p = multiply_add(p, r, all(1.0 / 720.0));
    p = multiply_add(p, r, all(1.0 / 120.0));
    p = multiply_add(p, r, all(1.0 / 24.0));
    p = multiply_add(p, r, all(1.0 / 6.0));
    p = multiply_add(p, r, all(0.5));
    p = multiply_add(p * r, r, r) + all(1.0);
    F4 result = doubles(bits(p) + shift_left<52>(bits(shifted)));
    const F4 low = not_at_most(all(-708.0), x);  // the exponent field would run out, or x is NaN
    if (lanes(low) != 0) {
        double in[4], out[4];
        store(in, x);
        store(out, result);
        for (int lane = 0; lane < 4; ++lane)
            if (!(in[lane] >= -708.0)) out[lane] = in[lane] < -746.0 ? 0.0 : std::exp(in[lane]);
        result = load(out);
    }
    return result;
}

// log(x) + correction for normal x > 0.
inline F4 logarithm(F4 x, F4 correction) {
    const i64 half_root = 0x3FE6A09E667F3BCD;  // sqrt(1/2): the significand is taken from [sqrt(1/2), sqrt(2))
    const I4 raised = bits(x) + all(i64{0x3FF0000000000000} - half_root);
    const I4 significand = (raised & all(i64{0x000FFFFFFFFFFFFF})) + all(half_root);
    const F4 k = doubles(shift_right<52>(raised) | all(i64{0x4330000000000000})) - all(4503599627370496.0 + 1023.0);
    const F4 f = doubles(significand) - all(1.0);
    const F4 s = f / (f + all(2.0));
    const F4 z = s * s;
    F4 r = all(1.479819860511658591e-01);
    r = multiply_add(r, z, all(1.531383769920937332e-01));
    r = multiply_add(r, z, all(1.818357216161805012e-01));
    r = multiply_add(r, z, all(2.222219843214978396e-01));
    r = multiply_add(r, z, all(2.857142874366239149e-01));
    r = multiply_add(r, z, all(3.999999999940941908e-01));
    r = multiply_add(r, z, all(6.666666666666735130e-01)) * z;
    const F4 half = all(0.5) * f * f;
    const F4 low = multiply_add(s, half + r, multiply_add(k, all(kLn2Low), correction));
    return multiply_add(k, all(kLn2High), f - (half - low));
}

inline F4 logarithm(F4 x) { return logarithm(x, all(0.0)); }

// log(1 + u) for 0 <= u <= 1/64, where its series to degree 9 leaves out less than half a unit in the last place.
inline F4 logarithm_of_little_more_than_one(F4 u) {
    const F4 u2 = u * u, u4 = u2 * u2;  // in pairs of pairs, so that few operations wait for each other
    const F4 a = multiply_add(u, all(-1.0 / 2.0), all(1.0)), b = multiply_add(u, all(-1.0 / 4.0), all(1.0 / 3.0));
    const F4 c = multiply_add(u, all(-1.0 / 6.0), all(1.0 / 5.0)), d = multiply_add(u, all(-1.0 / 8.0), all(1.0 / 7.0));
    const F4 low = multiply_add(u2, b, a), high = multiply_add(u2, d, c);
    return u * multiply_add(u4, multiply_add(u4, all(1.0 / 9.0), high), low);
}

// log(1 + u) for finite u >= 0, with full relative precision for small u.
inline F4 logarithm_of_one_plus(F4 u) {
    const F4 x = all(1.0) + u;
    // what the addition lost: of u when u is small, of 1 (and negligible) when it is large
    const F4 lost = drop(less(all(9007199254740992.0), u), u - (x - all(1.0)));
    return logarithm(x, lost / x);
}

}  // namespace tally::TALLY_ISA
