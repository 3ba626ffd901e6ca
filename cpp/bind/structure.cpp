// Python bindings of what columns say together: cells of several columns, and distances of rows from a mean.
#include <algorithm>

#include "bind/coded.hpp"
#include "bind/owned.hpp"

namespace tally {

namespace {

using std::int64_t;

// Return where the part of each combination begins: the running sum of the products of its members' sizes.
std::vector<int64_t> cells_of(const std::vector<int64_t>& sizes, const std::vector<int64_t>& starts,
                              const int32_t* members, int64_t n_classes) {
    const int64_t most = INT32_MAX / std::max<int64_t>(n_classes, 1);
    std::vector<int64_t> offsets{0};
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
        if (starts[k] == starts[k + 1]) refuse("lengths", "a member at least", "none");
        int64_t cells = 1;
        for (int64_t m = starts[k]; m < starts[k + 1]; ++m) {
            const int64_t size = sizes[static_cast<std::size_t>(members[m])];
            if (size != 0 && cells > most / size) refuse("sizes", "a table below 2^31 numbers", "more");
            cells *= size;
        }
        if (cells > most - offsets.back()) refuse("sizes", "a table below 2^31 numbers", "more");
        offsets.push_back(offsets.back() + cells);
    }
    return offsets;
}

void score_cells(nb::handle columns, nb::handle lows, nb::handle sizes, nb::handle members, nb::handle lengths,
                 nb::handle table, nb::handle out) {
    const Matrix scores(out, "out", -1, -1, true);
    const TableBuffer codes(columns, scores.size(0), false);
    const int64_t P = codes.table().n_columns, C = scores.size(1);
    const Buffer low(lows, "lows");
    low.need_axes(1);
    low.need_length(P);
    const auto ends = offsets_of(sizes, P);
    const auto starts = offsets_of(lengths, static_cast<int64_t>(nb::len(lengths)));
    const PlaceBuffer member(members, "members", starts.back(), 0, P);
    std::vector<int64_t> each(static_cast<std::size_t>(P));
    for (std::size_t p = 0; p < each.size(); ++p) each[p] = ends[p + 1] - ends[p];
    const auto offsets = cells_of(each, starts, member.data, C);
    const Matrix rows(table, "table", offsets.back(), C);
    run(&Kernels::score_cells, ScoreCellsTask{codes.table(), low.all<const int64_t>(Type::i64, "int64"), each.data(),
                                              starts.data(), member.data, offsets.data(), rows.data,
                                              static_cast<int64_t>(starts.size()) - 1, C, scores.data});
}

// Return the heights (F, n), and whether one is missing.
nb::tuple interpolate(nb::handle columns, nb::handle knots, nb::handle heights, nb::handle sizes) {
    const int64_t n = rows_of(columns);
    const TableBuffer table(columns, n, true);
    const int64_t F = table.table().n_columns;
    const auto offsets = offsets_of(sizes, F);
    const Buffer at(knots, "knots"), up(heights, "heights");
    for (const Buffer* each : {&at, &up}) {
        each->need_axes(1);
        each->need_length(offsets.back());
    }
    const auto* from = at.all<const double>(Type::f64, "float64");
    const auto* to = up.all<const double>(Type::f64, "float64");
    for (int64_t f = 0; f < F; ++f) {
        const int64_t size = offsets[f + 1] - offsets[f];
        if (size < 2 || size > InterpolateTask::kMost) refuse("sizes", "2 to 256 knots", std::to_string(size));
        if (!std::is_sorted(from + offsets[f], from + offsets[f + 1])) refuse("knots", "rising numbers", "others");
    }
    OwnedArray<double> found(need_cells(n, F));
    bool missing = false;
    run(&Kernels::interpolate, InterpolateTask{table.table(), from, to, offsets.data(), found.data, &missing});
    return nb::make_tuple(found.give({F, n}), missing);
}

void distances(nb::handle columns, nb::handle mean, nb::handle root, nb::handle out) {
    const Matrix found(out, "out", -1, -1, true);
    const TableBuffer table(columns, found.size(0), true);
    const int64_t C = found.size(1), d = table.table().n_columns;
    if (d > DistancesTask::kMost) refuse("columns", "at most 64", std::to_string(d));
    const Matrix centre(mean, "mean", C, d);
    const Buffer roots(root, "root");
    roots.need_axes(3);
    if (roots.size(0) != C || roots.size(1) != d || roots.size(2) != d) refuse("root", "shape (C, d, d)", "another");
    run(&Kernels::distances,
        DistancesTask{table.table(), centre.data, roots.all<const double>(Type::f64, "float64"), C, found.data});
}

}  // namespace

void bind_structure(nb::module_& m) {
    m.def("score_cells", &score_cells);
    m.def("interpolate", &interpolate);
    m.def("distances", &distances);
}

}  // namespace tally
