// Sums, buckets and hashes of the same numbers: each tile of rows is read from memory once.
//
// IN, OUT: those of exact/power_sums.hpp and dense/buckets.hpp. The caller guarantees that both tasks have the same
// table and classes, no weights and no codes. Cost: about 2 ns per value. Twins: reference.power_sums, count_buckets and
// hash_dense.
#pragma once

#include "dense/count_tiled.hpp"
#include "exact/power_sums.hpp"

namespace tally::TALLY_ISA {

// The fewest rows that tiles are for, with more for each class, and the most classes.
constexpr i64 kTiledRows = 2 * BucketTable::kMost + 1, kTiledRowsPerClass = 256, kTiledClasses = 64;

// Rows are added up in tiles that stay in the second cache, and counted in blocks of several tiles: the rows of a class
// share the cache lines of its counters.
inline Fault count_columns(const CountNumbersTask& task, PowerSummer<true>& summer, BucketTable* tables, i64 first) {
    const Table& table = task.sums.table;
    const i64 n = table.n_rows, end = smaller(first + kBlockColumns, table.n_columns);
    TileCounter counter(task.buckets, tables, first);
    const Table own{table.columns + first, end - first, n};
    RowHasher hasher(own, task.sums.seeds == nullptr ? nullptr : task.sums.seeds + first, task.sums.hashes);
    const i64 tile = summer.tile(), block = kCountRows / tile * tile;
    for (i64 start = 0; start < n; start += block) {
        const i64 stop = smaller(start + block, n);
        const Fault fault = counter.begin(start, stop - start);
        if (fault.kind != FaultKind::none) return fault;
        for (i64 at = start; at < stop; at += tile) {
            const i64 count = smaller(tile, stop - at);
            counter.place(at, count);
            const Fault found = summer.add(at, count, first, end);
            if (found.kind != FaultKind::none) return found;
            hasher.add_cached(at, at + count, summer.all_sized());
        }
        counter.count();
    }
    counter.finish();
    return {};
}

inline Fault count_numbers(const CountNumbersTask& task) {
    const PlainArithmetic plain;
    const i64 n = task.sums.table.n_rows, C = task.sums.n_classes;
    if (n < larger(kTiledRows, kTiledRowsPerClass * C) || C > kTiledClasses) {
        const Fault fault = power_sums(task.sums);
        return fault.kind != FaultKind::none ? fault : find_buckets(task.buckets);
    }
    BucketTable tables[kBlockColumns];
    PowerSummer<true> summer(task.sums);
    for (i64 first = 0; first < task.sums.table.n_columns; first += kBlockColumns) {
        const Fault fault = count_columns(task, summer, tables, first);
        if (fault.kind != FaultKind::none) return fault;
    }
    return summer.finish();
}

}  // namespace tally::TALLY_ISA
