// Python bindings of cells: choosing, cutting and counting them, and looking up terms and bins by them.
#include <optional>

#include "codes/pair_codes.hpp"
#include "dense/cells.hpp"

#include "bind/owned.hpp"

namespace tally {

std::int64_t need_low(std::int64_t low);  // bind/counts.cpp

namespace {

using std::int64_t;

const double* numbers(const Buffer& buffer, int64_t length) {
    buffer.need_axes(1);
    buffer.need_length(length);
    return buffer.all<const double>(Type::f64, "float64");
}

// Low, value, high and weight of the cells of each column, and how many they are.
nb::tuple choose_cells(nb::handle keys, nb::handle sizes, nb::handle shifts, nb::handle weights, int64_t most,
                       int64_t between) {
    const BucketsBuffer buckets(keys, sizes, shifts, static_cast<int64_t>(nb::len(shifts)));
    const int64_t F = static_cast<int64_t>(buckets.offsets.size()) - 1;
    const Buffer weight(weights, "weights");
    const double* from = numbers(weight, buckets.offsets.back());
    if (most < 1) refuse("most", "a number from 1", std::to_string(most));
    need_count(between, "between");
    OwnedArray<int64_t> lengths(F);
    std::vector<cells::Cell> found;
    cells::Chooser chooser(most, between);
    for (int64_t f = 0; f < F; ++f) {
        const int64_t first = buckets.offsets[f], before = static_cast<int64_t>(found.size());
        chooser.add(buckets.keys + first, from + first, buckets.offsets[f + 1] - first, buckets.shifts[f], found);
        lengths.data[f] = static_cast<int64_t>(found.size()) - before;
    }
    const auto K = static_cast<int64_t>(found.size());
    OwnedArray<double> low(K), value(K), high(K), pooled(K);
    for (int64_t k = 0; k < K; ++k) {
        low.data[k] = found[k].low;
        value.data[k] = found[k].value;
        high.data[k] = found[k].high;
        pooled.data[k] = found[k].weight;
    }
    return nb::make_tuple(lengths.give({F}), low.give({K}), value.give({K}), high.give({K}), pooled.give({K}));
}

// The node of each cell in each level, and the number of nodes of each level and column.
nb::tuple cut_cells(nb::handle sizes, nb::handle low, nb::handle value, nb::handle high, nb::handle weights,
                    int64_t leaves, int64_t depth, double least) {
    const auto F = static_cast<int64_t>(nb::len(sizes));
    const auto offsets = offsets_of(sizes, F);
    const int64_t K = offsets.back();
    const Buffer lows(low, "low"), values(value, "value"), highs(high, "high"), weight(weights, "weights");
    const double *l = numbers(lows, K), *v = numbers(values, K), *h = numbers(highs, K), *w = numbers(weight, K);
    if (depth < 0 || depth > 62) refuse("depth", "a number from 0 to 62", std::to_string(depth));
    OwnedArray<std::int32_t> nodes(depth * K);
    OwnedArray<int64_t> counts(depth * F);
    std::vector<int64_t> starts(static_cast<std::size_t>(depth), 0);
    cells::Cutter cutter(leaves, depth, least);
    for (int64_t f = 0; f < F; ++f) {
        const int64_t at = offsets[f];
        for (int64_t level = 0; level < depth; ++level) counts.data[level * F + f] = -starts[level];
        cutter.cut(l + at, v + at, h + at, w + at, offsets[f + 1] - at, K, starts.data(), nodes.data + at);
        for (int64_t level = 0; level < depth; ++level) counts.data[level * F + f] += starts[level];
    }
    return nb::make_tuple(nodes.give({depth, K}), counts.give({depth, F}));
}

// The weight of each class in each cell, (K, C).
nb::object count_cells(nb::handle keys, nb::handle sizes, nb::handle shifts, nb::handle weights, nb::handle edges,
                       nb::handle cells) {
    const auto F = static_cast<int64_t>(nb::len(shifts));
    const BucketsBuffer buckets(keys, sizes, shifts, F);
    const auto offsets = offsets_of(cells, F);
    const int64_t V = buckets.offsets.back(), K = offsets.back();
    const Matrix from(weights, "weights", -1, V);
    const int64_t C = from.size(0);
    for (int64_t f = 0; f < F; ++f)
        if (offsets[f + 1] == offsets[f]) refuse("cells", "at least one of each column", "none");
    const Buffer all(edges, "edges");
    const double* edge = numbers(all, K - F);
    OwnedArray<double> out(K * C);
    std::fill_n(out.data, K * C, 0.0);
    for (int64_t f = 0; f < F; ++f) {
        const int64_t at = buckets.offsets[f];
        cells::count(buckets.keys + at, buckets.offsets[f + 1] - at, buckets.shifts[f], from.data, at, V, C,
                     edge + offsets[f] - f, offsets[f + 1] - offsets[f] - 1, out.data + offsets[f] * C);
    }
    return out.give({K, C});
}

// The runs of cells of each column, where they begin, and how many cuts each column has.
nb::tuple cut_runs(nb::handle value, nb::handle weights, nb::handle sizes, int64_t bins) {
    const auto F = static_cast<int64_t>(nb::len(sizes));
    const auto offsets = offsets_of(sizes, F);
    const Buffer values(value, "value"), weight(weights, "weights");
    const double *v = numbers(values, offsets.back()), *w = numbers(weight, offsets.back());
    OwnedArray<std::int32_t> places(offsets.back());
    OwnedArray<int64_t> counts(F);
    std::vector<double> cuts;
    for (int64_t f = 0; f < F; ++f) {
        const int64_t at = offsets[f], before = static_cast<int64_t>(cuts.size());
        cells::cut_runs(v + at, w + at, offsets[f + 1] - at, bins, cuts, places.data + at);
        counts.data[f] = static_cast<int64_t>(cuts.size()) - before;
    }
    OwnedArray<double> found(static_cast<int64_t>(cuts.size()));
    std::copy(cuts.begin(), cuts.end(), found.data);
    return nb::make_tuple(places.give({offsets.back()}), found.give({static_cast<int64_t>(cuts.size())}),
                          counts.give({F}));
}

// The pair of code and class of each row, (F, n).
nb::object pair_codes(nb::handle columns, nb::handle sizes, nb::handle classes, int64_t n_classes, int64_t low, bool last) {
    const ClassBuffer own(classes);
    const int64_t n = own.length(), C = need_count(n_classes, "n_classes");
    const TableBuffer table(columns, n, false);
    const int64_t F = table.table().n_columns;
    const auto offsets = offsets_of(sizes, F);
    for (int64_t f = 0; f < F; ++f)
        if ((offsets[f + 1] - offsets[f] + 1) * C > INT32_MAX) refuse("sizes", "fewer than 2^31 pairs", "more");
    for (int64_t i = 0; i < n; ++i)
        if (own.data[i] < 0 || own.data[i] >= C) refuse("classes", "from 0 to C - 1", std::to_string(own.data[i]));
    need_low(low);
    OwnedArray<std::int32_t> out(need_cells(n, F));
    {
        const nb::gil_scoped_release unlocked;
        pairs::codes(table.table(), low, last, offsets.data(), own.data, C, out.data);
    }
    return out.give({F, n});
}

// The bin of each code, (F, n).
nb::object bin_codes(nb::handle columns, nb::handle places, nb::handle sizes, nb::handle missing) {
    const int64_t n = rows_of(columns);
    const TableBuffer table(columns, n, false);
    const int64_t F = table.table().n_columns;
    const auto offsets = offsets_of(sizes, F);
    const Buffer place(places, "places"), other(missing, "missing");
    place.need_axes(1);
    place.need_length(offsets.back());
    other.need_axes(1);
    other.need_length(F);
    const auto *at = place.all<const std::int32_t>(Type::i32, "int32"),
               *none = other.all<const std::int32_t>(Type::i32, "int32");
    OwnedArray<std::int32_t> out(need_cells(n, F));
    {
        const nb::gil_scoped_release unlocked;
        pairs::bins(table.table(), offsets.data(), at, none, out.data);
    }
    return out.give({F, n});
}

// The values of each code (F, D, n).
nb::object code_terms(nb::handle columns, nb::handle values, nb::handle sizes) {
    const TableBuffer table(columns, rows_of(columns), false);
    const int64_t n = table.table().n_rows, F = table.table().n_columns;
    const auto offsets = offsets_of(sizes, F);
    const Matrix from(values, "values", offsets.back(), -1);
    const int64_t D = from.size(1);
    OwnedArray<double> out(need_cells(need_cells(n, F), D));
    {
        const nb::gil_scoped_release unlocked;
        pairs::terms(table.table(), offsets.data(), from.data, D, out.data);
    }
    return out.give({F, D, n});
}

// Write the terms of pairs to out (F, D, n), and return their bins (F, n), or None.
nb::object pair_terms(nb::handle pairs, nb::handle values, nb::handle sizes, nb::handle places, nb::handle out) {
    const Buffer of(pairs, "pairs"), to(out, "out", true);
    of.need_axes(2);
    to.need_axes(3);
    const int64_t F = of.size(0), n = of.size(1);
    const auto offsets = offsets_of(sizes, F);
    for (int64_t f = 0; f < F; ++f)
        if (offsets[f + 1] == offsets[f]) refuse("sizes", "at least 1", "0");
    const Matrix from(values, "values", offsets.back(), -1);
    if (to.size(0) != F || to.size(1) != from.size(1) || to.size(2) != n) refuse("out", "shape (F, D, n)", "another");
    const auto* codes = of.all<const std::int32_t>(Type::i32, "int32");
    auto* floats = to.all<float>(Type::f32, "float32");
    std::optional<Buffer> place;
    const std::int32_t* at = nullptr;
    if (!places.is_none()) {
        place.emplace(places, "places");
        place->need_axes(1);
        place->need_length(offsets.back());
        at = place->all<const std::int32_t>(Type::i32, "int32");
    }
    OwnedArray<std::int32_t> bins(at == nullptr ? 0 : need_cells(n, F));
    {
        const nb::gil_scoped_release unlocked;
        pairs::terms_and_bins(codes, n, F, offsets.data(), from.data, from.size(1), at, floats, bins.data);
    }
    return at == nullptr ? nb::none() : bins.give({F, n});
}

// The terms of pairs as rows, (P + F, C), and whether all are numbers.
nb::tuple pair_rows(nb::handle by_pair, nb::handle sizes, double least) {
    const auto F = static_cast<int64_t>(nb::len(sizes));
    const auto offsets = offsets_of(sizes, F);
    const Matrix from(by_pair, "by_pair", -1, offsets.back());
    const int64_t C = from.size(0), rows = offsets.back() + F;
    if (C == 0) refuse("by_pair", "a row for each class", "none");
    OwnedArray<double> out(need_cells(rows, C));
    bool known = true;
    {
        const nb::gil_scoped_release unlocked;
        known = pairs::rows(from.data, C, F, offsets.data(), least, out.data);
    }
    return nb::make_tuple(out.give({rows, C}), known);
}

// Rows of terms as columns, (n, C) or (F, n, C), less the largest of each; whether all are numbers.
bool shift_rows(nb::handle rows, bool by_class, double least, nb::handle out) {
    const Buffer from(rows, "rows"), to(out, "out", true);
    const int axis = from.ndim() == 3 ? 1 : 0;  // that of rows
    from.need_axes(2 + axis);
    to.need_axes(2 + axis);
    const int64_t F = axis == 0 ? 1 : from.size(0);
    const int64_t n = from.size(axis + (by_class ? 1 : 0)), C = from.size(axis + (by_class ? 0 : 1));
    if (to.size(axis) != C || to.size(axis + 1) != n || (axis == 1 && to.size(0) != F))
        refuse("out", "shape (C, n) or (F, C, n)", "another");
    if (C == 0) refuse("rows", "a number for each class", "none");
    const auto* source = from.all<const double>(Type::f64, "float64");
    auto* target = to.all<double>(Type::f64, "float64");
    const nb::gil_scoped_release unlocked;
    bool known = true;
    for (int64_t f = 0; f < F; ++f, source += n * C, target += n * C)
        known &= pairs::shift(source, n, C, by_class, least, target);
    return known;
}

}  // namespace

void bind_cells(nb::module_& m) {
    m.def("choose_cells", &choose_cells);
    m.def("cut_cells", &cut_cells);
    m.def("count_cells", &count_cells);
    m.def("cut_runs", &cut_runs);
    m.def("pair_codes", &pair_codes);
    m.def("bin_codes", &bin_codes);
    m.def("code_terms", &code_terms);
    m.def("pair_terms", &pair_terms, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    m.def("pair_rows", &pair_rows);
    m.def("shift_rows", &shift_rows);
}

}  // namespace tally
