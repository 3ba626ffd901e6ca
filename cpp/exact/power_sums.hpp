// Exact sums of w, w*x and w*x*x over the rows of each class, per column, NaN left out; and hashes of the rows.
//
// IN: table (n, F) of doubles or floats, classes (n,), weights (n,) or null, seeds (F,) or null. OUT: Limbs (C, F) each;
// with seeds, hashes (n,), added to.
// The caller guarantees: the memory stays valid. Classes, weights and infinities are checked here, as they are read.
// Cost: one pass at about 4 cycles per value, with weights about 10. Twin: reference.power_sums.
#pragma once

#include "exact/power_exact.hpp"
#include "exact/power_weighted.hpp"
#include "exact/power_window.hpp"
#include "dense/hash.hpp"
#include "dense/tile.hpp"

namespace tally::TALLY_ISA {

struct Group {
    Four four;
    ChosenWindow fit;
    int careful, small;  // number of coming segments that are expected to have missing values, or zeros
};

template <bool Squares>
class PowerSummer {
public:
    // `more`: whether other tables are to follow this one.
    PowerSummer(const Table& table, const i32* classes, i64 n_classes, bool more)
        : more_(more), F_(table.n_columns), C_(n_classes), tile_(tile_length(C_, is_in_columns(table))),
          tile_of_(classes, C_, tile_), fours_(table, tile_), groups_(fours_.size), totals_(fours_.size * C_),
          missing_(C_ * F_), rows_(C_), clean_(4 * kSegment), sums_(C_ * F_, Squares) {
        read(table, classes);
    }

    // Go on with another table of as many columns.
    void read(const Table& table, const i32* classes) {
        table_ = table;
        tile_of_.read(classes);
        fours_.read(table);
        for (i64 g = 0; g < fours_.size; ++g) {
            const Four four = fours_.at(g);
            if (four.column != groups_[g].four.column) flush(g);  // lanes are other columns from here on
            groups_[g].four = four;
        }
    }

    // The rows to add at a time: a tile is read while the one before is added up.
    i64 tile() const { return tile_; }

    // Add the numbers of some columns, beginning with a multiple of four, in rows that follow those added before; at most
    // a tile of rows.
    Fault add(i64 start, i64 count, i64 first, i64 end) {
        const Fault fault = tile_of_.sort(start, count);
        if (fault.kind != FaultKind::none) return fault;
        for (i64 k = 0; first == 0 && k < tile_of_.n_present(); ++k)
            rows_[tile_of_.present(k)] += tile_of_.rows(tile_of_.present(k));
        all_sized_ = true;
        sum_tile(start, count, first / 4, (end + 3) / 4);
        if (infinite_) return first_infinite(table_);
        unsettled_ += count;
        if (unsettled_ + tile_ > kRowsPerSettle) flush_all();
        return {};
    }

    // Whether no number added last is missing or 0.
    bool all_sized() const { return all_sized_; }

    Fault finish(const PowerTask& task) {
        for (i64 g = 0; more_ && g < fours_.size; ++g) flush(g);
        Scratch<i64> weight(C_ * F_);
        for (i64 c = 0; c < C_; ++c)
            for (i64 f = 0; f < F_; ++f) weight[c * F_ + f] = rows_[c] - missing_[c * F_ + f];
        *task.weight = {weight.release(), C_ * F_, 1, 0};
        sums_.first.finish(*task.first);
        if (Squares) sums_.second.finish(*task.second);
        return {};
    }

private:
    using Sums = Totals<Squares ? kSums : 3>;

    void sum_tile(i64 start, i64 count, i64 first, i64 end) {
        // blocks of columns whose parts of this tile and the next stay in the second-level cache
        const i64 width = larger<i64>(2, (i64{160} << 10) / (tile_ * 32));
        for (i64 g0 = first; g0 < end; g0 += width) {
            const i64 g1 = smaller(end, g0 + width);
            for (i64 g = g0; g < g1; ++g) {
                Group& group = groups_[g];
                const FourRows rows = fours_.read(group.four, start, count);
                // prefetch distance: to the next block of columns, or to the first block of the next tile
                ahead_ = g1 < end ? width * 32 : tile_ * rows.step - (g0 - first) * 32;
                if (!group.four.direct) ahead_ = 0;
                if (!group.fit.chosen) group.fit.choose(rows.base, rows.stride, count);
                for (i64 k = 0; k < tile_of_.n_present(); ++k) {
                    const i32 c = tile_of_.present(k);
                    const i32* order = tile_of_.order(c);
                    for (i64 j = 0; j < tile_of_.rows(c); j += kSegment)
                        add_segment(g, c, rows, order + j, smaller<i64>(kSegment, tile_of_.rows(c) - j));
                }
                if (!more_ && start + count == table_.n_rows) flush(g);  // while its sums are in the cache
            }
        }
    }

    void add_segment(i64 g, i32 c, const FourRows& rows, const i32* order, i64 count) {
        Group& group = groups_[g];
        Sums& totals = totals_[g * C_ + c];
        const Window& window = group.fit.window;
        group.fit.rows += count;
        if (add_unread(group, rows, order, count, totals)) return;
        copy_present(group, c, rows, order, count);
        if (sum_segment<Squares, false, Fit::by_rest>(clean_.get(), 4, nullptr, count, 0, window, totals)) return;
        add_misfits(group, c, count);
        sum_segment<Squares, false, Fit::by_rest>(clean_.get(), 4, nullptr, count, 0, window, totals);
        if (!group.fit.tired()) return;
        flush(g);
        for (i64 j = 0; j < count; ++j) store(clean_.get() + 4 * j, load(rows.base + order[j] * rows.stride));
        group.fit.choose(clean_.get(), 4, count);
    }

