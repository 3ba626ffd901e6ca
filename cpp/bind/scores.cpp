// Python bindings of the scores and the normaliser.
#include <optional>

#include "bind/owned.hpp"
#include "bind/coefficients.hpp"

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

// Return whether a value is missing.
bool score_dense(Fault (*Kernels::*kernel)(const ScoreDenseTask&), nb::handle columns, nb::handle mean, nb::handle rest,
                 nb::handle scale, nb::handle constant, nb::handle power, nb::handle out) {
    const Matrix scores(out, "out", -1, -1, true);
    const TableBuffer table(columns, scores.size(0), true);
    const std::int64_t C = scores.size(1), F = table.table().n_columns;
    const Matrix centre(mean, "mean", C, F), width(scale, "scale", C, F), height(constant, "constant", C, F);
    const OptionalMatrix beyond(rest, "rest", C, F), exponent(power, "power", C, F);
    bool holes = false;
    run(kernel, ScoreDenseTask{table.table(), centre.data, beyond.data, width.data, height.data, exponent.data, C,
                               scores.data, &holes});
    return holes;
}

bool score_gaussian(nb::handle columns, nb::handle mean, nb::handle scale, nb::handle constant, nb::handle out,
                    nb::handle rest) {
    return score_dense(&Kernels::score_gaussian, columns, mean, rest, scale, constant, nb::none(), out);
}

void score_student(nb::handle columns, nb::handle mean, nb::handle scale, nb::handle constant, nb::handle power,
                   nb::handle out, nb::handle rest) {
    if (power.is_none()) refuse_type("power", "an array", power);
    score_dense(&Kernels::score_student, columns, mean, rest, scale, constant, power, out);
}

nb::object leave_dense(nb::handle columns, nb::handle classes, nb::handle moments, nb::handle whole, nb::handle full,
                       nb::handle less, double floor, bool student, nb::handle out) {
    const Buffer scores(out, "out", true);
    const bool apart = scores.ndim() == 3;
    if (!apart) scores.need_axes(2);
    auto* const sums = scores.all<double>(Type::f64, "float64");
    const ClassBuffer own(classes);
    own.need_length(scores.size(apart ? 1 : 0));
    const TableBuffer table(columns, own.length(), true);
    const std::int64_t C = scores.size(apart ? 2 : 1), F = table.table().n_columns;
    if (apart) scores.need_length(F);
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
                       w + 3 * F, all.view, fewer.view, floor, student, note, &lost, apart, sums});
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
    std::optional<Matrix> to;
    if (!out.is_none() || !log) to.emplace(out, "out", from.size(0), from.size(1), true);
    const Buffer norm(log_norm, "log_norm", true);
    norm.need_axes(1);
    norm.need_length(from.size(0));
    run(&Kernels::softmax, SoftmaxTask{from.data, to ? to->data : nullptr, norm.all<double>(Type::f64, "float64"), from.size(0),
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

// The losses and slopes of rows, written; or their sums, which are returned.
class TemperBuffers {
public:
    TemperBuffers(nb::handle logs, nb::handle weights, nb::handle loss, nb::handle slopes, bool writable)
        : sizes_(logs, "logs"), loss_(loss, "loss", writable), slopes_(slopes, "slopes", -1, 2, writable),
          weight_(weights, slopes_.size(0)) {
        for (const Buffer* each : {&sizes_, &loss_}) need_row(*each);
        task.n_rows = slopes_.size(0);
        task.logs = sizes_.all<const double>(Type::f64, "float64");
        task.weights = weight_.data;
        task.loss = const_cast<double*>(loss_.all<const double>(Type::f64, "float64"));
        task.slopes = slopes_.data;
    }
    void need_row(const Buffer& each) const {
        each.need_axes(1);
        each.need_length(slopes_.size(0));
    }
    TemperTask task{};

private:
    const Buffer sizes_, loss_;
    const Matrix slopes_;
    const WeightBuffer weight_;
};

void temper_rows(nb::handle scores, nb::handle own, nb::handle logs, nb::handle weights, double u, double v,
                 nb::handle loss, nb::handle slopes) {
    TemperBuffers rows(logs, weights, loss, slopes, true);
    const Matrix from(scores, "scores", rows.task.n_rows, -1);
    const Buffer mine(own, "own");
    rows.need_row(mine);
    rows.task.scores = from.data;
    rows.task.n_classes = from.size(1);
    rows.task.own = mine.all<const double>(Type::f64, "float64");
    rows.task.u = u;
    rows.task.v = v;
    run(&Kernels::temper_rows, rows.task);
}

nb::tuple temper_sums(nb::handle logs, nb::handle weights, nb::handle loss, nb::handle slopes) {
    TemperBuffers rows(logs, weights, loss, slopes, false);
    double sums[6];
    rows.task.sums = sums;
    run(&Kernels::temper_sums, rows.task);
    return nb::make_tuple(sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]);
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
    if (function < 0 || function > 3) refuse("function", "a number from 0 to 3", std::to_string(function));
    run(&Kernels::elementwise, ElementwiseTask{function, in.all<const double>(Type::f64, "float64"), in.size(0),
                                               to.all<double>(Type::f64, "float64")});
}

void add_product(nb::handle left, nb::handle right, nb::handle out) {
    const Matrix rows(left, "left", -1, -1), table(right, "right", rows.size(1), -1);
    const Matrix scores(out, "out", rows.size(0), table.size(1), true);
    run(&Kernels::add_product, ProductTask{rows.data, table.data, rows.size(0), rows.size(1), table.size(1), scores.data});
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
    m.def("softmax", &softmax, nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
    m.def("best_class", &best_class);
    m.def("elementwise", &elementwise);
    m.def("add_product", &add_product);
    m.def("score_test", &score_test);
    m.def("temper_rows", &temper_rows, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg());
    m.def("temper_sums", &temper_sums, nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
}

}  // namespace tally
