// The terms of sparse rows, summed by the cell of their columns.
//
// out[g, at[i], c] = sum over the entries of row i whose column f has cells[f] = g of times * table[f, c].
// IN: rows in CSR: starts (n + 1,), columns and times (entries,); table (F, C); cells (F,) in [0, G); at (n,): where each
// row goes in `out`. The caller guarantees only stated lengths: anything outside of them is refused. OUT: out (G, N, C),
// written where a row has the cell: most rows have few, and pages of zeros that are never written take no memory. Sums
// are doubles, taken in the order of the entries and rounded once to floats: a row's depend on it alone. Cost: C products
// per entry, and C floats per cell of a row. Twin: reference.sum_cells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tally::sparse {

struct CellSumsTask {
    const std::int64_t* starts;
    std::int64_t n_rows;
    const std::int64_t* columns;
    const double* times;
    std::int64_t n_entries;
    const double* table;
    const std::int64_t* cells;
    std::int64_t n_columns, n_classes, n_cells;
    const std::int64_t* at;
    float* out;
    std::int64_t n_out;
};

class CellSums {
public:
    explicit CellSums(const CellSumsTask& task)
        : task_(task), sums_(static_cast<std::size_t>(task.n_classes * task.n_cells)),
          has_(static_cast<std::size_t>(task.n_cells)) {}

    // Return false where an entry, a cell or a row is outside of the arrays.
    bool run() {
        for (std::int64_t i = 0; i < task_.n_rows; ++i) {
            const std::int64_t from = task_.starts[i], to = task_.starts[i + 1], row = task_.at[i];
            if (from < 0 || to < from || to > task_.n_entries || row < 0 || row >= task_.n_out) return false;
            for (std::int64_t k = from; k < to; ++k)
                if (!add(task_.columns[k], task_.times[k])) return false;
            write(row);
        }
        return true;
    }

private:
    bool add(std::int64_t f, double times) {
        if (f < 0 || f >= task_.n_columns) return false;
        const std::int64_t C = task_.n_classes, g = task_.cells[f];
        if (g < 0 || g >= task_.n_cells) return false;
        double* const sums = sums_.data() + g * C;
        if (has_[static_cast<std::size_t>(g)] == 0) {
            has_[static_cast<std::size_t>(g)] = 1;
            found_.push_back(g);
            std::fill(sums, sums + C, 0.0);
        }
        const double* const terms = task_.table + f * C;
        for (std::int64_t c = 0; c < C; ++c) sums[c] += times * terms[c];
        return true;
    }

    void write(std::int64_t row) {
        const std::int64_t C = task_.n_classes;
        for (const std::int64_t g : found_) {
            const double* const sums = sums_.data() + g * C;
            float* const out = task_.out + (g * task_.n_out + row) * C;
            for (std::int64_t c = 0; c < C; ++c) out[c] = static_cast<float>(sums[c]);
            has_[static_cast<std::size_t>(g)] = 0;
        }
        found_.clear();
    }

    const CellSumsTask& task_;
    std::vector<double> sums_;        // (G, C)
    std::vector<unsigned char> has_;  // (G,) whether the row has a column of the cell
    std::vector<std::int64_t> found_; // those that it has
};

}  // namespace tally::sparse
