// Counting and scoring compressed sparse rows of counts, such as documents by tokens.
//
// IN: matrix (n, F) in CSR, indptr not necessarily starting at 0; classes (n,). OUT: counts (C, F) or out (n, C), lengths (n,).
// The caller guarantees only that the arrays have their stated lengths: row bounds, column indices, classes and weights
// are checked here, as they are read. Cost: counting O(entries + C * F), never O(entries * C). Exact counting visits
// documents class by class, so one class's counters stay in cache. Scoring adds C numbers per entry; the sum of each row
// comes with it.
// Twins: reference.count_sparse, reference.score_sparse.
#pragma once

#include <type_traits>

#include "exact/limbs.hpp"
#include "dense/simd.hpp"

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

// Prefetch the entries of a row that is read soon: in class order, rows are far from each other in memory.
template <class Index, class Entry>
inline void fetch_row(const Sparse& matrix, const i64* order, i64 j) {
    if (j >= matrix.n_rows) return;
    const Span span = row_span(matrix, order[j]);
    const i64 length = span.ok ? smaller<i64>(span.to - span.from, 512) : 0;
    const char* indices = matrix.indices.base + span.from * static_cast<i64>(sizeof(Index));
    const char* data = matrix.data.base + span.from * static_cast<i64>(sizeof(Entry));
    for (i64 b = 0; b < length * static_cast<i64>(sizeof(Index)); b += 64) prefetch(indices + b);
    for (i64 b = 0; b < length * static_cast<i64>(sizeof(Entry)); b += 64) prefetch(data + b);
}

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

inline bool bad_entry(double x) { return !(x >= 0.0) || is_infinite(x); }
inline bool bad_entry(float x) { return bad_entry(static_cast<double>(x)); }
inline bool bad_entry(i64 x) { return x < 0; }
inline bool bad_entry(i32 x) { return x < 0; }

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

// Return what an entry adds to a plain counter: an integer in [0, 2^31), or presence. For any other entry set a
// bit of `odd`. There are no branches, so the compiler can vectorise the loop.
inline u64 whole(double x, u64& odd) {
    constexpr double kUnits = 4503599627370496.0;  // 2^52: adding it rounds x to an integer in the low bits
    const double sum = x + kUnits;
    const u64 value = bits_of(sum) ^ bits_of(kUnits);
    odd |= (value >> 31) | static_cast<u64>(sum - kUnits != x);
    return value;
}
inline u64 whole(float x, u64& odd) { return whole(static_cast<double>(x), odd); }
inline u64 whole(i64 x, u64& odd) {
    odd |= static_cast<u64>(x) >> 31;
    return static_cast<u64>(x);
}
inline u64 whole(i32 x, u64& odd) { return whole(static_cast<i64>(x), odd); }

template <bool Binary, class Entry>
inline u64 plain(Entry x, u64& odd) {
    if constexpr (!Binary) return whole(x, odd);
    odd |= static_cast<u64>(bad_entry(x));
    return static_cast<u64>(x > 0);
}

// Counters without weights, for integer entries below 2^31 or for presence; no sum can overflow before 2^32 entries.
//
// Entries are read in memory order and packed into one word each, column and value. If the counters of all classes are
// too many for the cache, half a million words at a time are sorted by class, and the classes are counted one after the
// other in 16-bit counters that carry into the full ones. (Two alternatives take twice the time: visiting rows class by
// class, because they are on pages far from each other; and full counters, because for a hundred thousand columns they
// exceed the second-level cache.)
template <class Index, class Entry, bool Binary>
class PlainCounter {
public:
    PlainCounter(const CountSparseTask& task, i64* counters)
        : task_(task), F_(task.matrix.n_columns), C_(task.n_classes), counters_(counters),
          direct_(C_ * F_ <= kCached || task.matrix.n_entries < C_ * F_), words_(direct_ ? kBlock : kChunk),
          small_(direct_ ? 0 : C_ * F_), starts_(C_ + 1), ends_(C_) {}

    // Return false if an entry is not plain or there is a fault; the caller then discards the counters.
    bool run() {
        const Sparse& matrix = task_.matrix;
        if (matrix.n_entries >= i64{1} << 32 || F_ > i64{1} << 32) return false;
        for (i64 row = 0, stop; row < matrix.n_rows; row = stop) {
            i64 entries = 0;
            for (stop = row; stop < matrix.n_rows; ++stop) {
                const Span span = row_span(matrix, stop);
                if (!span.ok) return false;
                if (stop > row && entries + (span.to - span.from) > kChunk) break;
                entries += span.to - span.from;
            }
            // a row longer than a chunk has one class, so sorting does not help
            if (!(direct_ || entries > kChunk ? count_rows(row, stop) : deal_rows(row, stop))) return false;
        }
        if (!direct_) {
            for (i64 cell = 0; cell < C_ * F_; ++cell) counters_[cell] += small_[cell];
        }
        return true;
    }

private:
    static constexpr i64 kCached = 1 << 16;  // counters that stay in the second-level cache
    static constexpr i64 kChunk = 1 << 19;   // entries
    static constexpr i64 kBlock = 1 << 9;    // entries whose words stay in the first-level cache

