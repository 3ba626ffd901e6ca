// The rows of each class in each bucket of numbers: see dense/buckets.hpp.
//
// Many rows are counted by their places in the plain arrays of BucketTable, in tiles of 16-bit counters, which need no
// lookup of a bucket's code; tiles are emptied before a counter could overflow, or a plain array moves. Few rows are not
// worth emptying a tile for, and many classes would not leave it in the caches.
// Cost: about 2 ns per value, for few rows or many classes 4 to 6. Twin: reference.count_buckets.
#pragma once

#include "dense/buckets.hpp"

namespace tally::TALLY_ISA {

constexpr i64 kCountRows = 2048;    // rows to count at a time: eight columns of them stay in the second cache
constexpr i64 kTileTurns = 31;      // of kCountRows each: fewer rows than a 16-bit counter counts
constexpr i64 kTiledRows = 1 << 13, kTiledClasses = 16;  // the fewest rows and the most classes that tiles are for

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

// Copy rows of up to eight columns next to each other.
template <class T>
inline void copy_beside(const Column& column, i64 start, i64 count, double* values) {
    const char* from = column.base + start * column.stride;
    for (i64 i = 0; i < count; ++i, from += column.stride)
        values[i * kTogether] = static_cast<double>(*reinterpret_cast<const T*>(from));
}

inline void copy_beside(const Eight& eight, i64 start, i64 count, double* values) {
    if (eight.width == kTogether && eight.same && eight.adjacent && eight.columns->type == Type::f64) {
        const i64 stride = eight.columns->stride;
        const char* from = eight.columns->base + start * stride;
        for (i64 i = 0; i < count; ++i, from += stride, values += kTogether) {
            const double* row = reinterpret_cast<const double*>(from);
            prefetch(from + kAhead * stride);
            prefetch(from + kAhead * stride + (kTogether - 1) * i64{sizeof(double)});  // often on the next cache line
            store(values, load(row));
            store(values + 4, load(row + 4));
        }
        return;
    }
    for (i64 k = 0; k < eight.width; ++k) {
        const Column& column = eight.columns[k];
        if (column.type == Type::f64) copy_beside<double>(column, start, count, values + k);
        else copy_beside<float>(column, start, count, values + k);
    }
}

// Eight columns, or fewer, in a tile of counters by place: (8, kTile, C).
struct TiledEight {
    BucketTable* const* tables;
    u32* const* counters;
    u16* tile;
    i64 width, C;

    static i64 size(i64 C) { return kTogether * BucketTable::kTile * C; }
    u16* column(i64 k) const { return tile + size(C) / kTogether * k; }

    // Count rows, each at eight doubles `stride` bytes after the last; lanes beyond the width repeat the last column.
    template <bool Eight>
    void count(const char* from, i64 stride, i64 count, const i32* classes) const {
        const i64 columns = Eight ? kTogether : width;
        for (i64 i = 0; i < count;) {
            const auto near = [&](i64 k) -> const BucketTable::Near& { return tables[smaller(k, width - 1)]->near; };
            const NearLanes one(near(0), near(1), near(2), near(3)), two(near(4), near(5), near(6), near(7));
            const i64 step = size(C) / kTogether, starts[kTogether] = {0,        step,     2 * step, 3 * step,
                                                                      4 * step, 5 * step, 6 * step, 7 * step};
            const I4 first = load(starts), second = load(starts + 4), wide = all(C);
            for (bool moved = false; i < count && !moved; ++i, from += stride) {
                const double* row = reinterpret_cast<const double*>(from);
                prefetch(from + kAhead * stride);
                prefetch(from + kAhead * stride + (kTogether - 1) * i64{sizeof(double)});  // often on the next line
                I4 bad = all(i64{0});
                I4 low = one.place(load(row), bad), high = two.place(load(row + 4), bad);
                if (any(bad)) {
                    low = one.place(load(row));
                    high = two.place(load(row + 4));
                    if (any(less(all(BucketTable::kMissing), low) | less(all(BucketTable::kMissing), high))) {
                        moved = count_one(row, classes[i]);
                        continue;
                    }
                }
                i64 at[kTogether];
                store(at, multiply_low_halves(low, wide) + first);
                store(at + 4, multiply_low_halves(high, wide) + second);
                u16* const own = tile + classes[i];
                for (i64 k = 0; k < columns; ++k) ++own[at[k]];
            }
        }
    }

