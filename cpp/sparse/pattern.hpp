// Sparsity patterns of a matrix (R, V): the rows of the entries of each column, increasing.
//
// join: IN two patterns of one shape. OUT their union, and the index in it of each side's entries. Cost: one pass.
// find: IN a pattern, and cells to look for. OUT the entry of each cell, or -1. Cost: a binary search in the column.
// The caller guarantees only stated lengths: rows that do not increase, or starts out of bounds, throw BadPlaces.
// Twins: reference.join_places, reference.find_places.
#pragma once

#include <algorithm>

#include "text/memory.hpp"

namespace tally::sparse {

using text::Growing;
using text::i32;
using text::i64;

struct BadPlaces {
    bool left;  // in the first of the two patterns
    i64 column;
};

struct Places {
    const i64* starts;  // (V + 1,)
    const i32* rows;    // (entries,)
    i64 n_columns, n_entries;
    bool left = true;

    // Return the entries of a column after checking its bounds.
    std::pair<i64, i64> column(i64 v) const {
        const i64 first = starts[v], end = starts[v + 1];
        if (first < 0 || end < first || end > n_entries) throw BadPlaces{left, v};
        return {first, end};
    }
};

struct Union {
    Growing<i64> starts, from_left, from_right;
    Growing<i32> rows;
};

inline Union join(const Places& a, const Places& b) {
    Union out;
    out.starts.resize(a.n_columns + 1);
    out.from_left.resize(a.n_entries);
    out.from_right.resize(b.n_entries);
    out.rows.resize(a.n_entries + b.n_entries);
    i64 n = 0, from_a = 0, from_b = 0;
    out.starts[0] = 0;
    for (i64 v = 0; v < a.n_columns; ++v) {
        auto [i, end_a] = a.column(v);
        auto [j, end_b] = b.column(v);
        if (i != from_a) throw BadPlaces{true, v};  // columns must be adjacent, or entries are lost
        if (j != from_b) throw BadPlaces{false, v};
        i64 before = -1;
        while (i < end_a || j < end_b) {
            const bool left = j == end_b || (i < end_a && a.rows[i] <= b.rows[j]);
            const bool right = i == end_a || (j < end_b && b.rows[j] <= a.rows[i]);
            const i32 row = left ? a.rows[i] : b.rows[j];
            if (row <= before) throw BadPlaces{left, v};
            before = row;
            if (left) out.from_left[i++] = n;
            if (right) out.from_right[j++] = n;
            out.rows[n++] = row;
        }
        from_a = end_a;
        from_b = end_b;
        out.starts[v + 1] = n;
    }
    if (from_a != a.n_entries) throw BadPlaces{true, a.n_columns};
    if (from_b != b.n_entries) throw BadPlaces{false, b.n_columns};
    out.rows.resize(n);
    return out;
}

struct Cells {
    const i64 *rows, *columns;  // (n,)
    i64 n;
};

// Return false if a cell is outside the matrix.
inline bool find(const Places& places, const Cells& cells, i64* out) {
    for (i64 k = 0; k < cells.n; ++k) {
        const i64 v = cells.columns[k];
        if (v < 0 || v >= places.n_columns) return false;
        const auto [first, end] = places.column(v);
        const i32* const stop = places.rows + end;
        const i32* const at = std::lower_bound(places.rows + first, stop, cells.rows[k]);
        out[k] = at != stop && *at == cells.rows[k] ? at - places.rows : -1;
    }
    return true;
}

}  // namespace tally::sparse
