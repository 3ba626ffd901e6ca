// Exact sums of w, w*x and w*x*x over the rows of each class, per column, NaN left out.
//
// IN: table (n, F) of doubles or floats, classes (n,), weights (n,) or null. OUT: Limbs (C, F) each.
// The caller guarantees: the memory stays valid. Classes, weights and infinities are checked here, as they are read.
// Cost: without weights one pass at about 1.5 cycles a value; with weights some 20 ns a value.
// Twin: reference.power_sums.
#pragma once

#include "limbs.hpp"
#include "power_window.hpp"

namespace tally::TALLY_ISA {

// The first cell, in row order, of a kind that stops the count. Called only once something is known to be wrong.
inline Fault first_infinite(const Table& table) {
    for (i64 i = 0; i < table.n_rows; ++i)
        for (i64 f = 0; f < table.n_columns; ++f) {
            const double x = real_element(table.columns[f], i);
            if (is_infinite(x)) return {FaultKind::not_finite, i, f, x};
        }
    return {FaultKind::not_finite, 0, 0, 0.0};
}

// Value by value, in integers: for weights, for the few values that fit no window, and for small calls.
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

// Room for the first rows' values at once, so that small calls do not grow it cell by cell.
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
    ExactSums sums(C * F, task.squares);
    LimbArray weight(C * F), of_class(C);  // weight gets less than nothing for what is missing, and the class's at last
    reserve_room(task, sums);
    for (i64 i = 0; i < n; ++i) {
        const i64 c = task.classes[i];
        if (c < 0 || c >= C) return {FaultKind::bad_class, i, 0, static_cast<double>(c)};
        const double w = task.weights == nullptr ? 1.0 : task.weights[i];
        if (bad_weight(w)) return {FaultKind::bad_weight, i, 0, w};
        const Parts parts = parts_of(w);
        of_class.add(c, parts.mantissa, parts.exponent, false);
        for (i64 f = 0; f < F; ++f) {
            const double x = real_element(task.table.columns[f], i);
            if (is_infinite(x)) return {FaultKind::not_finite, i, f, x};
            const i64 cell = c * F + f;
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
    for (i64 c = 0; c < C; ++c)
        for (i64 f = 0; f < F; ++f) weight.add_cell(c * F + f, of_class, c);
    weight.finish(*task.weight);
    sums.first.finish(*task.first);
    if (task.squares) sums.second.finish(*task.second);
    return {};
}

// Four columns that are summed together. Where the table's width is not a multiple of four the last group overlaps
// the one before it, and `from` is its first lane that counts.
struct Group {
    Window window;
    i64 column;         // of lane 0
    int from;
    bool direct;        // the four columns are adjacent doubles of a row-major table
    bool chosen;        // the window was chosen from data
    int careful;        // segments for which missing values are to be expected
    i64 rows, refused;  // since the window was chosen
    i64 patience;       // rows before it may be chosen again
};

template <bool Squares>
class PowerSummer {
public:
    explicit PowerSummer(const PowerTask& task)
        : task_(task), n_(task.table.n_rows), F_(task.table.n_columns), C_(task.n_classes),
          n_groups_((F_ + 3) / 4), tile_(smaller<i64>(larger<i64>(32 * C_, 256), 2048)),
          groups_(n_groups_), totals_(n_groups_ * C_), missing_(C_ * F_), rows_(C_), local_(tile_), order_(tile_),
          counts_(C_), starts_(C_), present_(tile_), packed_(4 * tile_), clean_(4 * kSegment), sums_(C_ * F_, Squares) {
        for (i64 g = 0; g < n_groups_; ++g) {
            Group& group = groups_[g];
            group.direct = F_ >= 4 && adjacent(smaller(4 * g, F_ - 4), Type::f64, 8);
            group.column = group.direct ? smaller(4 * g, F_ - 4) : 4 * g;
            group.from = static_cast<int>(4 * g - group.column);
            for (int lane = 0; lane < 4; ++lane) group.window.choose(lane, 1.0);
        }
    }

    Fault run() {
        for (i64 start = 0; start < n_; start += tile_) {
            const i64 count = smaller(tile_, n_ - start);
            const Fault fault = sort_tile(start, count);
            if (fault.kind != FaultKind::none) return fault;
            sum_tile(start, count);
            if (infinite_) return first_infinite(task_.table);
            if ((start / tile_ + 1) % (kRowsPerSettle / tile_) == 0) flush_all();
        }
        flush_all();
        Scratch<i64> weight(C_ * F_);
        for (i64 c = 0; c < C_; ++c)
            for (i64 f = 0; f < F_; ++f) weight[c * F_ + f] = rows_[c] - missing_[c * F_ + f];
        *task_.weight = {weight.release(), C_ * F_, 1, 0};
        sums_.first.finish(*task_.first);
        if (Squares) sums_.second.finish(*task_.second);
        return {};
    }

private:
    bool adjacent(i64 f, Type type, i64 size) const {
        const Column* column = task_.table.columns + f;
        for (int lane = 0; lane < 4; ++lane)
            if (column[lane].type != type || column[lane].stride != column[0].stride ||
                column[lane].base != column[0].base + size * lane)
                return false;
        return true;
    }

    // order_ lists the tile's rows class by class; present_ lists its classes; starts_ and counts_ their places in it.
    Fault sort_tile(i64 start, i64 count) {
        for (i64 k = 0; k < n_present_; ++k) counts_[present_[k]] = 0;
        n_present_ = 0;
        for (i64 i = 0; i < count; ++i) {
            const i32 c = task_.classes[start + i];
            if (c < 0 || c >= C_) return {FaultKind::bad_class, start + i, 0, static_cast<double>(c)};
            local_[i] = c;
            if (counts_[c]++ == 0) present_[n_present_++] = c;
        }
        i32 place = 0;
        for (i64 k = 0; k < n_present_; ++k) {
            const i32 c = present_[k];
            starts_[c] = place;
            place += counts_[c];
            rows_[c] += counts_[c];
        }
        for (i64 i = 0; i < count; ++i) order_[starts_[local_[i]]++] = static_cast<i32>(i);
        for (i64 k = 0; k < n_present_; ++k) starts_[present_[k]] -= counts_[present_[k]];
        return {};
    }

    void sum_tile(i64 start, i64 count) {
        // columns in blocks whose part of the tile, and of the next tile, stay in the second-level cache
        const i64 width = larger<i64>(2, (i64{160} << 10) / (tile_ * 32));
        for (i64 g0 = 0; g0 < n_groups_; g0 += width) {
            const i64 g1 = smaller(n_groups_, g0 + width);
            const i64 ahead = g1 == n_groups_ ? -g0 * 32 : width * 32;  // bytes to the next block of columns, in a row
            for (i64 g = g0; g < g1; ++g) {
                Group& group = groups_[g];
                const double* base = packed_.get();
                i64 stride = 4;
                ahead_ = 0;
                if (group.direct) {
                    const Column& column = task_.table.columns[group.column];
                    base = reinterpret_cast<const double*>(column.base + start * column.stride);
                    stride = column.stride / 8;
                    ahead_ = g1 == n_groups_ ? ahead + tile_ * column.stride : ahead;
                } else {
                    pack(group, start, count);
                }
                if (!group.chosen) choose_windows(group, base, stride, count);
                for (i64 k = 0; k < n_present_; ++k) {
                    const i32 c = present_[k];
                    for (i64 j = 0; j < counts_[c]; j += kSegment)
                        add_segment(g, c, base, stride, &order_[starts_[c] + j], smaller<i64>(kSegment, counts_[c] - j));
                }
            }
        }
    }

    // Four columns that lie apart, side by side in packed_.
    void pack(const Group& group, i64 start, i64 count) {
        double* packed = packed_.get();
        const Column* columns = task_.table.columns + group.column;
        if (group.column + 4 <= F_ && adjacent(group.column, Type::f32, 4)) {
            const char* from = columns->base + start * columns->stride;
            for (i64 i = 0; i < count; ++i, from += columns->stride) {
                store(packed + 4 * i, load_floats(reinterpret_cast<const float*>(from)));
                prefetch(from + tile_ * columns->stride);
            }
            return;
        }
        i64 done = 0;
        if (group.column + 4 <= F_ && packs(columns, Type::f64, 8))
            done = pack_fours<double>(columns, start, count, [](const double* p) { return load(p); });
        else if (group.column + 4 <= F_ && packs(columns, Type::f32, 4))
            done = pack_fours<float>(columns, start, count, [](const float* p) { return load_floats(p); });
        for (int lane = 0; lane < 4; ++lane)
            for (i64 i = done; i < count; ++i)
                packed[4 * i + lane] = group.column + lane < F_ ? real_element(columns[lane], start + i) : 0.0;
    }

    static bool packs(const Column* columns, Type type, i64 stride) {
        for (int lane = 0; lane < 4; ++lane)
            if (columns[lane].type != type || columns[lane].stride != stride) return false;
        return true;
    }

    template <class T, class Load>
    i64 pack_fours(const Column* columns, i64 start, i64 count, Load load_four) {
        const T* from[4];
        for (int lane = 0; lane < 4; ++lane) from[lane] = reinterpret_cast<const T*>(columns[lane].base) + start;
        i64 i = 0;
        for (; i + 4 <= count; i += 4) {
            F4 four[4];
            for (int lane = 0; lane < 4; ++lane) {
                four[lane] = load_four(from[lane] + i);
                prefetch(from[lane] + i + tile_);
            }
            transpose(four[0], four[1], four[2], four[3]);
            for (int k = 0; k < 4; ++k) store(packed_.get() + 4 * (i + k), four[k]);
        }
        return i;
    }

    void choose_windows(Group& group, const double* base, i64 stride, i64 count) {
        F4 greatest_yet = all(0.0);
        const F4 infinity = all(double_of(u64{0x7FF} << 52));
        for (i64 i = 0; i < count; ++i) {
            const F4 size = keep(doubles(all(~(i64{1} << 63))), load(base + i * stride));
            greatest_yet = greatest(keep(less(size, infinity), size), greatest_yet);
        }
        double sizes[4];
        store(sizes, greatest_yet);
        for (int lane = 0; lane < 4; ++lane) group.window.choose(lane, sizes[lane]);
        group.chosen = true;
        group.patience = 1024;
    }

    void add_segment(i64 g, i32 c, const double* base, i64 stride, const i32* order, i64 count) {
        Group& group = groups_[g];
        Totals& totals = totals_[g * C_ + c];
        group.rows += count;
        if (group.careful > 0)
            --group.careful;
        else if (sum_segment<Squares, true>(base, stride, order, count, ahead_, group.window, totals))
            return;
        copy_present(group, c, base, stride, order, count);
        if (sum_segment<Squares, false>(clean_.get(), 4, nullptr, count, 0, group.window, totals)) return;
        add_misfits(g, c, count);
        sum_segment<Squares, false>(clean_.get(), 4, nullptr, count, 0, group.window, totals);
        if (group.refused > 16 && group.refused * 8 > group.rows && group.rows >= group.patience) group.chosen = false;
        if (!group.chosen) change_windows(g, base, stride, order, count);
    }

    // The segment's rows to clean_, missing values counted and replaced by 0.
    void copy_present(Group& group, i32 c, const double* base, i64 stride, const i32* order, i64 count) {
        I4 present = all(i64{0});
        for (i64 j = 0; j < count; ++j) {
            const double* row = base + order[j] * stride;
            const F4 x = load(row), hole = missing(x);
            prefetch(reinterpret_cast<const char*>(row) + ahead_);
            present = present + bits(hole);  // a set lane is -1
            store(clean_.get() + 4 * j, drop(hole, x));
        }
        i64 holes[4];
        store(holes, present);
        for (int lane = group.from; lane < 4; ++lane) {
            if (holes[lane] == 0) continue;
            group.careful = 32;
            missing_[c * F_ + group.column + lane] -= holes[lane];
        }
    }

    // Count one by one what the window does not hold, and put 0 in its place.
    void add_misfits(i64 g, i32 c, i64 count) {
        Group& group = groups_[g];
        i64 most = 0;
        for (int lane = 0; lane < 4; ++lane) {
            i64 refused = 0;
            for (i64 j = 0; j < count; ++j) {
                double& x = clean_[4 * j + lane];
                if (group.window.holds(lane, x)) continue;
                if (is_infinite(x))
                    infinite_ = true;
                else if (lane >= group.from)
                    sums_.add(c * F_ + group.column + lane, x);
                x = 0.0;
                ++refused;
            }
            most = larger(most, refused);
        }
        group.refused += most;
    }

    void change_windows(i64 g, const double* base, i64 stride, const i32* order, i64 count) {
        Group& group = groups_[g];
        const i64 patience = group.patience;
        flush(g);
        for (i64 j = 0; j < count; ++j) store(clean_.get() + 4 * j, load(base + order[j] * stride));
        choose_windows(group, clean_.get(), 4, count);
        group.patience = 2 * patience;  // data wider than any window would otherwise change it for ever
        group.rows = group.refused = 0;
    }

    void flush(i64 g) {
        const Group& group = groups_[g];
        for (i64 c = 0; c < C_; ++c) {
            Totals& totals = totals_[g * C_ + c];
            for (int lane = group.from; lane < 4 && group.column + lane < F_; ++lane) {
                const i64 cell = c * F_ + group.column + lane;
                const i64 e = group.window.exponent[lane];
                for (int k = 0; k < 3; ++k) {
                    sums_.first.add(cell, totals.low[k][lane], e - kPartBits * k);
                    sums_.first.add(cell, totals.high[k][lane], e - kPartBits * k + 32);
                }
                for (int k = 0; Squares && k < 5; ++k) {
                    const i64 exponent = 2 * e - kPartBits * k + (k % 2);  // p0p1 and p1p2 stand for twice themselves
                    sums_.second.add(cell, totals.low[3 + k][lane], exponent);
                    sums_.second.add(cell, totals.high[3 + k][lane], exponent + 32);
                }
            }
            totals = {};
        }
    }

    void flush_all() {
        for (i64 g = 0; g < n_groups_; ++g) flush(g);
        sums_.first.settle();
        sums_.second.settle();
    }

    const PowerTask& task_;
    const i64 n_, F_, C_, n_groups_, tile_;
    Scratch<Group> groups_;
    Scratch<Totals> totals_;  // (group, class)
    Scratch<i64> missing_;    // (C, F)
    Scratch<i64> rows_;       // (C,)
    Scratch<i32> local_, order_, counts_, starts_, present_;
    i64 n_present_ = 0;
    Scratch<double> packed_, clean_;
    ExactSums sums_;
    bool infinite_ = false;
    i64 ahead_ = 0;  // bytes from a value to the one in its place in the next block
};

inline Fault power_sums(const PowerTask& task) {
    const PlainArithmetic plain;
    if (task.weights != nullptr || task.table.n_rows < 32) return power_sums_by_value(task);
    return task.squares ? PowerSummer<true>(task).run() : PowerSummer<false>(task).run();
}

}  // namespace tally::TALLY_ISA
