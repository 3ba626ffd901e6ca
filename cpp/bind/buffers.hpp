// From Python objects to the plain views of bind/interface.hpp. Refuses types, shapes and layouts that would make a
// kernel read or write out of bounds.
//
// Arrays are read through the buffer protocol: it costs 0.1 microseconds, accepts read-only memory, and pins the memory
// during the call. Kernels check bounds that depend on values.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bind/interface.hpp"

namespace tally {

namespace nb = nanobind;

inline std::int64_t size_of(Type type) {
    switch (type) {
        case Type::f64: case Type::i64: return 8;
        case Type::f32: case Type::i32: return 4;
        case Type::i16: return 2;
        default: return 1;
    }
}

inline bool is_real(Type type) { return type == Type::f64 || type == Type::f32; }

inline std::string text_of(nb::handle object) {
    const nb::object text = nb::steal(PyObject_Str(object.ptr()));
    const char* characters = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
    if (characters != nullptr) return characters;
    PyErr_Clear();
    return "?";
}

[[noreturn]] inline void refuse(const std::string& name, const std::string& want, const std::string& got) {
    throw nb::value_error((name + ": wanted " + want + ", got " + got).c_str());
}

[[noreturn]] inline void refuse_type(const std::string& name, const std::string& want, nb::handle got) {
    std::string kind = Py_TYPE(got.ptr())->tp_name;
    if (nb::hasattr(got, "dtype")) kind = text_of(nb::object(got.attr("dtype")));
    throw nb::type_error((name + ": wanted " + want + ", got " + kind).c_str());
}

// One array, pinned until destruction.
class Buffer {
public:
    Buffer(nb::handle object, const char* name, bool writable = false) : name_(name) {
        const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
        if (!PyObject_CheckBuffer(object.ptr())) refuse_type(name, "an array", object);
        if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
            PyErr_Clear();
            refuse_type(name, writable ? "a writable array of numbers" : "an array of numbers", object);
        }
        held_ = true;
        if (!find_type()) {
            PyBuffer_Release(&view_);
            refuse_type(name, "an array of numbers in this machine's byte order", object);
        }
    }
    Buffer(Buffer&& other) noexcept : view_(other.view_), name_(other.name_), type_(other.type_), held_(other.held_) {
        other.held_ = false;
        // for one axis, shape and strides may point into the structure that was moved
        if (view_.shape == &other.view_.len) view_.shape = &view_.len;
        if (view_.strides == &other.view_.itemsize) view_.strides = &view_.itemsize;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer() {
        if (held_) PyBuffer_Release(&view_);
    }

    Type type() const { return type_; }
    int ndim() const { return view_.ndim; }
    std::int64_t size(int axis) const { return view_.shape[axis]; }
    std::int64_t stride(int axis) const { return view_.strides[axis]; }
    const char* base() const { return static_cast<const char*>(view_.buf); }

    void need_axes(int ndim) const {
        if (view_.ndim != ndim) refuse(name_, std::to_string(ndim) + " axes", std::to_string(view_.ndim));
    }

    void need_length(std::int64_t length) const {
        if (size(0) != length) refuse(name_, "length " + std::to_string(length), std::to_string(size(0)));
    }

    void need_type(bool yes, const char* want) const {
        if (!yes) refuse_type(name_, want, nb::handle(view_.obj));
    }

    void need_contiguous() const {
        if (PyBuffer_IsContiguous(&view_, 'C') == 0) refuse(name_, "a C-contiguous array", "a strided one");
        need_aligned();
    }

    // Return the whole array after checking its type and that it is contiguous.
    template <class T>
    T* all(Type type, const char* want) const {
        need_type(type_ == type, want);
        need_contiguous();
        return static_cast<T*>(view_.buf);
    }

    // Element (i, f) is at column(f).base + i * stride; f = 0 if there is one axis.
    Column column(std::int64_t f = 0) const {
        return {base() + (view_.ndim > 1 ? f * stride(1) : 0), static_cast<std::ptrdiff_t>(stride(0)), type_};
    }

    void need_aligned() const {
        auto bits = reinterpret_cast<std::uintptr_t>(view_.buf);
        for (int axis = 0; axis < view_.ndim; ++axis) {
            if (size(axis) == 0) return;
            if (size(axis) > 1) bits |= static_cast<std::uintptr_t>(stride(axis));
        }
        if (bits % static_cast<std::uintptr_t>(size_of(type_)) != 0) refuse(name_, "an aligned array", "another");
    }

private:
    bool find_type() {
        const char* format = view_.format == nullptr ? "B" : view_.format;
        if (*format == '@' || *format == '=') ++format;
        if (format[0] == '\0' || format[1] != '\0') return false;
        const bool is_signed = std::string("bhilq").find(*format) != std::string::npos;
        switch (view_.itemsize) {
            case 8:
                type_ = *format == 'd' ? Type::f64 : Type::i64;
                return *format == 'd' || is_signed;
            case 4:
                type_ = *format == 'f' ? Type::f32 : Type::i32;
                return *format == 'f' || is_signed;
            case 2: type_ = Type::i16; return is_signed;
            case 1:
                type_ = is_signed ? Type::i8 : Type::u8;
                return is_signed || *format == 'B' || *format == '?';
            default: return false;
        }
    }

    Py_buffer view_{};
    const char* name_;
    Type type_ = Type::f64;
    bool held_ = false;
};

// A table in either of its two forms: one array of two axes, or a sequence of columns.
class TableBuffer {
public:
    TableBuffer(nb::handle object, std::int64_t n_rows, bool reals) {
        const char* want = reals ? "float64 or float32" : "int8, uint8, int16, int32 or int64";
        if (PyObject_CheckBuffer(object.ptr())) {
            const Buffer& buffer = buffers_.emplace_back(object, "columns");
            buffer.need_axes(2);
            buffer.need_length(n_rows);
            buffer.need_type(is_real(buffer.type()) == reals, want);
            buffer.need_aligned();
            columns_.reserve(static_cast<std::size_t>(buffer.size(1)));
            for (std::int64_t f = 0; f < buffer.size(1); ++f) columns_.push_back(buffer.column(f));
        } else {
            const nb::object items = nb::steal(PySequence_Tuple(object.ptr()));
            if (!items.is_valid()) {
                PyErr_Clear();
                refuse_type("columns", "an array or a sequence of arrays", object);
            }
            buffers_.reserve(nb::len(items));
            for (nb::handle item : nb::borrow<nb::tuple>(items)) {
                const Buffer& buffer = buffers_.emplace_back(item, "columns");
                buffer.need_axes(1);
                buffer.need_length(n_rows);
                buffer.need_type(is_real(buffer.type()) == reals, want);
                buffer.need_aligned();
                columns_.push_back(buffer.column());
            }
        }
        table_ = {columns_.data(), static_cast<std::int64_t>(columns_.size()), n_rows};
    }

