// Python bindings of rows that are dicts of numbers: kept until they are counted, and scored by the cells they are in.
#include <algorithm>
#include <cmath>

#include "bind/dict_row.hpp"
#include "bind/owned.hpp"

namespace tally {

namespace {

class NumberRows {
public:
    NumberRows(nb::tuple names, double most) : row_(std::move(names)), most_(most) {}

    // Return whether the row was plain, with no number beyond the bound, and is now kept with its class.
    bool append(nb::handle row, nb::handle label) {
        if (!row_.read(row)) return false;
        const double* x = row_.values();
        for (std::int64_t f = 0; f < row_.columns(); ++f)
            if (x[f] >= most_ || x[f] <= -most_) return false;
        rows_.insert(rows_.end(), x, x + row_.columns());
        labels_.append(label);
        return true;
    }

    // Return the rows as an array, (n, F).
    nb::object values() const {
        OwnedArray<double> out(size() * row_.columns());
        std::copy_n(rows_.begin(), size() * row_.columns(), out.data);
        return out.give({size(), row_.columns()});
    }

    nb::object labels() const { return nb::list(labels_); }

    void clear() {
        rows_.clear();
        labels_ = nb::list();
    }

    std::int64_t size() const { return static_cast<std::int64_t>(nb::len(labels_)); }

private:
    DictRow row_;
    double most_;
    std::vector<double> rows_;
    nb::list labels_;
};

// Cells are looked up here; the kernels that add and normalise the terms are those of many rows, so the bits are theirs.
class CellScores {
public:
    CellScores(nb::tuple names, nb::handle edges, nb::handle sizes, nb::handle table, nb::handle prior)
        : row_(std::move(names)), offsets_(offsets_of(sizes, row_.columns())), edges_(edges, "edges"),
          prior_(prior, "prior"), table_(table, "table", offsets_.back(), -1), codes_(row_.columns()) {
        edges_.need_axes(1);
        prior_.need_axes(1);
        edge_ = edges_.all<const double>(Type::f64, "float64");
        first_ = prior_.all<const double>(Type::f64, "float64");
        prior_.need_length(classes());
        for (std::int64_t f = 0; f < row_.columns(); ++f) {
            const std::int64_t size = offsets_[f + 1] - offsets_[f];
            if (size < 1 || size > FindCellsTask::kMissing) refuse("sizes", "1 to 255 cells a column", "others");
            columns_.push_back({reinterpret_cast<const char*>(&codes_[f]), 1, Type::u8});
        }
        edges_.need_length(offsets_.back() - row_.columns());
        for (std::int64_t f = 0; f < row_.columns(); ++f)
            if (!std::is_sorted(edges_of(f), edges_end(f))) refuse("edges", "rising numbers", "others");
    }

    // Write the probability of each class; false where the row is not plain, or no class makes it possible.
    bool probabilities(nb::handle row, nb::handle out) {
        const Buffer to(out, "out", true);
        to.need_axes(1);
        to.need_length(classes());
        auto* scores = to.all<double>(Type::f64, "float64");
        if (!row_.read(row)) return false;
        const double* x = row_.values();
        for (std::int64_t f = 0; f < row_.columns(); ++f)
            codes_[f] = static_cast<std::uint8_t>(
                std::isnan(x[f]) ? FindCellsTask::kMissing : std::upper_bound(edges_of(f), edges_end(f), x[f]) - edges_of(f));
        std::copy_n(first_, classes(), scores);
        const Table one{columns_.data(), row_.columns(), 1};
        double log_norm = 0.0;
        // With the interpreter lock: a row takes less time than to release it, and the codes are this object's.
        const Fault fault = kernels().score_codes(
            {one, table_.data, offsets_.data(), 0, false, nullptr, classes(), scores});
        if (fault.kind != FaultKind::none) raise_fault(fault);
        kernels().softmax({scores, scores, &log_norm, 1, classes(), false});
        return std::isfinite(log_norm);
    }

private:
    std::int64_t classes() const { return table_.size(1); }
    const double* edges_of(std::int64_t f) const { return edge_ + offsets_[f] - f; }  // a column has a cell more
    const double* edges_end(std::int64_t f) const { return edge_ + offsets_[f + 1] - f - 1; }

    DictRow row_;
    std::vector<std::int64_t> offsets_;
    Buffer edges_, prior_;
    Matrix table_;
    std::vector<std::uint8_t> codes_;  // (F,)
    std::vector<Column> columns_;
    const double *edge_, *first_;
};

}  // namespace

void bind_dict_rows(nb::module_& m) {
    nb::class_<NumberRows>(m, "NumberRows")
        .def(nb::init<nb::tuple, double>())
        .def("append", &NumberRows::append)
        .def("values", &NumberRows::values)
        .def("labels", &NumberRows::labels)
        .def("clear", &NumberRows::clear)
        .def("__len__", &NumberRows::size);
    nb::class_<CellScores>(m, "CellScores")
        .def(nb::init<nb::tuple, nb::handle, nb::handle, nb::handle, nb::handle>())
        .def("probabilities", &CellScores::probabilities);
}

}  // namespace tally
