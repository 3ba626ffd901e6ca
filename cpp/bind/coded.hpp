// Terms and corrections that rows look up by code, as Python holds them.
#pragma once

#include <optional>

#include "bind/buffers.hpp"

namespace tally {

std::vector<std::int64_t> offsets_of(nb::handle sizes, std::int64_t n_columns);

// Whole numbers of some length, each from `least` on and below `end`.
class PlaceBuffer {
public:
    PlaceBuffer(nb::handle numbers, const char* name, std::int64_t length, std::int64_t least, std::int64_t end)
        : held_(numbers, name) {
        held_.need_axes(1);
        held_.need_length(length);
        data = held_.all<const std::int32_t>(Type::i32, "int32");
        for (std::int64_t k = 0; k < length; ++k)
            if (data[k] < least || data[k] >= end)
                refuse(name, std::to_string(least) + " to " + std::to_string(end - 1), std::to_string(data[k]));
    }
    const std::int32_t* data;

private:
    Buffer held_;
};

// A tuple: codes (V, n), sizes (V,), values (P, C - 1), terms (V,), bins (P,). Codes are checked as they are read.
class CodedBuffer {
public:
    CodedBuffer(nb::handle coded, std::int64_t n, std::int64_t C, std::int64_t U, std::int64_t K) : items_(tuple_of(coded)) {
        codes_.emplace(items_[0], "codes");
        codes_->need_axes(2);
        if (codes_->size(1) != n) refuse("codes", "one column for each row", std::to_string(codes_->size(1)));
        const std::int64_t V = codes_->size(0);
        offsets_ = offsets_of(items_[1], V);
        const std::int64_t P = offsets_.back();
        values_.emplace(items_[2], "values", P, C - 1);
        terms_.emplace(items_[3], "terms", V, -1, U);
        bins_.emplace(items_[4], "bins", P, -1, K);
        view = {codes_->all<const std::int32_t>(Type::i32, "int32"), offsets_.data(), values_->data, terms_->data,
                bins_->data, V};
    }
    CodedTerms view;

private:
    static nb::tuple tuple_of(nb::handle coded) {
        if (!nb::isinstance<nb::tuple>(coded) || nb::len(coded) != 5) refuse_type("coded", "a tuple of five", coded);
        return nb::borrow<nb::tuple>(coded);
    }

    nb::tuple items_;
    std::optional<Buffer> codes_;
    std::vector<std::int64_t> offsets_;
    std::optional<Matrix> values_;
    std::optional<PlaceBuffer> terms_, bins_;
};

}  // namespace tally
