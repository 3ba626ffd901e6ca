// Scores of cells: combinations of the codes of several columns, looked up in one table per combination.
//
// With codes a, b, ... less the lowest of their columns, of sizes A, B, ..., the cell is (a * B + b) * ... of its
// combination's part of the table. A combination with a code outside [low, low + size) adds nothing.
// IN: table (n, P) of codes; lows and sizes (P,); members of combination k: members[starts[k]], ..., columns, at least one;
// offsets (K + 1,), the running sum of their cells; scores (offsets[K], C). OUT: out (n, C), added to. The caller
// guarantees that members are columns and that the table has less than 2^31 numbers.
// Cost: about 3 cycles per row and pair for up to 20 classes. Twin: reference.score_cells.
#pragma once

#include "codes/count_and_score.hpp"

namespace tally::TALLY_ISA {

// Positions of cells in the table, of a tile of rows and combinations: as CodeIndex has those of codes.
class CellIndex {
public:
    static constexpr i64 kRows = CodeIndex::kRows, kWidth = CodeIndex::kWidth, kPitch = CodeIndex::kPitch;

    CellIndex(const ScoreCellsTask& task, i64 skip)
        : task_(task), skip_(skip), slots_(task.table.n_columns * kRows), index_(kWidth * kPitch) {}

    i64 rows() const { return kRows; }
    i64 pitch() const { return kPitch; }
    void fetch(i64) const {}
    const i64* row(i64 i) { return &index_[i]; }

    // Compute the positions of rows [row, row + count) in combinations [k0, k1); those from 0 on come first.
    void fill(i64 row, i64 count, i64 k0, i64 k1) {
        if (k0 == 0)
            for (i64 p = 0; p < task_.table.n_columns; ++p)
                with_code_type(task_.table.columns[p].type, [&](auto zero) { read<decltype(zero)>(row, count, p); });
        for (i64 k = k0; k < k1; ++k) join(k, &index_[(k - k0) * kPitch]);
    }

private:
    // Copy the codes of a column; those outside are -1, and so are rows beyond the last.
    template <class Code>
    void read(i64 row, i64 count, i64 p) {
        const Column column = task_.table.columns[p];
        const auto size = static_cast<u64>(task_.sizes[p]), low = static_cast<u64>(task_.lows[p]);
        const char* from = column.base + row * column.stride;
        i32* const to = &slots_[p * kRows];
        for (i64 i = 0; i < count; ++i, from += column.stride) {
            const u64 code = static_cast<u64>(static_cast<i64>(*reinterpret_cast<const Code*>(from))) - low;
            to[i] = code < size ? static_cast<i32>(code) : -1;
        }
        for (i64 i = count; i < kRows; ++i) to[i] = -1;
    }

    // Whole tiles of 32-bit numbers, without a branch, so that compilers use vectors.
    void join(i64 k, i64* to) {
        const i64 first = task_.starts[k], end = task_.starts[k + 1];
        u32 cell[kRows];
        i32 missing[kRows];
        const i32* slot = &slots_[task_.members[first] * kRows];
        for (i64 i = 0; i < kRows; ++i) {
            cell[i] = static_cast<u32>(slot[i]);
            missing[i] = slot[i];
        }
        for (i64 m = first + 1; m < end; ++m) {
            const auto size = static_cast<u32>(task_.sizes[task_.members[m]]);
            slot = &slots_[task_.members[m] * kRows];
            for (i64 i = 0; i < kRows; ++i) {
                cell[i] = cell[i] * size + static_cast<u32>(slot[i]);
                missing[i] |= slot[i];  // below 0 where one of them is
            }
        }
        const auto C = static_cast<u32>(task_.n_classes), base = static_cast<u32>(task_.offsets[k]) * C;
        const i64 skip = skip_;
        for (i64 i = 0; i < kRows; ++i) to[i] = missing[i] < 0 ? skip : static_cast<i64>(base + cell[i] * C);
    }

    const ScoreCellsTask& task_;
    const i64 skip_;
    Scratch<i32> slots_;
    Scratch<i64> index_;
};

inline Fault score_cells(const ScoreCellsTask& task) {
    if (task.n_classes == 0) return {};
    Scratch<double> nothing(task.n_classes);
    CellIndex index(task, distance_from(task.scores, nothing.get()));
    score_indexed<false>(task.table.n_rows, task.n_combinations, task.scores, task.n_classes, task.out, index);
    return {};
}

}  // namespace tally::TALLY_ISA