    // Pack entries [from, to): column in the lower half, value in the upper. Return false if an entry is not plain.
    bool words_of(i64 from, i64 to, u64* words) const {
        using Unsigned = std::make_unsigned_t<Index>;
        const auto* indices = reinterpret_cast<const Unsigned*>(task_.matrix.indices.base);
        const auto* data = reinterpret_cast<const Entry*>(task_.matrix.data.base);
        constexpr Unsigned kNegative = ~Unsigned{0} / 2 + 1;  // indices from here on are negative as signed numbers
        const Unsigned end = static_cast<u64>(F_) < kNegative ? static_cast<Unsigned>(F_) : kNegative;
        u64 odd = 0;
        Unsigned outside = 0;
        for (i64 k = from; k < to; ++k) {
            const Unsigned f = indices[k];
            outside |= static_cast<Unsigned>(f >= end);
            words[k - from] = static_cast<u64>(f) | plain<Binary>(data[k], odd) << 32;
        }
        return (odd | outside) == 0;
    }

    bool count_rows(i64 row, i64 stop) {
        for (; row < stop; ++row) {
            const Span span = row_span(task_.matrix, row);
            const i64 c = task_.classes[row];
            if (!span.ok || c < 0 || c >= C_) return false;
            i64* const counter = counters_ + c * F_;
            for (i64 from = span.from, to; from < span.to; from = to) {
                to = smaller(from + kBlock, span.to);
                if (!words_of(from, to, words_.get())) return false;
                for (i64 k = 0; k < to - from; ++k) counter[words_[k] & kDigit] += static_cast<i64>(words_[k] >> 32);
            }
        }
        return true;
    }

    bool deal_rows(i64 row, i64 stop) {
        Scratch<i32> classes(stop - row);
        for (i64 c = 0; c <= C_; ++c) starts_[c] = 0;
        for (i64 i = row; i < stop; ++i) {
            const Span span = row_span(task_.matrix, i);
            const i32 c = task_.classes[i];
            if (!span.ok || c < 0 || c >= C_) return false;
            classes[i - row] = c;
            starts_[c + 1] += span.to - span.from;
        }
        for (i64 c = 0; c < C_; ++c) starts_[c + 1] += starts_[c];
        if (starts_[C_] > kChunk) return false;
        for (i64 c = 0; c < C_; ++c) ends_[c] = starts_[c];
        for (i64 i = row; i < stop; ++i) {
            const i64 c = classes[i - row];
            const Span span = row_span(task_.matrix, i);
            // another thread may have changed indptr since rows were measured: never write out of bounds
            if (!span.ok || span.to - span.from > starts_[c + 1] - ends_[c]) return false;
            if (!words_of(span.from, span.to, &words_[ends_[c]])) return false;
            ends_[c] += span.to - span.from;
        }
        for (i64 c = 0; c < C_; ++c) count_dealt(starts_[c], ends_[c], c * F_);
        return true;
    }

    void count_dealt(i64 from, i64 to, i64 cells) {
        constexpr i64 kAhead = 32;
        const u64* words = words_.get();
        u16* const small = small_.get() + cells;
        const auto add = [=, this](u64 word) {
            const u64 f = word & kDigit, sum = small[f] + (word >> 32);
            small[f] = static_cast<u16>(sum);
            if (sum >> 16 != 0) counters_[cells + static_cast<i64>(f)] += static_cast<i64>(sum >> 16 << 16);
        };
        i64 k = from;
        for (; k + kAhead < to; ++k) {
            prefetch(small + (words[k + kAhead] & kDigit));
            add(words[k]);
        }
        for (; k < to; ++k) add(words[k]);
    }

    const CountSparseTask& task_;
    const i64 F_, C_;
    i64* const counters_;         // (C, F)
    const bool direct_;           // few counters, or so many that most stay 0
    Scratch<u64> words_;          // entries of a chunk, class by class
    Scratch<u16> small_;          // (C, F), counts not yet in counters_
    Scratch<i64> starts_, ends_;  // of each class in words_
};

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
    if (task.weights == nullptr) {
        Scratch<i64> counters(cells);
        const bool done = task.binary ? PlainCounter<Index, Entry, true>(task, counters.get()).run()
                                      : PlainCounter<Index, Entry, false>(task, counters.get()).run();
        if (done) {
            *task.counts = {counters.release(), cells, 1, 0};
            return {};
        }
    }
    Scratch<i64> order(task.matrix.n_rows);
    Fault fault = sort_rows(task, order.get());
    if (fault.kind != FaultKind::none) return fault;
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
