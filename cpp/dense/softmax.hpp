// From rows of scores to probabilities or log-probabilities, and the log of each row's sum of exponentials.
//
// IN: scores (n, C). OUT: out (n, C), which may be scores, or null if only the norms of logs are needed; log_norm (n,). The
// caller guarantees nothing about values: a row of -inf becomes zeros (logs: stays -inf) with log_norm -inf; NaN or +inf in
// a row makes the row NaN.
// A row's results depend on that row alone, to the last bit: it may be one of four lanes or by itself.
// Cost: about 4 cycles a score. Twins: reference.softmax, reference.log_softmax, reference.log_norm.
#pragma once

#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

// Classes up to which four rows are lanes: with more, a row fills lanes by itself, and its chains are hidden by them.
constexpr i64 kMostInLanes = 32;
constexpr int kFours = 4;  // times four rows at once

// The norms of four rows, from their largest scores and the sums of what is left.
inline F4 norms_of(F4 tops, F4 sums) {
    const F4 hole = missing(sums), some = either(less(all(0.0), sums), hole);
    const F4 norms = tops + either(keep(hole, sums), drop(hole, logarithm(sums)));
    return either(keep(some, norms), drop(some, all(-double_of(u64{0x7FF} << 52))));
}

// Some times four rows, a lane for each: the chains of comparisons and additions along a row take no longer for four of
// them, nor for a few chains side by side.
template <int Fours>
class RowsInLanes {
public:
    static constexpr i64 kRows = 4 * Fours;

    explicit RowsInLanes(i64 C) : C_(C) {}

    void run(const SoftmaxTask& task, i64 row) {
        for (int k = 0; k < Fours; ++k) read(task.scores + (row + 4 * k) * C_, k);
        F4 top[Fours], sum[Fours];
        for (int k = 0; k < Fours; ++k) top[k] = all(-double_of(u64{0x7FF} << 52));
        for (i64 c = 0; c < C_; ++c)
            for (int k = 0; k < Fours; ++k) top[k] = greatest(top[k], load(x(c, k)));
        for (int k = 0; k < Fours; ++k)  // of -inf alone, nothing is subtracted
            top[k] = drop(less(top[k], all(-1.7976931348623157e308)), top[k]);
        for (i64 c = 0; c < C_; ++c)
            for (int k = 0; k < Fours; ++k) store(x(c, k), load(x(c, k)) - top[k]);
        const i64 size = C_ * kRows;
        if (task.log)
            for (i64 at = 0; at < size; at += 4) store(shifted_ + at, load(x_ + at));
        exponentials(x_, size);
        for (int k = 0; k < Fours; ++k) sum[k] = all(0.0);
        for (i64 c = 0; c < C_; ++c)
            for (int k = 0; k < Fours; ++k) sum[k] = sum[k] + load(x(c, k));
        for (int k = 0; k < Fours; ++k) store(task.log_norm + row + 4 * k, norms_of(top[k], sum[k]));
        if (task.out == nullptr) return;
        for (int k = 0; k < Fours; ++k) {
            double* const out = task.out + (row + 4 * k) * C_;
            const F4 hole = missing(sum[k]), some = either(less(all(0.0), sum[k]), hole);
            if (task.log) {
                const F4 log = either(keep(hole, sum[k]), drop(hole, keep(some, logarithm(sum[k]))));
                write(shifted_, k, out, [&](F4 value) { return value - log; });
            } else {
                const F4 scale = keep(some, all(1.0) / sum[k]);
                write(x_, k, out, [&](F4 value) { return value * scale; });
            }
        }
    }

private:
    double* x(i64 c, int k) { return x_ + c * kRows + 4 * k; }

    void read(const double* rows, int k) {
        i64 c = 0;
        for (; c + 4 <= C_; c += 4) {
            F4 four[4];
            for (int j = 0; j < 4; ++j) four[j] = load(rows + j * C_ + c);
            transpose(four[0], four[1], four[2], four[3]);
            for (int j = 0; j < 4; ++j) store(x(c + j, k), four[j]);
        }
        for (; c < C_; ++c) store(x(c, k), four(rows[c], rows[C_ + c], rows[2 * C_ + c], rows[3 * C_ + c]));
    }

