// The coefficients of normal and Student densities, as Python holds them.
#pragma once

#include "bind/buffers.hpp"

namespace tally {

// Six arrays of one shape: pull, between, share, whole, freedom, constant.
class CoefficientBuffer {
public:
    CoefficientBuffer(nb::handle arrays, const char* name, std::int64_t C, std::int64_t F) {
        const nb::object items = nb::steal(PySequence_Tuple(arrays.ptr()));
        if (!items.is_valid()) {
            PyErr_Clear();
            refuse_type(name, "six arrays", arrays);
        }
        if (nb::len(items) != 6) refuse(name, "six arrays", std::to_string(nb::len(items)));
        held_.reserve(6);
        for (nb::handle item : nb::borrow<nb::tuple>(items)) held_.emplace_back(item, name, C, F);
        view = {held_[0].data, held_[1].data, held_[2].data, held_[3].data, held_[4].data, held_[5].data};
    }
    LeaveCoefficients view;

private:
    std::vector<Matrix> held_;
};

}  // namespace tally
