// Leave-one-out scores of dense columns under normal or Student densities: each row is first taken out of the moments.
//
// Leaving a row out changes its own class's moments and those of the whole column, which give the prior. So every
// class's density changes with every row. With a class's moments n, mean, m2 and the column's moments N, M, M2, all
// without the row, and each mean the sum of two doubles (see exact/bigint.hpp) that are never added to each other,
//
//   scale2 = share * (m2 + between * (mean - M)^2) + whole * M2 / N,      not below floor * M2 / N
//   d      = x - mean + pull * (mean - M)
//   normal:  out[i, c] += constant - log(scale2) / 2 - d^2 / scale2 / 2
//   student: out[i, c] += constant - log(scale2) / 2 - (freedom + 1) / 2 * log(1 + d^2 / scale2 / freedom)
//
// where the row's own class uses the coefficients for one row less.
// IN: table (n, F) of doubles or floats; classes (n,); moments and coefficients (C, F), the column's moments (F,).
// OUT: out (n, C), or (F, n, C) if columns are kept apart, added to; lost: cells (i, f) that were skipped because
// subtracting the row cancels too many digits.
// The caller guarantees: m2 of a class or column is 0 only if all its values are equal. A row's scores depend on that
// row alone, to the last bit.
// Cost: about 20 vector operations and a division per 4 rows, class and column; a third of that for normal densities in
// columns without a prior, see leave_plain.hpp. Twin: reference.leave_dense.
#pragma once

#include "dense/leave_plain.hpp"
#include "dense/tile.hpp"

namespace tally::TALLY_ISA {

constexpr double kTame = 1e30;  // eight factors of this size do not overflow

// Scores 4 * V rows of one class, a chunk of columns at a time. Lanes are rows.
template <int V, bool Student>
class LeaveBlock {
public:
    static constexpr i64 kRows = 4 * V, kColumns = PlainColumns::kMost, kGroup = 8;

    LeaveBlock(const LeaveDenseTask& task, PlainColumns& plain)
        : task_(task), plain_(plain), F_(task.table.n_columns), row_major_(is_row_major(task.table)) {}

    static i64 at_once(const LeaveDenseTask& task) { return task.apart ? 1 : kColumns; }

    // Score rows start + order[0 .. kRows), or as many as are left, all of class `own`.
    void score(i64 start, const i32* order, i64 left, i64 own) {
        count_ = smaller(left, kRows);
        for (i64 i = 0; i < kRows; ++i) rows_[i] = start + order[smaller(i, left - 1)];
        for (i64 i = 0; i < kRows; ++i) next_[i] = start + order[smaller(i + kRows, left - 1)];
        for (i64 f0 = 0; f0 < F_; f0 += at_once(task_)) {
            const i64 width = smaller(at_once(task_), F_ - f0);
            double* const out = task_.out + (task_.apart ? f0 * task_.table.n_rows * task_.n_classes : 0);
            read(f0, width);
            if (plain_.has(f0)) {
                score_plain(f0, width, own, out);
                continue;
            }
            holes_ = all(0.0);
            for (i64 f = 0; f < width; ++f) take_out(f0 + f, own, f * kRows);
            const bool whole = lanes(holes_) == 0;
            for (i64 c = 0; c < task_.n_classes; ++c) {
                F4 sum[V];
                if (whole)
                    c == own ? add<true, true>(task_.less, c, f0, width, sum)
                             : add<false, true>(task_.full, c, f0, width, sum);
                else
                    c == own ? add<true, false>(task_.less, c, f0, width, sum)
                             : add<false, false>(task_.full, c, f0, width, sum);
                add_scores(sum, c, out);
            }
        }
    }

private:
    // Score a chunk of columns without a prior; look for values that cancel only if there may be any.
    void score_plain(i64 f0, i64 width, i64 own, double* out) {
        F4 score[V];
        const PlainRows<V, true> rows(task_, plain_, x_, f0, width);
        if (rows.own(own, score)) return add_classes(rows, own, score, out);
        for (i64 f = 0; f < width; ++f) drop_cancelled(f0 + f, own, f * kRows);
        const PlainRows<V, false> known(task_, plain_, x_, f0, width);
        known.own(own, score);
        add_classes(known, own, score, out);
    }

