// Python bindings of the sparsity patterns, of ranges and of sums by cell. kernels/sparse_pattern.py and
// kernels/cell_sums.py are the only callers.
#include "bind/give.hpp"
#include "sparse/cell_sums.hpp"
#include "sparse/pattern.hpp"
#include "sparse/ranges.hpp"

namespace tally {

namespace {

using std::int32_t;
using std::int64_t;

class PlacesBuffer {
public:
    PlacesBuffer(nb::handle starts, nb::handle rows, bool left) : starts_(starts, "starts"), rows_(rows, "rows") {
        starts_.need_axes(1);
        rows_.need_axes(1);
        view = {starts_.all<const int64_t>(Type::i64, "int64"), rows_.all<const int32_t>(Type::i32, "int32"),
                starts_.size(0) - 1, rows_.size(0), left};
        if (view.n_columns < 0) refuse("starts", "one more than there are columns", "none");
    }
    sparse::Places view{};

private:
    Buffer starts_, rows_;
};

template <class Run>
void unlocked(Run run) {
    try {
        const nb::gil_scoped_release unlocked;
        run();
    } catch (const sparse::BadPlaces& fault) {
        refuse(fault.left ? "left" : "right", "entries that rise within columns end to end",
               "others, column " + std::to_string(fault.column));
    }
}

nb::tuple join_places(nb::handle starts, nb::handle rows, nb::handle other_starts, nb::handle other_rows) {
    const PlacesBuffer left(starts, rows, true), right(other_starts, other_rows, false);
    if (left.view.n_columns != right.view.n_columns) refuse("right", "as many columns as left has", "others");
    sparse::Union out;
    unlocked([&] { out = sparse::join(left.view, right.view); });
    return nb::make_tuple(give(out.starts), give(out.rows), give(out.from_left), give(out.from_right));
}

nb::object find_places(nb::handle starts, nb::handle rows, nb::handle of_rows, nb::handle of_columns) {
    const PlacesBuffer places(starts, rows, true);
    const Buffer at(of_rows, "of_rows"), on(of_columns, "of_columns");
    at.need_axes(1);
    on.need_axes(1);
    on.need_length(at.size(0));
    const sparse::Cells cells{at.all<const int64_t>(Type::i64, "int64"), on.all<const int64_t>(Type::i64, "int64"),
                                 at.size(0)};
    text::Growing<int64_t> out(cells.n);
    bool inside = false;
    unlocked([&] { inside = sparse::find(places.view, cells, out.data()); });
    if (!inside) refuse("of_columns", "columns that there are", "others");
    return give(out);
}

void copy_ranges(nb::handle values, nb::handle starts, nb::handle lengths, nb::handle out) {
    const Buffer from(values, "values"), first(starts, "starts"), count(lengths, "lengths"), to(out, "out", true);
    for (const Buffer* one : {&from, &first, &count, &to}) {
        one->need_axes(1);
        one->need_contiguous();
    }
    to.need_type(to.type() == from.type(), "the type of the values");
    count.need_length(first.size(0));
    const sparse::CopyRangesTask task{from.base(), from.size(0), size_of(from.type()),
                                      first.all<const int64_t>(Type::i64, "int64"),
                                      count.all<const int64_t>(Type::i64, "int64"), first.size(0),
                                      const_cast<char*>(to.base()), to.size(0)};
    bool inside = false;
    unlocked([&] { inside = sparse::copy_ranges(task); });
    if (!inside) refuse("starts", "ranges of the values that fill out", "others");
}

// The length of an array of one axis, after checking that there is one.
int64_t length_of(const Buffer& buffer) {
    buffer.need_axes(1);
    return buffer.size(0);
}

void sum_cells(nb::handle starts, nb::handle columns, nb::handle times, nb::handle table, nb::handle cells,
               nb::handle at, nb::handle out) {
    const Buffer first(starts, "starts"), column(columns, "columns"), weight(times, "times"), cell(cells, "cells"),
        row(at, "at"), to(out, "out", true);
    to.need_axes(3);
    const Matrix terms(table, "table", length_of(cell), to.size(2));
    const int64_t n_rows = length_of(row), n_entries = length_of(column);
    if (length_of(first) != n_rows + 1) refuse("starts", "one number more than rows", "others");
    if (length_of(weight) != n_entries) refuse("times", "one number for each entry", "others");
    const sparse::CellSumsTask task{first.all<const int64_t>(Type::i64, "int64"), n_rows,
                                    column.all<const int64_t>(Type::i64, "int64"),
                                    weight.all<const double>(Type::f64, "float64"), n_entries, terms.data,
                                    cell.all<const int64_t>(Type::i64, "int64"), cell.size(0),
                                    need_count(to.size(2), "classes"), need_count(to.size(0), "cells"),
                                    row.all<const int64_t>(Type::i64, "int64"),
                                    to.all<float>(Type::f32, "float32"), to.size(1)};
    bool inside = false;
    unlocked([&] { inside = sparse::CellSums(task).run(); });
    if (!inside) refuse("columns", "entries, cells and rows that there are", "others");
}

}  // namespace

void bind_sparse_pattern(nb::module_& m) {
    m.def("join_places", &join_places);
    m.def("find_places", &find_places);
    m.def("copy_ranges", &copy_ranges);
    m.def("sum_cells", &sum_cells);
}

}  // namespace tally
