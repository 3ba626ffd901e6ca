// The log loss of tempered scores, and its derivatives by the temperature's parameters.
//
// With t = exp(u + v * l) for each row, p the softmax of t * score, and `own` the score of the row's own class,
//
//   loss[i] = log(sum_c exp(t * score[i, c])) - t * own[i]
//   sums    = sums over rows of w * loss, w * g, w * g * l, w * h, w * h * l, w * h * l * l
//
// where g = t * (E_p[score] - own) and h = t^2 * Var_p[score] + g are the loss's first two derivatives by u.
// IN: scores (n, C); own, l, weights (n,). The caller guarantees that the greatest score of each row is 0 and none is
// NaN or infinite. A row whose l is NaN has t = 1 and no derivatives. t is at most e^709. OUT: loss (n,), slopes (n, 2),
// w * g and w * h of each row; and sums (6,) of them, row after row, so that threads may share the rows.
// Cost: an exponential per score. Twin: reference.temper.
#pragma once

#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

// Sums over one row's scores at temperature t: of e^(t * score), and of that times score and times score^2.
struct Tempered {
    double mass, sum, squares;
};

inline Tempered tempered(const double* score, i64 C, double t) {
    F4 mass = all(0.0), sum = all(0.0), squares = all(0.0);
    i64 c = 0;
    for (; c + 4 <= C; c += 4) {
        const F4 s = load(score + c), e = exponential(s * all(t)), es = e * s;
        mass = mass + e;
        sum = sum + es;
        squares = squares + es * s;
    }
    Tempered total{total_of(mass), total_of(sum), total_of(squares)};
    if (c < C) {
        const F4 s = load_first(score + c, first(C - c));
        double e[4], x[4];
        store(e, exponential(s * all(t)));
        store(x, s);
        for (i64 k = 0; k < C - c; ++k) {
            total.mass += e[k];
            total.sum += e[k] * x[k];
            total.squares += e[k] * x[k] * x[k];
        }
    }
    return total;
}

inline Fault temper_rows(const TemperTask& task) {
    constexpr i64 kRows = 32;  // a block; its temperatures and logarithms are computed four at a time
    double exponents[kRows] = {}, temperatures[kRows], masses[kRows], logs[kRows];
    Tempered rows[kRows];
    for (i64 start = 0; start < task.n_rows; start += kRows) {
        const i64 count = smaller(kRows, task.n_rows - start);
        for (i64 i = 0; i < count; ++i) {
            const double l = task.logs[start + i];
            exponents[i] = is_nan(l) ? 0.0 : smaller(task.u + task.v * l, kTopExponent);
        }
        for (i64 i = 0; i < kRows; i += 4) store(temperatures + i, exponential(load(exponents + i)));
        for (i64 i = 0; i < count; ++i) {
            rows[i] = tempered(task.scores + (start + i) * task.n_classes, task.n_classes, temperatures[i]);
            masses[i] = rows[i].mass;
        }
        for (i64 i = count; i < kRows; ++i) masses[i] = 1.0;
        for (i64 i = 0; i < kRows; i += 4) store(logs + i, logarithm(load(masses + i)));
        for (i64 i = 0; i < count; ++i) {
            const double own = task.own[start + i], t = temperatures[i], m = masses[i];
            const double w = task.weights == nullptr ? 1.0 : task.weights[start + i];
            const double mean = rows[i].sum / m, spread = rows[i].squares / m - mean * mean;
            const double g = w * t * (mean - own), h = w * t * t * (spread > 0.0 ? spread : 0.0) + g;
            task.loss[start + i] = (is_nan(m) ? m : logs[i]) - t * own;
            task.slopes[2 * (start + i)] = g;
            task.slopes[2 * (start + i) + 1] = h;
        }
    }
    return {};
}

inline Fault temper_sums(const TemperTask& task) {
    double sums[6] = {};
    for (i64 i = 0; i < task.n_rows; ++i) {
        const double l = task.logs[i], g = task.slopes[2 * i], h = task.slopes[2 * i + 1];
        sums[0] += (task.weights == nullptr ? 1.0 : task.weights[i]) * task.loss[i];
        if (is_nan(l)) continue;
        sums[1] += g;
        sums[2] += g * l;
        sums[3] += h;
        sums[4] += h * l;
        sums[5] += h * l * l;
    }
    for (int k = 0; k < 6; ++k) task.sums[k] = sums[k];
    return {};
}

}  // namespace tally::TALLY_ISA
