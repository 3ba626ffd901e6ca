// Exact sums of w, w*x and w*x*x: each product is split without error into doubles, which are summed in windows.
//
// w*x = h + l, where h is the rounded product and l its rounding error, which is itself a double. h*x and l*x split in
// the same way, so w*x*x is the sum of four doubles. This holds while nothing overflows or underflows: weights and
// values above 2^200 or below 2^-200 are added as integers, and so is a product that does not fit its window.
// IN, OUT, guarantees and twin: those of exact/power_sums.hpp. Cost: 110 vector operations per row of four columns.
#pragma once

#include "exact/power_exact.hpp"
#include "exact/power_window.hpp"
#include "dense/tile.hpp"

namespace tally::TALLY_ISA {

// Return whether products of three such numbers split without error: 0, or |x| between 2^-200 and 2^200.
inline bool is_moderate(double x) {
    const u64 field = bits_of(x) >> 52 & 0x7FF;
    return x == 0.0 || (field >= 1023 - 200 && field < 1023 + 200);
}

inline bool are_moderate(F4 x) {
    const I4 size = bits(x) & all(~(i64{1} << 63));
    const I4 small = less(size, all(i64{1023 - 200} << 52)), large = less(all(i64{1023 + 200} << 52), size);
    return !any((small & less(all(i64{0}), size)) | large);
}

template <bool Squares>
class WeightedSummer {
public:
    explicit WeightedSummer(const PowerTask& task)
        : task_(task), n_(task.table.n_rows), F_(task.table.n_columns), C_(task.n_classes), tile_(tile_length(C_)),
          tile_of_(task.classes, C_, tile_), fours_(task.table, tile_), weights_(tile_), fits_(fours_.size * kStreams),
          totals_(fours_.size * kStreams * C_), clean_(4 * kSegment), streams_(kStreams * 4 * kSegment),
          weight_(C_ * F_), of_class_(C_), sums_(C_ * F_, Squares) {}

    Fault run() {
        for (i64 start = 0; start < n_; start += tile_) {
            const i64 count = smaller(tile_, n_ - start);
            Fault fault = tile_of_.sort(start, count);
            if (fault.kind == FaultKind::none) fault = read_weights(start, count);
            if (fault.kind != FaultKind::none) return fault;
            for (i64 g = 0; g < fours_.size; ++g) {
                const Four four = fours_.at(g);
                const FourRows rows = fours_.read(four, start, count);
                for (i64 k = 0; k < tile_of_.n_present(); ++k) {
                    const i32 c = tile_of_.present(k);
                    const i32* order = tile_of_.order(c);
                    for (i64 j = 0; j < tile_of_.rows(c); j += kSegment)
                        add_segment(g, four, c, rows, order + j, smaller<i64>(kSegment, tile_of_.rows(c) - j));
                }
            }
            if (infinite_) return first_infinite(task_.table);
            if ((start / tile_ + 1) % (kRowsPerSettle / tile_) == 0) flush_all();
        }
        flush_all();
        for (i64 c = 0; c < C_; ++c)
            for (i64 f = 0; f < F_; ++f) weight_.add_cell(c * F_ + f, of_class_, c);
        weight_.finish(*task_.weight);
        sums_.first.finish(*task_.first);
        if (Squares) sums_.second.finish(*task_.second);
        return {};
    }

private:
    static constexpr int kStreams = Squares ? 6 : 2;  // h and l of w*x; then those of h*x and l*x

    // Copy and check the tile's weights. Add rows with extreme weights at once, and set their weight to 0.
    Fault read_weights(i64 start, i64 count) {
        for (i64 i = 0; i < count; ++i) {
            const double w = task_.weights[start + i];
            if (bad_weight(w)) return {FaultKind::bad_weight, start + i, 0, w};
            const Parts parts = parts_of(w);
            const i64 c = tile_of_.class_of(i);
            of_class_.add(c, parts.mantissa, parts.exponent, false);
            weights_[i] = is_moderate(w) ? w : 0.0;
            for (i64 f = 0; !is_moderate(w) && f < F_; ++f)
                add_value(c * F_ + f, real_element(task_.table.columns[f], start + i), w);
        }
        return {};
    }

    // Add one value as an integer.
    void add_value(i64 cell, double x, double w) {
        const Parts parts = parts_of(w);
        if (is_infinite(x))
            infinite_ = true;
        else if (is_nan(x))
            weight_.add(cell, parts.mantissa, parts.exponent, true);
        else
            sums_.add(cell, x, parts);
    }

