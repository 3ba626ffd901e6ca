// Exact sums of w, w*x and w*x*x value by value, in integers: for values that fit no window, and for small calls.
//
// IN, OUT, guarantees and twin: those of exact/power_sums.hpp. Cost: about 20 ns per value.
#pragma once

#include "exact/limbs.hpp"

namespace tally::TALLY_ISA {

// Return the first fault in row order. Called only after something wrong was noticed.
inline Fault first_infinite(const Table& table) {
    for (i64 i = 0; i < table.n_rows; ++i)
        for (i64 f = 0; f < table.n_columns; ++f) {
            const double x = real_element(table.columns[f], i);
            if (is_infinite(x)) return {FaultKind::not_finite, i, f, x};
        }
    return {FaultKind::not_finite, 0, 0, 0.0};
}

class ExactSums {
public:
    ExactSums(i64 cells, bool squares) : first(cells), second(cells), squares_(squares) {}

    void add(i64 cell, double x) {
        const Parts p = parts_of(x);
        if (p.mantissa == 0) return;
        first.add(cell, p.mantissa, p.exponent, p.negative);
        if (!squares_) return;
        const Pair square = multiply(p.mantissa, p.mantissa);
        second.add_words(cell, {square.low, square.high}, 2 * p.exponent, false);
    }

    void add(i64 cell, double x, const Parts& w) {
        const Parts p = parts_of(x);
        if (p.mantissa == 0 || w.mantissa == 0) return;
        const Pair wx = multiply(w.mantissa, p.mantissa);
        first.add_words(cell, {wx.low, wx.high}, w.exponent + p.exponent, p.negative);
        if (!squares_) return;
        const Pair lower = multiply(wx.low, p.mantissa), upper = multiply(wx.high, p.mantissa);
        const u64 middle = lower.high + upper.low;
        const u64 carry = middle < lower.high ? 1 : 0;
        second.add_words(cell, {lower.low, middle, upper.high + carry}, w.exponent + 2 * p.exponent, false);
    }

    LimbArray first, second;

private:
    bool squares_;
};

inline bool bad_weight(double w) { return !(w >= 0.0) || is_infinite(w); }

// Make room for the first rows' values at once, so that small calls do not grow cell by cell.
inline void reserve_room(const PowerTask& task, ExactSums& sums) {
    Range x, w;
    for (i64 i = 0; i < smaller<i64>(task.table.n_rows, 32); ++i) {
        w.include(parts_of(task.weights == nullptr ? 1.0 : task.weights[i]));
        for (i64 f = 0; f < task.table.n_columns; ++f) {
            const double value = real_element(task.table.columns[f], i);
            if (!is_nan(value) && !is_infinite(value)) x.include(parts_of(value));
        }
    }
    sums.first.reserve(x, 1, w);
    if (task.squares) sums.second.reserve(x, 2, w);
}

inline Fault power_sums_by_value(const PowerTask& task) {
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes;
    // only classes that occur get cells, so that a call with one row costs one row
    Scratch<i32> number(C), present(smaller(n, C)), local(n);
    i32 P = 0;
    for (i64 i = 0; i < n; ++i) {
        const i32 c = task.classes[i];
        if (c < 0 || c >= C) return {FaultKind::bad_class, i, 0, static_cast<double>(c)};
        if (number[c] == 0) {
            present[P] = c;
            number[c] = ++P;
        }
        local[i] = number[c] - 1;
    }
    ExactSums sums(P * F, task.squares);
    LimbArray weight(P * F), of_class(P);  // weight: minus the missing rows' weights; the class's total is added last
    reserve_room(task, sums);
    for (i64 i = 0; i < n; ++i) {
        const double w = task.weights == nullptr ? 1.0 : task.weights[i];
        if (bad_weight(w)) return {FaultKind::bad_weight, i, 0, w};
        const Parts parts = parts_of(w);
        of_class.add(local[i], parts.mantissa, parts.exponent, false);
        for (i64 f = 0; f < F; ++f) {
            const double x = real_element(task.table.columns[f], i);
            if (is_infinite(x)) return {FaultKind::not_finite, i, f, x};
            const i64 cell = local[i] * F + f;
            if (is_nan(x))
                weight.add(cell, parts.mantissa, parts.exponent, true);
            else if (task.weights == nullptr)
                sums.add(cell, x);
            else
                sums.add(cell, x, parts);
        }
        if ((i + 1) % kRowsPerSettle == 0) {
            weight.settle();
            of_class.settle();
            sums.first.settle();
            sums.second.settle();
        }
    }
    of_class.settle();
    for (i64 p = 0; p < P; ++p)
        for (i64 f = 0; f < F; ++f) weight.add_cell(p * F + f, of_class, p);
    weight.finish(*task.weight, C * F, F, present.get());
    sums.first.finish(*task.first, C * F, F, present.get());
    if (task.squares) sums.second.finish(*task.second, C * F, F, present.get());
    return {};
}

}  // namespace tally::TALLY_ISA