    const Table& table() const { return table_; }

private:
    std::vector<Buffer> buffers_;
    std::vector<Column> columns_;
    Table table_;
};

// classes (n,) int32.
class ClassBuffer : public Buffer {
public:
    explicit ClassBuffer(nb::handle object) : Buffer(object, "classes") {
        need_axes(1);
        data = all<const std::int32_t>(Type::i32, "int32");
    }
    std::int64_t length() const { return size(0); }
    const std::int32_t* data;
};

// weights (n,) float64, or None.
class WeightBuffer {
public:
    WeightBuffer(nb::handle object, std::int64_t n_rows) {
        if (object.is_none()) return;
        const Buffer& buffer = buffers_.emplace_back(object, "weights");
        buffer.need_axes(1);
        buffer.need_length(n_rows);
        data = buffer.all<const double>(Type::f64, "float64");
    }
    const double* data = nullptr;

private:
    std::vector<Buffer> buffers_;
};

// Numbers modulo 2^64, passed as int64.
class Words : public Buffer {
public:
    Words(nb::handle object, const char* name, std::int64_t length, bool writable = false)
        : Buffer(object, name, writable) {
        need_axes(1);
        if (length >= 0) need_length(length);
        data = reinterpret_cast<std::uint64_t*>(all<std::int64_t>(Type::i64, "int64"));
    }
    std::uint64_t* data;  // read-only unless writable
};

// Where a counting kernel hashes rows as well: `from` (its length) and `out` (n,), or None for both.
class HashBuffers {
public:
    HashBuffers(nb::handle from_object, const char* name, std::int64_t length, nb::handle out_object, std::int64_t n_rows) {
        if (from_object.is_none() != out_object.is_none()) refuse(name, "an array where out is one", "one of both");
        if (from_object.is_none()) return;
        words_.reserve(2);
        from = words_.emplace_back(from_object, name, length).data;
        out = words_.emplace_back(out_object, "out", n_rows, true).data;
    }
    const std::uint64_t* from = nullptr;
    std::uint64_t* out = nullptr;

private:
    std::vector<Words> words_;
};

// A float64 array of two axes; -1 accepts any length.
class Matrix : public Buffer {
public:
    Matrix(nb::handle object, const char* name, std::int64_t rows, std::int64_t columns, bool writable = false)
        : Buffer(object, name, writable) {
        need_axes(2);
        if ((rows >= 0 && size(0) != rows) || (columns >= 0 && size(1) != columns))
            refuse(name, "shape " + pair(length_or_any(rows), length_or_any(columns)),
                   pair(std::to_string(size(0)), std::to_string(size(1))));
        data = all<double>(Type::f64, "float64");
    }
    double* data;  // read-only unless writable

private:
    static std::string pair(std::string left, const std::string& right) {
        return left.insert(0, 1, '(').append(", ").append(right).append(")");
    }
    static std::string length_or_any(std::int64_t length) { return length < 0 ? "any" : std::to_string(length); }
};

// Check a count: not below 0, and small enough that products of two counts do not overflow.
inline std::int64_t need_count(std::int64_t count, const char* name) {
    if (count < 0 || count > INT32_MAX) refuse(name, "a number from 0 to 2^31 - 1", std::to_string(count));
    return count;
}

// Limbs to be returned to Python.
class OwnedLimbs {
public:
    OwnedLimbs() = default;
    OwnedLimbs(const OwnedLimbs&) = delete;
    OwnedLimbs& operator=(const OwnedLimbs&) = delete;
    ~OwnedLimbs() { std::free(limbs.data); }

