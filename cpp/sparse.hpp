// Counting and scoring compressed sparse rows of counts, such as documents by tokens.
//
// IN: matrix (n, F) in CSR, indptr not necessarily starting at 0; classes (n,). The caller guarantees only that the
// arrays have their stated lengths: row bounds, column indices, classes and weights are checked here, as they are read.
// Cost: O(entries + C * F), never O(entries * C). Counting visits documents class by class, so that one class's
// counters stay in cache. Twins: reference.count_sparse, reference.score_sparse.
#pragma once

#include "limbs.hpp"
#include "simd.hpp"

namespace tally::TALLY_ISA {

template <class Visitor>
inline Fault with_index_type(Type type, Visitor visit) {
    return type == Type::i32 ? visit(i32{}) : visit(i64{});
}

template <class Visitor>
inline Fault with_entry_type(Type type, Visitor visit) {
    switch (type) {
        case Type::f64: return visit(double{});
        case Type::f32: return visit(float{});
        case Type::i32: return visit(i32{});
        default: return visit(i64{});
    }
}

struct Span {
    i64 from, to;
    bool ok;
};

inline Span row_span(const Sparse& matrix, i64 i) {
    const i64 from = integer_element(matrix.indptr, i), to = integer_element(matrix.indptr, i + 1);
    return {from, to, from >= 0 && from <= to && to <= matrix.n_entries};
}

// Rows in order of class, to order (n,).
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

// Whether x is a whole number in [0, 2^31), and which.
inline bool whole(double x, i64& value) {
    if (!(x >= 0.0 && x < 2147483648.0)) return false;
    value = static_cast<i64>(x);
    return static_cast<double>(value) == x;
}
inline bool whole(float x, i64& value) { return whole(static_cast<double>(x), value); }
inline bool whole(i64 x, i64& value) {
    value = x;
    return x >= 0 && x < (i64{1} << 31);
}
inline bool whole(i32 x, i64& value) {
    value = x;
    return x >= 0;
}

inline bool bad_entry(double x) { return !(x >= 0.0) || is_infinite(x); }
inline bool bad_entry(float x) { return bad_entry(static_cast<double>(x)); }
inline bool bad_entry(i64 x) { return x < 0; }
inline bool bad_entry(i32 x) { return x < 0; }

// The first thing wrong with the matrix, in row order; none if all is well. Looks at every entry.
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

// Entries are whole numbers and weights absent: counters (C, F) of 64 bits cannot overflow before 2^32 entries.
// False if something else was met; the counters are then to be thrown away.
template <class Index, class Entry, bool Binary>
inline bool count_whole(const CountSparseTask& task, const i64* order, i64* counters) {
    const Sparse& matrix = task.matrix;
    if (matrix.n_entries >= i64{1} << 32) return false;
    const auto* indices = reinterpret_cast<const Index*>(matrix.indices.base);
    const auto* data = reinterpret_cast<const Entry*>(matrix.data.base);
    const u64 F = static_cast<u64>(matrix.n_columns);
    for (i64 j = 0; j < matrix.n_rows; ++j) {
        const i64 i = order[j], c = task.classes[i];
        const Span span = row_span(matrix, i);
        if (!span.ok || c < 0 || c >= task.n_classes) return false;
        i64* const counter = counters + c * matrix.n_columns;
        if (j + 4 < matrix.n_rows) {
            const i64 ahead = integer_element(matrix.indptr, order[j + 4]);
            prefetch(matrix.indices.base + ahead * static_cast<i64>(sizeof(Index)));
            prefetch(matrix.data.base + ahead * static_cast<i64>(sizeof(Entry)));
        }
        for (i64 k = span.from; k < span.to; ++k) {
            i64 value;
            const u64 f = static_cast<u64>(static_cast<i64>(indices[k]));
            if (f >= F || !whole(data[k], value)) return false;
            counter[f] += Binary ? (value > 0 ? 1 : 0) : value;
        }
    }
    return true;
}

template <class Index, class Entry>
inline Fault count_exact(const CountSparseTask& task, const i64* order) {
    const Sparse& matrix = task.matrix;
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
        for (i64 k = span.from; k < span.to; ++k) {
            const i64 f = element<Index>(matrix.indices, k);
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
    Scratch<i64> order(task.matrix.n_rows);
    Fault fault = sort_rows(task, order.get());
    if (fault.kind != FaultKind::none) return fault;
    if (task.weights == nullptr) {
        Scratch<i64> counters(cells);
        const bool done = task.binary ? count_whole<Index, Entry, true>(task, order.get(), counters.get())
                                      : count_whole<Index, Entry, false>(task, order.get(), counters.get());
        if (done) {
            *task.counts = {counters.release(), cells, 1, 0};
            return {};
        }
    }
    fault = check_entries<Index, Entry>(task);
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

// Vectors = 0: any number of classes.
template <class Index, class Entry, int Vectors>
inline Fault score_sparse_typed(const ScoreSparseTask& task) {
    constexpr i64 kAhead = 8;  // entries: long enough for a row of scores to come from the third-level cache
    const Sparse& matrix = task.matrix;
    const i64 C = task.n_classes;
    const auto* indices = reinterpret_cast<const Index*>(matrix.indices.base);
    const auto* data = reinterpret_cast<const Entry*>(matrix.data.base);
    const u64 F = static_cast<u64>(matrix.n_columns);
    const First tail = first(Vectors == 0 ? 0 : C - 4 * (Vectors - 1));
    for (i64 i = 0; i < matrix.n_rows; ++i) {
        const Span span = row_span(matrix, i);
        if (!span.ok) return {FaultKind::bad_indptr, i, 0, 0.0};
        double* const out = task.out + i * C;
        constexpr int N = Vectors == 0 ? 1 : Vectors;
        F4 sum[N];
        for (int k = 0; k < N; ++k) sum[k] = all(0.0);
        for (i64 k = span.from; k < span.to; ++k) {
            if (k + kAhead < matrix.n_entries) {
                const char* ahead = reinterpret_cast<const char*>(task.scores + static_cast<i64>(indices[k + kAhead]) * C);
                for (i64 b = 0; b < C * 8; b += 64) prefetch(ahead + b);
            }
            const u64 f = static_cast<u64>(static_cast<i64>(indices[k]));
            if (f >= F) return {FaultKind::bad_index, i, static_cast<i64>(f), 0.0};
            const double x = static_cast<double>(data[k]);
            if (x == 0.0) continue;  // an explicit zero times a log of zero would be NaN
            const double* row = task.scores + static_cast<i64>(f) * C;
            if constexpr (Vectors == 0) {
                for (i64 c = 0; c < C; ++c) out[c] += x * row[c];
            } else {
                const F4 xs = all(x);
                for (int v = 0; v < N - 1; ++v) sum[v] = multiply_add(xs, load(row + 4 * v), sum[v]);
                sum[N - 1] = multiply_add(xs, load_first(row + 4 * (N - 1), tail), sum[N - 1]);
            }
        }
        if constexpr (Vectors != 0) {
            for (int v = 0; v < N - 1; ++v) store(out + 4 * v, load(out + 4 * v) + sum[v]);
            double* last = out + 4 * (N - 1);
            store_first(last, tail, load_first(last, tail) + sum[N - 1]);
        }
    }
    return {};
}

inline Fault score_sparse(const ScoreSparseTask& task) {
    if (task.n_classes == 0) return {};
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
