// The average of the experts on the cells of numeric columns.
//
// With p_k(c | x) ~ exp(term) of expert k, log sum_k w_k p_k(c | x), and w_k ~ exp of minus the losses of rows left out.
// IN: the terms of each expert, as dense/experts.hpp and dense/kernel_density.hpp give them. OUT: as the task says.
// Cost: one logarithm per cell and class; for pairs of cell and class, one per pair and class.
// Twin: reference.mix_experts.
#pragma once

#include "dense/experts.hpp"

namespace tally::TALLY_ISA {

constexpr double kLeastSum = 1e-200;  // of exponentials, below which they are computed as logarithms
// Of weighted probabilities, likewise. Exponentials below 1e-307 are lost: 1e-107 of an expert's sum, and 1e-17 of this.
constexpr double kLeastMix = 1e-90;

inline double exponential_of(double x) {
    double four[4];
    store(four, exponential(all(x)));
    return four[0];
}

// The average of all experts, one column after the other.
class ExpertMixer {
public:
    explicit ExpertMixer(const MixExpertsTask& task)
        : task_(task), C_(task.n_classes), each_{Numbers(most(task)), Numbers(most(task)), Numbers(most(task))},
          own_{Numbers(most(task)), Numbers(most(task)), Numbers(most(task))}, sums_(most(task)),
          four_(kExperts * C_ * 4) {}

    void begin(i64 f) {
        f_ = f;
        first_ = task_.offsets[f];
        size_ = task_.offsets[f + 1] - first_;
        if (!task_.chosen) weigh();
        for (int e = 0; e < kExperts; ++e) weights_[e] = exponential_of(log_weight(e));
    }

    // Write log sum_k w_k p_k(c | x) of each cell.
    void mix_cells() {
        shift(task_.now, nullptr);
        for (i64 k = 0; k < size_; ++k) mix(k, &sums_[k * C_]);
        double* const out = task_.mixed + first_ * C_;
        finish(size_ * C_, [&](i64 i) -> double& { return out[i]; },
               [&](i64 i) { return mix_logs(task_.now, nullptr, i / C_, i % C_, -1); });
    }

    // Write the same of rows left out: those of pairs [from, to), whose cells are of this column.
    void mix_pairs(i64 from, i64 to) {
        shift(task_.other, task_.own);
        for (i64 p = from; p < to; p += 4) mix_four(p, smaller<i64>(4, to - p));
    }

private:
    using Terms = const double* const*;  // of each expert, (K, C)

    static i64 most(const MixExpertsTask& task) {
        i64 size = 1;
        for (i64 f = 0; f < task.n_columns; ++f) size = larger(size, task.offsets[f + 1] - task.offsets[f]);
        return size * task.n_classes;
    }

    double& log_weight(int e) { return task_.log_weights[e * task_.n_columns + f_]; }

    // Set the logs of the experts' weights: minus the losses of all rows left out, normalised.
    void weigh() {
        double score[kExperts];
        for (int e = 0; e < kExperts; ++e) score[e] = task_.used[e] ? -loss(e) : -INFINITY;
        const double norm = log_sum(score);
        for (int e = 0; e < kExperts; ++e) log_weight(e) = score[e] - norm;
    }

    // Return the loss of all rows, each left out.
    double loss(int e) {
        Numbers &each = each_[e], &own = own_[e];
        const double* const counts = task_.counts + first_ * C_;
        const i64 cells = size_ * C_;
        for (i64 k = 0; k < size_; ++k) {
            double top = -INFINITY;
            for (i64 i = k * C_; i < (k + 1) * C_; ++i) {
                const i64 c = i % C_;
                each[i] = task_.log_rows[c] + task_.other[e][first_ * C_ + i];
                own[i] = task_.log_rows[C_ + c] + task_.own[e][first_ * C_ + i];
                top = larger(top, counts[i] > 0.0 ? larger(each[i], own[i]) : each[i]);
            }
            for (i64 i = k * C_; i < (k + 1) * C_; ++i) {
                each[i] -= top;
                own[i] = counts[i] > 0.0 ? own[i] - top : 0.0;
            }
        }
        each.apply(cells, [](F4 x) { return exponential(x); });
        own.apply(cells, [](F4 x) { return exponential(x); });
        for (i64 k = 0; k < size_; ++k) {
            double total = 0.0;
            for (i64 i = k * C_; i < (k + 1) * C_; ++i) total += each[i];
            for (i64 i = k * C_; i < (k + 1) * C_; ++i) sums_[i] = others(each, total, k, i) / own[i];
        }
        for (i64 i = 0; i < cells; ++i) own[i] = smaller(sums_[i], kTopScale);
        own.apply(cells, [](F4 x) { return logarithm_of_one_plus(x); });
        double sum = 0.0;
        for (i64 i = 0; i < cells; ++i)
            if (counts[i] > 0.0) sum += counts[i] * (sums_[i] < kTopScale ? own[i] : loss_of(e, i / C_, i % C_));
        return sum;
    }

