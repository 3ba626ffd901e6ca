// A kernel density on the cells of numeric columns, by places: normal scores in steps.
//
// A column has K cells, each with the rows of every class and a place from 0 to P - 1. With S_hc = sum_j k_h(|p - j|) N_jc
// the rows of class c near place p, S_h their sum over classes, and N_c of N rows of the column in the class,
// the log-term is log sum_ha w_ha (N S_hc / S_h + a) / (N_c + a). w_ha ~ the probability of all rows' classes under h and
// a, each row left out. As in dense/experts.hpp there are three: `now`, and without a row of weight 1 `other` and `own`.
// IN: cells, one column after the other; k_h (H, R) by the distance in steps, 1 at 0; masses (A,). OUT: as the tasks say.
// The caller guarantees places below P. All cells of a place have the same terms, so work is by place.
// Cost: P (2 R H + 3 H A) C per column. Twins: density_reference.places, .sums and .terms.
#pragma once

#include "dense/experts.hpp"

namespace tally::TALLY_ISA {

// Places of cells: normal quantiles of pooled ranks.
class NormalScores {
public:
    explicit NormalScores(const DensityPlacesTask& task) : task_(task) {}

    void column(i64 first, i64 end) {
        double whole = 0.0, before = 0.0;
        for (i64 k = first; k < end; ++k) whole += task_.pooled[k];
        i64 last = -1, next = first;  // the last cell with rows, and the one after it
        for (i64 k = first; k < end; ++k) {
            if (!(task_.pooled[k] > 0.0)) continue;
            task_.places[k] = place((before + task_.pooled[k] / 2.0) / whole);
            before += task_.pooled[k];
            fill(next, last, k);
            last = k;
            next = k + 1;
        }
        for (i64 k = next; k < end; ++k) task_.places[k] = last < 0 ? 0 : task_.places[last];
    }

private:
    // The nearest integer to a normal quantile times `steps`, to 0.0005 (Abramowitz and Stegun 26.2.23), from 0 on.
    i32 place(double share) const {
        const double tail = smaller(larger(smaller(share, 1.0 - share), 2.2250738585072014e-308), 0.5);
        const double t = std::sqrt(-2.0 * logarithm(tail));
        const double above = 2.515517 + t * (0.802853 + t * 0.010328);
        const double below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
        const double score = share < 0.5 ? above / below - t : t - above / below, far = double(task_.farthest);
        return i32((smaller(larger(double(task_.steps) * score, -far), far) + kRound) - kRound + far);
    }

    // Give the cells without rows from `from` to `next` the place of the nearer neighbour; `last` is -1 for none.
    void fill(i64 from, i64 last, i64 next) {
        for (i64 k = from; k < next; ++k) {
            const double x = task_.value[k];
            const bool nearer = last >= 0 && x - task_.high[last] <= task_.low[next] - x;
            task_.places[k] = task_.places[nearer ? last : next];
        }
    }

    const DensityPlacesTask& task_;
};

inline Fault density_places(const DensityPlacesTask& task) {
    const PlainArithmetic plain;
    NormalScores scores(task);
    for (i64 f = 0; f < task.n_columns; ++f) scores.column(task.offsets[f], task.offsets[f + 1]);
    return {};
}

// The kernel density of one column after the other.
class DensityColumns {
public:
    explicit DensityColumns(const DensityTask& task)
        : task_(task), P_(task.n_places), C_(task.n_classes), H_(task.n_widths), R_(task.reach), A_(task.n_masses),
          grid_((P_ + 2 * R_) * C_), totals_(C_), less_totals_(C_), used_(P_), index_(P_), near_(H_ * P_ * C_),
          scaled_(H_ * kTerms * P_ * C_), share_(2 * C_), logs_(P_ * C_), counts_(P_ * C_),
          sums_(kTerms * P_ * C_) {}

    void begin(i64 f) {
        f_ = f;
        first_ = task_.offsets[f];
        size_ = task_.offsets[f + 1] - first_;
        std::memset(grid_.get(), 0, static_cast<std::size_t>((P_ + 2 * R_) * C_) * sizeof(double));
        for (i64 c = 0; c < C_; ++c) totals_[c] = 0.0;
        for (i64 p = 0; p < P_; ++p) index_[p] = -1;
        n_used_ = 0;
        for (i64 k = first_; k < first_ + size_; ++k) {
            const i64 p = task_.places[k];
            if (index_[p] < 0) {
                index_[p] = n_used_;
                used_[n_used_++] = p;
            }
            double* const to = place(p);
            const double* const from = task_.counts + k * C_;
            for (i64 c = 0; c < C_; ++c) to[c] += from[c];
            for (i64 c = 0; c < C_; ++c) totals_[c] += from[c];
        }
        whole_ = sum(totals_.get());
        for (i64 c = 0; c < C_; ++c) less_totals_[c] = left_of(totals_[c], 1.0);
        for (i64 h = 0; h < H_; ++h) gather(h);
    }

    void write_sums() {
        const i64 K = task_.offsets[task_.n_columns];
        for (i64 h = 0; h < H_; ++h)
            for (i64 k = first_; k < first_ + size_; ++k)
                copy(near(task_.places[k], h), task_.sums + (h * K + k) * C_);
    }

    // Write N S_c / S of each place and width, what the class would have of all rows; its rows where none is near.
    void scale() {
        const double less_whole = left_of(whole_, 1.0);
        for (i64 h = 0; h < H_; ++h)
            for (i64 u = 0; u < n_used_; ++u) {
                const double* const rows = near(used_[u], h);
                const double all_near = sum(rows), less_near = left_of(all_near, 1.0);
                const double factor = share_of(whole_, all_near), less = share_of(less_whole, less_near);
                double *now = scaled(h, 0, u), *other = scaled(h, 1, u), *own = scaled(h, 2, u);
                for (i64 c = 0; c < C_; ++c) now[c] = all_near > 0.0 ? rows[c] * factor : totals_[c];
                for (i64 c = 0; c < C_; ++c) {
                    other[c] = less_near > 0.0 ? rows[c] * less : totals_[c];
                    own[c] = less_near > 0.0 ? left_of(rows[c], 1.0) * less : less_totals_[c];
                }
            }
    }

