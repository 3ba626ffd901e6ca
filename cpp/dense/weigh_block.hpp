// The log loss of weighted terms, its gradient, and the diagonal of its curvature.
//
// Only differences of scores matter, so base and terms are those of the first D = C - 1 classes less the last class's:
//   score[c, i] = base[c, i] + share[i] * (bias[c] + sum_u scale[u] * term[u, c, i] + sum_v table[bin of v and i, c])
//   loss        = sum_i w[i] * (log(1 + sum_c exp(score[c, i])) - score[class[i], i]), a score of the last class being 0
// where bias and table, too, are less the last class's. Some terms are given row by row, others by a code: rows with the
// same code share an entry, which has a term and a correction. Then scale * term + correction is added up once per entry,
// and so is the gradient. Terms of rows are floats: there are many, and a fit does not see the digits that they lack.
//
// With p the probabilities of a row's classes, r = w * share * (p - own class) and s = w * share^2, the gradient is
//   by scale[u]: sum r[c, i] * term[u, c, i];  by bias[c]: sum r[c, i];  by table[k, c]: sum of r[c, i] over rows of bin k
// and by those of the last class minus the sum of the others. The curvature by scale[u] is sum_i s * Var_p(term[u, :, i]),
// by the others sum s * p * (1 - p); `all` is the curvature by a number added to every scale.
// IN: as WeighTask says. The caller guarantees finite numbers, and terms and bins in range; codes are checked here.
// OUT: sums, as WeighTask says; all are set. p (n, C): the probabilities, if asked for.
// Cost: two passes over the terms and codes, block by block of rows, and an exponential per score. Twin:
// reference.weigh_terms.
#pragma once

#include "dense/weigh_table.hpp"

namespace tally::TALLY_ISA {

constexpr i64 kWeighRows = 256;  // of a block: its terms stay in the second cache from scores to gradient
constexpr i64 kTermsAtOnce = 4;  // so that scores are loaded and stored once for four terms
constexpr i64 kChains = 4;       // sums side by side: an addition takes four times as long as to begin one

// Sum of a * b over a block padded to a multiple of four; two sums, so that one need not wait for the other.
template <class T>
inline double dot(const double* a, const T* b, i64 rows) {
    F4 even = all(0.0), odd = all(0.0);
    i64 i = 0;
    for (; i + 8 <= rows; i += 8) {
        even = even + load(a + i) * load_four(b + i);
        odd = odd + load(a + i + 4) * load_four(b + i + 4);
    }
    if (i < rows) even = even + load(a + i) * load_four(b + i);
    return total_of(even + odd);
}

inline i64 padded_to_four(i64 count) { return (count + 3) / 4 * 4; }

// One block of at most kWeighRows rows; arrays are padded with zeros to a multiple of four rows.
class WeighBlock {
public:
    explicit WeighBlock(const WeighTask& task)
        : task_(task), D_(task.n_classes - 1), T_(task.n_terms), V_(task.coded.n_tables),
          entries_(task.coded, D_ == 1 ? 1 : padded_to_four(D_)), width_(entries_.width()), p_(D_ * kWeighRows),
          r_(D_ * kWeighRows), last_(kWeighRows), s_(kWeighRows), bias_(D_), rows_(width_ * kWeighRows),
          table_(entries_.size()), slopes_(task.sloped ? entries_.size() : 0) {
        for (i64 c = 0; c < D_; ++c) bias_[c] = task.bias[c] - task.bias[D_];
        fill_table();
    }

    Fault run(i64 start, i64 count) {
        start_ = start;
        count_ = count;
        padded_ = padded_to_four(count);
        if (const Fault fault = check(); fault.kind != FaultKind::none) return fault;
        score();
        normalise();
        if (task_.p != nullptr) write_probabilities();
        if (task_.sloped) slopes();
        return {};
    }

