// The loss of weighted terms with what draws their numbers to 0, by units: the function that a fit of weights minimises.
//
// The numbers are a common weight t, a weight w of each term, the bias of each class and the corrections; a step of one
// unit changes the loss by about a half. With the precision a of each number, and a wall that keeps t from below -1:
//   loss + sum a x^2 / 2 + wall (1 + t)^2 / 2 where t < -1
// IN: `Loss` takes the numbers and writes the slope by them. No instruction set matters here: the numbers are few.
// Twin: tests/kernels/lbfgs_reference.py.
#pragma once

#include "dense/lbfgs.hpp"

namespace tally::lbfgs {

struct Prior {
    const double *unit, *precision;  // (K,)
    double wall;

    // Return the loss of all, and change its slope to that of all by units.
    double add(const Numbers& point, double loss, Numbers& slope) const {
        const auto K = static_cast<i64>(point.size());
        for (i64 k = 0; k < K; ++k) slope[k] = slope[k] + precision[k] * point[k];
        loss += 0.5 * sum(0, K, [&](i64 k) { return precision[k] * (point[k] * point[k]); });
        const double below = std::min(0.0, 1 + point[0]);
        if (below < 0) {
            loss += 0.5 * wall * (below * below);
            slope[0] += wall * below;
        }
        for (i64 k = 0; k < K; ++k) slope[k] *= unit[k];
        return loss;
    }
};

// Move the numbers near the minimum, from where loss and slope are known without the prior; so are those of the steps.
template <class Loss>
void minimise_drawn(Loss loss_of, const Prior& prior, Numbers& at, double loss, Numbers slope, std::vector<Step>& steps,
                    const Limits& limits) {
    const std::size_t K = at.size();
    Steps taken;
    for (Step& step : steps) {
        for (std::size_t k = 0; k < K; ++k) {
            step.turned[k] = (step.turned[k] + prior.precision[k] * step.moved[k]) * prior.unit[k];
            step.moved[k] /= prior.unit[k];
        }
        taken.keep(std::move(step.moved), std::move(step.turned));
    }
    const double value = prior.add(at, loss, slope);
    for (std::size_t k = 0; k < K; ++k) at[k] /= prior.unit[k];
    Numbers point(K);
    const auto drawn = [&](const Numbers& scaled, Numbers& to) {
        for (std::size_t k = 0; k < K; ++k) point[k] = scaled[k] * prior.unit[k];
        return prior.add(point, loss_of(point, to), to);
    };
    minimise(drawn, at, value, std::move(slope), taken, limits);
    for (std::size_t k = 0; k < K; ++k) at[k] *= prior.unit[k];
    steps = taken.all();
    for (Step& step : steps)
        for (std::size_t k = 0; k < K; ++k) {
            step.moved[k] *= prior.unit[k];
            step.turned[k] = step.turned[k] / prior.unit[k] - prior.precision[k] * step.moved[k];
        }
}

}  // namespace tally::lbfgs
