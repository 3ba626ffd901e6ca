// Copying ranges of an array, one after the other, such as the entries of some sparse rows.
//
// IN: values (n,) of any size; starts and lengths (R,) of the ranges. OUT: out, as long as all ranges together. The
// caller guarantees only stated lengths: a range outside of the values, or one too many for `out`, is refused. Cost: the
// bytes copied; ranges far from each other are fetched ahead. Twin: reference.copy_ranges.
#pragma once

#include <cstdint>
#include <cstring>

namespace tally::sparse {

struct CopyRangesTask {
    const char* values;
    std::int64_t n_values, size;  // `size` bytes each
    const std::int64_t *starts, *lengths;
    std::int64_t n_ranges;
    char* out;
    std::int64_t n_out;
};

inline void fetch(const char* from, std::int64_t bytes) {
#if defined(__GNUC__) || defined(__clang__)
    constexpr std::int64_t kMost = 1024;  // bytes: of a long range the rest follows by itself
    for (std::int64_t at = 0; at < bytes && at < kMost; at += 64) __builtin_prefetch(from + at);
    __asm__ volatile("");  // gcc 12 leaves out calls of a function that does nothing but prefetch
#else
    (void)from, (void)bytes;
#endif
}

// Return false where a range is outside of the values, or the ranges do not fill `out`.
inline bool copy_ranges(const CopyRangesTask& task) {
    constexpr std::int64_t kAhead = 4;  // ranges
    const auto inside = [&](std::int64_t start, std::int64_t length) {
        return start >= 0 && length >= 0 && start <= task.n_values && length <= task.n_values - start;
    };
    std::int64_t filled = 0;
    for (std::int64_t k = 0; k < task.n_ranges; ++k) {
        if (k + kAhead < task.n_ranges) {
            const std::int64_t start = task.starts[k + kAhead], length = task.lengths[k + kAhead];
            if (inside(start, length)) fetch(task.values + start * task.size, length * task.size);
        }
        const std::int64_t start = task.starts[k], length = task.lengths[k];
        if (!inside(start, length) || length > task.n_out - filled) return false;
        std::memcpy(task.out + filled * task.size, task.values + start * task.size,
                    static_cast<std::size_t>(length * task.size));
        filled += length;
    }
    return filled == task.n_out;
}

}  // namespace tally::sparse
