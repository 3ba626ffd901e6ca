// Sums of limbs, measured in the same pass: reading megabytes of counts once more takes as long as adding them.
//
// IN: left and right (n,). OUT: out (n,), their sums modulo 2^64. Returns the bits of the greatest magnitude before and
// after. Cost: one pass. Twin: reference.add_limbs.
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

inline Bits add_limbs(const AddLimbsTask& task) {
    std::uint64_t before = 0, after = 0;  // a bit is set where some magnitude has it
    for (std::int64_t k = 0; k < task.n; ++k) {
        const auto a = static_cast<std::uint64_t>(task.left[k]), b = static_cast<std::uint64_t>(task.right[k]);
        before |= magnitude_of(a) | magnitude_of(b);
        after |= magnitude_of(a + b);
        task.out[k] = static_cast<std::int64_t>(a + b);
    }
    return {static_cast<int>(std::bit_width(before)), static_cast<int>(std::bit_width(after))};
}

}  // namespace tally::exact