    void empty() const {
        for (i64 k = 0; k < width; ++k) tables[k]->empty(column(k), counters[k]);
    }

private:
    // Count a row with a number that has no place; return whether a plain array has moved.
    TALLY_NOINLINE bool count_one(const double* row, i64 own) const {
        bool moved = false;
        for (i64 k = 0; k < width; ++k) {
            const BucketTable::Near& near = tables[k]->near;
            i64 at[4];
            store(at, NearLanes(near, near, near, near).place(all(row[k])));
            if (at[0] != BucketTable::kFar) ++column(k)[at[0] * C + own];
            else moved |= tables[k]->count_far(row[k], own, column(k), counters[k]);
        }
        return moved;
    }
};

// A tile for each eight of columns. Each is allocated by itself: together they would be huge pages, slow to clear.
class Tiles {
public:
    Tiles(i64 count, i64 size) : count_(count) {
        for (i64 k = 0; k < count; ++k) memory_[k] = static_cast<u16*>(zeroed(size, sizeof(u16)));
    }
    ~Tiles() {
        for (i64 k = 0; k < count_; ++k) std::free(memory_[k]);
    }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;
    u16* of(i64 k) const { return memory_[k]; }

private:
    i64 count_;
    u16* memory_[kBlockColumns / kTogether] = {};
};

inline void count_tiled(const TiledEight& of, const Eight& eight, i64 start, i64 count, const i32* classes,
                        double* copied) {
    if (eight.width == kTogether && eight.same && eight.adjacent && eight.columns->type == Type::f64) {
        const i64 stride = eight.columns->stride;
        return of.count<true>(eight.columns->base + start * stride, stride, count, classes);
    }
    copy_beside(eight, start, count, copied);
    for (i64 k = eight.width; k < kTogether; ++k)
        for (i64 i = 0; i < count; ++i) copied[i * kTogether + k] = copied[i * kTogether + eight.width - 1];
    const auto* from = reinterpret_cast<const char*>(copied);
    if (eight.width == kTogether) of.count<true>(from, kTogether * i64{sizeof(double)}, count, classes);
    else of.count<false>(from, kTogether * i64{sizeof(double)}, count, classes);
}

// Eights of columns take turns after some rows, which they copy from cache lines that they share.
inline void count_buckets(const FindBucketsTask& task, BucketTable* tables, i64 n_tables) {
    const i64 n = task.table.n_rows, C = task.n_classes, F = task.table.n_columns;
    constexpr i64 rows = BucketTable::kMost + 2;
    const bool tiled = n >= kTiledRows && C <= kTiledClasses;
    Scratch<double> copied(kTogether * kCountRows);
    Tiles tiles(tiled ? (smaller(F, kBlockColumns) + kTogether - 1) / kTogether : 0, TiledEight::size(C));
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
                const i32* classes = task.classes + start;
                const bool last = start + count == n;
                if (tiled) {
                    const TiledEight of{those, counters, tiles.of((f - from) / kTogether), eight.width, C};
                    count_tiled(of, eight, start, count, classes, copied.get());
                    if (last || start / kCountRows % kTileTurns == kTileTurns - 1) of.empty();
                } else {
                    copy_beside(eight, start, count, copied.get());
                    if (eight.width == kTogether) count_rows<kTogether>(those, 0, copied.get(), count, classes, counters);
                    else count_rows<0>(those, eight.width, copied.get(), count, classes, counters);
                }
                if (last)
                    for (i64 k = 0; k < eight.width; ++k) finish_column(*those[k], task, f + k);
            }
}

inline Fault find_buckets(const FindBucketsTask& task) {
    const PlainArithmetic plain;
    const i64 n = task.table.n_rows;
    BucketTable tables[kBlockColumns];
    if (task.codes == nullptr) {
        count_buckets(task, tables, n <= kCountRows ? kTogether : kBlockColumns);  // few rows come in one block
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
