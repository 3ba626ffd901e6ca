// Leave-one-out scores of sparse rows of counts: each row is first taken out of the counts of its own class.
//
// With c the class of row i and x its entry in column f, out[i] += sum over entries of x * log(counts[c, f] - x +
// alpha[f]). The other classes' scores do not change without the row: score_sparse gives them.
// IN: matrix (n, F) in CSR, indptr not necessarily starting at 0; classes (n,); counts (C, F); alpha (F,). The caller
// guarantees only that the arrays have their stated lengths. A logarithm of 0 is -inf, of less NaN; an entry of 0 adds
// nothing. OUT: out (n,), added to. Cost: a logarithm per entry, four at a time. Twin: reference.leave_sparse.
#pragma once

#include "dense/elementary.hpp"
#include "sparse/count_and_score.hpp"

namespace tally::TALLY_ISA {

// log(x) for any x: -inf for 0, NaN below it. Below the least normal double, that of 2^54 * x is taken.
inline double logarithm_of_any(double x) {
    constexpr double kLeast = 0x1p-1022, kRaise = 0x1p54, kRaised = 54.0;
    if (x >= kLeast) return logarithm(x);
    if (x > 0.0) return logarithm(x * kRaise) - kRaised * (kLn2High + kLn2Low);
    return double_of(x == 0.0 ? u64{0xFFF} << 52 : u64{0x7FF8} << 48);
}

template <class Index, class Entry>
inline Fault leave_sparse_typed(const LeaveSparseTask& task) {
    constexpr i64 kAhead = 16;  // entries ahead: the counts of a column are seldom in cache
    constexpr i64 kBlock = 64;  // entries read before their logarithms are taken, or these would wait for each store
    double times[kBlock], left[kBlock];
    const Sparse& matrix = task.matrix;
    const i64 C = task.n_classes;
    const auto* indices = reinterpret_cast<const Index*>(matrix.indices.base);
    const auto* data = reinterpret_cast<const Entry*>(matrix.data.base);
    const u64 F = static_cast<u64>(matrix.n_columns);
    const F4 least = all(0x1p-1022), most = all(0x1.fffffffffffffp1023);
    for (i64 i = 0; i < matrix.n_rows; ++i) {
        const Span span = row_span(matrix, i);
        if (!span.ok) return {FaultKind::bad_indptr, i, 0, 0.0};
        const i64 c = task.classes[i];
        if (c < 0 || c >= C) return {FaultKind::bad_class, i, 0, static_cast<double>(c)};
        const i64* const counts = task.counts + c * matrix.n_columns;
        F4 sum = all(0.0);
        for (i64 from = span.from; from < span.to; from += kBlock) {
            const i64 count = smaller(kBlock, span.to - from);
            for (i64 k = 0; k < count; ++k) {
                const i64 at = from + k;
                if (F > 0 && at + kAhead < matrix.n_entries) {
                    const u64 next = static_cast<u64>(static_cast<i64>(indices[at + kAhead]));
                    prefetch(counts + static_cast<i64>(next < F ? next : 0));
                }
                const u64 f = static_cast<u64>(static_cast<i64>(indices[at]));
                if (f >= F) return {FaultKind::bad_index, i, static_cast<i64>(f), 0.0};
                times[k] = static_cast<double>(data[at]);
                // an entry of 0 adds 0 times the logarithm of 1, whatever its column's count
                left[k] = times[k] == 0.0 ? 1.0 : static_cast<double>(counts[f]) - times[k] + task.alpha[f];
            }
            for (i64 k = count; k % 4 != 0; ++k) {
                times[k] = 0.0;
                left[k] = 1.0;
            }
            for (i64 k = 0; k < count; k += 4) {
                const F4 v = load(left + k);
                if (lanes(either(less(v, least), not_at_most(v, most))) != 0)
                    for (i64 lane = k; lane < k + 4; ++lane) left[lane] = logarithm_of_any(left[lane]);
                else
                    store(left + k, logarithm(v));
                sum = sum + load(times + k) * load(left + k);
            }
        }
        task.out[i] += total_of(sum);
    }
    return {};
}

inline Fault leave_sparse(const LeaveSparseTask& task) {
    return with_index_type(task.matrix.indices.type, [&](auto index) {
        return with_entry_type(task.matrix.data.type, [&](auto entry) {
            return leave_sparse_typed<decltype(index), decltype(entry)>(task);
        });
    });
}

}  // namespace tally::TALLY_ISA
