// Numbers as codes: cells between given edges.
//
// IN: table (n, F) of doubles or floats; edges, rising in each column. OUT: codes (F, n), how many edges are at most each
// number; NaN has kMissing. The caller guarantees at most kMissing - 1 edges per column.
// Cost: about 3 ns per value. Twin: reference.find_cells.
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
class EdgeBlocks {
public:
    void set(const double* edges, i64 size) {
        size_ = size;
        for (i64 k = 0; k < kSide * kSide; ++k) edge_[k] = k < size ? edges[k] : INFINITY;
        for (i64 block = 0; block < kSide; ++block) last_[block] = edge_[kSide * block + kSide - 1];
    }

    // Write how many edges are at most each value.
    void find(const double* values, i64 count, std::uint8_t* codes) const {
        for (i64 i = 0; i < count; ++i) {
            const i64 block = smaller<i64>(at_most(last_, values[i]), kSide - 1);
            const i64 code = kSide * block + at_most(edge_ + kSide * block, values[i]);
            codes[i] = static_cast<std::uint8_t>(is_nan(values[i]) ? FindCellsTask::kMissing : smaller(code, size_));
        }
    }

private:
    static constexpr i64 kSide = 16;

    static i64 at_most(const double* edges, double x) {
        const F4 value = all(x);
        int above = 0;  // edges rise: as a binary number, ones from the first edge above on
        for (int k = 0; k < kSide; k += 4) above |= lanes(not_at_most(load(edges + k), value)) << k;
        return lowest_bit(above | 1 << kSide);
    }

    double edge_[kSide * kSide], last_[kSide];
    i64 size_;
};

inline Fault find_cells(const FindCellsTask& task) {
    const PlainArithmetic plain;
    Scratch<EdgeBlocks> blocks(smaller(kBlockColumns, task.table.n_columns));
    for_each_tile(task.table, [&](const Eight& eight, i64 start, i64 count, const double* values) {
        for (i64 k = 0; k < eight.width; ++k, values += kPitch) {
            const i64 f = eight.first + k;
            EdgeBlocks& of_column = blocks[f % kBlockColumns];
            if (start == 0) of_column.set(task.edges + task.offsets[f], task.offsets[f + 1] - task.offsets[f]);
            of_column.find(values, count, task.codes + f * task.table.n_rows + start);
        }
    });
    return {};
}

}  // namespace tally::TALLY_ISA