    // The sum of a cell's numbers but one; added up anew where the difference cancels.
    double others(Numbers& each, double total, i64 k, i64 one) const {
        if (total - each[one] > kCancelled * total) return total - each[one];
        double sum = 0.0;
        for (i64 i = k * C_; i < (k + 1) * C_; ++i) sum += i == one ? 0.0 : each[i];
        return sum;
    }

    // The loss of one row, whose exponential underflows.
    double loss_of(int e, i64 k, i64 own) {
        double top = -INFINITY, sum = 0.0;
        const auto score = [&](i64 c) {
            const i64 at = (first_ + k) * C_ + c;
            return c == own ? task_.log_rows[C_ + c] + task_.own[e][at] : task_.log_rows[c] + task_.other[e][at];
        };
        for (i64 c = 0; c < C_; ++c) top = larger(top, score(c));
        for (i64 c = 0; c < C_; ++c) sum += exponential_of(score(c) - top);
        return smaller(top - score(own) + logarithm(sum), kMostLoss);
    }

    // Exponentials of terms, less the largest of each cell.
    void shift(Terms terms, Terms own) {
        for (int e = 0; e < kExperts; ++e) {
            const double* const from = terms[e] + first_ * C_;
            for (i64 k = 0; k < size_; ++k) {
                double top = -INFINITY;
                for (i64 i = k * C_; i < (k + 1) * C_; ++i) {
                    top = larger(top, from[i]);
                    if (own != nullptr) top = larger(top, own[e][first_ * C_ + i]);
                }
                for (i64 i = k * C_; i < (k + 1) * C_; ++i) {
                    each_[e][i] = from[i] - top;
                    if (own != nullptr) own_[e][i] = own[e][first_ * C_ + i] - top;
                }
            }
            each_[e].apply(size_ * C_, [](F4 x) { return exponential(x); });
            if (own != nullptr) own_[e].apply(size_ * C_, [](F4 x) { return exponential(x); });
        }
    }

    // Write the sum of w_k p_k of each class, for cell k; 0 where it is too small to be exact.
    void mix(i64 k, double* sums) {
        double share[kExperts] = {};
        for (int e = 0; e < kExperts; ++e)
            for (i64 c = 0; c < C_; ++c) share[e] += each_[e][k * C_ + c];
        bool small = false;
        for (int e = 0; e < kExperts; ++e) small |= !(share[e] > kLeastSum);
        for (int e = 0; e < kExperts; ++e) share[e] = small ? 0.0 : weights_[e] / share[e];
        for (i64 c = 0; c < C_; ++c) {
            double sum = 0.0;
            for (int e = 0; e < kExperts; ++e) sum += share[e] * each_[e][k * C_ + c];
            sums[c] = sum > kLeastMix ? sum : 0.0;
        }
    }

