// The rows of each class in each bucket of numbers, for few rows or many classes: see dense/buckets.hpp.
//
// Many rows are counted in tiles (dense/count_numbers.hpp). Few rows are not worth clearing and emptying a tile for, and
// many classes would not leave it in the caches. A handful is not worth a table either, of 45 kB for each column.
// Cost: 4 to 6 ns per value; of a handful, a comparison with each one before. Twin: reference.count_buckets.
#pragma once

#include "dense/bucket_places.hpp"

namespace tally::TALLY_ISA {

constexpr i64 kCountRows = 2048;  // rows to count at a time: what is kept of them stays in the second cache
constexpr i64 kHandful = 32;      // rows whose numbers are compared with each other

// Count one row of some columns where a plain array lacks a number; plain arrays may move.
TALLY_NOINLINE inline void count_far(BucketTable* const* tables, i64 width, const double* row, const i64* at, i64 own,
                                     u32* const* counters) {
    for (i64 k = 0; k < width; ++k) {
        const u32 known = tables[k]->places[at[k]];
        ++counters[k][(known != 0 ? known : tables[k]->find_counter(row[k], at[k], counters[k])) - 1 + own];
    }
}

// Count rows of up to eight columns, each row at the next eight values. The width is a constant, or 0 for any.
template <i64 Width>
inline void count_rows(BucketTable* const* tables, i64 any_width, const double* values, i64 count, const i32* classes,
                       u32* const* counters) {
    const i64 width = Width > 0 ? Width : any_width;
    for (i64 i = 0; i < count;) {
        const auto near = [&](i64 k) -> const BucketTable::Near& { return tables[smaller(k, width - 1)]->near; };
        const NearLanes one(near(0), near(1), near(2), near(3)), two(near(4), near(5), near(6), near(7));
        const u32* places[kTogether];
        u32* counter[kTogether];
        for (i64 k = 0; k < width; ++k) {
            places[k] = tables[k]->places;
            counter[k] = counters[k];
        }
        for (bool far = false; i < count && !far; ++i) {
            const double* row = values + i * kTogether;
            i64 at[kTogether];
            store(at, one.place(load(row)));
            if (width > 4) store(at + 4, two.place(load(row + 4)));
            u32 found[kTogether];
            for (i64 k = 0; k < width; ++k) {
                found[k] = places[k][at[k]];
                far |= found[k] == 0;
            }
            const i64 own = classes[i];
            if (far) count_far(tables, width, row, at, own, counters);
            else
                for (i64 k = 0; k < width; ++k) ++counter[k][i64{found[k]} - 1 + own];
        }
    }
}

// Eights of columns take turns after some rows, which they copy from cache lines that they share.
inline void count_buckets(const FindBucketsTask& task, BucketTable* tables) {
    const i64 n = task.table.n_rows, C = task.n_classes, F = task.table.n_columns;
    const i64 n_tables = n <= kCountRows ? kTogether : kBlockColumns;  // few rows come in one block
    constexpr i64 rows = BucketTable::kMost + 2;
    Scratch<double> copied(kTogether * kCountRows);
    for (i64 from = 0; from < F; from += kBlockColumns)
        for (i64 start = 0; start < n; start += kCountRows)
            for (i64 f = from; f < smaller(from + kBlockColumns, F); f += kTogether) {
                const Eight eight(task.table, f);
                const i64 count = smaller(kCountRows, n - start);
                BucketTable* those[kTogether];
                u32* counters[kTogether];
                for (i64 k = 0; k < eight.width; ++k) {
                    those[k] = tables + (f + k) % n_tables;
                    counters[k] = task.counts + (f + k) * rows * C;
                    if (start == 0) those[k]->clear(eight.columns[k], n, C);
                }
                copy_beside(eight, start, count, copied.get());
                const i32* classes = task.classes + start;
                if (eight.width == kTogether) count_rows<kTogether>(those, 0, copied.get(), count, classes, counters);
                else count_rows<0>(those, eight.width, copied.get(), count, classes, counters);
                if (start + count == n)
                    for (i64 k = 0; k < eight.width; ++k) finish_column(*those[k], task, f + k);
            }
}

// Each number of a handful is a bucket of its own.
inline void count_handful(const FindBucketsTask& task) {
    const i64 n = task.table.n_rows, C = task.n_classes;
    for (i64 f = 0; f < task.table.n_columns; ++f) {
        i64 *const keys = task.keys + f * n, size = 0;
        u32* const counters = task.counts + (f * (BucketTable::kMost + 2) + 1) * C;
        for (i64 i = 0; i < n; ++i) {
            const double x = real_element(task.table.columns[f], i);
            if (is_nan(x)) continue;
            const i64 key = ordered_bits(x);
            i64 code = 0;
            while (code < size && keys[code] != key) ++code;
            keys[code] = key;
            size = larger(size, code + 1);
            ++counters[code * C + task.classes[i]];
        }
        task.sizes[f] = size;
        task.shifts[f] = 0;
    }
}

inline Fault find_buckets(const FindBucketsTask& task) {
    const PlainArithmetic plain;
    const i64 n = task.table.n_rows;
    if (task.codes == nullptr && n <= kHandful) {
        count_handful(task);
        return {};
    }
    BucketTable tables[kBlockColumns];
    if (task.codes == nullptr) {
        count_buckets(task, tables);
        return {};
    }
    const i64 n_tables = n <= kBlockRows ? kTogether : kBlockColumns;
    for_each_tile(task.table, [&](const Eight& eight, i64 start, i64 count, const double* values) {
        for (i64 k = 0; k < eight.width; ++k, values += kPitch) {
            const i64 f = eight.first + k;
            BucketTable& buckets = tables[f % n_tables];
            if (start == 0) buckets.clear(eight.columns[k], n, 1);
            buckets.add(values, count, task.codes + f * n, start);
            if (start + count == n) finish_column(buckets, task, f);
        }
    });
    return {};
}

}  // namespace tally::TALLY_ISA
