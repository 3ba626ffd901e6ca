// Counting the codes of every pair of columns per class, to measure which columns depend on each other.
//
// Pairs are concatenated: the codes u and v of pair (f, g), f < g, have position starts[p] + u * size[g] + v, where p
// counts (0, 1), (0, 2), ..., (1, 2), ... A row in which either code is outside [0, size) is not counted for that pair.
//
// IN: table (n, F) of integers of any width, classes (n,), offsets (F + 1,) the running sum of sizes, starts (P + 1,)
// the running sum of size[f] * size[g]. OUT: counts (C, starts[P]). The caller guarantees that F, sizes and starts
// agree and that the tables fit 2^40 cells. Classes and codes are checked here, as they are read.
// Cost: about 1.5 cycles per row and pair while the table of a pair, (C, size[f], size[g]), stays in cache.
// Twin: reference.count_pairs.
#pragma once

#include "codes/count_and_score.hpp"

namespace tally::TALLY_ISA {

// A tile of rows, column by column: codes (a code outside becomes size, one past the last), and the position of each
// row in the tables of the pairs whose first column it is.
class PairTile {
public:
    static constexpr i64 kRows = 1024;  // codes of a hundred columns stay in the second-level cache

    explicit PairTile(const CountPairsTask& task)
        : task_(task), F_(task.table.n_columns), index_(task.table, 0, 1), codes_(F_ * kRows), places_(kRows) {
        for (i64 f = 0; f < F_; ++f) index_.set(f, size(f), 0, size(f));
    }

    i64 size(i64 f) const { return task_.offsets[f + 1] - task_.offsets[f]; }
    i64 count() const { return count_; }
    const u32* codes(i64 f) { return &codes_[f * kRows]; }

    Fault read(i64 start, i64 count) {
        count_ = count;
        for (i64 at = 0; at < count; at += CodeIndex::kRows) {
            const i64 rows = smaller(CodeIndex::kRows, count - at);
            const Fault fault = read_classes(task_.classes, start + at, rows, task_.n_classes, classes_ + at);
            if (fault.kind != FaultKind::none) return fault;
            for (i64 f0 = 0; f0 < F_; f0 += CodeIndex::kWidth) {
                const i64 width = smaller(CodeIndex::kWidth, F_ - f0);
                index_.fill(start + at, rows, f0, f0 + width);
                for (i64 f = 0; f < width; ++f) {
                    u32* const to = &codes_[(f0 + f) * kRows + at];
                    for (i64 i = 0; i < rows; ++i) to[i] = static_cast<u32>(index_.row(i)[f * index_.pitch()]);
                }
            }
        }
        return {};
    }

