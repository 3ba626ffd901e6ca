// Fit the numbers of weighted terms in rounds, and find between them how strongly each group is drawn to 0.
//
// A round finds loss, slope and curvature where the numbers are, in all rounds but the first the precisions, and then the
// minimum with the prior that follows. The wall that keeps the first number from below -1 is as many times as steep as
// the curvature by it.
// IN: `Loss` takes the numbers and writes the slope by them; `curved` writes their curvatures too.
// OUT: numbers, precisions and the last steps; how many numbers the rows have decided. No instruction set matters here.
// Cost: that of the losses. Twin: tests/kernels/lbfgs_reference.py.
#pragma once

#include "dense/draw_numbers.hpp"
#include "dense/precisions.hpp"

namespace tally::lbfgs {

struct Fit {
    Numbers at, precision;  // of each number, and of each group
    std::vector<Step> steps;
    double decided;
};

template <class Loss>
void fit_rounds(Loss& loss_of, const precisions::Groups& groups, const std::vector<i64>& kinds,
                const std::vector<Limits>& rounds, double wall, Fit& fit) {
    const std::size_t K = fit.at.size();
    Numbers slope(K), curvature(K), unit(K), each(K);
    for (std::size_t round = 0; round < rounds.size(); ++round) {
        const double loss = loss_of.curved(fit.at, slope, curvature);
        for (double& one : curvature) one = std::max(one, 0.0);  // below 0 by rounding only
        if (round > 0) groups.find(curvature, fit.at, kinds, fit.precision);
        for (std::size_t k = 0; k < K; ++k) {
            each[k] = fit.precision[groups.of()[k]];
            unit[k] = 1 / std::sqrt(curvature[k] + each[k]);
        }
        const Prior prior{unit.data(), each.data(), wall * curvature[0]};
        fit.decided = groups.decided(curvature, fit.precision);
        minimise_drawn(std::ref(loss_of), prior, fit.at, loss, slope, fit.steps, rounds[round]);
    }
}

}  // namespace tally::lbfgs
