// The groups of numbers whose precisions are found together, as Python holds them.
#pragma once

#include <optional>

#include "bind/coded.hpp"
#include "dense/precisions.hpp"

namespace tally {

inline const double* doubles(const Buffer& buffer, std::int64_t length) {
    buffer.need_axes(1);
    buffer.need_length(length);
    return buffer.all<const double>(Type::f64, "float64");
}

// A tuple: the group of each number (N,), told, distinct, expected and least of each kind (6,), the precisions to try and
// their logarithms (M,), how strongly one is expected, and the repetition of rows.
class GroupsBuffer {
public:
    GroupsBuffer(nb::handle given, std::int64_t numbers, std::int64_t groups) : items_(tuple_of(given)) {
        if (groups < precisions::kKinds) refuse("precision", "one for each group", std::to_string(groups));
        of_.emplace(items_[0], "groups", numbers, 0, groups);
        const char* const names[] = {"told", "distinct", "expected", "least", "alphas", "logs"};
        for (int k = 0; k < 6; ++k) parts_[k].emplace(items_[1 + k], names[k]);
        const double* kind[4];
        for (int k = 0; k < 4; ++k) kind[k] = doubles(*parts_[k], precisions::kKinds);
        parts_[4]->need_axes(1);
        const std::int64_t points = parts_[4]->size(0);
        if (points < 2) refuse("alphas", "at least two", std::to_string(points));
        view.emplace(of_->data, numbers, groups, precisions::Kinds{kind[0], kind[1], kind[2], kind[3]},
                     precisions::Lattice{doubles(*parts_[4], points), doubles(*parts_[5], points), points},
                     nb::cast<double>(items_[7]), nb::cast<double>(items_[8]));
    }

    std::optional<precisions::Groups> view;

private:
    static nb::tuple tuple_of(nb::handle given) {
        if (!nb::isinstance<nb::tuple>(given) || nb::len(given) != 9) refuse_type("groups", "a tuple of nine", given);
        return nb::borrow<nb::tuple>(given);
    }

    nb::tuple items_;
    std::optional<PlaceBuffer> of_;
    std::optional<Buffer> parts_[6];
};

// The kinds of groups to find, each below six.
inline std::vector<std::int64_t> kinds_of(nb::handle given) {
    std::vector<std::int64_t> kinds;
    for (nb::handle one : given) {
        kinds.push_back(nb::cast<std::int64_t>(one));
        if (kinds.back() < 0 || kinds.back() >= precisions::kKinds) refuse("kinds", "numbers from 0 to 5", "others");
    }
    return kinds;
}

}  // namespace tally