    // Compute row i's position c * (size[f] + 1) + u in the tables of pairs (f, g), in units of table rows.
    const u64* lead(i64 f) {
        const u64 step = static_cast<u64>(size(f) + 1);
        const u32* const code = codes(f);
        for (i64 i = 0; i < count_; ++i) places_[i] = static_cast<u64>(classes_[i]) * step + code[i];
        return places_.get();
    }

private:
    const CountPairsTask& task_;
    const i64 F_;
    CodeIndex index_;
    Scratch<u32> codes_;   // (F, kRows)
    Scratch<u64> places_;  // (kRows,)
    i64 classes_[kRows];
    i64 count_ = 0;
};

// Count four partners of one column at a time. Their tables are separate memory, so no increment waits for another.
inline void count_partners(PairTile& tile, const u64* lead, i64 g, i64 partners, u32* const* tables) {
    const i64 n = tile.count();
    if (partners == 4) {
        const u32 *a = tile.codes(g), *b = tile.codes(g + 1), *c = tile.codes(g + 2), *d = tile.codes(g + 3);
        const u64 p = static_cast<u64>(tile.size(g) + 1), q = static_cast<u64>(tile.size(g + 1) + 1);
        const u64 r = static_cast<u64>(tile.size(g + 2) + 1), s = static_cast<u64>(tile.size(g + 3) + 1);
        for (i64 i = 0; i < n; ++i) {
            const u64 place = lead[i];
            ++tables[0][place * p + a[i]];
            ++tables[1][place * q + b[i]];
            ++tables[2][place * r + c[i]];
            ++tables[3][place * s + d[i]];
        }
        return;
    }
    for (i64 k = 0; k < partners; ++k) {
        const u32* const code = tile.codes(g + k);
        const u64 step = static_cast<u64>(tile.size(g + k) + 1);
        for (i64 i = 0; i < n; ++i) ++tables[k][lead[i] * step + code[i]];
    }
}

// Add the tables (C, size[f] + 1, size[g] + 1) of all pairs to counts (C, starts[P]).
inline void add_pairs(const CountPairsTask& task, const u32* table, i64* counts) {
    const i64 F = task.table.n_columns, C = task.n_classes;
    const i64 pairs = F * (F - 1) / 2, places = task.starts[pairs];
    i64 p = 0;
    for (i64 f = 0; f < F; ++f)
        for (i64 g = f + 1; g < F; ++g, ++p) {
            const i64 U = task.offsets[f + 1] - task.offsets[f], V = task.offsets[g + 1] - task.offsets[g];
            for (i64 c = 0; c < C; ++c, table += V + 1)
                for (i64 u = 0; u < U; ++u, table += V + 1)
                    for (i64 v = 0; v < V; ++v) counts[c * places + task.starts[p] + u * V + v] += table[v];
        }
}

inline Fault count_pairs_weighted(const CountPairsTask& task) {
    const i64 F = task.table.n_columns, places = task.starts[F * (F - 1) / 2];
    LimbArray counts(task.n_classes * places);
    Scratch<i64> codes(F);
    for (i64 i = 0; i < task.table.n_rows; ++i) {
        const i64 c = task.classes[i];
        if (c < 0 || c >= task.n_classes) return {FaultKind::bad_class, i, 0, static_cast<double>(c)};
        const double w = task.weights[i];
        if (!(w >= 0.0) || is_infinite(w)) return {FaultKind::bad_weight, i, 0, w};
        const Parts parts = parts_of(w);
        for (i64 f = 0; f < F; ++f) {
            const i64 code = integer_element(task.table.columns[f], i);
            codes[f] = code >= 0 && code < task.offsets[f + 1] - task.offsets[f] ? code : -1;
        }
        const i64* start = task.starts;
        for (i64 f = 0; f < F; ++f)
            for (i64 g = f + 1; g < F; ++g, ++start)
                if (codes[f] >= 0 && codes[g] >= 0)
                    counts.add(c * places + *start + codes[f] * (task.offsets[g + 1] - task.offsets[g]) + codes[g],
                               parts.mantissa, parts.exponent, false);
        if ((i + 1) % kRowsPerSettle == 0) counts.settle();
    }
    counts.finish(*task.counts);
    return {};
}

inline Fault count_pairs(const CountPairsTask& task) {
    const PlainArithmetic plain;
    if (task.weights != nullptr) return count_pairs_weighted(task);
    constexpr i64 kMost = i64{1} << 31;  // rows before a 32-bit counter must be emptied
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes;
    const i64 places = task.starts[F * (F - 1) / 2];
    PairTile tile(task);
    i64 cells = 0;
    for (i64 f = 0; f < F; ++f)
        for (i64 g = f + 1; g < F; ++g) cells += C * (tile.size(f) + 1) * (tile.size(g) + 1);
    Scratch<i64> counts(C * places);  // (C, places)
    for (i64 first = 0; first < n; first += kMost) {
        Scratch<u32> tables(cells);
        for (i64 start = first; start < smaller(n, first + kMost); start += PairTile::kRows) {
            const Fault fault = tile.read(start, smaller(PairTile::kRows, smaller(n, first + kMost) - start));
            if (fault.kind != FaultKind::none) return fault;
            u32* table = tables.get();
            for (i64 f = 0; f + 1 < F; ++f) {
                const u64* const lead = tile.lead(f);
                for (i64 g = f + 1; g < F; g += 4) {
                    const i64 partners = smaller<i64>(4, F - g);
                    u32* each[4];
                    for (i64 k = 0; k < partners; ++k) {
                        each[k] = table;
                        table += C * (tile.size(f) + 1) * (tile.size(g + k) + 1);
                    }
                    count_partners(tile, lead, g, partners, each);
                }
            }
        }
        add_pairs(task, tables.get(), counts.get());
    }
    *task.counts = {counts.release(), C * places, 1, 0};
    return {};
}

}  // namespace tally::TALLY_ISA
