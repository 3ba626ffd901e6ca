// Left-out terms of rows as the fit of weights takes them, checked once and weighed many times.
#pragma once

#include "bind/coded.hpp"

namespace tally {

// Ten arrays: base (C - 1, n), terms (T, C - 1, n), numbers (T,), the coded ones, classes (n,), weights (n,) or None and
// share (n,), for U terms and K corrections.
class TermsBuffer {
public:
    TermsBuffer(nb::handle base, nb::handle terms, nb::handle numbers, nb::handle coded, nb::handle classes,
                nb::handle weights, nb::handle share, std::int64_t n_terms, std::int64_t n_corrections)
        : n(0), C(0), U(n_terms), K(n_corrections), base_(base, "base", -1, -1), terms_(terms, "terms"),
          share_(share, "share"), classes_(classes), weights_(weights, base_.size(1)) {
        C = base_.size(0) + 1;
        n = base_.size(1);
        terms_.need_axes(3);
        if (terms_.size(1) != C - 1 || terms_.size(2) != n) refuse("terms", "shape (T, C - 1, n) like base", "another");
        const std::int64_t T = terms_.size(0);
        numbers_.emplace(numbers, "numbers", T, 0, U);
        coded_.emplace(coded, n, C, U, K);
        classes_.need_length(n);
        share_.need_axes(1);
        share_.need_length(n);
        task_ = {base_.data, terms_.all<const float>(Type::f32, "float32"), numbers_->data, coded_->view, classes_.data,
                 weights_.data, share_.all<const double>(Type::f64, "float64"), nullptr, nullptr, nullptr, n, 0, n, C, T,
                 K, true, false, nullptr, nullptr};
    }

    // Return the task for some rows, whose classes are checked; its numbers and sums are still to be set.
    WeighTask of_rows(std::int64_t first, std::int64_t end) const {
        if (first < 0 || end < first || end > n) refuse("rows", "a range of the rows", std::to_string(end));
        for (std::int64_t i = first; i < end; ++i)
            if (classes_.data[i] < 0 || classes_.data[i] >= C)
                refuse("classes", "from 0 to C - 1", std::to_string(classes_.data[i]));
        WeighTask task = task_;
        task.first = first;
        task.end = end;
        return task;
    }

    std::int64_t n, C, U, K;

private:
    Matrix base_;
    Buffer terms_, share_;
    ClassBuffer classes_;
    WeightBuffer weights_;
    std::optional<PlaceBuffer> numbers_;
    std::optional<CodedBuffer> coded_;
    WeighTask task_{};
};

}  // namespace tally