    // The slopes by the entries, and those of the last class.
    void finish() {
        const i64 C = D_ + 1;
        WeighSums& sums = *task_.sums;
        if (task_.sloped) {
            add_slopes_of_terms();
            const First rest = first(D_ % 4);
            entries_.each([&](i64, i64 p, i64 at) {
                const i64 k = task_.coded.bins[p];
                if (k < 0) return;
                double *to = sums.table + k * C, *slope = slopes_.get() + at;
                i64 c = 0;
                for (; c + 4 <= D_; c += 4) store(to + c, load(to + c) + load(slope + c));
                if (c < D_) store_first(to + c, rest, load_first(to + c, rest) + load_first(slope + c, rest));
            });
            subtract_others(sums.bias);
            for (i64 k = 0; k < task_.n_corrections; ++k) subtract_others(sums.table + k * C);
        }
    }

protected:
    static double* of(AlignedScratch<double>& values, i64 c) { return values.get() + c * kWeighRows; }
    const float* term(i64 t, i64 c) const { return task_.terms + (t * D_ + c) * task_.n_rows + start_; }
    const i32* codes(i64 v) const { return task_.coded.codes + v * task_.n_rows + start_; }

    const WeighTask& task_;
    const i64 D_, T_, V_;
    const EntryRows entries_;
    const i64 width_;  // of an entry: D, or a multiple of four
    i64 start_ = 0, count_ = 0, padded_ = 0;
    AlignedScratch<double> p_, r_, last_, s_, bias_, rows_, table_, slopes_;

private:
    void score() {
        for (i64 c = 0; c < D_; ++c) {
            double* to = of(p_, c);
            for (i64 i = 0; i < kWeighRows; ++i) to[i] = bias_[c];
            i64 t = 0;
            for (; t + kTermsAtOnce <= T_; t += kTermsAtOnce) add_terms<kTermsAtOnce>(t, c, to);
            for (; t < T_; ++t) add_terms<1>(t, c, to);
        }
        if (V_ > 0) add_entries();
        for (i64 c = 0; c < D_; ++c) {
            double* to = of(p_, c);
            const double *base = task_.base + c * task_.n_rows + start_, *share = task_.share + start_;
            for (i64 i = 0; i < count_; ++i) to[i] = base[i] + share[i] * to[i];
            for (i64 i = count_; i < padded_; ++i) to[i] = 0.0;
        }
    }

    template <i64 Many>
    void add_terms(i64 t, i64 c, double* to) {
        const float* from[Many];
        double scale[Many];
        for (i64 k = 0; k < Many; ++k) {
            from[k] = term(t + k, c);
            scale[k] = task_.scale[task_.numbers[t + k]];
        }
        i64 i = 0;
        for (; i + 4 <= count_; i += 4) {
            F4 sum = load(to + i);
            for (i64 k = 0; k < Many; ++k) sum = sum + all(scale[k]) * load_floats(from[k] + i);
            store(to + i, sum);
        }
        for (; i < count_; ++i)
            for (i64 k = 0; k < Many; ++k) to[i] += scale[k] * static_cast<double>(from[k][i]);
    }

    // There are as many codes as terms: checked here, they are read from memory once.
    Fault check() const {
        for (i64 v = 0; v < V_; ++v) {
            const i32* code = codes(v);
            const i64 size = task_.coded.offsets[v + 1] - task_.coded.offsets[v];
            i32 least = 0, most = -1;
            for (i64 i = 0; i < count_; ++i) {
                least = smaller(least, code[i]);
                most = larger(most, code[i]);
            }
            if (least >= -1 && most < size) continue;
            const i32 bad = least < -1 ? least : most;
            i64 i = 0;
            while (code[i] != bad) ++i;
            return {FaultKind::bad_code, start_ + i, bad, 0.0};
        }
        return {};
    }

    void add_entries() {
        const auto codes_of = [&](i64 v) { return codes(v); };
        const auto start_of = [&](i64 v) { return entries_.start(v); };
        if (D_ == 1) return gather_numbers(V_, codes_of, start_of, count_, table_.get(), p_.get());
        double* const to = rows_.get();
        for (i64 k = 0; k < width_ * kWeighRows; ++k) to[k] = 0.0;
        gather_rows(V_, codes_of, start_of, count_, width_, table_.get(), to);
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) of(p_, c)[i] += to[i * width_ + c];
    }

