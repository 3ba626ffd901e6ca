// What the rows of a fit look up by code: weighted terms and corrections, and the derivatives by them.
//
// A table of entries is one array with a row of D = C - 1 numbers for each entry, and before those of each table a row of
// zeros: that of no code, so that no code needs a branch.
// IN: CodedTerms. Cost: one pass over the entries to make a table, and one to add it up by term and correction.
#pragma once

#include <type_traits>

#include "dense/temperature.hpp"

namespace tally::TALLY_ISA {

// Where the entries of each table are in an array of rows of `width` doubles.
class EntryRows {
public:
    EntryRows(const CodedTerms& coded, i64 width) : coded_(coded), width_(width) {}

    i64 width() const { return width_; }
    i64 size() const { return (coded_.offsets[coded_.n_tables] + coded_.n_tables) * width_; }
    // The place of code 0 of a table.
    i64 start(i64 v) const { return (coded_.offsets[v] + v + 1) * width_; }

    // Call with the table, the entry and its place.
    template <class Work>
    void each(Work work) const {
        for (i64 v = 0; v < coded_.n_tables; ++v) {
            i64 at = start(v);
            for (i64 p = coded_.offsets[v]; p < coded_.offsets[v + 1]; ++p, at += width_) work(v, p, at);
        }
    }

private:
    const CodedTerms& coded_;
    i64 width_;
};

// Call with the number of vectors of a row as a constant, or 0 where it has more than five.
template <class Work>
inline void with_vectors(i64 width, Work work) {
    switch (width / 4) {
        case 1: return work(std::integral_constant<int, 1>{});
        case 2: return work(std::integral_constant<int, 2>{});
        case 3: return work(std::integral_constant<int, 3>{});
        case 4: return work(std::integral_constant<int, 4>{});
        case 5: return work(std::integral_constant<int, 5>{});
        default: return work(std::integral_constant<int, 0>{});
    }
}

// Add the rows of some tables that the codes name to a row for each: `to` has `width` doubles a row.
template <int Vectors, i64 Many>
inline void gather_some(const double* const* tables, const i32* const* codes, i64 count, i64 width, double* to) {
    if constexpr (Vectors > 0) width = 4 * Vectors;
    for (i64 i = 0; i < count; ++i, to += width) {
        const double* from[Many];
        for (i64 m = 0; m < Many; ++m) from[m] = tables[m] + codes[m][i] * width;
        for (i64 c = 0; c < width; c += 4) {
            F4 sum = load(to + c);
            for (i64 m = 0; m < Many; ++m) sum = sum + load(from[m] + c);
            store(to + c, sum);
        }
    }
}

// Add a row for each code to the rows of some tables that the codes name.
template <int Vectors, i64 Many>
inline void scatter_some(const double* from, const i32* const* codes, i64 count, i64 width, double* const* tables) {
    if constexpr (Vectors > 0) width = 4 * Vectors;
    for (i64 i = 0; i < count; ++i, from += width) {
        double* to[Many];
        for (i64 m = 0; m < Many; ++m) to[m] = tables[m] + codes[m][i] * width;
        for (i64 c = 0; c < width; c += 4) {
            const F4 row = load(from + c);
            for (i64 m = 0; m < Many; ++m) store(to[m] + c, load(to[m] + c) + row);
        }
    }
}

// Tables at once: rows are read and written less often, and a row that adjacent rows add to is waited for less. More
// tables would not stay in the first-level cache.
constexpr i64 kGathered = 4, kScattered = 2;

template <class Codes, class Start>
inline void gather_rows(i64 n_tables, Codes codes, Start start, i64 count, i64 width, const double* table, double* to) {
    with_vectors(width, [&](auto vectors) {
        const double* from[kGathered];
        const i32* code[kGathered];
        i64 v = 0;
        for (; v + kGathered <= n_tables; v += kGathered) {
            for (i64 m = 0; m < kGathered; ++m) {
                from[m] = table + start(v + m);
                code[m] = codes(v + m);
            }
            gather_some<vectors, kGathered>(from, code, count, width, to);
        }
        for (; v < n_tables; ++v) {
            from[0] = table + start(v);
            code[0] = codes(v);
            gather_some<vectors, 1>(from, code, count, width, to);
        }
    });
}

template <class Codes, class Start>
inline void scatter_rows(i64 n_tables, Codes codes, Start start, i64 count, i64 width, const double* from, double* table) {
    with_vectors(width, [&](auto vectors) {
        double* to[kScattered];
        const i32* code[kScattered];
        i64 v = 0;
        for (; v + kScattered <= n_tables; v += kScattered) {
            for (i64 m = 0; m < kScattered; ++m) {
                to[m] = table + start(v + m);
                code[m] = codes(v + m);
            }
            scatter_some<vectors, kScattered>(from, code, count, width, to);
        }
        for (; v < n_tables; ++v) {
            to[0] = table + start(v);
            code[0] = codes(v);
            scatter_some<vectors, 1>(from, code, count, width, to);
        }
    });
}

// Four tables of single numbers at once wait for each other less.
constexpr i64 kTablesAtOnce = 4;

template <class Codes, class Start>
inline void gather_numbers(i64 n_tables, Codes codes, Start start, i64 count, const double* table, double* to) {
    i64 v = 0;
    for (; v + kTablesAtOnce <= n_tables; v += kTablesAtOnce) {
        const i32 *one = codes(v), *two = codes(v + 1), *three = codes(v + 2), *four = codes(v + 3);
        const double *a = table + start(v), *b = table + start(v + 1), *c = table + start(v + 2), *d = table + start(v + 3);
        for (i64 i = 0; i < count; ++i) to[i] = to[i] + a[one[i]] + b[two[i]] + c[three[i]] + d[four[i]];
    }
    for (; v < n_tables; ++v) {
        const i32* one = codes(v);
        const double* a = table + start(v);
        for (i64 i = 0; i < count; ++i) to[i] += a[one[i]];
    }
}

template <class Codes, class Start>
inline void scatter_numbers(i64 n_tables, Codes codes, Start start, i64 count, const double* from, double* table) {
    i64 v = 0;
    for (; v + kTablesAtOnce <= n_tables; v += kTablesAtOnce) {
        const i32* code[kTablesAtOnce];
        double* to[kTablesAtOnce];
        for (i64 k = 0; k < kTablesAtOnce; ++k) {
            code[k] = codes(v + k);
            to[k] = table + start(v + k);
        }
        for (i64 i = 0; i < count; ++i) {
            const double x = from[i];
            to[0][code[0][i]] += x;
            to[1][code[1][i]] += x;
            to[2][code[2][i]] += x;
            to[3][code[3][i]] += x;
        }
    }
    for (; v < n_tables; ++v) {
        const i32* one = codes(v);
        double* to = table + start(v);
        for (i64 i = 0; i < count; ++i) to[one[i]] += from[i];
    }
}

}  // namespace tally::TALLY_ISA
