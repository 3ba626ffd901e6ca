// The loss of tempered scores, and how it changes with the temperature.
//
// With t = exp(u + v * l) for each row, p the softmax of t * score, and `own` the score of the row's own class,
//
//   loss[i] = log(sum_c exp(t * score[i, c])) - t * own[i]
//   sums    = of w * loss; of w * g, w * g * l; of w * h, w * h * l, w * h * l * l
//
// where g = t * (E_p[score] - own) and h = t^2 * Var_p[score] + g are the loss's derivatives by u.
// IN: scores (n, C), the greatest of each row 0, none NaN or infinite; own, l, weights (n,). A row whose l is NaN has
// t = 1 and no derivatives. OUT: loss (n,), sums (6,).
// Cost: an exponential per score. Twin: reference.temper.
#pragma once

#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

inline double total_of(F4 a) {
    double v[4];
    store(v, a);
    return (v[0] + v[1]) + (v[2] + v[3]);
}

inline Fault temper(const TemperTask& task) {
    const i64 C = task.n_classes;
    for (int k = 0; k < 6; ++k) task.sums[k] = 0.0;
    for (i64 i = 0; i < task.n_rows; ++i) {
        const double l = task.logs[i], own = task.own[i], w = task.weights == nullptr ? 1.0 : task.weights[i];
        const bool silent = is_nan(l);
        const double t = silent ? 1.0 : std::exp(task.u + task.v * l);
        const double* score = task.scores + i * C;
        F4 mass = all(0.0), sum = all(0.0), squares = all(0.0);
        i64 c = 0;
        for (; c + 4 <= C; c += 4) {
            const F4 s = load(score + c), e = exponential(s * all(t)), es = e * s;
            mass = mass + e;
            sum = sum + es;
            squares = multiply_add(es, s, squares);
        }
        double m = total_of(mass), a = total_of(sum), b = total_of(squares);
        if (c < C) {
            const First rest = first(C - c);
            const F4 s = load_first(score + c, rest);
            double e[4], x[4];
            store(e, exponential(s * all(t)));
            store(x, s);
            for (i64 k = 0; k < C - c; ++k) {
                m += e[k];
                a += e[k] * x[k];
                b += e[k] * x[k] * x[k];
            }
        }
        const double mean = a / m, spread = b / m - mean * mean;
        task.loss[i] = std::log(m) - t * own;
        task.sums[0] += w * task.loss[i];
        if (silent) continue;
        const double g = w * t * (mean - own), h = w * t * t * (spread > 0.0 ? spread : 0.0) + g;
        task.sums[1] += g;
        task.sums[2] += g * l;
        task.sums[3] += h;
        task.sums[4] += h * l;
        task.sums[5] += h * l * l;
    }
    return {};
}

}  // namespace tally::TALLY_ISA