    // Scores become probabilities and residuals; their loss is added up.
    void normalise() {
        double own[kWeighRows], mass[kWeighRows], weight[kWeighRows], part[kWeighRows];
        for (i64 i = 0; i < padded_; ++i) {
            const bool real = i < count_;
            weight[i] = !real ? 0.0 : task_.weights == nullptr ? 1.0 : task_.weights[start_ + i];
            part[i] = real ? weight[i] * task_.share[start_ + i] : 0.0;
            s_[i] = real ? part[i] * task_.share[start_ + i] : 0.0;
        }
        for (i64 i = 0; i < padded_; i += 4) {
            F4 top = all(0.0);
            for (i64 c = 0; c < D_; ++c) top = greatest(top, load(of(p_, c) + i));
            for (i64 c = 0; c < D_; ++c) store(of(p_, c) + i, load(of(p_, c) + i) - top);
            store(last_.get() + i, all(0.0) - top);
        }
        for (i64 i = 0; i < padded_; ++i) {
            const i64 c = i < count_ ? task_.classes[start_ + i] : D_;
            own[i] = c < D_ ? of(p_, c)[i] : last_[i];
        }
        exponentials(last_.get(), padded_);
        for (i64 c = 0; c < D_; ++c) exponentials(of(p_, c), padded_);
        for (i64 i = 0; i < padded_; i += 4) {
            F4 sum = load(last_.get() + i);
            for (i64 c = 0; c < D_; ++c) sum = sum + load(of(p_, c) + i);
            store(mass + i, sum);
        }
        for (i64 i = 0; i < padded_; i += 4) store(own + i, logarithm(load(mass + i)) - load(own + i));
        task_.sums->loss += dot(weight, own, padded_);
        for (i64 i = 0; i < padded_; i += 4) {
            const F4 sum = load(mass + i), factor = load(part + i);
            store(last_.get() + i, load(last_.get() + i) / sum);
            for (i64 c = 0; c < D_; ++c) {
                const F4 p = load(of(p_, c) + i) / sum;
                store(of(p_, c) + i, p);
                store(of(r_, c) + i, factor * p);
            }
        }
        for (i64 i = 0; i < count_; ++i)
            if (task_.classes[start_ + i] < D_) of(r_, task_.classes[start_ + i])[i] -= part[i];
    }

    void write_probabilities() {
        double* to = task_.p + start_ * (D_ + 1);
        for (i64 i = 0; i < count_; ++i, to += D_ + 1) {
            for (i64 c = 0; c < D_; ++c) to[c] = of(p_, c)[i];
            to[D_] = last_[i];
        }
    }

    // Ask for the same of the next block: runs this short start anew for each, too late for the processor to foresee.
    template <class T>
    void fetch_next(const T* now) const {
        if (start_ + kWeighRows >= task_.end) return;
        const char* next = reinterpret_cast<const char*>(now + kWeighRows);
        for (i64 byte = 0; byte < kWeighRows * i64{sizeof(T)}; byte += 64) prefetch(next + byte);
    }

    void slopes() {
        for (i64 t = 0; t < T_; ++t)
            for (i64 c = 0; c < D_; ++c) {
                const float* x = term(t, c);
                fetch_next(x);
                task_.sums->scale[task_.numbers[t]] += dot_of_rows(of(r_, c), x);
            }
        i64 c = 0;
        for (; c + kChains <= D_; c += kChains) add_residuals<kChains>(c);
        for (; c < D_; ++c) add_residuals<1>(c);
        if (V_ > 0) slopes_by_entry();
    }

    // Sums of one row after the other, of some classes side by side: none has to wait for the others.
    template <i64 Many>
    void add_residuals(i64 c) {
        const double* from[Many];
        double sum[Many];
        for (i64 k = 0; k < Many; ++k) {
            from[k] = of(r_, c + k);
            sum[k] = task_.sums->bias[c + k];
        }
        for (i64 i = 0; i < count_; ++i)
            for (i64 k = 0; k < Many; ++k) sum[k] += from[k][i];
        for (i64 k = 0; k < Many; ++k) task_.sums->bias[c + k] = sum[k];
    }