    // Set the weight of each width and mass: minus the losses of all rows left out.
    void weigh() {
        double top = -INFINITY, total = 0.0;
        for (i64 e = 0; e < H_ * A_; ++e) top = larger(top, weight(e) = gain(e));
        for (i64 e = 0; e < H_ * A_; ++e) {
            weight(e) = exponential_of(weight(e) - top);
            total += weight(e);
        }
        for (i64 e = 0; e < H_ * A_; ++e) {
            weight(e) /= total;
            if (weight(e) < kNegligible) weight(e) = 0.0;
        }
    }

    void write_terms() {
        for (i64 i = 0; i < kTerms * n_used_ * C_; ++i) sums_[i] = 0.0;
        for (i64 e = 0; e < H_ * A_; ++e)
            for (int t = 0; t < kTerms && weight(e) > 0.0; ++t) average(e, t);
        sums_.apply(kTerms * n_used_ * C_, [](F4 x) { return logarithm(x); });
        for (int t = 0; t < kTerms; ++t)
            for (i64 k = first_; k < first_ + size_; ++k)
                copy(&sums_[(t * n_used_ + index_[task_.places[k]]) * C_], task_.terms[t] + k * C_);
    }

private:
    static constexpr int kTerms = 3;  // now, other and own

    std::size_t bytes() const { return static_cast<std::size_t>(C_) * sizeof(double); }
    double* place(i64 p) { return &grid_[(p + R_) * C_]; }
    double* near(i64 p, i64 h) { return &near_[(h * P_ + p) * C_]; }
    double* scaled(i64 h, int t, i64 u) { return &scaled_[((h * kTerms + t) * P_ + u) * C_]; }
    double& weight(i64 e) { return task_.weights[e * task_.n_columns + f_]; }

    double sum(const double* of) const {
        double total = 0.0;
        for (i64 c = 0; c < C_; ++c) total += of[c];
        return total;
    }

    // Add up the rows of each class near each place: all places at once, as runs of a few classes are short.
    void gather(i64 h) {
        double* const out = near(0, h);
        std::memcpy(out, place(0), static_cast<std::size_t>(P_) * bytes());
        for (i64 step = 1; step < R_; ++step) {
            const double k = task_.shapes[h * R_ + step];
            if (k == 0.0) continue;
            const double *low = place(-step), *high = place(step);
            for (i64 i = 0; i < P_ * C_; ++i) out[i] += k * (low[i] + high[i]);
        }
    }

    void copy(const double* from, double* to) const {
        for (i64 c = 0; c < C_; ++c) to[c] = from[c];
    }

    // The log-probability of the classes of all rows, each left out, under one width and mass.
    double gain(i64 e) {
        const double alpha = task_.masses[e % A_];
        for (i64 c = 0; c < C_; ++c) {
            share_[c] = task_.prior[c] / (totals_[c] + alpha);
            share_[C_ + c] = task_.prior[C_ + c] / (less_totals_[c] + alpha);
        }
        i64 some = 0;
        for (i64 u = 0; u < n_used_; ++u) {
            const double *other = scaled(e / A_, 1, u), *own = scaled(e / A_, 2, u), *rows = place(used_[u]);
            double total = 0.0;
            for (i64 c = 0; c < C_; ++c) total += share_[c] * (other[c] + alpha);
            for (i64 c = 0; c < C_; ++c) {
                if (!(rows[c] > 0.0)) continue;
                const double mine = share_[C_ + c] * (own[c] + alpha);
                logs_[some] = mine / (total - share_[c] * (other[c] + alpha) + mine);
                counts_[some++] = rows[c];
            }
        }
        logs_.apply(some, [](F4 x) { return logarithm(x); });
        double out = 0.0;
        for (i64 i = 0; i < some; ++i) out += counts_[i] * logs_[i];
        return out;
    }

    // Add the weighted ratios of one width and mass.
    void average(i64 e, int t) {
        const double alpha = task_.masses[e % A_], *rows = (t == 2 ? less_totals_ : totals_).get();
        for (i64 c = 0; c < C_; ++c) share_[c] = weight(e) / (rows[c] + alpha);
        for (i64 u = 0; u < n_used_; ++u) {
            const double* const from = scaled(e / A_, t, u);
            double* const out = &sums_[(t * n_used_ + u) * C_];
            for (i64 c = 0; c < C_; ++c) out[c] += share_[c] * (from[c] + alpha);
        }
    }

    const DensityTask& task_;
    const i64 P_, C_, H_, R_, A_;
    Scratch<double> grid_, totals_, less_totals_;
    Scratch<i64> used_, index_;
    Scratch<double> near_, scaled_, share_;
    Numbers logs_;
    Scratch<double> counts_;
    Numbers sums_;
    i64 f_ = 0, first_ = 0, size_ = 0, n_used_ = 0;
    double whole_ = 0.0;
};

inline Fault density(const DensityTask& task) {
    const PlainArithmetic plain;
    DensityColumns columns(task);
    for (i64 f = 0; f < task.n_columns; ++f) {
        columns.begin(f);
        if (task.sums != nullptr) columns.write_sums();
        if (task.terms[0] == nullptr) continue;
        columns.scale();
        if (!task.chosen) columns.weigh();
        columns.write_terms();
    }
    return {};
}

}  // namespace tally::TALLY_ISA
