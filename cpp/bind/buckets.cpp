// Python bindings of find_buckets, count_numbers, find_cells and join_buckets.
#include <algorithm>

#include "bind/owned.hpp"

namespace tally {

namespace {

using std::int64_t;

nb::tuple find_buckets(nb::handle columns) {
    const int64_t n = rows_of(columns);
    const TableBuffer table(columns, n, true);
    const int64_t F = table.table().n_columns, room = std::min(n, FindBucketsTask::kMost);
    OwnedArray<std::int16_t> codes(need_cells(n, F));
    OwnedArray<int64_t> sizes(F), shifts(F);
    std::vector<int64_t> keys(static_cast<std::size_t>(room * F));
    std::fill_n(sizes.data, F, 0);  // without rows no column is visited
    std::fill_n(shifts.data, F, 0);
    run(&Kernels::find_buckets,
        FindBucketsTask{table.table(), nullptr, 0, codes.data, nullptr, keys.data(), sizes.data, shifts.data});
    int64_t total = 0;
    for (int64_t f = 0; f < F; ++f) total += sizes.data[f];
    OwnedArray<int64_t> found(total);
    int64_t* to = found.data;
    for (int64_t f = 0; f < F; ++f) to = std::copy_n(keys.data() + f * room, sizes.data[f], to);
    return nb::make_tuple(codes.give({F, n}), found.give({total}), sizes.give({F}), shifts.give({F}));
}

// The order of keys, by two passes over the bits in which they differ; they are few, but as many as columns and slices.
class RisingKeys {
public:
    // The codes of `size` keys, at most 2^11, that lack `shift` bits, in the order of the keys.
    const std::vector<std::uint32_t>& order(const int64_t* keys, int64_t size, int64_t shift) {
        order_.resize(static_cast<std::size_t>(size));
        for (int64_t k = 0; k < size; ++k) order_[k] = static_cast<std::uint32_t>(k);
        if (size == 0) return order_;
        const int64_t least = *std::min_element(keys, keys + size) >> shift;
        // Without a sign: keys of -1e300 and 1e300 differ by more than an int64_t holds.
        const auto above = [&](int64_t key) {
            return static_cast<std::uint64_t>(key >> shift) - static_cast<std::uint64_t>(least);
        };
        const std::uint64_t last = above(*std::max_element(keys, keys + size));
        if (last >= std::uint64_t{1} << 2 * kBits) {
            if (size < kFew) std::sort(order_.begin(), order_.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
            else sort_bytes(keys, *std::min_element(keys, keys + size));
            return order_;
        }
        other_.resize(order_.size());
        for (int64_t digit = 0; digit < 2 * kBits && last >> digit != 0; digit += kBits) {
            std::int32_t starts[(1 << kBits) + 1] = {};
            const auto place = [&](std::uint32_t k) { return above(keys[k]) >> digit & ((1u << kBits) - 1); };
            for (const std::uint32_t k : order_) ++starts[place(k) + 1];
            for (int64_t k = 0; k < 1 << kBits; ++k) starts[k + 1] += starts[k];
            for (const std::uint32_t k : order_) other_[starts[place(k)]++] = k;
            std::swap(order_, other_);
        }
        return order_;
    }

private:
    struct Numbered {
        std::uint64_t key;
        std::uint32_t number;
    };

    // Sort by one byte after the other, from the lowest on: comparing many keys costs more than eight passes.
    void sort_bytes(const int64_t* keys, int64_t least) {
        numbered_.resize(order_.size());
        sorted_.resize(order_.size());
        std::uint32_t starts[8][257] = {};
        for (const std::uint32_t k : order_) {
            const auto key = static_cast<std::uint64_t>(keys[k]) - static_cast<std::uint64_t>(least);
            numbered_[k] = {key, k};
            for (int byte = 0; byte < 8; ++byte) ++starts[byte][(key >> 8 * byte & 255) + 1];
        }
        for (int byte = 0; byte < 8; ++byte) {
            if (*std::max_element(starts[byte], starts[byte] + 257) == order_.size()) continue;  // all have the same
            for (int k = 0; k < 256; ++k) starts[byte][k + 1] += starts[byte][k];
            for (const Numbered& one : numbered_) sorted_[starts[byte][one.key >> 8 * byte & 255]++] = one;
            std::swap(numbered_, sorted_);
        }
        for (std::size_t k = 0; k < order_.size(); ++k) order_[k] = numbered_[k].number;
    }

    static constexpr int64_t kBits = 11, kFew = 256;
    std::vector<std::uint32_t> order_, other_;
    std::vector<Numbered> numbered_, sorted_;
};

// Exact sums, and buckets with the rows of each class in place of codes, those of a column in rising order.
nb::tuple count_numbers(nb::handle columns, nb::handle classes, int64_t n_classes, nb::handle seeds, nb::handle out) {
    constexpr int64_t most = FindBucketsTask::kMost;
    const ClassBuffer own(classes);
    const int64_t n = own.length(), C = need_count(n_classes, "n_classes");
    if (n > UINT32_MAX) refuse("columns", "fewer than 2^32 rows", std::to_string(n));
    if (C > 1 << 20) refuse("n_classes", "at most 2^20 classes", std::to_string(C));  // counters have 32-bit numbers
    const TableBuffer table(columns, n, true);
    const int64_t F = table.table().n_columns, room = std::min(n, most);
    const HashBuffers hashes(seeds, "seeds", F, out, n);
    need_cells(need_cells(most + 2, C), F);
    OwnedArray<int64_t> sizes(F), shifts(F);
    std::vector<int64_t> keys(static_cast<std::size_t>(room * F));
    std::vector<std::uint32_t> counts(static_cast<std::size_t>((most + 2) * C * F));
    std::fill_n(sizes.data, F, 0);
    std::fill_n(shifts.data, F, 0);
    OwnedLimbs sums[3];
    const PowerTask power{table.table(), own.data, C, nullptr, true, &sums[0].limbs, &sums[1].limbs, &sums[2].limbs,
                          hashes.from, hashes.out};
    const FindBucketsTask buckets{table.table(), own.data, C, nullptr, counts.data(), keys.data(), sizes.data, shifts.data};
    run(&Kernels::count_numbers, CountNumbersTask{power, buckets});
    int64_t total = 0;
    for (int64_t f = 0; f < F; ++f) total += sizes.data[f];
    OwnedArray<int64_t> found(total), tally(total * C);
    {
        const nb::gil_scoped_release unlocked;
        RisingKeys rising;
        int64_t at = 0;
        for (int64_t f = 0; f < F; ++f) {
            const int64_t* mine = keys.data() + f * room;
            const auto& order = rising.order(mine, sizes.data[f], shifts.data[f]);
            for (int64_t c = 0; c < C; ++c) {
                const std::uint32_t* from = counts.data() + (f * (most + 2) + 1) * C + c;
                int64_t* to = tally.data + c * total + at;
                for (int64_t k = 0; k < sizes.data[f]; ++k) to[k] = from[static_cast<int64_t>(order[k]) * C];
            }
            for (int64_t k = 0; k < sizes.data[f]; ++k) found.data[at++] = mine[order[k]];
        }
    }
    return nb::make_tuple(sums[0].give(C, F), sums[1].give(C, F), sums[2].give(C, F), tally.give({C, total}),
                          found.give({total}), sizes.give({F}), shifts.give({F}));
}

nb::object find_cells(nb::handle columns, nb::handle edges, nb::handle sizes) {
    const int64_t n = rows_of(columns);
    const TableBuffer table(columns, n, true);
    const int64_t F = table.table().n_columns;
    const auto offsets = offsets_of(sizes, F);
    const Buffer all(edges, "edges");
    all.need_axes(1);
    const auto* from = all.all<const double>(Type::f64, "float64");
    all.need_length(offsets.back());
    for (int64_t f = 0; f < F; ++f) {
        if (offsets[f + 1] - offsets[f] >= FindCellsTask::kMissing) refuse("edges", "at most 254 per column", "more");
        if (!std::is_sorted(from + offsets[f], from + offsets[f + 1])) refuse("edges", "rising numbers", "others");
    }
    OwnedArray<std::uint8_t> codes(need_cells(n, F));
    run(&Kernels::find_cells, FindCellsTask{table.table(), from, offsets.data(), codes.data});
    return codes.give({F, n});
}

constexpr int64_t kFewer = 8;  // as many times fewer keys are inserted: finding a place costs about as many comparisons

// Merge two rising lists of keys without their `shift` low bits; return how many remain.
int64_t merge_keys(const BucketsBuffer& left, const BucketsBuffer& right, int64_t f, int64_t shift, int64_t* out) {
    const int64_t *a = left.keys + left.offsets[f], *a_end = left.keys + left.offsets[f + 1];
    const int64_t *b = right.keys + right.offsets[f], *b_end = right.keys + right.offsets[f + 1];
    int64_t size = 0;
    while (a != a_end || b != b_end) {
        const bool first = b == b_end || (a != a_end && *a <= *b);
        const int64_t key = (first ? *a++ : *b++) >> shift;
        if (size == 0 || out[size - 1] != key) out[size++] = key;
    }
    return size;
}

void place_keys(const BucketsBuffer& side, int64_t f, int64_t shift, const int64_t* merged, int64_t start,
                int64_t* places) {
    int64_t at = 0;
    for (int64_t k = side.offsets[f]; k < side.offsets[f + 1]; ++k) {
        while (merged[at] != side.keys[k] >> shift) ++at;
        places[k] = start + at;
    }
}

// Insert a few keys into the buckets of a column, and write the places of both sides; return how many there are then, or
// -1 where buckets have to grow. What lies between two of the few is copied.
int64_t insert_keys(const BucketsBuffer& left, const BucketsBuffer& right, int64_t f, int64_t start, int64_t* merged,
                    int64_t* mine, int64_t* theirs) {
    const int64_t *a = left.keys + left.offsets[f], *const a_end = left.keys + left.offsets[f + 1], *const first = a;
    const int64_t *b = right.keys + right.offsets[f], *const b_end = right.keys + right.offsets[f + 1];
    const int64_t shift = left.shifts[f], few = b_end - b;
    if (right.shifts[f] > shift || kFewer * few > a_end - a || (a_end - a) + few > FindBucketsTask::kMost) return -1;
    int64_t size = 0;
    const auto copy_to = [&](const int64_t* end) {
        const int64_t before = size - (a - first);
        for (; a != end; ++a) {
            mine[a - left.keys] = start + (a - first) + before;
            merged[size++] = *a;
        }
    };
    for (; b != b_end; ++b) {
        const int64_t key = static_cast<int64_t>(static_cast<std::uint64_t>(*b >> shift) << shift);
        copy_to(std::lower_bound(a, a_end, key));
        const bool same = size > 0 && merged[size - 1] == key, known = a != a_end && *a == key;
        if (!same && known) copy_to(a + 1);
        else if (!same) merged[size++] = key;
        theirs[b - right.keys] = start + size - 1;
    }
    copy_to(a_end);
    return size;
}

nb::tuple join_buckets(nb::handle keys, nb::handle sizes, nb::handle shifts, nb::handle other_keys,
                       nb::handle other_sizes, nb::handle other_shifts) {
    const auto F = static_cast<int64_t>(nb::len(shifts));
    const BucketsBuffer left(keys, sizes, shifts, F), right(other_keys, other_sizes, other_shifts, F);
    OwnedArray<int64_t> both(left.offsets.back() + right.offsets.back()), joint_sizes(F), joint_shifts(F);
    OwnedArray<int64_t> mine(left.offsets.back()), theirs(right.offsets.back());
    int64_t total = 0;
    {
        const nb::gil_scoped_release unlocked;
        for (int64_t f = 0; f < F; ++f) {
            int64_t shift = std::max(left.shifts[f], right.shifts[f]), *merged = both.data + total;
            const int64_t quick = insert_keys(left, right, f, total, merged, mine.data, theirs.data);
            if (quick >= 0) {
                joint_sizes.data[f] = quick;
                joint_shifts.data[f] = shift;
                total += quick;
                continue;
            }
            int64_t size = merge_keys(left, right, f, shift, merged);
            while (size > FindBucketsTask::kMost) size = merge_keys(left, right, f, ++shift, merged);
            place_keys(left, f, shift, merged, total, mine.data);
            place_keys(right, f, shift, merged, total, theirs.data);
            for (int64_t k = 0; k < size; ++k)
                merged[k] = static_cast<int64_t>(static_cast<std::uint64_t>(merged[k]) << shift);
            joint_sizes.data[f] = size;
            joint_shifts.data[f] = shift;
            total += size;
        }
    }
    return nb::make_tuple(both.give({total}), joint_sizes.give({F}), joint_shifts.give({F}),
                          mine.give({left.offsets.back()}), theirs.give({right.offsets.back()}));
}

}  // namespace

void bind_buckets(nb::module_& m) {
    m.def("find_buckets", &find_buckets);
    m.def("count_numbers", &count_numbers, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());
    m.def("find_cells", &find_cells);
    m.def("join_buckets", &join_buckets);
}

}  // namespace tally
