// The logarithm of the gamma function, four numbers at a time.
//
// IN: doubles from kLeastOfGamma on; below, the result is that of a number near it. Accurate to some units in the last
// place of the larger of 1 and the result. Cost: two logarithms; one from 12 on.
// Twin: scipy.special.gammaln, which tests/kernels/test_elementwise.py compares with.
#pragma once

#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

constexpr double kLeastOfGamma = 1e-307, kLeastProduct = 1e-300;

inline F4 pick(F4 mask, F4 yes, F4 no) { return either(keep(mask, yes), drop(mask, no)); }

// log Gamma(x) for x > 0: Stirling's series from 12 on, after Gamma(x) = Gamma(x + 12) / (x (x + 1) ... (x + 11)).
inline F4 log_gamma(F4 x) {
    const F4 low = less(x, all(12.0)), z = pick(low, x + all(12.0), x), r = all(1.0) / (z * z);
    F4 series = all(1.0 / 1188.0) - r * all(691.0 / 360360.0);
    series = all(1.0 / 1680.0) - r * series;
    series = all(1.0 / 1260.0) - r * series;
    series = all(1.0 / 360.0) - r * series;
    series = (all(1.0 / 12.0) - r * series) / z;
    const F4 stirling = (z - all(0.5)) * logarithm(z) - z + all(0.91893853320467274178) + series;
    if (lanes(low) == 0) return stirling;
    const F4 small = pick(low, x, all(1.0));
    F4 product = small;
    for (int k = 1; k < 12; ++k) product = product * (small + all(double(k)));
    return stirling - keep(low, logarithm(greatest(product, all(kLeastProduct))));
}

}  // namespace tally::TALLY_ISA
