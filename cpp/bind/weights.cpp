// Python bindings of the fit of weights: its loss, its rounds and its precisions.
#include <optional>

#include "bind/groups.hpp"
#include "bind/owned.hpp"
#include "bind/terms.hpp"
#include "dense/fit_rounds.hpp"
#include "dense/weighted_sum.hpp"

namespace tally {

namespace {

using lbfgs::Numbers;

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

    double operator()(const Numbers& point, Numbers& slope) { return weigh(point, slope, nullptr).loss; }

    double curved(const Numbers& point, Numbers& slope, Numbers& curvature) {
        std::fill(curvature.begin(), curvature.end(), 0.0);
        const WeighSums sums = weigh(point, slope, curvature.data() + 1);
        curvature[0] = sums.all_curve;
        return sums.loss;
    }

private:
    WeighSums weigh(const Numbers& point, Numbers& slope, double* curves) {
        for (std::int64_t u = 0; u < U_; ++u) scale_[u] = first_[u] + target_[u] * point[0] + point[1 + u];
        task_.bias = point.data() + 1 + U_;
        task_.table = task_.bias + task_.n_classes;
        task_.curved = curves != nullptr;
        std::fill(slope.begin(), slope.end(), 0.0);
        WeighSums sums = sums_at(slope.data() + 1, curves, U_, task_.n_classes);
        task_.sums = &sums;
        run(&Kernels::weigh_terms, task_);
        slope[0] = lbfgs::sum(0, U_, [&](std::int64_t u) { return slope[1 + u] * target_[u]; });
        return sums;
    }

    const std::int64_t U_;
    const double *first_, *target_;  // (U,)
    WeighTask task_;
    Numbers scale_;
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

// Call a function of Python's at a point, and copy the arrays that it returns after the value.
double call(nb::handle function, const Numbers& point, std::initializer_list<Numbers*> arrays, const char* wanted,
            nb::handle option = nb::handle()) {
    const nb::object given = array_of(point);
    const nb::object found = option.is_valid() ? function(given, option) : function(given);
    if (!nb::isinstance<nb::tuple>(found) || nb::len(found) != 1 + arrays.size()) refuse_type("function", wanted, found);
    std::size_t k = 1;
    for (Numbers* to : arrays) {
        const nb::object array = found[k++];
        const Buffer from(array, "slope");
        const double* numbers = doubles(from, static_cast<std::int64_t>(to->size()));
        std::copy(numbers, numbers + to->size(), to->begin());
    }
    return nb::cast<double>(found[0]);
}

// A function of Python's: of a point, to value and slope.
class PythonLoss {
public:
    explicit PythonLoss(nb::handle function) : function_(function) {}

    double operator()(const Numbers& point, Numbers& slope) const {
        return call(function_, point, {&slope}, "value and slope");
    }

private:
    nb::handle function_;
};

// The loss of terms by a function of Python's: of a point, and whether curvatures are needed.
class PythonTermsLoss {
public:
    explicit PythonTermsLoss(nb::handle function) : function_(function) {}

    double operator()(const Numbers& point, Numbers& slope) const {
        Numbers none;
        return call(function_, point, {&slope, &none}, kWanted, nb::handle(Py_False));
    }

    double curved(const Numbers& point, Numbers& slope, Numbers& curvature) const {
        return call(function_, point, {&slope, &curvature}, kWanted, nb::handle(Py_True));
    }

private:
    static constexpr const char* kWanted = "loss, slope and curvature";
    nb::handle function_;
};

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

// Return the numbers fitted in rounds, the precisions of their groups, the last steps, and how many numbers are decided.
nb::tuple fit_terms(nb::tuple terms, nb::handle target, nb::handle first, nb::handle groups, nb::handle kinds,
                    nb::handle start, nb::handle precision, nb::handle steps, nb::sequence rounds, double wall,
                    nb::handle function) {
    if (nb::len(terms) != 7) refuse("terms", "seven arrays", std::to_string(nb::len(terms)));
    const Buffer goal(target, "target"), before(first, "first"), from(start, "start"), base(terms[0], "base"),
        drawn(precision, "precision");
    for (const Buffer* one : {&goal, &from, &drawn}) one->need_axes(1);
    base.need_axes(2);
    const std::int64_t U = goal.size(0), P = from.size(0), C = base.size(0) + 1, K = (P - 1 - U - C) / C;
    if (P != 1 + U + C + K * C || K < 0) refuse("start", "as many numbers as terms, classes and corrections need", "others");
    const GroupsBuffer given(groups, P, drawn.size(0));
    StepsBuffer taken(steps, P);
    lbfgs::Fit fit{numbers_of(start, "start", P), numbers_of(precision, "precision", drawn.size(0)), std::move(taken.all), 0.0};
    std::vector<lbfgs::Limits> limits;
    for (nb::handle one : rounds)
        limits.push_back({nb::cast<std::int64_t>(one[0]), nb::cast<double>(one[1]), nb::cast<double>(one[2])});
    if (function.is_none()) {
        const TermsBuffer rows(terms[0], terms[1], terms[2], terms[3], terms[4], terms[5], terms[6], U, K);
        TermsLoss own(rows, doubles(before, U), doubles(goal, U));
        lbfgs::fit_rounds(own, *given.view, kinds_of(kinds), limits, wall, fit);
    } else {
        PythonTermsLoss own(function);
        lbfgs::fit_rounds(own, *given.view, kinds_of(kinds), limits, wall, fit);
    }
    taken.all = std::move(fit.steps);
    return nb::make_tuple(array_of(fit.at), array_of(fit.precision), taken.give(P), fit.decided);
}

// Return the precision of each group, those of some kinds found anew, and how many numbers are decided.
nb::tuple find_precisions(nb::handle groups, nb::handle curvature, nb::handle numbers, nb::handle precision,
                          nb::handle kinds) {
    const Buffer at(numbers, "numbers"), drawn(precision, "precision");
    at.need_axes(1);
    drawn.need_axes(1);
    const std::int64_t N = at.size(0), G = drawn.size(0);
    const GroupsBuffer given(groups, N, G);
    Numbers found = numbers_of(precision, "precision", G);
    const Numbers curves = numbers_of(curvature, "curvature", N);
    given.view->find(curves, numbers_of(numbers, "numbers", N), kinds_of(kinds), found);
    return nb::make_tuple(array_of(found), given.view->decided(curves, found));
}

// Sum terms (U, D, n), each times its weight.
void weighted_sum(nb::handle weights, nb::handle terms, nb::handle out) {
    const Buffer by(weights, "weights"), from(terms, "terms");
    by.need_axes(1);
    from.need_axes(3);
    from.need_length(by.size(0));
    from.need_type(is_real(from.type()), "float64 or float32");
    from.need_aligned();
    const std::int64_t D = from.size(1), n = from.size(2);
    if (n > 1 && from.stride(2) != size_of(from.type())) refuse("terms", "rows whose numbers follow each other", "others");
    const Matrix to(out, "out", D, n, true);
    const auto* factors = by.all<const double>(Type::f64, "float64");
    const nb::gil_scoped_release unlocked;
    const auto sum = from.type() == Type::f64 ? weighted::sum<double> : weighted::sum<float>;
    sum(factors, from.base(), by.size(0), D, n, from.stride(0), from.stride(1), to.data);
}

}  // namespace

void bind_weights(nb::module_& m) {
    m.def("weigh_terms", &weigh_terms, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg().none());
    m.def("minimise", &minimise);
    m.def("fit_terms", &fit_terms, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg().none());
    m.def("find_precisions", &find_precisions);
    m.def("weighted_sum", &weighted_sum);
}

}  // namespace tally
