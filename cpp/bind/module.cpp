// The compiled module: selects the kernels for this processor and binds them to Python.
#include <atomic>
#include <string>
#include <nanobind/stl/string.h>

#include "bind/buffers.hpp"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace tally {

void bind_text(nb::module_& m);  // bind/text.cpp
void bind_mail(nb::module_& m);  // bind/mail.cpp

namespace {

bool processor_is_v3() {
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#elif defined(_MSC_VER) && defined(_M_X64)
    int first[4], seventh[4];
    __cpuid(first, 0);
    if (first[0] < 7) return false;
    __cpuidex(first, 1, 0);
    __cpuidex(seventh, 7, 0);
    const bool saved = (first[2] >> 27 & 1) != 0 && (_xgetbv(0) & 6) == 6;  // the system saves the wide registers
    const bool fma = (first[2] >> 12 & 1) != 0, avx2 = (seventh[1] >> 5 & 1) != 0, bmi2 = (seventh[1] >> 8 & 1) != 0;
    return saved && fma && avx2 && bmi2;
#else
    return false;
#endif
}

const Kernels* best() {
    const Kernels* v3 = processor_is_v3() ? kernels_v3() : nullptr;
    return v3 != nullptr ? v3 : kernels_baseline();
}

std::atomic<const Kernels*> current{best()};

nb::list available() {
    nb::list names;
    names.append(kernels_baseline()->name);
    if (best() != kernels_baseline()) names.append(best()->name);
    return names;
}

// Set the kernels that all threads call from now on. Return the previous name. For tests and benchmarks.
std::string use(const std::string& name) {
    for (const Kernels* candidate : {kernels_baseline(), best()})
        if (name == candidate->name) return current.exchange(candidate)->name;
    refuse("name", "an instruction set that this processor has", name);
}

// Raise an exception of kernels/types.py.
template <class... Parts>
[[noreturn]] void raise_type(const char* name, Parts... parts) {
    const nb::object type = nb::module_::import_("tallybayes.kernels.types").attr(name);
    PyErr_SetObject(type.ptr(), type(parts...).ptr());
    throw nb::python_error();
}

}  // namespace

const Kernels& kernels() { return *current.load(std::memory_order_relaxed); }

void raise_fault(const Fault& fault) {
    const std::string row = "row " + std::to_string(fault.row);
    switch (fault.kind) {
        case FaultKind::not_finite: raise_type("NotFinite", fault.row, fault.column, fault.value);
        case FaultKind::bad_entry: raise_type("BadEntry", fault.row, fault.column, fault.value);
        case FaultKind::bad_index: raise_type("BadIndex", fault.row, fault.column);
        case FaultKind::bad_class:
            refuse("classes", "numbers from 0 to n_classes - 1", text_of(nb::float_(fault.value)) + ", " + row);
        case FaultKind::bad_weight:
            refuse("weights", "finite numbers not below 0", text_of(nb::float_(fault.value)) + ", " + row);
        case FaultKind::bad_code:
            refuse("codes", "rows of the table, or -1", std::to_string(fault.column) + ", " + row);
        default: refuse("indptr", "row bounds that increase and stay within indices", "others, " + row);
    }
}

}  // namespace tally

NB_MODULE(_native, m) {
    tally::bind_counts(m);
    tally::bind_buckets(m);
    tally::bind_cells(m);
    tally::bind_scores(m);
    tally::bind_structure(m);
    tally::bind_experts(m);
    tally::bind_weights(m);
    tally::bind_exact(m);
    tally::bind_hashes(m);
    tally::bind_normals(m);
    tally::bind_dict_rows(m);
    tally::bind_sparse_pattern(m);
    tally::bind_text(m);
    tally::bind_mail(m);
    m.def("use", &tally::use);
    m.def("available", &tally::available);
    m.def("isa", [] { return tally::kernels().name; });
}
