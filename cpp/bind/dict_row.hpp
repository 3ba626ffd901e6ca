// One row as a dict of numbers, read without an array: that would take longer to make than the row takes to count.
#pragma once

#include <limits>
#include <vector>

#include "bind/buffers.hpp"

namespace tally {

class DictRow {
public:
    static constexpr double kMost = std::numeric_limits<double>::max();

    explicit DictRow(nb::tuple names) : names_(std::move(names)), x_(nb::len(names_)) {}

    std::int64_t columns() const { return static_cast<std::int64_t>(x_.size()); }
    const double* values() const { return x_.data(); }

    // Read finite numbers; None, NaN or no entry is missing, which is NaN. False for any other value, and for a row with
    // none of the columns.
    bool read(nb::handle row) {
        if (!PyDict_CheckExact(row.ptr())) return false;
        bool any = false;
        for (std::size_t f = 0; f < x_.size(); ++f) {
            PyObject* name = PyTuple_GetItem(names_.ptr(), static_cast<Py_ssize_t>(f));
            PyObject* value = PyDict_GetItemWithError(row.ptr(), name);
            x_[f] = std::numeric_limits<double>::quiet_NaN();
            if (value == nullptr) {
                if (PyErr_Occurred() != nullptr) throw nb::python_error();
                continue;
            }
            any = true;
            if (value == Py_None) continue;
            if (!PyFloat_Check(value) && !PyLong_Check(value)) return false;
            x_[f] = PyFloat_AsDouble(value);
            if (x_[f] == -1.0 && PyErr_Occurred() != nullptr) {  // an integer beyond all doubles
                PyErr_Clear();
                return false;
            }
            if (x_[f] > kMost || x_[f] < -kMost) return false;
        }
        return any;
    }

private:
    nb::tuple names_;
    std::vector<double> x_;
};

}  // namespace tally
