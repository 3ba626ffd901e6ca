// Hashes of sparse rows: the sums of their entries' hashes (see dense/hash.hpp).
//
// IN: matrix (n, F) in CSR with one seed. OUT: out (n,), added to, modulo 2^64. An entry of 0 adds nothing. The caller
// guarantees only stated lengths: row bounds are checked here. Cost: some thirty operations on four entries. Twin:
// reference.hash_sparse.
#pragma once

#include "dense/hash.hpp"
#include "sparse/rows.hpp"

namespace tally::TALLY_ISA {

template <class Integer>
inline F4 load_four(const Integer* x) {
    const double four[4] = {static_cast<double>(x[0]), static_cast<double>(x[1]), static_cast<double>(x[2]),
                            static_cast<double>(x[3])};
    return load(four);
}

// Return the sum of the hashes of entries [from, to); an entry of 0 adds nothing.
template <class Index, class Entry>
inline u64 hash_entries(const Index* indices, const Entry* data, i64 from, i64 to, u64 seed) {
    const I4 seeds = all(static_cast<i64>(seed));
    const F4 zero = all(0.0);
    I4 sums = all(i64{0});
    i64 k = from;
    for (; k + 4 <= to; k += 4) {
        const F4 x = load_four(data + k), some = either(less(x, zero), not_at_most(x, zero));
        sums = sums + bits(keep(some, doubles(hash_cells(x, mixed(load(indices + k), seeds)))));
    }
    u64 sum = sum_of(sums);
    for (; k < to; ++k) {
        const double x = static_cast<double>(data[k]);
        if (x != 0.0) sum += hash_cell(x, mixed(static_cast<u64>(indices[k]), seed));
    }
    return sum;
}

// Adds the hashes of rows one after the other, such as while another loop has them in a cache.
template <class Index, class Entry>
class SparseHasher {
public:
    SparseHasher(const Sparse& matrix, u64 seed, u64* out)
        : matrix_(matrix), indices_(reinterpret_cast<const Index*>(matrix.indices.base)),
          data_(reinterpret_cast<const Entry*>(matrix.data.base)), seed_(seed ^ kColumnKey), out_(out) {}

    bool wanted() const { return out_ != nullptr; }
    u64 seed() const { return seed_; }

    // Return the hash of entries whose bounds are checked.
    u64 of(i64 from, i64 to) const { return hash_entries(indices_, data_, from, to, seed_); }

    // Add the hash of the next row.
    void add(u64 hash) {
        if (wanted()) out_[next_++] += hash;
    }

    // Add the hashes of the rows that are left.
    Fault finish() {
        while (wanted() && next_ < matrix_.n_rows) {
            const Span span = row_span(matrix_, next_);
            if (!span.ok) return {FaultKind::bad_indptr, next_, 0, 0.0};
            add(of(span.from, span.to));
        }
        return {};
    }

private:
    const Sparse& matrix_;
    const Index* const indices_;
    const Entry* const data_;
    const u64 seed_;
    u64* const out_;
    i64 next_ = 0;
};

inline Fault hash_sparse(const HashSparseTask& task) {
    return with_index_type(task.matrix.indices.type, [&](auto index) {
        return with_entry_type(task.matrix.data.type, [&](auto entry) {
            return SparseHasher<decltype(index), decltype(entry)>(task.matrix, task.seed, task.out).finish();
        });
    });
}

}  // namespace tally::TALLY_ISA
