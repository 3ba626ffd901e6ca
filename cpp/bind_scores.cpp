// The scores and the normaliser for Python.
#include "buffers.hpp"

namespace tally {

std::vector<std::int64_t> offsets_of(nb::handle sizes, std::int64_t n_columns);
std::int64_t need_low(std::int64_t low);
Sparse sparse_view(const Buffer& indptr, const Buffer& indices, const Buffer& data, std::int64_t n_columns);

namespace {

void score_dense(Fault (*Kernels::*kernel)(const ScoreDenseTask&), nb::handle columns, nb::handle mean,
                 nb::handle scale, nb::handle constant, nb::handle power, nb::handle out) {
    const Matrix scores(out, "out", -1, -1, true);
    const TableBuffer table(columns, scores.size(0), true);
    const std::int64_t C = scores.size(1), F = table.table().n_columns;
    const Matrix centre(mean, "mean", C, F), width(scale, "scale", C, F), height(constant, "constant", C, F);
    ScoreDenseTask task{table.table(), centre.data, width.data, height.data, nullptr, C, scores.data};
    if (power.is_none()) return run(kernel, task);
    const Matrix exponent(power, "power", C, F);
    task.power = exponent.data;
    run(kernel, task);
}

void score_gaussian(nb::handle columns, nb::handle mean, nb::handle scale, nb::handle constant, nb::handle out) {
    score_dense(&Kernels::score_gaussian, columns, mean, scale, constant, nb::none(), out);
}

void score_student(nb::handle columns, nb::handle mean, nb::handle scale, nb::handle constant, nb::handle power,
                   nb::handle out) {
    if (power.is_none()) refuse_type("power", "an array", power);
    score_dense(&Kernels::score_student, columns, mean, scale, constant, power, out);
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

void score_sparse(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle table, nb::handle out) {
    const Matrix scores(out, "out", -1, -1, true);
    const Matrix rows(table, "table", -1, scores.size(1));
    const Buffer starts(indptr, "indptr"), index(indices, "indices"), entries(data, "data");
    const Sparse matrix = sparse_view(starts, index, entries, rows.size(0));
    scores.need_length(matrix.n_rows);
    run(&Kernels::score_sparse, ScoreSparseTask{matrix, rows.data, scores.size(1), scores.data});
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

}  // namespace

void bind_scores(nb::module_& m) {
    m.def("score_gaussian", &score_gaussian);
    m.def("score_student", &score_student);
    m.def("score_codes", &score_codes);
    m.def("score_own_codes", &score_own_codes);
    m.def("score_sparse", &score_sparse);
    m.def("softmax", &softmax);
}

}  // namespace tally
