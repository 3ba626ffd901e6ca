// The class of each row's largest score, the first of several, without probabilities.
//
// IN: scores (n, C), C > 0. OUT: best (n,), and whether every largest score is finite and no score is NaN; where it is
// not, `best` of that row is some class. The caller guarantees nothing about values.
// Cost: about a cycle a score, whatever the scores are: there are no branches to mispredict; a quarter of that for many
// classes. Twin: reference.best_class.
#pragma once

#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

// Find the best classes of `Rows` rows together: their chains of comparisons do not wait for each other.
template <int Rows>
inline bool best_class_rows(const double* scores, i64 C, i64* best) {
    double top[Rows];
    i64 at[Rows];
    for (int k = 0; k < Rows; ++k) {
        top[k] = scores[k * C];
        at[k] = 0;
    }
    bool odd = false;
    for (i64 c = 1; c < C; ++c) {
        for (int k = 0; k < Rows; ++k) {
            const double x = scores[k * C + c];
            const bool more = x > top[k];
            top[k] = more ? x : top[k];
            at[k] = more ? c : at[k];
            odd |= x != x;
        }
    }
    for (int k = 0; k < Rows; ++k) {
        best[k] = at[k];
        odd |= is_nan(top[k]) || is_infinite(top[k]);
    }
    return !odd;
}

constexpr i64 kWide = 16;  // classes from which a row is worth two passes: for its largest score, and for the place

inline bool best_class_wide(const double* row, i64 C, i64* best) {
    F4 top[4], odd = all(0.0);
    for (int k = 0; k < 4; ++k) top[k] = load(row + 4 * k);
    for (i64 c = 0; c < C; c += kWide) {
        const double* some = row + smaller(c, C - kWide);  // the last ones may have been seen: a maximum does not mind
        for (int k = 0; k < 4; ++k) {
            const F4 x = load(some + 4 * k);
            top[k] = greatest(x, top[k]);
            odd = either(odd, missing(x));
        }
    }
    double four[4];
    store(four, greatest(greatest(top[0], top[1]), greatest(top[2], top[3])));
    double most = four[0];
    for (int k = 1; k < 4; ++k) most = larger(most, four[k]);
    i64 at = 0;
    while (at + 4 < C && lanes(less(load(row + at), all(most))) == 0b1111) at += 4;
    while (at + 1 < C && row[at] < most) ++at;
    *best = at;
    return lanes(odd) == 0 && !is_infinite(most);
}

inline Fault best_class(const BestClassTask& task) {
    const i64 C = task.n_classes;
    bool finite = true;
    i64 i = 0;
    for (; C >= kWide && i < task.n_rows; ++i) finite &= best_class_wide(task.scores + i * C, C, task.best + i);
    for (; i + 4 <= task.n_rows; i += 4) finite &= best_class_rows<4>(task.scores + i * C, C, task.best + i);
    for (; i < task.n_rows; ++i) finite &= best_class_rows<1>(task.scores + i * C, C, task.best + i);
    *task.finite = finite;
    return {};
}

}  // namespace tally::TALLY_ISA