    template <class Rows>
    void add_classes(const Rows& rows, i64 own, const F4 (&score)[V], double* out) {
        add_scores(score, own, out);
        for (i64 c = 0; c < task_.n_classes; ++c) {
            if (c == own) continue;
            F4 other[V];
            rows.other(c, other);
            add_scores(other, c, out);
        }
    }

    void add_scores(const F4 (&sum)[V], i64 c, double* out) {
        double score[kRows];
        for (int v = 0; v < V; ++v) store(score + 4 * v, sum[v]);
        for (i64 i = 0; i < count_; ++i) out[rows_[i] * task_.n_classes + c] += score[i];
    }

    // Mark the cells of a plain column that cancel as missing, and report them.
    void drop_cancelled(i64 f, i64 own, i64 at) {
        const i64 mine = own * F_ + f;
        const double n = task_.n[mine], m2 = task_.m2[mine], N = task_.whole_n[f], M2 = task_.whole_m2[f];
        F4 doubtful = all(0.0);
        for (int v = 0; v < V; ++v) {
            const F4 x = load(x_ + at + 4 * v), away = x - all(task_.mean[mine]) - all(task_.rest[mine]);
            const F4 far = x - all(task_.whole_mean[f]) - all(task_.whole_rest[f]);
            const F4 left = all(m2) - away * away * all(n / (n - 1.0));
            const F4 whole_left = all(M2) - far * far * all(N / (N - 1.0));
            const F4 wrong = drop(missing(x), either(not_at_most(all(kCancelled * m2), left),
                                                     not_at_most(all(kCancelled * M2), whole_left)));
            doubtful = either(doubtful, wrong);
            store(wrong_ + 4 * v, wrong);
        }
        if (lanes(doubtful) != 0) give_up(f, at);
    }

    static bool is_row_major(const Table& table) {
        for (i64 f = 0; f < table.n_columns; ++f) {
            const Column &column = table.columns[f], &first = table.columns[0];
            if (column.type != Type::f64 || column.stride != first.stride || column.base != first.base + 8 * f)
                return false;
        }
        return true;
    }

    // Read a chunk of columns, one after the other; adjacent doubles in blocks of four by four.
    void read(i64 f0, i64 width) {
        const Column* columns = task_.table.columns + f0;
        i64 f = 0;
        for (; row_major_ && f + 4 <= width; f += 4)
            for (i64 i = 0; i < kRows; i += 4) {
                if (f % 8 == 0)  // a cache line of the next rows, which the processor cannot guess
                    for (int k = 0; k < 4; ++k) prefetch(columns[f].base + next_[i + k] * columns[f].stride);
                F4 four[4];
                for (int k = 0; k < 4; ++k)
                    four[k] = load(reinterpret_cast<const double*>(columns[f].base + rows_[i + k] * columns[f].stride));
                transpose(four[0], four[1], four[2], four[3]);
                for (int k = 0; k < 4; ++k) store(x_ + (f + k) * kRows + i, four[k]);
            }
        for (; f < width; ++f)
            for (i64 i = 0; i < kRows; ++i) x_[f * kRows + i] = real_element(columns[f], rows_[i]);
    }