    // The product with a term, whose rows are not padded.
    double dot_of_rows(const double* residual, const float* x) const {
        if (padded_ == count_) return dot(residual, x, padded_);
        float copied[kWeighRows];
        for (i64 i = 0; i < padded_; ++i) copied[i] = i < count_ ? x[i] : 0.0f;
        return dot(residual, copied, padded_);
    }

    void slopes_by_entry() {
        const auto codes_of = [&](i64 v) { return codes(v); };
        const auto start_of = [&](i64 v) { return entries_.start(v); };
        if (D_ == 1) return scatter_numbers(V_, codes_of, start_of, count_, r_.get(), slopes_.get());
        for (i64 c = 0; c < D_; ++c)
            for (i64 i = 0; i < count_; ++i) rows_[i * width_ + c] = of(r_, c)[i];
        for (i64 v = 0; v < V_; ++v) fetch_next(codes(v));
        scatter_rows(V_, codes_of, start_of, count_, width_, rows_.get(), slopes_.get());
    }

    // The weighted term of each entry plus its correction.
    void fill_table() {
        const i64 K = task_.n_corrections;
        Scratch<double> corrections(K * width_);  // less those of the last class
        for (i64 k = 0; k < K; ++k)
            for (i64 c = 0; c < D_; ++c)
                corrections[k * width_ + c] = task_.table[k * (D_ + 1) + c] - task_.table[k * (D_ + 1) + D_];
        const First rest = first(D_ % 4);
        entries_.each([&](i64 v, i64 p, i64 at) {
            const i64 u = task_.coded.terms[v], k = task_.coded.bins[p];
            const double *own = task_.coded.values + p * D_, *correction = corrections.get() + k * width_;
            double* const to = table_.get() + at;
            if (D_ == 1) {
                if (u >= 0) *to = task_.scale[u] * *own;
                if (k >= 0) *to += *correction;
                return;
            }
            const F4 scale = all(u < 0 ? 0.0 : task_.scale[u]);
            for (i64 c = 0; c < width_; c += 4) {
                F4 sum = all(0.0);
                if (u >= 0) sum = scale * (c + 4 <= D_ ? load(own + c) : load_first(own + c, rest));
                if (k >= 0) sum = sum + load(correction + c);
                store(to + c, sum);
            }
        });
    }

    // Add the products of terms and the slopes by their entries.
    void add_slopes_of_terms() {
        i64 v = 0;
        for (; v + kChains <= V_; v += kChains) add_slopes_of<kChains>(v);
        for (; v < V_; ++v) add_slopes_of<1>(v);
    }

    // Of some tables side by side, one product after the other: a sum in memory would be waited for each time.
    template <i64 Many>
    void add_slopes_of(i64 v) {
        const double *own[Many], *slope[Many];
        double sum[Many];
        i64 left[Many], shared = INT64_MAX;
        for (i64 m = 0; m < Many; ++m) {
            const i64 begin = task_.coded.offsets[v + m];
            own[m] = task_.coded.values + begin * D_;
            slope[m] = slopes_.get() + entries_.start(v + m);
            sum[m] = 0.0;
            left[m] = task_.coded.terms[v + m] < 0 ? 0 : task_.coded.offsets[v + m + 1] - begin;
            shared = smaller(shared, left[m]);
        }
        const auto add_entry = [&](i64 m, i64 p) {
            for (i64 c = 0; c < D_; ++c) sum[m] += own[m][p * D_ + c] * slope[m][p * width_ + c];
        };
        for (i64 p = 0; p < shared; ++p)
            for (i64 c = 0; c < D_; ++c)
                for (i64 m = 0; m < Many; ++m) sum[m] += own[m][p * D_ + c] * slope[m][p * width_ + c];
        for (i64 m = 0; m < Many; ++m) {
            for (i64 p = shared; p < left[m]; ++p) add_entry(m, p);
            if (const i64 u = task_.coded.terms[v + m]; u >= 0) task_.sums->scale[u] += sum[m];
        }
    }

    void subtract_others(double* slopes) const {
        for (i64 c = 0; c < D_; ++c) slopes[D_] -= slopes[c];
    }
};

}  // namespace tally::TALLY_ISA
