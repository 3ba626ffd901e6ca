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

// The norms of up to four rows, from their largest scores and the sums of what is left.
inline void write_norms(const double* tops, F4 sums, i64 count, double* log_norm) {
    double sum[4], logs[4];
    store(sum, sums);
    store(logs, logarithm(sums));
    for (i64 i = 0; i < count; ++i) {
        if (sum[i] == 0.0) log_norm[i] = -double_of(u64{0x7FF} << 52);
        else log_norm[i] = tops[i] + (is_nan(sum[i]) ? sum[i] : logs[i]);
    }
}

// Four rows, a lane for each: the chains of comparisons and additions along a row take no longer for four of them.
class RowsInLanes {
public:
    explicit RowsInLanes(i64 C) : C_(C) {}

    void run(const SoftmaxTask& task, i64 row) {
        read(task.scores + row * C_);
        F4 top = all(-double_of(u64{0x7FF} << 52)), sum = all(0.0);
        for (i64 c = 0; c < C_; ++c) top = greatest(top, load(x(c)));
        top = drop(less(top, all(-1.7976931348623157e308)), top);  // of -inf alone, nothing is subtracted
        double* const out = task.out == nullptr ? nullptr : task.out + row * C_;
        for (i64 c = 0; c < C_; ++c) {
            const F4 shifted = load(x(c)) - top, power = exponential(shifted);
            sum = sum + power;
            store(x(c), task.log ? shifted : power);
        }
        double tops[4];
        store(tops, top);
        write_norms(tops, sum, 4, task.log_norm + row);
        if (out == nullptr) return;
        const F4 some = either(less(all(0.0), sum), missing(sum));
        if (task.log) {
            const F4 log = either(keep(missing(sum), sum), drop(missing(sum), keep(some, logarithm(sum))));
            write(out, [&](F4 value) { return value - log; });
        } else {
            const F4 scale = keep(some, all(1.0) / sum);
            write(out, [&](F4 value) { return value * scale; });
        }
    }

private:
    double* x(i64 c) { return x_ + 4 * c; }

    void read(const double* rows) {
        i64 c = 0;
        for (; c + 4 <= C_; c += 4) {
            F4 four[4];
            for (int k = 0; k < 4; ++k) four[k] = load(rows + k * C_ + c);
            transpose(four[0], four[1], four[2], four[3]);
            for (int k = 0; k < 4; ++k) store(x(c + k), four[k]);
        }
        for (; c < C_; ++c) store(x(c), four(rows[c], rows[C_ + c], rows[2 * C_ + c], rows[3 * C_ + c]));
    }

    template <class Function>
    void write(double* rows, Function function) {
        i64 c = 0;
        for (; c + 4 <= C_; c += 4) {
            F4 four[4];
            for (int k = 0; k < 4; ++k) four[k] = function(load(x(c + k)));
            transpose(four[0], four[1], four[2], four[3]);
            for (int k = 0; k < 4; ++k) store(rows + k * C_ + c, four[k]);
        }
        for (; c < C_; ++c) {
            double each[4];
            store(each, function(load(x(c))));
            for (int k = 0; k < 4; ++k) rows[k * C_ + c] = each[k];
        }
    }

    const i64 C_;
    alignas(64) double x_[4 * kMostInLanes];
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
        for (i64 k = 0; k < count * C; k += 4) store(&shifted[k], exponential(load(&shifted[k])));
        for (i64 i = 0; i < count; ++i) {
            const double* row = &shifted[i * C];
            double sum = 0.0;
            for (i64 c = 0; c < C; ++c) sum += row[c];
            sums[i] = sum;
            if (task.log) continue;
            const double scale = sum == 0.0 ? 0.0 : 1.0 / sum;
            for (i64 c = 0; c < C; ++c) out[i * C + c] = row[c] * scale;
        }
        for (i64 i = 0; i < count; i += 4)
            write_norms(&tops[i], load(&sums[i]), smaller<i64>(4, count - i), task.log_norm + start + i);
        if (!task.log || out == nullptr) continue;
        for (i64 i = 0; i < count; ++i) {
            const double log = sums[i] == 0.0 ? 0.0 : logarithm(sums[i]);
            for (i64 c = 0; c < C; ++c) out[i * C + c] -= log;
        }
    }
}

inline Fault softmax(const SoftmaxTask& task) {
    i64 row = 0;
    if (task.n_classes <= kMostInLanes) {
        RowsInLanes four(task.n_classes);
        for (; row + 4 <= task.n_rows; row += 4) four.run(task, row);
    }
    if (row < task.n_rows) softmax_by_row(task, row);
    return {};
}

}  // namespace tally::TALLY_ISA