    void add_segment(i64 g, const Four& four, i32 c, const FourRows& rows, const i32* order, i64 count) {
        double* clean = clean_.get();
        for (i64 j = 0; j < count; ++j) {
            const double* row = rows.base + order[j] * rows.stride;
            const F4 x = load(row);
            prefetch(reinterpret_cast<const char*>(row) + tile_ * rows.step);
            store(clean + 4 * j, x);
            if (lanes(missing(x)) == 0 && are_moderate(x)) continue;
            for (int lane = 0; lane < 4; ++lane) {
                double& value = clean[4 * j + lane];
                if (is_moderate(value)) continue;
                if (lane >= four.from) add_value(c * F_ + four.column + lane, value, weights_[order[j]]);
                value = 0.0;
            }
        }
        split(order, count);
        for (int k = 0; k < kStreams; ++k) add_stream(g, four, c, k, count);
    }

    void split(const i32* order, i64 count) {
        const i64 length = 4 * kSegment;
        for (i64 j = 0; j < count; ++j) {
            const F4 x = load(&clean_[4 * j]), w = all(weights_[order[j]]);
            const F4 h = w * x, l = product_error(w, x, h);
            double* to = streams_.get() + 4 * j;
            store(to, h);
            store(to + length, l);
            if constexpr (Squares) {
                const F4 hx = h * x, lx = l * x;
                store(to + 2 * length, hx);
                store(to + 3 * length, product_error(h, x, hx));
                store(to + 4 * length, lx);
                store(to + 5 * length, product_error(l, x, lx));
            }
        }
    }

    void add_stream(i64 g, const Four& four, i32 c, int k, i64 count) {
        ChosenWindow& fit = fits_[g * kStreams + k];
        Totals<3>& totals = totals_[(g * kStreams + k) * C_ + c];
        double* values = streams_.get() + k * 4 * kSegment;
        if (!fit.chosen) fit.choose(values, 4, count);
        fit.rows += count;
        if (sum_segment<false, false, Fit::by_rest>(values, 4, nullptr, count, 0, fit.window, totals)) return;
        LimbArray& sums = k < 2 ? sums_.first : sums_.second;
        ChosenWindow next = fit;
        next.choose(values, 4, count);
        i64 refused[4] = {};
        for (i64 j = 0; j < count; ++j)
            for (int lane = 0; lane < 4; ++lane) {
                double& x = values[4 * j + lane];
                if (fit.window.holds(lane, x)) continue;
                const Parts p = parts_of(x);
                if (lane >= four.from) sums.add(c * F_ + four.column + lane, p.mantissa, p.exponent, p.negative);
                x = 0.0;
                ++refused[lane];
            }
        sum_segment<false, false, Fit::by_rest>(values, 4, nullptr, count, 0, fit.window, totals);
        fit.refuse(refused);
        if (!fit.tired()) return;
        flush(g, four, k);
        fit = next;
    }

    void flush(i64 g, const Four& four, int stream) {
        LimbArray& sums = stream < 2 ? sums_.first : sums_.second;
        const Window& window = fits_[g * kStreams + stream].window;
        for (i64 c = 0; c < C_; ++c) {
            Totals<3>& totals = totals_[(g * kStreams + stream) * C_ + c];
            for (int lane = four.from; lane < four.to; ++lane)
                for (int k = 0; k < 3; ++k)
                    totals.empty(
                        k, lane, sums, c * F_ + four.column + lane, window.exponent[lane] - kPartBits * k);
            totals = {};
        }
    }

    void flush_all() {
        for (i64 g = 0; g < fours_.size; ++g)
            for (int k = 0; k < kStreams; ++k) flush(g, fours_.at(g), k);
        weight_.settle();
        of_class_.settle();
        sums_.first.settle();
        sums_.second.settle();
    }

    const PowerTask& task_;
    const i64 n_, F_, C_, tile_;
    ClassTile tile_of_;
    Fours fours_;
    Scratch<double> weights_;     // of the tile's rows
    Scratch<ChosenWindow> fits_;  // (group, stream)
    Scratch<Totals<3>> totals_;   // (group, stream, class)
    Scratch<double> clean_;       // a segment's values, missing and extreme ones replaced by 0
    Scratch<double> streams_;     // (stream, row, 4)
    LimbArray weight_;            // minus the missing rows' weights; the class's total is added last
    LimbArray of_class_;
    ExactSums sums_;
    bool infinite_ = false;
};

}  // namespace tally::TALLY_ISA
