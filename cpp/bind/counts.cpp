// Python bindings of power_sums, count_classes, count_codes, count_pairs and count_sparse.
#include <cstring>
#include <memory>

#include "bind/buffers.hpp"
#include "codes/class_counts.hpp"

namespace tally {

namespace {

// Check that a table of one number per class and position fits into memory.
std::int64_t need_cells(std::int64_t classes, std::int64_t places) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (places != 0 && classes > most / places)
        refuse("n_classes", "at most 2^40 classes times columns", std::to_string(classes) + " classes");
    return classes * places;
}

nb::tuple power_sums(nb::handle columns, nb::handle classes, std::int64_t n_classes, int order, nb::handle weights,
                     nb::handle seeds, nb::handle out) {
    if (order != 1 && order != 2) refuse("order", "1 or 2", std::to_string(order));
    need_count(n_classes, "n_classes");
    const ClassBuffer rows(classes);
    const TableBuffer table(columns, rows.length(), true);
    const WeightBuffer weight(weights, rows.length());
    const std::int64_t F = table.table().n_columns;
    need_cells(n_classes, F);
    const HashBuffers hashes(seeds, "seeds", F, out, rows.length());
    OwnedLimbs sums[3];
    const PowerTask task{table.table(), rows.data,      n_classes,      weight.data, order == 2,
                         &sums[0].limbs, &sums[1].limbs, &sums[2].limbs, hashes.from, hashes.out};
    run(&Kernels::power_sums, task);
    return nb::make_tuple(sums[0].give(n_classes, F), sums[1].give(n_classes, F),
                          order == 2 ? nb::object(sums[2].give(n_classes, F)) : nb::none());
}

void count_classes(nb::handle classes, nb::handle out) {
    const ClassBuffer rows(classes);
    const Buffer counts(out, "out", true);
    counts.need_axes(1);
    auto* to = counts.all<std::int64_t>(Type::i64, "int64");
    std::int64_t first = 0;
    {
        const nb::gil_scoped_release unlocked;
        first = count_rows_of_classes(rows.data, rows.length(), counts.size(0), to);
    }
    if (first < rows.length()) refuse("classes", "from 0 to C - 1", std::to_string(rows.data[first]));
}

// Append the sums of an int64 array, without an object for each number; false for anything else.
bool add_sizes(nb::handle sizes, std::vector<std::int64_t>& offsets) {
    if (!PyObject_CheckBuffer(sizes.ptr())) return false;
    Py_buffer view;
    if (PyObject_GetBuffer(sizes.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return false;
    }
    const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> held(&view, PyBuffer_Release);
    const bool fits = view.ndim == 1 && view.itemsize == 8 && view.format != nullptr &&
                      (std::strcmp(view.format, "l") == 0 || std::strcmp(view.format, "q") == 0);
    if (!fits) return false;
    offsets.reserve(static_cast<std::size_t>(view.shape[0]) + 1);
    for (Py_ssize_t k = 0; k < view.shape[0]; ++k) {
        std::int64_t size;
        std::memcpy(&size, static_cast<const char*>(view.buf) + 8 * k, sizeof size);
        offsets.push_back(offsets.back() + need_count(size, "sizes"));
    }
    return true;
}

void add_each_size(nb::handle sizes, std::vector<std::int64_t>& offsets) {
    const nb::object items = nb::steal(PySequence_Tuple(sizes.ptr()));
    if (!items.is_valid()) {
        PyErr_Clear();
        refuse_type("sizes", "a sequence of integers", sizes);
    }
    offsets.reserve(nb::len(items) + 1);
    for (nb::handle item : nb::borrow<nb::tuple>(items)) {
        const nb::object index = nb::steal(PyNumber_Index(item.ptr()));
        std::int64_t size;
        if (!index.is_valid() || !nb::try_cast<std::int64_t>(index, size)) {
            PyErr_Clear();
            refuse_type("sizes", "integers", item);
        }
        offsets.push_back(offsets.back() + need_count(size, "sizes"));
    }
}

}  // namespace

// Return the running sum of `sizes`: where each column begins.
std::vector<std::int64_t> offsets_of(nb::handle sizes, std::int64_t n_columns) {
    std::vector<std::int64_t> offsets{0};
    if (!add_sizes(sizes, offsets)) add_each_size(sizes, offsets);
    if (static_cast<std::int64_t>(offsets.size()) != n_columns + 1)
        refuse("sizes", std::to_string(n_columns) + " numbers", std::to_string(offsets.size() - 1));
    return offsets;
}

// Check `low`: within 32 bits, so that differences of codes and `low` cannot overflow.
std::int64_t need_low(std::int64_t low) {
    if (low < INT32_MIN || low > INT32_MAX) refuse("low", "a number of 32 bits", std::to_string(low));
    return low;
}

Sparse sparse_view(const Buffer& indptr, const Buffer& indices, const Buffer& data, std::int64_t n_columns) {
    for (const Buffer* index : {&indptr, &indices}) {
        index->need_axes(1);
        index->need_type(index->type() == Type::i32 || index->type() == Type::i64, "int32 or int64");
        index->need_contiguous();
    }
    data.need_axes(1);
    data.need_type(is_real(data.type()) || data.type() == Type::i32 || data.type() == Type::i64,
                   "float64, float32, int32 or int64");
    data.need_contiguous();
    data.need_length(indices.size(0));
    if (indptr.size(0) == 0) refuse("indptr", "one number more than rows", "none");
    return {indptr.column(), indices.column(), data.column(), indptr.size(0) - 1, n_columns, indices.size(0)};
}

namespace {

nb::tuple count_codes(nb::handle columns, nb::handle classes, std::int64_t n_classes, nb::handle sizes,
                      std::int64_t low, nb::handle weights, nb::handle hashes, nb::handle out) {
    need_count(n_classes, "n_classes");
    const ClassBuffer rows(classes);
    const TableBuffer table(columns, rows.length(), false);
    const WeightBuffer weight(weights, rows.length());
    const std::int64_t F = table.table().n_columns;
    const auto offsets = offsets_of(sizes, F);
    need_cells(n_classes, offsets.back());
    const HashBuffers values(hashes, "hashes", offsets.back(), out, rows.length());
    OwnedLimbs counts;
    auto* outside = static_cast<std::int64_t*>(std::calloc(static_cast<std::size_t>(F) + 1, sizeof(std::int64_t)));
    if (outside == nullptr) throw std::bad_alloc();
    const nb::capsule owner(outside, [](void* p) noexcept { std::free(p); });
    run(&Kernels::count_codes, CountCodesTask{table.table(), rows.data, n_classes, offsets.data(), need_low(low),
                                              weight.data, &counts.limbs, outside, values.from, values.out});
    const std::size_t shape[1] = {static_cast<std::size_t>(F)};
    return nb::make_tuple(counts.give(n_classes, offsets.back()),
                          nb::ndarray<nb::numpy, std::int64_t>(outside, 1, shape, owner));
}

// Return where the table of each pair of columns begins: the running sum of the products of their sizes.
std::vector<std::int64_t> starts_of(const std::vector<std::int64_t>& offsets, std::int64_t n_columns,
                                    std::int64_t n_classes) {
    std::vector<std::int64_t> starts{0};
    for (std::int64_t f = 0; f < n_columns; ++f)
        for (std::int64_t g = f + 1; g < n_columns; ++g) {
            // + 1 for codes outside, which the kernel counts too
            const std::int64_t rows = need_cells(n_classes, offsets[f + 1] - offsets[f] + 1);
            need_cells(rows, offsets[g + 1] - offsets[g] + 1);
            starts.push_back(starts.back() + (offsets[f + 1] - offsets[f]) * (offsets[g + 1] - offsets[g]));
            need_cells(n_classes, starts.back());
        }
    return starts;
}

nb::tuple count_pairs(nb::handle columns, nb::handle classes, std::int64_t n_classes, nb::handle sizes,
                      nb::handle weights) {
    need_count(n_classes, "n_classes");
    const ClassBuffer rows(classes);
    const TableBuffer table(columns, rows.length(), false);
    const WeightBuffer weight(weights, rows.length());
    const std::int64_t F = table.table().n_columns;
    const auto offsets = offsets_of(sizes, F);
    const auto starts = starts_of(offsets, F, n_classes);
    OwnedLimbs counts;
    run(&Kernels::count_pairs, CountPairsTask{table.table(), rows.data, n_classes, offsets.data(), starts.data(),
                                              weight.data, &counts.limbs});
    return counts.give(n_classes, starts.back());
}

nb::tuple count_sparse(nb::handle indptr, nb::handle indices, nb::handle data, std::int64_t n_columns,
                       nb::handle classes, std::int64_t n_classes, nb::handle weights, bool binary, nb::handle seeds,
                       nb::handle out) {
    need_count(n_classes, "n_classes");
    need_cells(n_classes, need_count(n_columns, "n_columns"));
    const Buffer starts(indptr, "indptr"), index(indices, "indices"), entries(data, "data");
    const ClassBuffer rows(classes);
    const Sparse matrix = sparse_view(starts, index, entries, n_columns);
    rows.need_length(matrix.n_rows);
    const WeightBuffer weight(weights, matrix.n_rows);
    const HashBuffers hashes(seeds, "seeds", 1, out, matrix.n_rows);
    OwnedLimbs counts;
    run(&Kernels::count_sparse, CountSparseTask{matrix, rows.data, n_classes, weight.data, binary, &counts.limbs,
                                                hashes.from == nullptr ? 0 : *hashes.from, hashes.out});
    return counts.give(n_classes, n_columns);
}

}  // namespace

void bind_counts(nb::module_& m) {
    m.def("power_sums", &power_sums, nb::arg("columns"), nb::arg("classes"), nb::arg("n_classes"), nb::arg("order"),
          nb::arg("weights").none(), nb::arg("seeds").none(), nb::arg("out").none());
    m.def("count_classes", &count_classes);
    m.def("count_codes", &count_codes, nb::arg("columns"), nb::arg("classes"), nb::arg("n_classes"), nb::arg("sizes"),
          nb::arg("low"), nb::arg("weights").none(), nb::arg("hashes").none(), nb::arg("out").none());
    m.def("count_pairs", &count_pairs, nb::arg("columns"), nb::arg("classes"), nb::arg("n_classes"), nb::arg("sizes"),
          nb::arg("weights").none());
    m.def("count_sparse", &count_sparse, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("n_columns"),
          nb::arg("classes"), nb::arg("n_classes"), nb::arg("weights").none(), nb::arg("binary"),
          nb::arg("seeds").none(), nb::arg("out").none());
}

}  // namespace tally
