// Python bindings of the scores and the normaliser.
#include <optional>

#include "bind/coded.hpp"
#include "bind/coefficients.hpp"
#include "dense/lbfgs.hpp"
#include "dense/precisions.hpp"

namespace tally {

std::int64_t need_low(std::int64_t low);
Sparse sparse_view(const Buffer& indptr, const Buffer& indices, const Buffer& data, std::int64_t n_columns);

namespace {

// An array (C, F), or nothing.
class OptionalMatrix {
public:
    OptionalMatrix(nb::handle array, const char* name, std::int64_t C, std::int64_t F) {
        if (!array.is_none()) data = held_.emplace(array, name, C, F).data;
    }
    const double* data = nullptr;

private:
    std::optional<Matrix> held_;
};

void score_dense(Fault (*Kernels::*kernel)(const ScoreDenseTask&), nb::handle columns, nb::handle mean, nb::handle rest,
                 nb::handle scale, nb::handle constant, nb::handle power, nb::handle out) {
    const Matrix scores(out, "out", -1, -1, true);
    const TableBuffer table(columns, scores.size(0), true);
    const std::int64_t C = scores.size(1), F = table.table().n_columns;
    const Matrix centre(mean, "mean", C, F), width(scale, "scale", C, F), height(constant, "constant", C, F);
    const OptionalMatrix beyond(rest, "rest", C, F), exponent(power, "power", C, F);
    run(kernel, ScoreDenseTask{table.table(), centre.data, beyond.data, width.data, height.data, exponent.data, C,
                               scores.data});
}

void score_gaussian(nb::handle columns, nb::handle mean, nb::handle scale, nb::handle constant, nb::handle out,
                    nb::handle rest) {
    score_dense(&Kernels::score_gaussian, columns, mean, rest, scale, constant, nb::none(), out);
}

void score_student(nb::handle columns, nb::handle mean, nb::handle scale, nb::handle constant, nb::handle power,
                   nb::handle out, nb::handle rest) {
    if (power.is_none()) refuse_type("power", "an array", power);
    score_dense(&Kernels::score_student, columns, mean, rest, scale, constant, power, out);
}

nb::object leave_dense(nb::handle columns, nb::handle classes, nb::handle moments, nb::handle whole, nb::handle full,
                       nb::handle less, double floor, bool student, nb::handle out) {
    const Matrix scores(out, "out", -1, -1, true);
    const ClassBuffer own(classes);
    own.need_length(scores.size(0));
    const TableBuffer table(columns, scores.size(0), true);
    const std::int64_t C = scores.size(1), F = table.table().n_columns;
    const Matrix by_class(moments, "moments", 4 * C, F), over_all(whole, "whole", 4, F);
    const CoefficientBuffer all(full, "full", C, F), fewer(less, "less", C, F);
    std::vector<std::int64_t> lost;
    const auto note = [](void* to, std::int64_t row, std::int64_t column) {
        auto* list = static_cast<std::vector<std::int64_t>*>(to);
        list->push_back(row);
        list->push_back(column);
    };
    const double *m = by_class.data, *w = over_all.data;
    run(&Kernels::leave_dense,
        LeaveDenseTask{table.table(), own.data, C, m, m + C * F, m + 2 * C * F, m + 3 * C * F, w, w + F, w + 2 * F,
                       w + 3 * F, all.view, fewer.view, floor, student, note, &lost, scores.data});
    nb::list cells;
    for (const std::int64_t number : lost) cells.append(number);
    return cells;
}

void score_codes(nb::handle columns, nb::handle table, nb::handle sizes, nb::handle out, std::int64_t low, bool last) {
    const Matrix scores(out, "out", -1, -1, true);
    const TableBuffer codes(columns, scores.size(0), false);
    const auto offsets = offsets_of(sizes, codes.table().n_columns);
    const Matrix rows(table, "table", offsets.back(), scores.size(1));
    run(&Kernels::score_codes, ScoreCodesTask{codes.table(), rows.data, offsets.data(), need_low(low), last, nullptr,
                                              scores.size(1), scores.data});
}

void score_own_codes(nb::handle columns, nb::handle table, nb::handle sizes, nb::handle classes, nb::handle out,
                     std::int64_t low) {
    const Matrix scores(out, "out", -1, -1, true);
    const ClassBuffer own(classes);
    own.need_length(scores.size(0));
    const TableBuffer codes(columns, scores.size(0), false);
    const auto offsets = offsets_of(sizes, codes.table().n_columns);
    const Matrix rows(table, "table", offsets.back(), scores.size(1));
    run(&Kernels::score_own_codes, ScoreCodesTask{codes.table(), rows.data, offsets.data(), need_low(low), false,
                                                  own.data, scores.size(1), scores.data});
}

void score_sparse(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle table, nb::handle out,
                  nb::handle lengths) {
    const Matrix scores(out, "out", -1, -1, true);
    const Matrix rows(table, "table", -1, scores.size(1));
    const Buffer starts(indptr, "indptr"), index(indices, "indices"), entries(data, "data");
    const Sparse matrix = sparse_view(starts, index, entries, rows.size(0));
    scores.need_length(matrix.n_rows);
    if (lengths.is_none())
        return run(&Kernels::score_sparse, ScoreSparseTask{matrix, rows.data, scores.size(1), scores.data, nullptr});
    const Buffer sums(lengths, "lengths", true);
    sums.need_axes(1);
    sums.need_length(matrix.n_rows);
    run(&Kernels::score_sparse, ScoreSparseTask{matrix, rows.data, scores.size(1), scores.data,
                                                sums.all<double>(Type::f64, "float64")});
}

void leave_sparse(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle classes, nb::handle counts,
                  nb::handle alpha, nb::handle out) {
    const Buffer table(counts, "counts");
    table.need_axes(2);
    const Buffer starts(indptr, "indptr"), index(indices, "indices"), entries(data, "data");
    const Sparse matrix = sparse_view(starts, index, entries, table.size(1));
    const ClassBuffer own(classes);
    own.need_length(matrix.n_rows);
    const Buffer added(alpha, "alpha"), scores(out, "out", true);
    added.need_axes(1);
    added.need_length(matrix.n_columns);
    scores.need_axes(1);
    scores.need_length(matrix.n_rows);
    run(&Kernels::leave_sparse,
        LeaveSparseTask{matrix, own.data, table.all<const std::int64_t>(Type::i64, "int64"),
                        added.all<const double>(Type::f64, "float64"), table.size(0),
                        scores.all<double>(Type::f64, "float64")});
}

void terms_dense(nb::handle columns, nb::handle mean, nb::handle scale, nb::handle constant, nb::handle power,
                 nb::handle asked, nb::handle out, nb::handle rest) {
    const Matrix terms(out, "out", -1, -1, true);
    const TableBuffer table(columns, terms.size(0), true);
    const std::int64_t F = table.table().n_columns;
    if (F != terms.size(1)) refuse("out", std::to_string(F) + " columns", std::to_string(terms.size(1)));
    const Matrix of_class(asked, "asked", terms.size(0), -1);
    const std::int64_t C = of_class.size(1);
    const Matrix centre(mean, "mean", C, F), width(scale, "scale", C, F), height(constant, "constant", C, F);
    const OptionalMatrix beyond(rest, "rest", C, F), exponent(power, "power", C, F);
    run(&Kernels::terms_dense, TermsDenseTask{table.table(), centre.data, beyond.data, width.data, height.data,
                                              exponent.data, C, of_class.data, terms.data});
}

void terms_codes(nb::handle columns, nb::handle table, nb::handle sizes, nb::handle asked, nb::handle out,
                 std::int64_t low, bool last) {
    const Matrix terms(out, "out", -1, -1, true);
    const TableBuffer codes(columns, terms.size(0), false);
    const std::int64_t F = codes.table().n_columns;
    if (F != terms.size(1)) refuse("out", std::to_string(F) + " columns", std::to_string(terms.size(1)));
    const auto offsets = offsets_of(sizes, F);
    const Matrix of_class(asked, "asked", terms.size(0), -1);
    const Matrix rows(table, "table", offsets.back(), of_class.size(1));
    run(&Kernels::terms_codes, TermsCodesTask{codes.table(), rows.data, offsets.data(), need_low(low), last,
                                              of_class.size(1), of_class.data, terms.data});
}

void softmax(nb::handle scores, nb::handle out, nb::handle log_norm, bool log) {
    const Matrix from(scores, "scores", -1, -1);
    const Matrix to(out, "out", from.size(0), from.size(1), true);
    const Buffer norm(log_norm, "log_norm", true);
    norm.need_axes(1);
    norm.need_length(from.size(0));
    run(&Kernels::softmax, SoftmaxTask{from.data, to.data, norm.all<double>(Type::f64, "float64"), from.size(0),
                                       from.size(1), log});
}

bool best_class(nb::handle scores, nb::handle best) {
    const Matrix from(scores, "scores", -1, -1);
    const Buffer to(best, "best", true);
    to.need_axes(1);
    to.need_length(from.size(0));
    if (from.size(1) == 0) refuse("scores", "at least one class", "none");
    bool finite = true;
    run(&Kernels::best_class, BestClassTask{from.data, to.all<std::int64_t>(Type::i64, "int64"), &finite, from.size(0),
                                            from.size(1)});
    return finite;
}

nb::tuple temper(nb::handle scores, nb::handle own, nb::handle logs, nb::handle weights, double u, double v,
                 nb::handle loss) {
    const Matrix from(scores, "scores", -1, -1);
    const std::int64_t n = from.size(0);
    const Buffer mine(own, "own"), sizes(logs, "logs"), to(loss, "loss", true);
    for (const Buffer* each : {&mine, &sizes, &to}) {
        each->need_axes(1);
        each->need_length(n);
    }
    const WeightBuffer weight(weights, n);
    double sums[6];
    run(&Kernels::temper,
        TemperTask{from.data, mine.all<const double>(Type::f64, "float64"), sizes.all<const double>(Type::f64, "float64"),
                   weight.data, n, from.size(1), u, v, to.all<double>(Type::f64, "float64"), sums});
    return nb::make_tuple(sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]);
}

// Return loss, slopes by scale, bias and table, and (curved) their curvatures and that of all scales together.
void weigh_terms(nb::handle base, nb::handle terms, nb::handle numbers, nb::handle coded, nb::handle classes,
                 nb::handle weights, nb::handle share, nb::handle scale, nb::handle bias, nb::handle table, nb::handle out,
                 std::int64_t first, std::int64_t end, bool sloped, bool curved, nb::handle p) {
    const Matrix from(base, "base", -1, -1);
    const std::int64_t C = from.size(0) + 1, n = from.size(1);
    const Buffer all_terms(terms, "terms"), part(share, "share"), by(scale, "scale"), per_class(bias, "bias"),
        to(out, "out", true);
    const Matrix rows(table, "table", -1, C);
    all_terms.need_axes(3);
    by.need_axes(1);
    const std::int64_t T = all_terms.size(0), U = by.size(0), K = rows.size(0);
    if (all_terms.size(1) != C - 1 || all_terms.size(2) != n) refuse("terms", "shape (T, C - 1, n) like base", "another");
    const PlaceBuffer number(numbers, "numbers", T, 0, U);
    const CodedBuffer entries(coded, n, C, U, K);
    if (first < 0 || end < first || end > n) refuse("rows", "a range of the rows", std::to_string(end));
    const ClassBuffer own(classes);
    own.need_length(n);
    for (std::int64_t i = first; i < end; ++i)
        if (own.data[i] < 0 || own.data[i] >= C) refuse("classes", "from 0 to C - 1", std::to_string(own.data[i]));
    const WeightBuffer weight(weights, n);
    const std::int64_t sizes[3] = {n, C, 2 + 2 * (U + C + K * C)};
    const Buffer* arrays[3] = {&part, &per_class, &to};
    for (int k = 0; k < 3; ++k) {
        arrays[k]->need_axes(1);
        arrays[k]->need_length(sizes[k]);
    }
    std::optional<Matrix> probabilities;
    if (!p.is_none()) probabilities.emplace(p, "p", n, C, true);
    double* sums = to.all<double>(Type::f64, "float64");
    for (std::int64_t k = 0; k < sizes[2]; ++k) sums[k] = 0.0;
    double* at = sums + 2;
    WeighSums where{0.0, 0.0, at, at + U, at + U + C, nullptr, nullptr, nullptr};
    at += U + C + K * C;
    where.scale_curve = at;
    where.bias_curve = at + U;
    where.table_curve = at + U + C;
    run(&Kernels::weigh_terms,
        WeighTask{from.data, all_terms.all<const float>(Type::f32, "float32"), number.data, entries.view, own.data,
                  weight.data, part.all<const double>(Type::f64, "float64"), by.all<const double>(Type::f64, "float64"),
                  per_class.all<const double>(Type::f64, "float64"), rows.data, n, first, end, C, T, K, sloped, curved,
                  probabilities ? probabilities->data : nullptr, &where});
    sums[0] = where.loss;
    sums[1] = where.all_curve;
}

// Write the slope and the curvature of each column's weight into out (2, F).
void score_test(nb::handle columns, nb::handle full, nb::handle less, nb::handle sizes, nb::handle classes,
                nb::handle p, nb::handle slope_weights, nb::handle curve_weights, nb::handle out) {
    const Matrix probabilities(p, "p", -1, -1);
    const std::int64_t n = probabilities.size(0), C = probabilities.size(1);
    const TableBuffer codes(columns, n, false);
    const std::int64_t F = codes.table().n_columns;
    const auto offsets = offsets_of(sizes, F);
    const Matrix all(full, "full", offsets.back(), C), fewer(less, "less", offsets.back(), C), to(out, "out", 2, F, true);
    const ClassBuffer own(classes);
    own.need_length(n);
    for (std::int64_t i = 0; i < n; ++i)
        if (own.data[i] < 0 || own.data[i] >= C) refuse("classes", "from 0 to C - 1", std::to_string(own.data[i]));
    const Buffer slopes(slope_weights, "slope_weights"), curves(curve_weights, "curve_weights");
    for (const Buffer* each : {&slopes, &curves}) {
        each->need_axes(1);
        each->need_length(n);
    }
    run(&Kernels::score_test,
        ScoreTestTask{codes.table(), all.data, fewer.data, offsets.data(), own.data, probabilities.data,
                      slopes.all<const double>(Type::f64, "float64"), curves.all<const double>(Type::f64, "float64"), C,
                      to.data, to.data + F});
}

void elementwise(int function, nb::handle numbers, nb::handle out) {
    const Buffer in(numbers, "numbers"), to(out, "out", true);
    in.need_axes(1);
    to.need_axes(1);
    to.need_length(in.size(0));
    if (function < 0 || function > 2) refuse("function", "a number from 0 to 2", std::to_string(function));
    run(&Kernels::elementwise, ElementwiseTask{function, in.all<const double>(Type::f64, "float64"), in.size(0),
                                               to.all<double>(Type::f64, "float64")});
}

void add_product(nb::handle left, nb::handle right, nb::handle out) {
    const Matrix rows(left, "left", -1, -1), table(right, "right", rows.size(1), -1);
    const Matrix scores(out, "out", rows.size(0), table.size(1), true);
    run(&Kernels::add_product, ProductTask{rows.data, table.data, rows.size(0), rows.size(1), table.size(1), scores.data});
}

// Multiply a slope by the inverse curvature that pairs of steps and changes of slope suggest.
void inverse_times(nb::list moved, nb::list turned, nb::handle curved, nb::handle out) {
    const Buffer to(out, "out", true), products(curved, "curved");
    to.need_axes(1);
    products.need_axes(1);
    const std::int64_t K = to.size(0), pairs = products.size(0);
    auto* slope = to.all<double>(Type::f64, "float64");
    const auto* product = products.all<const double>(Type::f64, "float64");
    if (pairs > lbfgs::kMost) refuse("curved", "at most 32 pairs", std::to_string(pairs));
    std::vector<Buffer> held;
    held.reserve(2 * static_cast<std::size_t>(pairs));
    const double* each[2][lbfgs::kMost];
    for (int side = 0; side < 2; ++side) {
        const nb::list& list = side == 0 ? moved : turned;
        if (static_cast<std::int64_t>(nb::len(list)) != pairs) refuse("moved and turned", "an array for each pair", "others");
        for (std::int64_t p = 0; p < pairs; ++p) {
            const Buffer& one = held.emplace_back(list[static_cast<std::size_t>(p)], side == 0 ? "moved" : "turned");
            one.need_axes(1);
            one.need_length(K);
            each[side][p] = one.all<const double>(Type::f64, "float64");
        }
    }
    lbfgs::inverse_times(each[0], each[1], product, pairs, K, slope);
}

const double* doubles(const Buffer& buffer, std::int64_t length) {
    buffer.need_axes(1);
    buffer.need_length(length);
    return buffer.all<const double>(Type::f64, "float64");
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

void bind_scores(nb::module_& m) {
    m.def("score_gaussian", &score_gaussian, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
    m.def("score_student", &score_student, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg().none());
    m.def("leave_dense", &leave_dense);
    m.def("score_codes", &score_codes);
    m.def("score_own_codes", &score_own_codes);
    m.def("score_sparse", &score_sparse, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
    m.def("leave_sparse", &leave_sparse);
    m.def("terms_dense", &terms_dense, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
          nb::arg(), nb::arg().none());
    m.def("terms_codes", &terms_codes);
    m.def("softmax", &softmax);
    m.def("best_class", &best_class);
    m.def("elementwise", &elementwise);
    m.def("add_product", &add_product);
    m.def("inverse_times", &inverse_times);
    m.def("find_precisions", &find_precisions);
    m.def("score_test", &score_test);
    m.def("weigh_terms", &weigh_terms, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg().none());
    m.def("temper", &temper, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace tally
