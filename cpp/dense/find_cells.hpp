// Numbers as codes: cells between given edges.
//
// IN: table (n, F) of doubles or floats; edges, rising in each column. OUT: codes (F, n), how many edges are at most each
// number; NaN has kMissing. The caller guarantees at most kMissing - 1 edges per column.
// Cost: about 2 ns per value, 6 where edges are spaced very unevenly. Twin: reference.find_cells.
#pragma once

#include <cmath>
#include <cstdint>

#include "dense/column_tiles.hpp"

namespace tally::TALLY_ISA {

// The place of the lowest bit that is set.
inline i64 lowest_bit(int mask) {
#if defined(_MSC_VER)
    unsigned long place;
    _BitScanForward(&place, static_cast<unsigned long>(mask));
    return static_cast<i64>(place);
#else
    return __builtin_ctz(static_cast<unsigned>(mask));
#endif
}

// The edges of a column as blocks of sixteen, and the last edge of each block: two steps of sixteen comparisons each
// find a cell without a branch.
//
// Of many values most cells are found sooner by equal steps from the first edge to the last. The step of a number never
// falls as the number rises, however it is rounded, so only edges on the step of a value need be compared with it. That
// is not done where a step has many edges.
class EdgeBlocks {
public:
    void set(const double* edges, i64 size, bool many) {
        size_ = size;
        for (i64 k = 0; k < kSide * kSide + kMost; ++k) edge_[k] = k < size ? edges[k] : INFINITY;
        for (i64 block = 0; block < kSide; ++block) last_[block] = edge_[kSide * block + kSide - 1];
        most_ = many && size > 1 ? set_steps() : 0;
    }

    // Write how many edges are at most each of up to kTileRows values.
    void find(const double* values, i64 count, std::uint8_t* codes) const {
        if (most_ == 1) return find_by_steps<1>(values, count, codes);
        if (most_ > 1) return find_by_steps<kMost>(values, count, codes);
        for (i64 i = 0; i < count; ++i) {
            const i64 block = smaller<i64>(at_most(last_, values[i]), kSide - 1);
            const i64 code = kSide * block + at_most(edge_ + kSide * block, values[i]);
            codes[i] = static_cast<std::uint8_t>(is_nan(values[i]) ? FindCellsTask::kMissing : smaller(code, size_));
        }
    }

private:
    static constexpr i64 kSide = 16;
    static constexpr i64 kSteps = 1024;  // a few for each edge: hardly any step has more than two
    static constexpr i64 kMost = 3;      // edges on a step

    // Find the steps of the edges; return how many edges a step has at most, 0 if too many.
    i64 set_steps() {
        first_ = edge_[0];
        scale_ = static_cast<double>(kSteps - 1) / (edge_[size_ - 1] - first_);
        if (!(scale_ > 0.0) || is_infinite(scale_)) return 0;
        i64 before = 0, most = 0;  // edges on earlier steps, and on one
        for (i64 k = 0, step = 0; k <= size_; ++k) {
            i64 next[4] = {kSteps, 0, 0, 0};
            if (k < size_) store(next, step_of(all(edge_[k])));
            if (next[0] == step && k < size_) continue;
            most = larger(most, k - before);
            before_[step] = static_cast<std::uint8_t>(before);
            for (i64 empty = step + 1; empty < next[0]; ++empty) before_[empty] = static_cast<std::uint8_t>(k);
            before = k;
            step = next[0];
        }
        return most <= kMost ? most : 0;
    }

    I4 step_of(F4 x) const {
        constexpr double kUnits = 4503599627370496.0;  // 2^52: adding it leaves the nearest integer in the low bits
        const F4 away = greatest((x - all(first_)) * all(scale_), all(0.0));  // 0 for NaN
        return bits(smallest(away, all(static_cast<double>(kSteps - 1))) + all(kUnits)) & all(kSteps - 1);
    }

    template <i64 Most>
    void find_by_steps(const double* values, i64 count, std::uint8_t* codes) const {
        i64 steps[kTileRows];
        i64 i = 0;
        for (; i + 4 <= count; i += 4) store(steps + i, step_of(load(values + i)));
        for (; i < count; ++i) {
            i64 four[4];
            store(four, step_of(all(values[i])));
            steps[i] = four[0];
        }
        for (i = 0; i < count; ++i) {
            const double x = values[i];
            const i64 before = before_[steps[i]];
            i64 code = before;
            for (i64 k = 0; k < Most; ++k) code += static_cast<i64>(edge_[before + k] <= x);
            codes[i] = static_cast<std::uint8_t>(is_nan(x) ? FindCellsTask::kMissing : smaller(code, size_));
        }
    }

    static i64 at_most(const double* edges, double x) {
        const F4 value = all(x);
        int above = 0;  // edges rise: as a binary number, ones from the first edge above on
        for (int k = 0; k < kSide; k += 4) above |= lanes(not_at_most(load(edges + k), value)) << k;
        return lowest_bit(above | 1 << kSide);
    }

    double edge_[kSide * kSide + kMost], last_[kSide];
    i64 size_, most_;              // edges: all, and those of a step; 0 where there are no steps
    double first_, scale_;         // of the steps
    std::uint8_t before_[kSteps];  // how many edges are on earlier steps
};

inline Fault find_cells(const FindCellsTask& task) {
    const PlainArithmetic plain;
    Scratch<EdgeBlocks> blocks(smaller(kBlockColumns, task.table.n_columns));
    for_each_tile(task.table, [&](const Eight& eight, i64 start, i64 count, const double* values) {
        for (i64 k = 0; k < eight.width; ++k, values += kPitch) {
            const i64 f = eight.first + k;
            EdgeBlocks& of_column = blocks[f % kBlockColumns];
            if (start == 0)
                of_column.set(task.edges + task.offsets[f], task.offsets[f + 1] - task.offsets[f],
                              task.table.n_rows >= kTileRows);
            of_column.find(values, count, task.codes + f * task.table.n_rows + start);
        }
    });
    return {};
}

}  // namespace tally::TALLY_ISA