    template <class Function>
    void write(const double* from, int k, double* rows, Function function) {
        const auto of_class = [&](i64 c) { return function(load(from + c * kRows + 4 * k)); };
        i64 c = 0;
        for (; c + 4 <= C_; c += 4) {
            F4 four[4];
            for (int j = 0; j < 4; ++j) four[j] = of_class(c + j);
            transpose(four[0], four[1], four[2], four[3]);
            for (int j = 0; j < 4; ++j) store(rows + j * C_ + c, four[j]);
        }
        for (; c < C_; ++c) {
            double each[4];
            store(each, of_class(c));
            for (int j = 0; j < 4; ++j) rows[j * C_ + c] = each[j];
        }
    }

    const i64 C_;
    alignas(64) double x_[kRows * kMostInLanes], shifted_[kRows * kMostInLanes];
};

// The rows from `start` on by themselves, some at a time.
inline void softmax_by_row(const SoftmaxTask& task, i64 start) {
    const i64 C = task.n_classes;
    const double nothing = -double_of(u64{0x7FF} << 52);
    const i64 rows = larger<i64>(1, smaller<i64>(task.n_rows - start, smaller<i64>(64, 4096 / larger<i64>(C, 1))));
    Scratch<double> shifted(rows * C + 4), tops(rows + 4), sums(rows + 4);
    for (; start < task.n_rows; start += rows) {
        const i64 count = smaller(rows, task.n_rows - start);
        double* const out = task.out == nullptr ? nullptr : task.out + start * C;
        for (i64 i = 0; i < count; ++i) {
            const double* row = task.scores + (start + i) * C;
            double top = nothing;
            for (i64 c = 0; c < C; ++c) top = top > row[c] ? top : row[c];
            tops[i] = top == nothing ? 0.0 : top;
            double* shift = &shifted[i * C];
            for (i64 c = 0; c < C; ++c) shift[c] = row[c] - tops[i];
        }
        if (task.log && out != nullptr)
            for (i64 k = 0; k < count * C; ++k) out[k] = shifted[k];
        exponentials(shifted.get(), (count * C + 3) / 4 * 4);
        for (i64 i = 0; i < count; ++i) {
            const double* row = &shifted[i * C];
            double sum = 0.0;
            for (i64 c = 0; c < C; ++c) sum += row[c];
            sums[i] = sum;
            if (task.log) continue;
            const double scale = sum == 0.0 ? 0.0 : 1.0 / sum;
            for (i64 c = 0; c < C; ++c) out[i * C + c] = row[c] * scale;
        }
        for (i64 i = 0; i < count; i += 4) {
            const F4 norms = norms_of(load(&tops[i]), load(&sums[i]));
            store_first(task.log_norm + start + i, first(smaller<i64>(4, count - i)), norms);
        }
        if (!task.log || out == nullptr) continue;
        for (i64 i = 0; i < count; ++i) {
            const double log = sums[i] == 0.0 ? 0.0 : logarithm(sums[i]);
            for (i64 c = 0; c < C; ++c) out[i * C + c] -= log;
        }
    }
}

// Rows from `row` on, some times four at a time; returns the first that is left.
template <int Fours>
inline i64 softmax_in_lanes(const SoftmaxTask& task, i64 row) {
    RowsInLanes<Fours> rows(task.n_classes);
    for (; row + rows.kRows <= task.n_rows; row += rows.kRows) rows.run(task, row);
    return row;
}

inline Fault softmax(const SoftmaxTask& task) {
    i64 row = 0;
    if (task.n_classes <= kMostInLanes) row = softmax_in_lanes<1>(task, softmax_in_lanes<kFours>(task, row));
    if (row < task.n_rows) softmax_by_row(task, row);
    return {};
}

}  // namespace tally::TALLY_ISA
