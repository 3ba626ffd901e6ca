// Python bindings of the fit of weights: its loss, its steps and its precisions.
#include <optional>

#include "bind/owned.hpp"
#include "bind/terms.hpp"
#include "dense/draw_numbers.hpp"
#include "dense/precisions.hpp"

namespace tally {

namespace {

using lbfgs::Numbers;

const double* doubles(const Buffer& buffer, std::int64_t length) {
    buffer.need_axes(1);
    buffer.need_length(length);
    return buffer.all<const double>(Type::f64, "float64");
}

// Slopes by scale, bias and table, and in `curves` their curvatures, if that is not null.
WeighSums sums_at(double* slopes, double* curves, std::int64_t U, std::int64_t C) {
    WeighSums sums{0.0, 0.0, slopes, slopes + U, slopes + U + C, nullptr, nullptr, nullptr};
    if (curves == nullptr) return sums;
    sums.scale_curve = curves;
    sums.bias_curve = curves + U;
    sums.table_curve = curves + U + C;
    return sums;
}

// Return loss, slopes by scale, bias and table, and (curved) their curvatures and that of all scales together.
void weigh_terms(nb::handle base, nb::handle terms, nb::handle numbers, nb::handle coded, nb::handle classes,
                 nb::handle weights, nb::handle share, nb::handle scale, nb::handle bias, nb::handle table, nb::handle out,
                 std::int64_t first, std::int64_t end, bool sloped, bool curved, nb::handle p) {
    const Buffer by(scale, "scale"), per_class(bias, "bias"), to(out, "out", true);
    const Matrix rows(table, "table", -1, -1);
    by.need_axes(1);
    const TermsBuffer given(base, terms, numbers, coded, classes, weights, share, by.size(0), rows.size(0));
    const std::int64_t C = given.C, U = given.U, size = U + C + given.K * C;
    if (rows.size(1) != C) refuse("table", "a column for each class", std::to_string(rows.size(1)));
    std::optional<Matrix> probabilities;
    if (!p.is_none()) probabilities.emplace(p, "p", given.n, C, true);
    to.need_axes(1);
    to.need_length(2 + 2 * size);
    auto* sums = to.all<double>(Type::f64, "float64");
    std::fill(sums, sums + 2 + 2 * size, 0.0);
    WeighSums where = sums_at(sums + 2, sums + 2 + size, U, C);
    WeighTask task = given.of_rows(first, end);
    task.scale = doubles(by, U);
    task.bias = doubles(per_class, C);
    task.table = rows.data;
    task.sloped = sloped;
    task.curved = curved;
    task.p = probabilities ? probabilities->data : nullptr;
    task.sums = &where;
    run(&Kernels::weigh_terms, task);
    sums[0] = where.loss;
    sums[1] = where.all_curve;
}

// The loss of terms under numbers: a common weight, and those of weigh_terms one after the other.
class TermsLoss {
public:
    TermsLoss(const TermsBuffer& terms, const double* first, const double* target)
        : U_(terms.U), first_(first), target_(target), task_(terms.of_rows(0, terms.n)), scale_(terms.U) {
        task_.scale = scale_.data();
    }

    double operator()(const Numbers& point, Numbers& slope) {
        for (std::int64_t u = 0; u < U_; ++u) scale_[u] = first_[u] + target_[u] * point[0] + point[1 + u];
        task_.bias = point.data() + 1 + U_;
        task_.table = task_.bias + task_.n_classes;
        std::fill(slope.begin(), slope.end(), 0.0);
        WeighSums sums = sums_at(slope.data() + 1, nullptr, U_, task_.n_classes);
        task_.sums = &sums;
        run(&Kernels::weigh_terms, task_);
        slope[0] = lbfgs::sum(0, U_, [&](std::int64_t u) { return slope[1 + u] * target_[u]; });
        return sums.loss;
    }

private:
    const std::int64_t U_;
    const double *first_, *target_;  // (U,)
    WeighTask task_;
    Numbers scale_;
};

// A function of Python's: of a point, to value and slope.
class PythonLoss {
public:
    explicit PythonLoss(nb::handle function) : function_(function) {}

    double operator()(const Numbers& point, Numbers& slope) const {
        OwnedArray<double> given(static_cast<std::int64_t>(point.size()));
        std::copy(point.begin(), point.end(), given.data);
        const nb::object found = function_(given.give({static_cast<std::int64_t>(point.size())}));
        if (!nb::isinstance<nb::tuple>(found) || nb::len(found) != 2) refuse_type("function", "value and slope", found);
        const nb::object gradient = found[1];
        const Buffer from(gradient, "slope");
        const double* numbers = doubles(from, static_cast<std::int64_t>(slope.size()));
        std::copy(numbers, numbers + slope.size(), slope.begin());
        return nb::cast<double>(found[0]);
    }

private:
    nb::handle function_;
};

Numbers numbers_of(nb::handle array, const char* name, std::int64_t length) {
    const Buffer buffer(array, name);
    const double* from = doubles(buffer, length);
    return {from, from + length};
}

nb::object array_of(const Numbers& numbers) {
    const auto K = static_cast<std::int64_t>(numbers.size());
    OwnedArray<double> out(K);
    std::copy(numbers.begin(), numbers.end(), out.data);
    return out.give({K});
}

// Steps and the changes of slope along them, (S, 2, K).
class StepsBuffer {
public:
    StepsBuffer(nb::handle steps, std::int64_t K) {
        const Buffer buffer(steps, "steps");
        buffer.need_axes(3);
        if (buffer.size(1) != 2 || buffer.size(2) != K) refuse("steps", "two rows of numbers for each", "others");
        const auto* from = buffer.all<const double>(Type::f64, "float64");
        for (std::int64_t s = 0; s < buffer.size(0); ++s, from += 2 * K)
            all.push_back({{from, from + K}, {from + K, from + 2 * K}, 0.0});
    }

