// Compressed sparse rows as kernels read them: their types, and the bounds of a row, checked as they are read.
#pragma once

#include "dense/scratch.hpp"

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

// Row bounds are of 32 or 64 bits; for any integers this would be too large for compilers to inline.
inline i64 row_bound(const Column& indptr, i64 i) {
    return indptr.type == Type::i32 ? i64{element<i32>(indptr, i)} : element<i64>(indptr, i);
}

inline Span row_span(const Sparse& matrix, i64 i) {
    const i64 from = row_bound(matrix.indptr, i), to = row_bound(matrix.indptr, i + 1);
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

}  // namespace tally::TALLY_ISA
