// Arrays that Python owns afterwards, and what bindings of buckets and cells share.
#pragma once

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "bind/buffers.hpp"

namespace tally {

std::vector<std::int64_t> offsets_of(nb::handle sizes, std::int64_t n_columns);  // bind/counts.cpp

// An array that a kernel fills and Python owns afterwards.
template <class T>
class OwnedArray {
public:
    explicit OwnedArray(std::int64_t size)
        : data(static_cast<T*>(std::malloc(static_cast<std::size_t>(size > 0 ? size : 1) * sizeof(T)))) {
        if (data == nullptr) throw std::bad_alloc();
    }
    OwnedArray(const OwnedArray&) = delete;
    OwnedArray& operator=(const OwnedArray&) = delete;
    ~OwnedArray() { std::free(data); }

    nb::object give(std::initializer_list<std::int64_t> shape) {
        std::vector<std::size_t> lengths(shape.begin(), shape.end());
        const nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
        T* given = std::exchange(data, nullptr);
        return nb::cast(nb::ndarray<nb::numpy, T>(given, lengths.size(), lengths.data(), owner));
    }

    T* data;
};

// The number of cells of an array, if memory could hold it.
inline std::int64_t need_cells(std::int64_t n_rows, std::int64_t n_columns) {
    if (n_columns != 0 && n_rows > (std::int64_t{1} << 40) / n_columns)
        refuse("columns", "at most 2^40 values", std::to_string(n_rows) + " rows");
    return n_rows * n_columns;
}

// The number of rows of a table in either of its two forms.
inline std::int64_t rows_of(nb::handle columns) {
    if (PyObject_CheckBuffer(columns.ptr())) {
        const Buffer buffer(columns, "columns");
        buffer.need_axes(2);
        return buffer.size(0);
    }
    const nb::object items = nb::steal(PySequence_Tuple(columns.ptr()));
    if (!items.is_valid()) {
        PyErr_Clear();
        refuse_type("columns", "an array or a sequence of arrays", columns);
    }
    for (nb::handle item : nb::borrow<nb::tuple>(items)) {
        const Buffer buffer(item, "columns");
        buffer.need_axes(1);
        return buffer.size(0);
    }
    return 0;
}

// The buckets of some columns, as Python holds them; the keys of each rise.
class BucketsBuffer {
public:
    BucketsBuffer(nb::handle keys, nb::handle sizes, nb::handle shifts, std::int64_t n_columns)
        : keys_(keys, "keys"), shifts_(shifts, "shifts"), offsets(offsets_of(sizes, n_columns)) {
        keys_.need_axes(1);
        shifts_.need_axes(1);
        this->keys = keys_.all<const std::int64_t>(Type::i64, "int64");
        this->shifts = shifts_.all<const std::int64_t>(Type::i64, "int64");
        keys_.need_length(offsets.back());
        shifts_.need_length(n_columns);
        for (std::int64_t f = 0; f < n_columns; ++f) {
            if (this->shifts[f] < 0 || this->shifts[f] > 63) refuse("shifts", "numbers from 0 to 63", "others");
            if (!std::is_sorted(this->keys + offsets[f], this->keys + offsets[f + 1]))
                refuse("keys", "rising numbers", "others");
        }
    }

private:
    Buffer keys_, shifts_;

public:
    std::vector<std::int64_t> offsets;
    const std::int64_t *keys, *shifts;
};

}  // namespace tally