    nb::object give(std::int64_t K) const {
        const auto S = static_cast<std::int64_t>(all.size());
        OwnedArray<double> out(2 * S * K);
        double* to = out.data;
        for (const lbfgs::Step& step : all) {
            to = std::copy(step.moved.begin(), step.moved.end(), to);
            to = std::copy(step.turned.begin(), step.turned.end(), to);
        }
        return out.give({S, 2, K});
    }

    std::vector<lbfgs::Step> all;
};

// Return the point near the minimum of a function.
nb::object minimise(nb::handle function, nb::handle start, double value, nb::handle slope, std::int64_t steps, double gain,
                    double least) {
    const Buffer from(start, "start");
    from.need_axes(1);
    const std::int64_t K = from.size(0);
    Numbers at = numbers_of(start, "start", K);
    lbfgs::Steps taken;
    lbfgs::minimise(PythonLoss(function), at, value, numbers_of(slope, "slope", K), taken, {steps, gain, least});
    return array_of(at);
}

// Return the numbers near the minimum of the loss of terms with their prior, and the last steps.
nb::tuple minimise_terms(nb::tuple terms, nb::handle target, nb::handle first, nb::handle unit, nb::handle precision,
                         double wall, nb::handle start, double loss, nb::handle slope, nb::handle steps,
                         std::int64_t most, double gain, double least, nb::handle function) {
    if (nb::len(terms) != 7) refuse("terms", "seven arrays", std::to_string(nb::len(terms)));
    const Buffer goal(target, "target"), before(first, "first"), units(unit, "unit"), draw(precision, "precision"),
        from(start, "start"), base(terms[0], "base");
    goal.need_axes(1);
    from.need_axes(1);
    base.need_axes(2);
    const std::int64_t U = goal.size(0), P = from.size(0), C = base.size(0) + 1, K = (P - 1 - U - C) / C;
    if (P != 1 + U + C + K * C || K < 0) refuse("start", "as many numbers as terms, classes and corrections need", "others");
    const lbfgs::Prior prior{doubles(units, P), doubles(draw, P), wall};
    Numbers at = numbers_of(start, "start", P), slopes = numbers_of(slope, "slope", P);
    StepsBuffer taken(steps, P);
    const lbfgs::Limits limits{most, gain, least};
    if (function.is_none()) {
        const TermsBuffer given(terms[0], terms[1], terms[2], terms[3], terms[4], terms[5], terms[6], U, K);
        TermsLoss own(given, doubles(before, U), doubles(goal, U));
        lbfgs::minimise_drawn(std::ref(own), prior, at, loss, std::move(slopes), taken.all, limits);
    } else {
        lbfgs::minimise_drawn(PythonLoss(function), prior, at, loss, std::move(slopes), taken.all, limits);
    }
    return nb::make_tuple(array_of(at), taken.give(P));
}

// Write the most probable precision of each group of numbers.
void find_precisions(nb::handle curvature, nb::handle squares, nb::handle sizes, nb::handle distinct, nb::handle expected,
                     double strength, nb::handle alphas, nb::handle logs, nb::handle out) {
    const auto groups = static_cast<std::int64_t>(nb::len(sizes));
    const auto offsets = offsets_of(sizes, groups);
    const Buffer h(curvature, "curvature"), x(squares, "squares"), shares(distinct, "distinct"), usual(expected, "expected");
    const Buffer points(alphas, "alphas"), log(logs, "logs"), to(out, "out", true);
    points.need_axes(1);
    if (points.size(0) < 2) refuse("alphas", "at least two", std::to_string(points.size(0)));
    to.need_axes(1);
    to.need_length(groups);
    const double *of_h = doubles(h, offsets.back()), *of_x = doubles(x, offsets.back());
    const double *share = doubles(shares, groups), *centre = doubles(usual, groups);
    const precisions::Lattice lattice{doubles(points, points.size(0)), doubles(log, points.size(0)), points.size(0)};
    auto* found = to.all<double>(Type::f64, "float64");
    for (std::int64_t g = 0; g < groups; ++g)
        found[g] = precisions::most_probable(
            {of_h + offsets[g], of_x + offsets[g], offsets[g + 1] - offsets[g], share[g], centre[g], strength}, lattice);
}

}  // namespace

void bind_weights(nb::module_& m) {
    m.def("weigh_terms", &weigh_terms, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg().none());
    m.def("minimise", &minimise);
    m.def("minimise_terms", &minimise_terms, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
    m.def("find_precisions", &find_precisions);
}

}  // namespace tally
