// Numbers as whole numbers on broken lines: between two knots a line, beyond the first and the last nothing changes.
//
// IN: table (n, F) of doubles or floats; knots and heights of each column, knots rising. OUT: out (F, n), the height at
// each number, rounded to the nearest whole number, the even one of two; NaN stays NaN. `missing`: whether there is one.
// The caller guarantees 2 to kMost knots per column, and heights below 2^50.
// Numbers are halved first: the difference of two halves is never infinite.
// Cost: about 3 ns per value. Twin: reference.interpolate.
#pragma once

#include "dense/elementary.hpp"
#include "dense/find_cells.hpp"

namespace tally::TALLY_ISA {

// The lines of one column.
class BrokenLine {
public:
    void set(const double* knots, const double* heights, i64 size, bool many) {
        double inner[InterpolateTask::kMost];
        for (i64 k = 0; k < size; ++k) inner[k] = 0.5 * knots[k];
        for (i64 k = 0; k + 1 < size; ++k) {
            const double line[4] = {inner[k], inner[k + 1] - inner[k], heights[k], heights[k + 1] - heights[k]};
            std::memcpy(lines_[k], line, sizeof line);
        }
        cells_.set(inner + 1, size - 2, many);
    }

    // Write the heights of up to kTileRows halved numbers; return whether one is missing.
    bool find(const double* halves, i64 count, double* out) const {
        std::uint8_t codes[kTileRows + 4] = {};
        cells_.find(halves, count, codes);
        I4 found = all(i64{0});
        i64 i = 0;
        for (; i + 4 <= count; i += 4) store(out + i, height(load(halves + i), codes + i, found));
        if (i < count) {
            double last[4] = {};
            for (i64 k = i; k < count; ++k) last[k - i] = halves[k];
            store(last, height(load(last), codes + i, found));
            for (i64 k = i; k < count; ++k) out[k] = last[k - i];
        }
        return any(found);
    }

private:
    const double* line(std::uint8_t code) const { return lines_[code == FindCellsTask::kMissing ? 0 : code]; }

    F4 height(F4 x, const std::uint8_t* codes, I4& found) const {
        F4 low = load(line(codes[0])), width = load(line(codes[1])), start = load(line(codes[2])), rise = load(line(codes[3]));
        transpose(low, width, start, rise);
        // these keep NaN, their second argument
        const F4 share = smallest(all(1.0), greatest(all(0.0), (x - low) / width));
        const F4 whole = start + share * rise + all(kRound) - all(kRound);
        found = found | bits(missing(whole));
        return whole;
    }

    EdgeBlocks cells_;
    double lines_[InterpolateTask::kMost][4];
};

inline Fault interpolate(const InterpolateTask& task) {
    const PlainArithmetic plain;
    const i64 n = task.table.n_rows;
    Scratch<BrokenLine> lines(smaller(kBlockColumns, task.table.n_columns));
    bool missing = false;
    for_each_tile(task.table, [&](const Eight& eight, i64 start, i64 count, double* values) {
        for (i64 k = 0; k < eight.width; ++k, values += kPitch) {
            const i64 f = eight.first + k, at = task.offsets[f];
            BrokenLine& line = lines[f % kBlockColumns];
            if (start == 0) line.set(task.knots + at, task.heights + at, task.offsets[f + 1] - at, n >= kTileRows);
            for (i64 i = 0; i < count; ++i) values[i] *= 0.5;
            missing |= line.find(values, count, task.out + f * n + start);
        }
    });
    *task.missing = missing;
    return {};
}

}  // namespace tally::TALLY_ISA