    nb::tuple give(std::int64_t rows, std::int64_t columns) {
        const std::size_t shape[3] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                                      static_cast<std::size_t>(limbs.length)};
        nb::capsule owner(limbs.data, [](void* p) noexcept { std::free(p); });
        std::int64_t* data = std::exchange(limbs.data, nullptr);
        return nb::make_tuple(nb::ndarray<nb::numpy, std::int64_t>(data, 3, shape, owner), limbs.base);
    }

    Limbs limbs;
};

const Kernels& kernels();

// Run a kernel without the interpreter lock, and raise its fault as a Python exception.
void raise_fault(const Fault& fault);

template <class Task>
void run(Fault (*Kernels::*kernel)(const Task&), const Task& task) {
    Fault fault;
    {
        const nb::gil_scoped_release unlocked;
        fault = (kernels().*kernel)(task);
    }
    if (fault.kind != FaultKind::none) raise_fault(fault);
}

void bind_counts(nb::module_& m);
void bind_buckets(nb::module_& m);
void bind_cells(nb::module_& m);
void bind_scores(nb::module_& m);
void bind_structure(nb::module_& m);
void bind_experts(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_hashes(nb::module_& m);
void bind_normals(nb::module_& m);
void bind_dict_rows(nb::module_& m);
void bind_sparse_pattern(nb::module_& m);
void bind_weights(nb::module_& m);

}  // namespace tally
