// The cells of numeric columns: runs of buckets and points in the gaps between them, and trees that are cut at medians.
//
// No instruction set matters here: a column has at most 1,024 buckets and 254 cells, whatever its rows.
// IN: buckets as rising keys (see dense/buckets.hpp), one column after the other, and their weights.
// The caller guarantees: keys of finite numbers, weights finite and not below 0, offsets that rise from 0.
// Cost: some 20 ns per bucket and cell. Twins: tests/kernels/cells_reference.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace tally::cells {

using i32 = std::int32_t;
using i64 = std::int64_t;

// The double whose order-preserving integer is given.
inline double value_of(i64 key) {
    const i64 bits = key ^ static_cast<i64>(static_cast<std::uint64_t>(key >> 63) >> 1);
    double value;
    static_assert(sizeof value == sizeof bits);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

struct Ends {
    double low, middle, high;
};

// The ends of a bucket, and the value that stands for it: itself, where no bits were dropped.
inline Ends ends_of(i64 key, i64 shift) {
    constexpr double most = std::numeric_limits<double>::max();
    const double low = value_of(key);
    const i64 last = shift >= 63 ? key | INT64_MAX : key | ((i64{1} << shift) - 1);
    const double high = std::clamp(value_of(last), -most, most);
    return {low, shift == 0 ? low : low / 2 + high / 2, high};
}

struct Cell {
    double low, value, high, weight;
};

// The cells of one column's buckets: each its own if they are at most `most`, else runs of about equal weight; and in
// the gaps some of `between` points, so that a smooth density is drawn well. A column without buckets has one cell.
class Chooser {
public:
    Chooser(i64 most, i64 between) : most_(most), between_(between) {}

    // Append the cells of V buckets to `out`.
    void add(const i64* keys, const double* weights, i64 V, i64 shift, std::vector<Cell>& out) {
        if (V == 0) return out.push_back({0.0, 0.0, 0.0, 0.0});
        runs_.clear();
        double total = 0.0;
        for (i64 v = 0; v < V; ++v) total += weights[v];
        V <= most_ ? alone(keys, weights, V, shift) : together(keys, weights, V, shift, total);
        merge_points(out);
    }

private:
    void alone(const i64* keys, const double* weights, i64 V, i64 shift) {
        for (i64 v = 0; v < V; ++v) {
            const Ends ends = ends_of(keys[v], shift);
            runs_.push_back({ends.low, ends.middle, ends.high, weights[v]});
        }
    }

    void together(const i64* keys, const double* weights, i64 V, i64 shift, double total) {
        double reached = 0.0, last = -1.0, mass = 0.0, share = 0.0;
        const auto close = [&] {
            Cell& run = runs_.back();
            run.value = std::clamp(mass / share, run.low, run.high);
        };
        for (i64 v = 0; v < V; ++v) {
            reached += weights[v];
            const double run = std::floor((reached - weights[v] / 2) / total * static_cast<double>(most_));
            const Ends ends = ends_of(keys[v], shift);
            if (run != last) {
                if (v > 0) close();
                runs_.push_back({ends.low, 0.0, ends.high, 0.0});
                mass = share = 0.0;
                last = run;
            }
            const double part = weights[v] / total;  // of the total: so that no sum exceeds the largest value
            mass += ends.middle * part;
            share += part;
            runs_.back().high = ends.high;
            runs_.back().weight += weights[v];
        }
        close();
    }

    // Append runs and points in rising order; points only where no run is near.
    void merge_points(std::vector<Cell>& out) const {
        const double first = runs_.front().low, last = runs_.back().high, n = static_cast<double>(between_);
        const double reach = (last / 2 - first / 2) / n;  // half of the distance between points
        const auto size = static_cast<i64>(runs_.size());
        i64 after = 0, next = 0;  // the first run that is not below a point, and the first not yet appended
        for (i64 k = 0; k < between_; ++k) {
            const double step = (static_cast<double>(k) + 0.5) / n, point = first * (1 - step) + last * step;
            while (after < size - 1 && runs_[after].low < point) ++after;
            if (after == 0 || !(point - runs_[after - 1].high > reach) || !(runs_[after].low - point > reach)) continue;
            while (next < size && runs_[next].value <= point) out.push_back(runs_[next++]);
            out.push_back({point, point, point, 0.0});
        }
        while (next < size) out.push_back(runs_[next++]);
    }

    i64 most_, between_;
    std::vector<Cell> runs_;
};

// The tree of one column: nodes are cut heaviest first, each where the weight on both sides is most equal.
class Cutter {
public:
    Cutter(i64 leaves, i64 depth, double least) : leaves_(leaves), depth_(depth), least_(least) {}

    // Write the node of each of K cells, level after level `pitch` apart, and add the number of nodes to `starts` of each
    // level, at which the numbers of nodes begin; -1 where a parent was not cut. A cell without weight goes with the
    // nearer of its neighbours that have some.
    void cut(const double* low, const double* value, const double* high, const double* weight, i64 K, i64 pitch,
             i64* starts, i32* nodes) {
        some_.clear();
        sums_.assign(1, 0.0);
        for (i64 k = 0; k < K; ++k)
            if (weight[k] > 0) {
                some_.push_back(k);
                sums_.push_back(sums_.back() + weight[k]);
            }
        choose();
        const auto n = static_cast<i64>(some_.size());
        parents_.assign(1, {0, n});
        node_.resize(static_cast<std::size_t>(n));
        for (i64 level = 0; level < depth_; ++level, nodes += pitch) {
            number();
            place(low, value, high, weight, K, static_cast<i32>(starts[level]), nodes);
            starts[level] += static_cast<i64>(parents_.size());
        }
    }

private:
    using Range = std::pair<i64, i64>;  // of places among the cells that have weight

    void choose() {
        cuts_.clear();
        using Waiting = std::tuple<double, i64, i64, i64>;  // minus the weight, first, end, depth
        std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
        waiting.emplace(-sums_.back(), 0, static_cast<i64>(some_.size()), 0);
        while (!waiting.empty() && static_cast<i64>(cuts_.size()) < leaves_ - 1) {
            const auto [weight, a, b, depth] = waiting.top();
            waiting.pop();
            if (b - a < 2 || -weight < 2 * least_ || depth == depth_) continue;
            const double half = (sums_[a] + sums_[b]) / 2;
            i64 c = std::lower_bound(sums_.begin() + a + 1, sums_.begin() + b - 1, half) - sums_.begin();
            if (c > a + 1 && half - sums_[c - 1] <= sums_[c] - half) --c;
            cuts_.emplace_back(Range{a, b}, c);
            waiting.emplace(sums_[a] - sums_[c], a, c, depth + 1);
            waiting.emplace(sums_[c] - sums_[b], c, b, depth + 1);
        }
    }

    // Go down a level: the children of each parent that is cut, and their numbers.
    void number() {
        std::fill(node_.begin(), node_.end(), -1);
        children_.clear();
        for (const Range& parent : parents_)
            for (const auto& [range, c] : cuts_) {
                if (range != parent) continue;
                for (const Range& child : {Range{parent.first, c}, Range{c, parent.second}}) {
                    for (i64 k = child.first; k < child.second; ++k) node_[k] = static_cast<i32>(children_.size());
                    children_.push_back(child);
                }
            }
        std::swap(parents_, children_);
    }

    void place(const double* low, const double* value, const double* high, const double* weight, i64 K, i32 start,
               i32* nodes) const {
        const auto n = static_cast<i64>(some_.size());
        i64 after = 0;  // the first place whose cell is not below k
        for (i64 k = 0; k < K; ++k) {
            if (n == 0) {
                nodes[k] = -1;
                continue;
            }
            while (after < n - 1 && some_[after] < k) ++after;
            i64 at = after;
            const i64 before = after > 0 ? after - 1 : 0;
            if (!(weight[k] > 0) && value[k] - high[some_[before]] <= low[some_[after]] - value[k]) at = before;
            nodes[k] = node_[at] < 0 ? -1 : start + node_[at];
        }
    }

    i64 leaves_, depth_;
    double least_;
    std::vector<i64> some_;
    std::vector<double> sums_;
    std::vector<std::pair<Range, i64>> cuts_;
    std::vector<Range> parents_, children_;
    std::vector<i32> node_;
};

// Add the weights (C, all buckets) of one column's V buckets, the first being number `at`, to its cells (K, C).
inline void count(const i64* keys, i64 V, i64 shift, const double* weights, i64 at, i64 total, i64 C,
                  const double* edges, i64 n_edges, double* out) {
    i64 cell = 0;
    for (i64 v = 0; v < V; ++v) {
        const double middle = ends_of(keys[v], shift).middle;
        while (cell < n_edges && edges[cell] <= middle) ++cell;
        for (i64 c = 0; c < C; ++c) out[cell * C + c] += weights[c * total + at + v];
    }
}

// Cut one column's K cells into at most `bins` runs of about equal weight. Append the values at which runs but the first
// begin to `cuts`, and write the run of each cell.
inline void cut_runs(const double* value, const double* weight, i64 K, i64 bins, std::vector<double>& cuts,
                     i32* places) {
    double total = 0.0, reached = 0.0;
    for (i64 k = 0; k < K; ++k) total += weight[k];
    const auto before = static_cast<i64>(cuts.size());
    i64 next = 1;
    for (i64 k = 0; k < K && total > 0; ++k) {
        reached += weight[k];
        bool here = false;
        for (; next < bins && static_cast<double>(next) / static_cast<double>(bins) * total < reached; ++next) here = true;
        const bool above = static_cast<i64>(cuts.size()) == before ? value[k] > value[0] : value[k] > cuts.back();
        if (here && above) cuts.push_back(value[k]);
    }
    const auto n = static_cast<i64>(cuts.size()) - before;
    i64 run = 0;
    for (i64 k = 0; k < K; ++k) {
        while (run < n && cuts[before + run] <= value[k]) ++run;
        places[k] = static_cast<i32>(run);
    }
}

}  // namespace tally::cells
