// Python bindings of exact sums: adding them up, and rounding them to doubles.
#include "bind/buffers.hpp"
#include "exact/add_columns.hpp"
#include "exact/add_limbs.hpp"
#include "exact/look_up_counts.hpp"

namespace tally {

namespace {

// Limbs (..., L), C-contiguous.
class LimbsBuffer : public Buffer {
public:
    LimbsBuffer(nb::handle limbs, std::int64_t base, const char* name) : Buffer(limbs, name) {
        constexpr std::int64_t most = std::int64_t{1} << 20;
        const auto* data = all<const std::int64_t>(Type::i64, "int64");
        if (ndim() < 1) refuse(name, "at least 1 axis", "0");
        const std::int64_t length = size(ndim() - 1);
        if (length > most || base > most || base < -most) refuse(name, "at most 2^20 limbs and base", "more");
        for (int axis = 0; axis + 1 < ndim(); ++axis) cells *= size(axis);
        view = {data, length, base};
    }
    LimbsView view;
    std::int64_t cells = 1;
};

double* output(const Buffer& out, std::int64_t cells) {
    double* data = out.all<double>(Type::f64, "float64");
    std::int64_t size = 1;
    for (int axis = 0; axis < out.ndim(); ++axis) size *= out.size(axis);
    if (size != cells) refuse("out", std::to_string(cells) + " numbers", std::to_string(size));
    return data;
}

void to_float(nb::handle limbs, std::int64_t base, nb::handle out) {
    const LimbsBuffer values(limbs, base, "limbs");
    const Buffer to(out, "out", true);
    run(&Kernels::to_float, ToFloatTask{values.view, values.cells, output(to, values.cells)});
}

void exact_moments(nb::handle n, std::int64_t n_base, nb::handle s1, std::int64_t s1_base, nb::handle s2,
                   std::int64_t s2_base, nb::handle out_n, nb::handle out_mean, nb::handle out_m2, nb::handle out_rest) {
    const LimbsBuffer weight(n, n_base, "n"), first(s1, s1_base, "s1"), second(s2, s2_base, "s2");
    if (first.cells != weight.cells || second.cells != weight.cells)
        refuse("s1 and s2", std::to_string(weight.cells) + " values as n has",
               std::to_string(first.cells) + " and " + std::to_string(second.cells));
    const Buffer count(out_n, "out", true), mean(out_mean, "out", true), m2(out_m2, "out", true), rest(out_rest, "out", true);
    run(&Kernels::exact_moments,
        MomentsTask{weight.view, first.view, second.view, weight.cells, output(count, weight.cells),
                    output(mean, weight.cells), output(m2, weight.cells), output(rest, weight.cells)});
}

void add_columns(nb::handle values, nb::handle places, nb::handle out) {
    const Buffer from(values, "values"), at(places, "places"), to(out, "out", true);
    from.need_axes(2);
    at.need_axes(1);
    at.need_length(from.size(1));
    to.need_axes(2);
    to.need_length(from.size(0));
    const exact::AddColumnsTask task{from.all<const std::int64_t>(Type::i64, "int64"),
                                     at.all<const std::int64_t>(Type::i64, "int64"), from.size(0), from.size(1),
                                     to.all<std::int64_t>(Type::i64, "int64"), to.size(1)};
    bool inside = false;
    {
        const nb::gil_scoped_release unlocked;
        inside = exact::add_columns(task);
    }
    if (!inside) refuse("places", "columns that out has", "others");
}

nb::tuple add_limbs(nb::handle left, nb::handle right, nb::handle out) {
    const LimbsBuffer one(left, 0, "left"), other(right, 0, "right");
    const Buffer to(out, "out", true);
    std::int64_t size = 1;
    for (int axis = 0; axis < to.ndim(); ++axis) size *= to.size(axis);
    const std::int64_t limbs = one.cells * one.view.length;
    if (other.cells * other.view.length != limbs) refuse("right", "as many limbs as left has", "others");
    if (size != limbs) refuse("out", "as many limbs as left has", "others");
    const exact::AddLimbsTask task{one.view.data, other.view.data, to.all<std::int64_t>(Type::i64, "int64"), limbs};
    exact::Bits bits{};
    {
        const nb::gil_scoped_release unlocked;
        bits = exact::add_limbs(task);
    }
    return nb::make_tuple(bits.before, bits.after);
}

std::int64_t look_up_counts(nb::handle counts, nb::handle values, nb::handle out, std::int64_t first) {
    const Buffer from(counts, "counts"), known(values, "values");
    from.need_axes(2);
    known.need_axes(1);
    const Matrix to(out, "out", -1, from.size(0), true);
    const std::int64_t F = from.size(1), R = to.size(0);
    if (first < 0 || first > F || R > F - first) refuse("out", "at most the columns of counts", std::to_string(R) + " from column " + std::to_string(first));
    const exact::LookUpCountsTask task{from.all<const std::int64_t>(Type::i64, "int64"), from.size(0), F, first, R,
                                       known.all<const double>(Type::f64, "float64"), known.size(0), to.data};
    const nb::gil_scoped_release unlocked;
    return exact::look_up_counts(task);
}

}  // namespace

void bind_exact(nb::module_& m) {
    m.def("add_columns", &add_columns);
    m.def("add_limbs", &add_limbs);
    m.def("look_up_counts", &look_up_counts);
    m.def("to_float", &to_float);
    m.def("exact_moments", &exact_moments);
}

}  // namespace tally
