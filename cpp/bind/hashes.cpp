// Python bindings of the row hashes.
#include "bind/buffers.hpp"

namespace tally {

std::vector<std::int64_t> offsets_of(nb::handle sizes, std::int64_t n_columns);
std::int64_t need_low(std::int64_t low);
Sparse sparse_view(const Buffer& indptr, const Buffer& indices, const Buffer& data, std::int64_t n_columns);

namespace {

void hash_dense(nb::handle columns, nb::handle seeds, nb::handle out) {
    const Words to(out, "out", -1, true);
    const TableBuffer table(columns, to.size(0), true);
    const Words each(seeds, "seeds", table.table().n_columns);
    run(&Kernels::hash_dense, HashDenseTask{table.table(), each.data, to.data});
}

std::int64_t hash_codes(nb::handle columns, nb::handle hashes, nb::handle sizes, nb::handle out, std::int64_t low) {
    const Words to(out, "out", -1, true);
    const TableBuffer codes(columns, to.size(0), false);
    const auto offsets = offsets_of(sizes, codes.table().n_columns);
    const Words values(hashes, "hashes", offsets.back());
    std::int64_t outside = 0;
    run(&Kernels::hash_codes,
        HashCodesTask{codes.table(), values.data, offsets.data(), need_low(low), to.data, &outside});
    return outside;
}

void hash_sparse(nb::handle indptr, nb::handle indices, nb::handle data, std::int64_t n_columns, std::int64_t seed,
                 nb::handle out) {
    const Words to(out, "out", -1, true);
    const Buffer starts(indptr, "indptr"), index(indices, "indices"), entries(data, "data");
    const Sparse matrix = sparse_view(starts, index, entries, n_columns);
    to.need_length(matrix.n_rows);
    run(&Kernels::hash_sparse, HashSparseTask{matrix, static_cast<std::uint64_t>(seed), to.data});
}

void mix_words(nb::handle words) {
    const Words all(words, "words", -1, true);
    run(&Kernels::mix_words, MixWordsTask{all.data, all.size(0)});
}

}  // namespace

void bind_hashes(nb::module_& m) {
    m.def("hash_dense", &hash_dense);
    m.def("hash_codes", &hash_codes);
    m.def("hash_sparse", &hash_sparse);
    m.def("mix_words", &mix_words);
}

}  // namespace tally