    // Compute the moments without each value of a column. Mark a cell that cancels as missing, and report it.
    void take_out(i64 f, i64 own, i64 at) {
        const i64 mine = own * F_ + f;
        const double N = task_.whole_n[f], M = task_.whole_mean[f], M2 = task_.whole_m2[f];
        const double n = task_.n[mine], mean = task_.mean[mine], m2 = task_.m2[mine];
        const double rest = task_.rest[mine], whole_rest = task_.whole_rest[f];
        const double ratio = n > 1.0 ? n / (n - 1.0) : 0.0, part = n > 1.0 ? 1.0 / (n - 1.0) : 0.0;
        const double whole_ratio = N / (N - 1.0), whole_part = 1.0 / (N - 1.0);
        F4 doubtful = all(0.0);
        for (int v = 0; v < V; ++v) {
            const i64 cell = at + 4 * v;
            const F4 x = load(x_ + cell), away = x - all(mean) - all(rest), far = x - all(M) - all(whole_rest);
            const F4 left = all(m2) - away * away * all(ratio);
            const F4 whole_left = all(M2) - far * far * all(whole_ratio);
            const F4 moved = all(whole_rest) - far * all(whole_part), variance = whole_left * all(whole_part);
            store(own_rest_ + cell, all(rest) - away * all(part));
            store(own_m2_ + cell, left);
            store(whole_rest_ + cell, moved);
            store(variance_ + cell, variance);
            const F4 location = all(M) + moved;
            const F4 square = smallest(greatest(location * location, all(1.0)), all(kTopScale));
            const F4 spread = M2 > 0.0 ? variance : square;
            store(least_ + cell, greatest(spread * all(task_.floor), all(kLowScale)));
            F4 wrong = all(0.0);
            if (m2 > 0.0 && n > 1.0) wrong = either(wrong, not_at_most(all(kCancelled * m2), left));
            if (M2 > 0.0) wrong = either(wrong, not_at_most(all(kCancelled * M2), whole_left));
            if (!(N > 1.0)) wrong = less(all(0.0), all(1.0));
            const F4 gone = missing(x);
            wrong = drop(gone, wrong);
            doubtful = either(doubtful, wrong);
            holes_ = either(holes_, either(gone, wrong));
            store(wrong_ + 4 * v, wrong);
        }
        if (lanes(doubtful) != 0) give_up(f, at);
    }

    void give_up(i64 f, i64 at) {
        for (i64 i = 0; i < kRows; ++i) {
            if (bits_of(wrong_[i]) == 0) continue;
            x_[at + i] = double_of(0x7FF8000000000000u);
            if (i < count_) task_.lost(task_.lost_to, rows_[i], f);
        }
    }

    // Columns of equal freedom share a logarithm: `odds` is the product of their 1 + q, minus 1. Scales share one too.
    template <bool Own, bool Whole>
    void add(const LeaveCoefficients& of, i64 c, i64 f0, i64 width, F4 (&sum)[V]) {
        const i64 first = c * F_ + f0;
        for (int v = 0; v < V; ++v) sum[v] = all(0.0);
        for (i64 f = 0; f < width;) {
            i64 stop = f + 1;
            while (stop < smaller(width, f + kGroup) && of.freedom[first + stop] == of.freedom[first + f]) ++stop;
            F4 odds[V], scales[V];
            for (int v = 0; v < V; ++v) {
                odds[v] = all(0.0);
                scales[v] = all(1.0);
            }
            for (i64 g = f; g < stop; ++g) add_column<Own, Whole>(of, first + g, f0 + g, g * kRows, sum, odds, scales);
            const F4 power = all((of.freedom[first + f] + 1.0) / 2.0);
            for (int v = 0; v < V; ++v) {
                sum[v] = sum[v] - all(0.5) * logarithm(scales[v]);
                if constexpr (Student) sum[v] = sum[v] - power * logarithm_of_one_plus(odds[v]);
            }
            f = stop;
        }
    }

