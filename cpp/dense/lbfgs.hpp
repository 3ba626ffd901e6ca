// L-BFGS: minimise a smooth function of some hundred numbers, by steps and the changes of slope along the last ones.
//
// No instruction set matters here: the numbers are few, and the order of additions is fixed.
// IN: the function, a start with its value and slope, and what earlier steps told of the curvature. `Function` is called
// with a point (K,) and where to write the slope (K,), and returns the value.
// OUT: the point and the last steps. Cost: a call for each step, and 4 pairs passes over K numbers.
// Twin: tests/kernels/lbfgs_reference.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tally::lbfgs {

using i64 = std::int64_t;
using Numbers = std::vector<double>;

constexpr std::size_t kMemory = 8;    // steps: more hardly save any
constexpr double kEnough = 1e-4;      // the share of the decrease promised by the slope that a step must reach (Armijo)
constexpr double kShortest = 1e-10;   // of the length of a step

// The sum of at(first) to at(first + count - 1), in the order in which NumPy adds: a fit may be split between both.
template <class At>
double sum(i64 first, i64 count, At at) {
    constexpr i64 kBlock = 128;
    if (count < 8) {
        double total = 0.0;
        for (i64 k = 0; k < count; ++k) total += at(first + k);
        return total;
    }
    if (count > kBlock) {
        const i64 half = count / 2 - count / 2 % 8;
        return sum(first, half, at) + sum(first + half, count - half, at);
    }
    double lanes[8];
    for (i64 k = 0; k < 8; ++k) lanes[k] = at(first + k);
    i64 k = 8;
    for (; k + 8 <= count; k += 8)
        for (i64 lane = 0; lane < 8; ++lane) lanes[lane] += at(first + k + lane);
    double total = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    for (; k < count; ++k) total += at(first + k);
    return total;
}

inline double product(const Numbers& a, const Numbers& b) {
    return sum(0, static_cast<i64>(a.size()), [&](i64 k) { return a[k] * b[k]; });
}

// Four sums, so that one need not wait for the other.
inline double dot(const double* a, const double* b, i64 K) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    i64 k = 0;
    for (; k + 4 <= K; k += 4)
        for (int lane = 0; lane < 4; ++lane) sums[lane] += a[k + lane] * b[k + lane];
    for (; k < K; ++k) sums[0] += a[k] * b[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

inline void add(double factor, const Numbers& from, Numbers& to) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += factor * from[k];
}

struct Step {
    Numbers moved, turned;  // and the change of the slope along it
    double curved;          // the product of both, above 0
};

// The last steps, oldest first.
class Steps {
public:
    void keep(Numbers moved, Numbers turned) {
        const double curved = product(moved, turned);
        if (!(curved > 0)) return;
        if (taken_.size() == kMemory) taken_.erase(taken_.begin());
        taken_.push_back({std::move(moved), std::move(turned), curved});
    }

    const std::vector<Step>& all() const { return taken_; }

    // Multiply a slope by the inverse curvature that the steps suggest.
    void divide(Numbers& out) const {
        const auto K = static_cast<i64>(out.size());
        double shares[kMemory];
        for (std::size_t p = taken_.size(); p-- > 0;) {
            shares[p] = dot(taken_[p].moved.data(), out.data(), K) / taken_[p].curved;
            add(-shares[p], taken_[p].turned, out);
        }
        if (!taken_.empty()) {
            const Step& last = taken_.back();
            const double scale = last.curved / dot(last.turned.data(), last.turned.data(), K);
            for (double& one : out) one *= scale;
        }
        for (std::size_t p = 0; p < taken_.size(); ++p)
            add(shares[p] - dot(taken_[p].turned.data(), out.data(), K) / taken_[p].curved, taken_[p].moved, out);
    }

private:
    std::vector<Step> taken_;
};

struct Limits {
    i64 steps;
    double gain, least;  // end where a step promises less than this share of the value plus `least`
};

// Move `at` near the minimum, from where value and slope are known.
template <class Function>
void minimise(Function function, Numbers& at, double value, Numbers slope, Steps& taken, const Limits& limits) {
    const std::size_t K = at.size();
    Numbers there(K), new_slope(K);
    for (i64 step = 0; step < limits.steps; ++step) {
        Numbers way = slope;
        taken.divide(way);
        for (double& one : way) one = -one;
        const double fall = product(way, slope);
        if (!(-fall > 2 * limits.gain * (limits.least + std::abs(value)))) {
            add(1.0, way, at);  // a step that gains too little to be looked at
            return;
        }
        double length = 1.0;
        if (taken.all().empty()) {
            double steepest = 0.0;
            for (const double one : slope) steepest = std::max(steepest, std::abs(one));
            length = std::min(1.0, 1.0 / steepest);
        }
        double reached = 0.0;
        while (true) {
            for (std::size_t k = 0; k < K; ++k) there[k] = at[k] + length * way[k];
            reached = function(there, new_slope);
            if (reached <= value + kEnough * length * fall) break;
            length /= 2;
            if (length < kShortest) return;
        }
        Numbers moved(K), turned(K);
        for (std::size_t k = 0; k < K; ++k) {
            moved[k] = there[k] - at[k];
            turned[k] = new_slope[k] - slope[k];
        }
        taken.keep(std::move(moved), std::move(turned));
        std::swap(at, there);
        std::swap(slope, new_slope);
        value = reached;
    }
}

}  // namespace tally::lbfgs
