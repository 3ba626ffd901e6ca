// The most probable precision of groups of numbers: see tallybayes/inference/precisions.py.
//
// No instruction set matters here: there are some thousand numbers, and the order of additions is fixed.
// IN: curvature h and square x² of each number of a group; a rising lattice of precisions, with the logarithm of each.
// OUT: the precision between the two lattice points around the α at which
// distinct · Σ s = α Σ s² x² + strength · (log α − expected), s = h / (h + α): the left side is larger below it.
// Cost: log2 (points) passes over the group. Twin: tests/kernels/precisions_reference.py.
#pragma once

#include <cmath>
#include <cstdint>

namespace tally::precisions {

using i64 = std::int64_t;

struct Lattice {
    const double *alphas, *logs;
    i64 points;
};

struct Group {
    const double *curvature, *squares;
    i64 size;
    double distinct, expected, strength;

    bool larger(double alpha, double log) const {
        double decided[4] = {0.0, 0.0, 0.0, 0.0}, fitted[4] = {0.0, 0.0, 0.0, 0.0};
        for (i64 k = 0; k < size; ++k) {
            const double share = curvature[k] / (curvature[k] + alpha);
            decided[k % 4] += share;
            fitted[k % 4] += share * share * squares[k];
        }
        return distinct * total(decided) > alpha * total(fitted) + strength * (log - expected);
    }

    static double total(const double (&sums)[4]) { return (sums[0] + sums[1]) + (sums[2] + sums[3]); }
};

inline double most_probable(const Group& group, const Lattice& lattice) {
    i64 low = 0, high = lattice.points - 1;
    while (high - low > 1) {
        const i64 middle = low + (high - low) / 2;
        (group.larger(lattice.alphas[middle], lattice.logs[middle]) ? low : high) = middle;
    }
    return std::sqrt(lattice.alphas[low] * lattice.alphas[high]);
}

}  // namespace tally::precisions