    // `Whole`: no value of the chunk is missing.
    template <bool Own, bool Whole>
    void add_column(const LeaveCoefficients& of, i64 j, i64 f, i64 at, F4 (&sum)[V], F4 (&odds)[V], F4 (&scales)[V]) {
        const F4 mean = all(task_.mean[j]), gap = all(task_.mean[j] - task_.whole_mean[f]);
        const F4 pull = all(of.pull[j]), between = all(of.between[j]), share = all(of.share[j]);
        const F4 whole = all(of.whole[j]), constant = all(of.constant[j]);
        const F4 per = all(Student ? 1.0 / of.freedom[j] : 0.5), top = all(kTopScale);
        const bool alone = Whole && of.pull[j] == 0.0 && of.between[j] == 0.0 && of.whole[j] == 0.0;  // has no prior
        for (int v = 0; v < V; ++v) {
            const i64 cell = at + 4 * v;
            const F4 x = load(x_ + cell), gone = Whole ? all(0.0) : missing(x);
            const F4 rest = Own ? load(own_rest_ + cell) : all(task_.rest[j]);
            const F4 m2 = Own ? load(own_m2_ + cell) : all(task_.m2[j]);
            F4 scale2 = m2 * share, d = x - mean - rest;
            if (!alone) {
                const F4 apart = gap + (rest - load(whole_rest_ + cell));
                const F4 spread = smallest(apart * apart, top) * between + m2;
                scale2 = load(variance_ + cell) * whole + spread * share;
                d = pull * apart + d;
            }
            scale2 = smallest(greatest(scale2, load(least_ + cell)), top);
            F4 q = d * d / scale2 * per;
            if constexpr (!Whole) {
                q = drop(gone, q);
                scale2 = either(drop(gone, scale2), keep(gone, all(1.0)));
            }
            sum[v] = sum[v] + (Whole ? constant : drop(gone, constant));
            if constexpr (Student) {
                if (lanes(not_at_most(q, all(kTame))) != 0) q = tamed(q, (of.freedom[j] + 1.0) / 2.0, sum[v]);
                odds[v] = odds[v] * q + (odds[v] + q);
            } else {
                sum[v] = sum[v] - q;
            }
            const F4 tame = keep(less(scale2, all(kTame)), less(all(1.0 / kTame), scale2));
            const F4 wild = drop(tame, all(1.0));
            if (any(bits(wild))) {  // take the logarithms of these scales one by one
                sum[v] = sum[v] - all(0.5) * logarithm(either(drop(tame, scale2), keep(tame, all(1.0))));
                scale2 = either(keep(tame, scale2), wild);
            }
            scales[v] = scales[v] * scale2;
        }
    }

    // Take the logarithms of factors that are too large to multiply.
    static F4 tamed(F4 q, double power, F4& sum) {
        double odds[4], total[4];
        store(odds, q);
        store(total, sum);
        for (int lane = 0; lane < 4; ++lane) {
            if (odds[lane] <= kTame) continue;
            total[lane] -= power * logarithm(odds[lane]);  // adding 1 does not change it
            odds[lane] = 0.0;
        }
        sum = load(total);
        return load(odds);
    }

    const LeaveDenseTask& task_;
    PlainColumns& plain_;
    const i64 F_;
    const bool row_major_;
    i64 count_ = 0, rows_[kRows], next_[kRows];
    F4 holes_ = all(0.0);
    alignas(64) double x_[kColumns * kRows], own_rest_[kColumns * kRows], own_m2_[kColumns * kRows];
    alignas(64) double whole_rest_[kColumns * kRows], variance_[kColumns * kRows], least_[kColumns * kRows];
    alignas(64) double wrong_[kRows];
};

template <bool Student>
inline Fault leave_dense_as(const LeaveDenseTask& task) {
    constexpr i64 kTile = 512;
    ClassTile tile(task.classes, task.n_classes, kTile);
    PlainColumns plain(task, LeaveBlock<4, Student>::at_once(task));
    LeaveBlock<4, Student> sixteen(task, plain);
    LeaveBlock<1, Student> four(task, plain);
    for (i64 start = 0; start < task.table.n_rows; start += kTile) {
        const Fault fault = tile.sort(start, smaller(kTile, task.table.n_rows - start));
        if (fault.kind != FaultKind::none) return fault;
        for (i64 k = 0; k < tile.n_present(); ++k) {
            const i32 c = tile.present(k);
            const i32* order = tile.order(c);
            i64 left = tile.rows(c);
            for (; left >= 16; left -= 16, order += 16) sixteen.score(start, order, left, c);
            for (; left > 0; left -= 4, order += 4) four.score(start, order, left, c);
        }
    }
    return {};
}

inline Fault leave_dense(const LeaveDenseTask& task) {
    return task.student ? leave_dense_as<true>(task) : leave_dense_as<false>(task);
}

}  // namespace tally::TALLY_ISA
