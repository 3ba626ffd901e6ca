// The most probable precision of groups of numbers: see tallybayes/inference/precisions.py.
//
// No instruction set matters here: there are some thousand numbers, and the order of additions is fixed.
// IN: curvature h and square x² of each number of a group; a rising lattice of precisions, with the logarithm of each.
// OUT: the precision between the two lattice points around the α at which
// distinct · Σ s = α Σ s² x² + strength · (log α − expected), s = h / (h + α): the left side is larger below it.
// Cost: log2 (points) passes over the group. Twin: tests/kernels/precisions_reference.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dense/lbfgs.hpp"

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
        const auto add = [&](i64 k, i64 lane) {
            const double share = curvature[k] / (curvature[k] + alpha);
            decided[lane] += share;
            fitted[lane] += share * share * squares[k];
        };
        i64 k = 0;
        for (; k + 4 <= size; k += 4)  // divisions of four lanes do not wait for each other
            for (i64 lane = 0; lane < 4; ++lane) add(k + lane, lane);
        for (; k < size; ++k) add(k, k % 4);
        return distinct * total(decided) > alpha * total(fitted) + strength * (log - expected);
    }

    static double total(const double (&sums)[4]) { return (sums[0] + sums[1]) + (sums[2] + sums[3]); }
};

struct Precision {
    double value, log;
};

inline Precision most_probable(const Group& group, const Lattice& lattice) {
    i64 low = 0, high = lattice.points - 1;
    while (high - low > 1) {
        const i64 middle = low + (high - low) / 2;
        (group.larger(lattice.alphas[middle], lattice.logs[middle]) ? low : high) = middle;
    }
    return {std::sqrt(lattice.alphas[low] * lattice.alphas[high]), (lattice.logs[low] + lattice.logs[high]) / 2};
}

// The kinds of groups are six; each table of corrections is a group more, and kind 3 is all of them together.
constexpr i64 kCorrections = 3, kKinds = 6;

// What is known of each kind, (kKinds,): by how many times as many rows its numbers are known, the share of them that do
// not follow from others, the logarithm of the precision to expect, and the least one.
struct Kinds {
    const double *told, *distinct, *expected, *least;
};

// Numbers in groups of one precision each. `repetition` is how many times too small their variance seems.
class Groups {
public:
    Groups(const std::int32_t* of, i64 numbers, i64 groups, const Kinds& kinds, const Lattice& lattice, double strength,
           double repetition)
        : kinds_(kinds), lattice_(lattice), strength_(strength), repetition_(repetition), of_(of, of + numbers),
          members_(static_cast<std::size_t>(groups)) {
        for (i64 k = 0; k < numbers; ++k) {
            members_[of[k]].push_back(k);
            if (of[k] >= kKinds) members_[kCorrections].push_back(k);
        }
    }

    const std::vector<std::int32_t>& of() const { return of_; }

    // Set the precision of some kinds to the most probable one, given the numbers as the last precisions drew them.
    void find(const lbfgs::Numbers& curvature, const lbfgs::Numbers& at, const std::vector<i64>& kinds,
              lbfgs::Numbers& precision) const {
        const lbfgs::Numbers last = precision;
        lbfgs::Numbers known, squares;
        for (const i64 g : kinds) {
            if (members_[g].empty()) continue;
            known.clear();
            squares.clear();
            for (const i64 k : members_[g]) {
                const double h = kinds_.told[g] * curvature[k], x = at[k] * (1 + (h > 0 ? last[of_[k]] / h : 0.0));
                known.push_back(h / repetition_);
                squares.push_back(x * x);
            }
            const auto found = [&](i64 first, std::size_t size, double expected) {
                return most_probable({known.data() + first, squares.data() + first, static_cast<i64>(size),
                                      kinds_.distinct[g], expected, strength_}, lattice_);
            };
            const Precision of_all = found(0, known.size(), kinds_.expected[g]);
            precision[g] = std::max(kinds_.least[g], repetition_ * of_all.value);
            if (g != kCorrections) continue;
            // Some columns need corrections and others none: about as large as those of all.
            i64 first = 0;
            for (std::size_t t = kKinds; t < members_.size(); ++t) {
                precision[t] = repetition_ * found(first, members_[t].size(), of_all.log).value;
                first += static_cast<i64>(members_[t].size());
            }
        }
    }

    // Return how many numbers the rows decide, and not their prior.
    double decided(const lbfgs::Numbers& curvature, const lbfgs::Numbers& precision) const {
        double total = 0.0;
        for (i64 g = 0; g < kKinds; ++g) {
            const std::vector<i64>& mine = members_[g];
            total += kinds_.distinct[g] * lbfgs::sum(0, static_cast<i64>(mine.size()), [&](i64 m) {
                const double h = kinds_.told[g] * curvature[mine[m]];
                return h / (h + precision[of_[mine[m]]]);
            });
        }
        return total;
    }

private:
    Kinds kinds_;
    Lattice lattice_;
    double strength_, repetition_;
    std::vector<std::int32_t> of_;
    std::vector<std::vector<i64>> members_;
};

}  // namespace tally::precisions
