// Python bindings of find_buckets, count_numbers, NumberCounter, find_cells and join_buckets.
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

// Exact sums of numbers, and the buckets of each column in rising order, with the rows of each class in them.
class FoundNumbers {
public:
    FoundNumbers(int64_t n, int64_t F, int64_t C)
        : F_(F), C_(C), room_(std::min(n, kMost)), sizes_(F), shifts_(F), keys_(static_cast<std::size_t>(room_ * F)) {
        std::fill_n(sizes_.data, F, 0);
        std::fill_n(shifts_.data, F, 0);
    }

    // The counters by class and code of all columns, zero on entry.
    static std::vector<std::uint32_t> counters(int64_t F, int64_t C) {
        if (C > 1 << 20) refuse("n_classes", "at most 2^20 classes", std::to_string(C));  // they have 32-bit numbers
        return std::vector<std::uint32_t>(static_cast<std::size_t>(need_cells(need_cells(kMost + 2, C), F)));
    }

    CountNumbersTask task(const Table& table, const std::int32_t* classes, const HashBuffers* hashes,
                          std::vector<std::uint32_t>& counts) {
        const PowerTask power{table, classes, C_, nullptr, true, &sums_[0].limbs, &sums_[1].limbs, &sums_[2].limbs,
                              hashes == nullptr ? nullptr : hashes->from, hashes == nullptr ? nullptr : hashes->out};
        return {power, {table, classes, C_, nullptr, counts.data(), keys_.data(), sizes_.data, shifts_.data}};
    }

    nb::tuple give(const std::vector<std::uint32_t>& counts) {
        int64_t total = 0;
        for (int64_t f = 0; f < F_; ++f) total += sizes_.data[f];
        OwnedArray<int64_t> found(total), tally(total * C_);
        {
            const nb::gil_scoped_release unlocked;
            RisingKeys rising;
            int64_t at = 0;
            for (int64_t f = 0; f < F_; ++f) {
                const int64_t* mine = keys_.data() + f * room_;
                const auto& order = rising.order(mine, sizes_.data[f], shifts_.data[f]);
                for (int64_t c = 0; c < C_; ++c) {
                    const std::uint32_t* from = counts.data() + (f * (kMost + 2) + 1) * C_ + c;
                    int64_t* to = tally.data + c * total + at;
                    for (int64_t k = 0; k < sizes_.data[f]; ++k) to[k] = from[static_cast<int64_t>(order[k]) * C_];
                }
                for (int64_t k = 0; k < sizes_.data[f]; ++k) found.data[at++] = mine[order[k]];
            }
        }
        return nb::make_tuple(sums_[0].give(C_, F_), sums_[1].give(C_, F_), sums_[2].give(C_, F_),
                              tally.give({C_, total}), found.give({total}), sizes_.give({F_}), shifts_.give({F_}));
    }

private:
    static constexpr int64_t kMost = FindBucketsTask::kMost;
    const int64_t F_, C_, room_;
    OwnedArray<int64_t> sizes_, shifts_;
    std::vector<int64_t> keys_;
    OwnedLimbs sums_[3];
};

nb::tuple count_numbers(nb::handle columns, nb::handle classes, int64_t n_classes, nb::handle seeds, nb::handle out) {
    const ClassBuffer own(classes);
    const int64_t n = own.length(), C = need_count(n_classes, "n_classes");
    if (n > UINT32_MAX) refuse("columns", "fewer than 2^32 rows", std::to_string(n));
    const TableBuffer table(columns, n, true);
    const int64_t F = table.table().n_columns;
    const HashBuffers hashes(seeds, "seeds", F, out, n);
    auto counts = FoundNumbers::counters(F, C);
    FoundNumbers found(n, F, C);
    run(&Kernels::count_numbers, found.task(table.table(), own.data, &hashes, counts));
    return found.give(counts);
}

// The same for several tables, one after the other.
class NumberCounter {
public:
    NumberCounter(int64_t n_columns, int64_t n_classes)
        : F_(need_count(n_columns, "n_columns")), C_(need_count(n_classes, "n_classes")),
          counts_(FoundNumbers::counters(F_, C_)), kernels_(kernels()), state_(kernels_.numbers_new()) {}
    ~NumberCounter() { kernels_.numbers_delete(state_); }
    NumberCounter(const NumberCounter&) = delete;
    NumberCounter& operator=(const NumberCounter&) = delete;

    void add(nb::handle columns, nb::handle classes, nb::handle seeds, nb::handle out) {
        const ClassBuffer own(classes);
        const int64_t n = own.length();
        if (!usable_) refuse("counter", "one without an error", "one that is finished");
        if (n > UINT32_MAX - rows_) refuse("columns", "fewer than 2^32 rows in all", std::to_string(n));
        const TableBuffer table(columns, n, true);
        if (table.table().n_columns != F_) refuse("columns", std::to_string(F_), std::to_string(table.table().n_columns));
        const HashBuffers hashes(seeds, "seeds", F_, out, n);
        FoundNumbers found(0, F_, C_);
        usable_ = false;  // while another thread may run, and after an error
        run(kernels_.numbers_add, found.task(table.table(), own.data, &hashes, counts_));
        usable_ = true;
        rows_ += n;
        ++tables_;
    }

    nb::tuple finish() {
        if (!usable_ || tables_ == 0) refuse("counter", "one with tables", "another");
        usable_ = false;
        FoundNumbers found(rows_, F_, C_);
        run(kernels_.numbers_finish, found.task({nullptr, F_, rows_}, nullptr, nullptr, counts_));
        return found.give(counts_);
    }

private:
    void run(Fault (*kernel)(void*, const CountNumbersTask&), const CountNumbersTask& task) {
        Fault fault;
        {
            const nb::gil_scoped_release unlocked;
            fault = kernel(state_, task);
        }
        if (fault.kind != FaultKind::none) raise_fault(fault);
    }

    const int64_t F_, C_;
    std::vector<std::uint32_t> counts_;
    const Kernels& kernels_;  // of the instruction set that made the state
    void* state_;
    int64_t rows_ = 0, tables_ = 0;
    bool usable_ = true;
};

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
    nb::class_<NumberCounter>(m, "NumberCounter")
        .def(nb::init<int64_t, int64_t>())
        .def("add", &NumberCounter::add, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none())
        .def("finish", &NumberCounter::finish);
    m.def("find_cells", &find_cells);
    m.def("join_buckets", &join_buckets);
}

}  // namespace tally
