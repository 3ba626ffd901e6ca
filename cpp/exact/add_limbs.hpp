// Sums of limbs, measured in the same pass: reading megabytes of counts once more takes as long as adding them.
//
// IN: left and right (n,). OUT: out (n,), their sums modulo 2^64, in memory of its own. Returns the bits of the greatest
// magnitude before and after. Cost: one pass. Twin: reference.add_limbs.
#pragma once

#include <bit>
#include <cstdint>

namespace tally::exact {

struct AddLimbsTask {
    const std::int64_t *left, *right;
    std::int64_t* out;
    std::int64_t n;
};

struct Bits {
    int before, after;
};

inline std::uint64_t magnitude_of(std::uint64_t x) {
    const std::uint64_t sign = 0 - (x >> 63);
    return (x ^ sign) - sign;
}

// Add limbs [from, to); a bit of `before` and `after` is set where some magnitude has it.
template <class Magnitude>
inline void add_some(const AddLimbsTask& task, std::int64_t from, std::int64_t to, Magnitude magnitude,
                     std::uint64_t& before, std::uint64_t& after) {
    std::uint64_t terms = 0, sums = 0;
    for (std::int64_t k = from; k < to; ++k) {
        const auto a = static_cast<std::uint64_t>(task.left[k]), b = static_cast<std::uint64_t>(task.right[k]);
        terms |= magnitude(a) | magnitude(b);
        sums |= magnitude(a + b);
        task.out[k] = static_cast<std::int64_t>(a + b);
    }
    before |= terms;
    after |= sums;
}

inline Bits add_limbs(const AddLimbsTask& task) {
    constexpr std::int64_t kBlock = 1024;  // limbs that stay in the first-level cache
    std::uint64_t before = 0, after = 0;
    bool counts = true;  // which are their own magnitudes: to take those of all limbs needs a third more time
    for (std::int64_t from = 0; from < task.n; from += kBlock) {
        const std::int64_t to = task.n - from < kBlock ? task.n : from + kBlock;
        std::uint64_t terms = 0, sums = 0;
        if (counts) add_some(task, from, to, [](std::uint64_t x) { return x; }, terms, sums);
        counts = counts && (terms | sums) >> 63 == 0;
        if (counts) {
            before |= terms;
            after |= sums;
        } else {
            add_some(task, from, to, magnitude_of, before, after);
        }
    }
    return {static_cast<int>(std::bit_width(before)), static_cast<int>(std::bit_width(after))};
}

}  // namespace tally::exact