    // The same for rows left out, a lane for each: of few classes, logarithms of one row at a time would waste lanes.
    void mix_four(i64 p, i64 count) {
        i64 cell[4], own[4];
        for (i64 lane = 0; lane < 4; ++lane) {
            const i64 pair = task_.pairs[p + smaller(lane, count - 1)];
            cell[lane] = pair / C_ - first_;
            own[lane] = pair % C_;
        }
        F4 share[kExperts], fine = less(all(0.0), all(1.0));
        for (int e = 0; e < kExperts; ++e) {
            share[e] = all(0.0);
            gather(e, cell, own);
            for (i64 c = 0; c < C_; ++c) share[e] = share[e] + load(lanes_of(e, c));
            fine = keep(fine, less(all(kLeastSum), share[e]));
        }
        for (int e = 0; e < kExperts; ++e) share[e] = keep(fine, all(weights_[e]) / share[e]);
        for (i64 c = 0; c < C_; ++c) {
            F4 sum = all(0.0);
            for (int e = 0; e < kExperts; ++e) sum = sum + share[e] * load(lanes_of(e, c));
            const F4 enough = less(all(kLeastMix), sum);
            double logs[4];
            store(logs, logarithm(keep(enough, sum)));
            for (i64 lane = 0; lane < count; ++lane) {
                const bool exact = (lanes(enough) >> lane & 1) != 0;
                task_.left_out[c * task_.n_pairs + p + lane] =
                    exact ? logs[lane] : mix_logs(task_.other, task_.own, cell[lane], c, own[lane]);
            }
        }
    }

    double* lanes_of(int e, i64 c) { return &four_[(e * C_ + c) * 4]; }

    // Copy an expert's exponentials of four cells, those of the classes that lose a row in their place. Four numbers are
    // stored at once: loading them together would wait for four stores.
    void gather(int e, const i64* cell, const i64* own) {
        const double *each = each_[e].get(), *mine = own_[e].get();
        for (i64 c = 0; c < C_; ++c) {
            const auto at = [&](i64 lane) { return (c == own[lane] ? mine : each)[cell[lane] * C_ + c]; };
            store(lanes_of(e, c), four(at(0), at(1), at(2), at(3)));
        }
    }

    // The same as a logarithm, of numbers of any size.
    double mix_logs(Terms terms, Terms own_terms, i64 k, i64 c, i64 own) {
        double log[kExperts];
        for (int e = 0; e < kExperts; ++e) {
            double top = -INFINITY, sum = 0.0;
            const auto term = [&](i64 b) { return (b == own ? own_terms : terms)[e][(first_ + k) * C_ + b]; };
            for (i64 b = 0; b < C_; ++b) top = larger(top, term(b));
            for (i64 b = 0; b < C_; ++b) sum += exponential_of(term(b) - top);
            log[e] = log_weight(e) + (term(c) - top - logarithm(sum));
        }
        return log_sum(log);
    }

    static double log_sum(const double* logs) {
        double top = logs[0], sum = 0.0;
        for (int e = 1; e < kExperts; ++e) top = larger(top, logs[e]);
        for (int e = 0; e < kExperts; ++e) sum += exponential_of(logs[e] - top);
        return top + logarithm(sum);
    }

    // Write the logarithms of the sums; `exact` gives those of sums that are 0.
    template <class Out, class Exact>
    void finish(i64 size, Out out, Exact exact) {
        for (i64 i = 0; i < size; i += 4) {
            double logs[4];
            store(logs, logarithm(load(&sums_[i])));
            for (i64 j = i; j < smaller(i + 4, size); ++j) out(j) = sums_[j] > 0.0 ? logs[j - i] : exact(j);
        }
    }

    const MixExpertsTask& task_;
    const i64 C_;
    Numbers each_[kExperts], own_[kExperts], sums_;
    Scratch<double> four_;  // (experts, C, 4)
    i64 f_ = 0, first_ = 0, size_ = 0;
    double weights_[kExperts] = {};
};

inline Fault mix_experts(const MixExpertsTask& task) {
    const PlainArithmetic plain;
    ExpertMixer mixer(task);
    i64 from = 0;
    for (i64 f = 0; f < task.n_columns; ++f) {
        mixer.begin(f);
        if (task.mixed != nullptr) mixer.mix_cells();
        i64 to = from;
        while (to < task.n_pairs && task.pairs[to] < task.offsets[f + 1] * task.n_classes) ++to;
        if (to > from) mixer.mix_pairs(from, to);
        from = to;
    }
    return {};
}

}  // namespace tally::TALLY_ISA
