// Python bindings of sums that change row by row. A row is a dict.
#include "bind/dict_row.hpp"

namespace tally {

namespace {

class LimbsArgument : public Buffer {
public:
    LimbsArgument(nb::handle pair, std::int64_t cells) : Buffer(nb::borrow<nb::tuple>(pair)[0], "limbs") {
        const auto* data = all<const std::int64_t>(Type::i64, "int64");
        const auto base = nb::cast<std::int64_t>(nb::borrow<nb::tuple>(pair)[1]);
        constexpr std::int64_t most = std::int64_t{1} << 20;
        std::int64_t size_before = 1;
        for (int axis = 0; axis + 1 < ndim(); ++axis) size_before *= size(axis);
        if (ndim() < 1 || size_before != cells) refuse("limbs", std::to_string(cells) + " cells", "others");
        if (size(ndim() - 1) > most || base > most || base < -most) refuse("limbs", "at most 2^20 limbs", "more");
        view = {data, size(ndim() - 1), base};
    }
    LimbsView view;
};

class NormalSums {
public:
    explicit NormalSums(nb::tuple names)
        : row_(std::move(names)), kernels_(kernels()), sums_(kernels_.normals_new(columns())) {}
    ~NormalSums() { kernels_.normals_delete(sums_); }
    NormalSums(const NormalSums&) = delete;
    NormalSums& operator=(const NormalSums&) = delete;

    void load(std::int64_t classes, nb::handle missing, nb::handle weight, nb::handle first, nb::handle second,
              nb::handle rows) {
        while (classes_ < classes) extend();
        const std::int64_t cells = classes_ * columns();
        const LimbsArgument sums[] = {
            {missing, cells}, {weight, cells}, {first, cells}, {second, cells}, {rows, classes_}};
        const LimbsView views[] = {sums[0].view, sums[1].view, sums[2].view, sums[3].view, sums[4].view};
        for (std::int64_t c = 0; c < classes_; ++c) kernels_.normals_load(sums_, c, views);
    }

    // Return whether the row was plain and is now counted; None where no rows could have what it leaves.
    nb::object change(nb::handle row, std::int64_t c, double w, bool minus) {
        if (c < 0 || c > classes_) refuse("class", "a number from 0 to C", std::to_string(c));
        if (!(w >= 0.0) || w > DictRow::kMost) refuse("weight", "a finite number not below 0", "another");
        if (!row_.read(row)) return nb::bool_(false);
        if (c == classes_) extend();
        if (!kernels_.normals_change(sums_, c, row_.values(), w, minus)) return nb::none();
        return nb::bool_(true);
    }

    bool score(nb::handle row, nb::handle alpha, double floor, int ddof, bool student, bool learned_prior,
               nb::handle out) {
        const Buffer smoothing(alpha, "alpha"), to(out, "out", true);
        smoothing.need_axes(1);
        smoothing.need_length(columns());
        to.need_axes(1);
        to.need_length(classes_);
        const auto* a = smoothing.all<const double>(Type::f64, "float64");
        auto* scores = to.all<double>(Type::f64, "float64");
        if (!row_.read(row)) return false;
        kernels_.normals_score(sums_, {row_.values(), a, floor, static_cast<double>(ddof), student, learned_prior, scores});
        return true;
    }

    double rows(std::int64_t c) const {
        if (c < 0 || c >= classes_) refuse("class", "a number from 0 to C - 1", std::to_string(c));
        return kernels_.normals_rows(sums_, c);
    }

    nb::tuple limbs() {
        nb::list out;
        for (std::int64_t which = 0; which < 5; ++which) {
            OwnedLimbs part;
            kernels_.normals_copy(sums_, which, part.limbs);
            out.append(part.give(classes_, which < 4 ? columns() : 1));
        }
        return nb::tuple(out);
    }

private:
    void extend() {
        kernels_.normals_extend(sums_);
        ++classes_;
    }

    std::int64_t columns() const { return row_.columns(); }

    DictRow row_;
    const Kernels& kernels_;  // of the instruction set that made the sums
    void* sums_;
    std::int64_t classes_ = 0;
};

}  // namespace

void bind_normals(nb::module_& m) {
    nb::class_<NormalSums>(m, "NormalSums")
        .def(nb::init<nb::tuple>())
        .def("load", &NormalSums::load)
        .def("change", &NormalSums::change)
        .def("score", &NormalSums::score)
        .def("rows", &NormalSums::rows)
        .def("limbs", &NormalSums::limbs);
}

}  // namespace tally