    // Add a segment without a look at single numbers; false if some do not fit, or are likely not to.
    bool add_unread(Group& group, const FourRows& rows, const i32* order, i64 count, Sums& totals) {
        const Window& window = group.fit.window;
        if (group.careful == 0 && group.small == 0) {
            if (sum_segment<Squares, true, Fit::by_size>(rows.base, rows.stride, order, count, ahead_, window, totals))
                return true;
            group.small = kExpected;
        }
        all_sized_ = false;
        if (group.careful > 0) {
            --group.careful;
            return false;
        }
        --group.small;
        return sum_segment<Squares, true, Fit::by_rest>(rows.base, rows.stride, order, count, ahead_, window, totals);
    }

    // Copy the segment's rows to clean_; count missing values and replace them by 0.
    void copy_present(Group& group, i32 c, const FourRows& rows, const i32* order, i64 count) {
        I4 present = all(i64{0});
        for (i64 j = 0; j < count; ++j) {
            const double* row = rows.base + order[j] * rows.stride;
            const F4 x = load(row), hole = missing(x);
            prefetch(reinterpret_cast<const char*>(row) + ahead_);
            present = present + bits(hole);  // a set lane is -1
            store(clean_.get() + 4 * j, drop(hole, x));
        }
        i64 holes[4];
        store(holes, present);
        for (int lane = group.four.from; lane < group.four.to; ++lane) {
            if (holes[lane] == 0) continue;
            group.careful = kExpected;
            missing_[c * F_ + group.four.column + lane] -= holes[lane];
        }
    }

    // Add values that do not fit the window one by one, and replace them by 0.
    void add_misfits(Group& group, i32 c, i64 count) {
        i64 refused[4] = {};
        for (i64 j = 0; j < count; ++j)
            for (int lane = 0; lane < 4; ++lane) {
                double& x = clean_[4 * j + lane];
                if (group.fit.window.holds(lane, x)) continue;
                if (is_infinite(x))
                    infinite_ = true;
                else if (lane >= group.four.from)
                    sums_.add(c * F_ + group.four.column + lane, x);
                x = 0.0;
                ++refused[lane];
            }
        group.fit.refuse(refused);
    }

    void flush(i64 g) {
        const Four& four = groups_[g].four;
        if (!groups_[g].fit.chosen) return;  // no row was added
        for (i64 c = 0; c < C_; ++c) {
            Sums& totals = totals_[g * C_ + c];
            for (int lane = four.from; lane < four.to; ++lane) {
                const i64 cell = c * F_ + four.column + lane, e = groups_[g].fit.window.exponent[lane];
                // room for all parts at once: growing by one limb at a time would copy all cells as often
                sums_.first.reserve(word_of(e - 2 * kPartBits), word_of(e) + 4);
                if (Squares) sums_.second.reserve(word_of(2 * e - 4 * kPartBits), word_of(2 * e) + 4);
                for (int k = 0; k < 3; ++k) totals.empty(k, lane, sums_.first, cell, e - kPartBits * k);
                // p0*p1 and p1*p2 occur twice in the square
                for (int k = 0; Squares && k < 5; ++k)
                    totals.empty(3 + k, lane, sums_.second, cell, 2 * e - kPartBits * k + k % 2);
            }
            totals = {};
        }
    }

    void flush_all() {
        for (i64 g = 0; g < fours_.size; ++g) flush(g);
        unsettled_ = 0;
        sums_.first.settle();
        sums_.second.settle();
    }

    static constexpr int kExpected = 32;  // segments: what one had, the next ones are likely to have
    Table table_{};
    const bool more_;
    const i64 F_, C_, tile_;
    ClassTile tile_of_;
    Fours fours_;
    Scratch<Group> groups_;
    Scratch<Sums> totals_;  // (group, class)
    Scratch<i64> missing_;  // (C, F)
    Scratch<i64> rows_;     // (C,)
    Scratch<double> clean_;
    ExactSums sums_;
    bool infinite_ = false, all_sized_ = true;
    i64 unsettled_ = 0;  // rows since all sums were settled
    i64 ahead_ = 0;      // bytes from a value to the same position in the next block
};

template <bool Squares>
inline Fault power_sums_in_tiles(const PowerTask& task) {
    PowerSummer<Squares> summer(task.table, task.classes, task.n_classes, false);
    RowHasher hasher(task.table, task.seeds, task.hashes);
    for (i64 start = 0; start < task.table.n_rows; start += summer.tile()) {
        const i64 count = smaller(summer.tile(), task.table.n_rows - start);
        const Fault fault = summer.add(start, count, 0, task.table.n_columns);
        if (fault.kind != FaultKind::none) return fault;
        hasher.add_cached(start, start + count, summer.all_sized());
    }
    return summer.finish(task);
}

// Windows do not pay off for few rows, or few rows per class.
inline bool are_few(const PowerTask& task) {
    return task.table.n_rows < 32 || task.table.n_rows / 8 < task.n_classes;
}

inline Fault power_sums(const PowerTask& task) {
    const PlainArithmetic plain;
    if (task.weights == nullptr && !are_few(task))
        return task.squares ? power_sums_in_tiles<true>(task) : power_sums_in_tiles<false>(task);
    if (task.seeds != nullptr) hash_dense({task.table, task.seeds, task.hashes});
    if (are_few(task)) return power_sums_by_value(task);
    return task.squares ? WeightedSummer<true>(task).run() : WeightedSummer<false>(task).run();
}

}  // namespace tally::TALLY_ISA
