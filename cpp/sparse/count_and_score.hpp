// Counting and scoring compressed sparse rows of counts, such as documents by tokens.
//
// IN: matrix (n, F) in CSR, indptr not necessarily starting at 0; classes (n,). OUT: counts (C, F) or out (n, C), lengths (n,);
// with a seed, the hashes of the rows are added to hashes (n,), as by sparse/hash.hpp, while their entries are in a cache.
// The caller guarantees only that the arrays have their stated lengths: row bounds, column indices, classes and weights
// are checked here, as they are read. Cost: counting O(entries + C * F), never O(entries * C). Exact counting visits
// documents class by class, so one class's counters stay in cache. Scoring adds C numbers per entry; the sum of each row
// comes with it.
// Twins: reference.count_sparse, reference.score_sparse.
#pragma once

#include "exact/limbs.hpp"
#include "dense/simd.hpp"
#include "sparse/plain_counter.hpp"

namespace tally::TALLY_ISA {

// Sort rows by class. OUT order (n,).
inline Fault sort_rows(const CountSparseTask& task, i64* order) {
    const i64 n = task.matrix.n_rows, C = task.n_classes;
    Scratch<i32> local(n);
    Scratch<i64> starts(C + 1);
    for (i64 i = 0; i < n; ++i) {
        const i32 c = task.classes[i];
        if (c < 0 || c >= C) return {FaultKind::bad_class, i, 0, static_cast<double>(c)};
        local[i] = c;
        ++starts[c + 1];
    }
    for (i64 c = 0; c < C; ++c) starts[c + 1] += starts[c];
    for (i64 i = 0; i < n; ++i) order[starts[local[i]]++] = i;
    return {};
}

// Return the first fault of the matrix in row order, or none. Reads every entry.
template <class Index, class Entry>
inline Fault check_entries(const CountSparseTask& task) {
    const Sparse& matrix = task.matrix;
    for (i64 i = 0; i < matrix.n_rows; ++i) {
        const Span span = row_span(matrix, i);
        if (!span.ok) return {FaultKind::bad_indptr, i, 0, 0.0};
        for (i64 k = span.from; k < span.to; ++k) {
            const i64 f = element<Index>(matrix.indices, k);
            if (f < 0 || f >= matrix.n_columns) return {FaultKind::bad_index, i, f, 0.0};
            const Entry x = element<Entry>(matrix.data, k);
            if (bad_entry(x)) return {FaultKind::bad_entry, i, f, static_cast<double>(x)};
        }
    }
    return {};
}

template <class Index, class Entry>
inline Fault count_exact(const CountSparseTask& task, const i64* order) {
    const Sparse& matrix = task.matrix;
    constexpr i64 kAhead = 8;  // entries
    LimbArray counts(task.n_classes * matrix.n_columns);
    i64 since = 0;
    for (i64 j = 0; j < matrix.n_rows; ++j) {
        const i64 i = order[j], c = task.classes[i];
        const Span span = row_span(matrix, i);
        if (!span.ok) return {FaultKind::bad_indptr, i, 0, 0.0};
        if (c < 0 || c >= task.n_classes) return {FaultKind::bad_class, i, 0, static_cast<double>(c)};
        const double weight = task.weights == nullptr ? 1.0 : task.weights[i];
        if (!(weight >= 0.0) || is_infinite(weight)) return {FaultKind::bad_weight, i, 0, weight};
        const Parts w = parts_of(weight);
        fetch_row<Index, Entry>(matrix, order, j + 4);
        for (i64 k = span.from; k < span.to; ++k) {
            const i64 f = element<Index>(matrix.indices, k);
            if (k + kAhead < span.to) {
                const i64 next = element<Index>(matrix.indices, k + kAhead);
                if (next >= 0 && next < matrix.n_columns) counts.fetch(c * matrix.n_columns + next);
            }
            const Entry x = element<Entry>(matrix.data, k);
            if (f < 0 || f >= matrix.n_columns) return {FaultKind::bad_index, i, f, 0.0};
            if (bad_entry(x)) return {FaultKind::bad_entry, i, f, static_cast<double>(x)};
            const i64 cell = c * matrix.n_columns + f;
            const Parts p = task.binary ? Parts{x > 0 ? u64{1} : u64{0}, 0, false} : parts_of(x);
            if (task.weights == nullptr) {
                counts.add(cell, p.mantissa, p.exponent, false);
            } else if (p.mantissa != 0 && w.mantissa != 0) {
                const Pair product = multiply(p.mantissa, w.mantissa);
                counts.add_words(cell, {product.low, product.high}, p.exponent + w.exponent, false);
            }
            if (++since == kRowsPerSettle) {
                counts.settle();
                since = 0;
            }
        }
    }
    counts.finish(*task.counts);
    return {};
}

template <class Index, class Entry>
inline Fault count_sparse_typed(const CountSparseTask& task) {
    const i64 cells = task.n_classes * task.matrix.n_columns;
    SparseHasher<Index, Entry> hasher(task.matrix, task.seed, task.hashes);
    if (task.weights == nullptr) {
        i64* const counters = task.binary ? PlainCounter<Index, Entry, true>(task, hasher).run()
                                          : PlainCounter<Index, Entry, false>(task, hasher).run();
        if (counters != nullptr) {
            *task.counts = {counters, cells, 1, 0};
            return {};
        }
    }
    Scratch<i64> order(task.matrix.n_rows);
    Fault fault = sort_rows(task, order.get());
    if (fault.kind != FaultKind::none) return fault;
    fault = check_entries<Index, Entry>(task);
    if (fault.kind != FaultKind::none) return fault;
    fault = hasher.finish();
    if (fault.kind != FaultKind::none) return fault;
    return count_exact<Index, Entry>(task, order.get());
}

inline Fault count_sparse(const CountSparseTask& task) {
    const PlainArithmetic plain;
    return with_index_type(task.matrix.indices.type, [&](auto index) {
        return with_entry_type(task.matrix.data.type, [&](auto entry) {
            return count_sparse_typed<decltype(index), decltype(entry)>(task);
        });
    });
}

// Add x times a row of scores to sums in registers, or to `out` where Vectors = 0.
template <int Vectors>
inline void add_entry(double x, const double* row, i64 C, First tail, F4* sum, double* out) {
    if constexpr (Vectors == 0) {
        for (i64 c = 0; c < C; ++c) out[c] += x * row[c];
    } else {
        const F4 xs = all(x);
        for (int v = 0; v < Vectors - 1; ++v) sum[v] = sum[v] + xs * load(row + 4 * v);
        sum[Vectors - 1] = sum[Vectors - 1] + xs * load_first(row + 4 * (Vectors - 1), tail);
    }
}

// Prefetch a row of scores; with Vectors the loop has a fixed number of steps.
template <int Vectors>
inline void fetch_scores(const double* row, i64 C) {
    const i64 end = Vectors == 0 ? C : 4 * Vectors - 3;
    for (i64 c = 0; c < end; c += 8) prefetch(row + c);
    prefetch(row + C - 1);
}

// Vectors = 0 serves any number of classes.
template <class Index, class Entry, int Vectors>
inline Fault score_sparse_typed(const ScoreSparseTask& task) {
    constexpr i64 kAhead = 40;  // entries ahead: enough time to load a row of scores from the third-level cache
    const Sparse& matrix = task.matrix;
    const i64 C = task.n_classes;
    const auto* indices = reinterpret_cast<const Index*>(matrix.indices.base);
    const auto* data = reinterpret_cast<const Entry*>(matrix.data.base);
    const u64 F = static_cast<u64>(matrix.n_columns);
    const First tail = first(Vectors == 0 ? 0 : C - 4 * (Vectors - 1));
    constexpr int N = Vectors == 0 ? 1 : Vectors;
    for (i64 i = 0; i < matrix.n_rows; ++i) {
        const Span span = row_span(matrix, i);
        if (!span.ok) return {FaultKind::bad_indptr, i, 0, 0.0};
        double* const out = task.out + i * C;
        double length = 0.0;
        F4 sum[N];
        for (int k = 0; k < N; ++k) sum[k] = all(0.0);
        for (i64 k = span.from; k < span.to; ++k) {
            const u64 f = static_cast<u64>(static_cast<i64>(indices[k]));
            if (f >= F) return {FaultKind::bad_index, i, static_cast<i64>(f), 0.0};
            const u64 next = static_cast<u64>(static_cast<i64>(indices[smaller(k + kAhead, matrix.n_entries - 1)]));
            fetch_scores<Vectors>(task.scores + static_cast<i64>(next < F ? next : 0) * C, C);
            const double x = static_cast<double>(data[k]);
            length += x;
            // an explicit zero times a log of zero would be NaN
            if (x != 0.0) add_entry<Vectors>(x, task.scores + static_cast<i64>(f) * C, C, tail, sum, out);
        }
        if (task.lengths != nullptr) task.lengths[i] = length;
        if constexpr (Vectors != 0) {
            for (int v = 0; v < N - 1; ++v) store(out + 4 * v, load(out + 4 * v) + sum[v]);
            double* last = out + 4 * (N - 1);
            store_first(last, tail, load_first(last, tail) + sum[N - 1]);
        }
    }
    return {};
}

inline Fault score_sparse(const ScoreSparseTask& task) {
    return with_index_type(task.matrix.indices.type, [&](auto index) {
        return with_entry_type(task.matrix.data.type, [&](auto entry) {
            using Index = decltype(index);
            using Entry = decltype(entry);
            switch ((task.n_classes + 3) / 4) {
                case 1: return score_sparse_typed<Index, Entry, 1>(task);
                case 2: return score_sparse_typed<Index, Entry, 2>(task);
                case 3: return score_sparse_typed<Index, Entry, 3>(task);
                case 4: return score_sparse_typed<Index, Entry, 4>(task);
                case 5: return score_sparse_typed<Index, Entry, 5>(task);
                default: return score_sparse_typed<Index, Entry, 0>(task);
            }
        });
    });
}

}  // namespace tally::TALLY_ISA
