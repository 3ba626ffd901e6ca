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
inline Fault count_columns(const CountNumbersTask& task, PowerSummer<true>& summer, TileCounter& counter, i64 first) {
    const Table& table = task.sums.table;
    const i64 n = table.n_rows, end = smaller(first + kBlockColumns, table.n_columns);
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
    return {};
}

inline Fault count_numbers(const CountNumbersTask& task) {
    const PlainArithmetic plain;
    const Table& table = task.sums.table;
    const i64 n = table.n_rows, C = task.sums.n_classes;
    if (n < larger(kTiledRows, kTiledRowsPerClass * C) || C > kTiledClasses) {
        const Fault fault = power_sums(task.sums);
        return fault.kind != FaultKind::none ? fault : find_buckets(task.buckets);
    }
    BucketTable tables[kBlockColumns];
    PowerSummer<true> summer(table, task.sums.classes, C, false);
    for (i64 first = 0; first < table.n_columns; first += kBlockColumns) {
        TileCounter counter(task.buckets, tables, first);
        const Fault fault = count_columns(task, summer, counter, first);
        if (fault.kind != FaultKind::none) return fault;
        counter.finish(task.buckets);
    }
    return summer.finish(task.sums);
}

// Counts tables of the same columns and classes, one after the other, as if they were one. To begin, to finish and to
// merge the counts of a table takes about as long as to count 30,000 rows of it.
//
// The caller guarantees at least one table, at most 64 classes, at most 2^32 - 1 rows in all, and the same counters in
// each task; no table after a fault.
class NumberCounter {
public:
    NumberCounter() = default;
    ~NumberCounter() {
        delete summer_;
        for (i64 b = 0; b < n_blocks_; ++b) delete blocks_[b];
        std::free(blocks_);
    }
    NumberCounter(const NumberCounter&) = delete;
    NumberCounter& operator=(const NumberCounter&) = delete;

    Fault add(const CountNumbersTask& task) {
        const PlainArithmetic plain;
        const Table& table = task.sums.table;
        if (summer_ == nullptr) begin(task);
        else summer_->read(table, task.sums.classes);
        for (i64 b = 0; b < n_blocks_; ++b) {
            blocks_[b]->counter.read(table, task.sums.classes);
            const Fault fault = count_columns(task, *summer_, blocks_[b]->counter, b * kBlockColumns);
            if (fault.kind != FaultKind::none) return fault;
        }
        return {};
    }

    // The table of the task has as many rows as all tables.
    Fault finish(const CountNumbersTask& task) {
        const PlainArithmetic plain;
        for (i64 b = 0; b < n_blocks_; ++b) blocks_[b]->counter.finish(task.buckets);
        return summer_->finish(task.sums);
    }

private:
    struct Block {
        Block(const FindBucketsTask& task, i64 first) : counter(task, tables, first) {}
        BucketTable tables[kBlockColumns];
        TileCounter counter;
    };

    void begin(const CountNumbersTask& task) {
        const Table& table = task.sums.table;
        const i64 n_blocks = (table.n_columns + kBlockColumns - 1) / kBlockColumns;
        blocks_ = static_cast<Block**>(zeroed(n_blocks, sizeof(Block*)));
        for (; n_blocks_ < n_blocks; ++n_blocks_) blocks_[n_blocks_] = new Block(task.buckets, n_blocks_ * kBlockColumns);
        summer_ = new PowerSummer<true>(table, task.sums.classes, task.sums.n_classes, true);
    }

    PowerSummer<true>* summer_ = nullptr;
    Block** blocks_ = nullptr;
    i64 n_blocks_ = 0;
};

inline void* numbers_new() { return new NumberCounter(); }
inline void numbers_delete(void* counter) { delete static_cast<NumberCounter*>(counter); }
inline Fault numbers_add(void* counter, const CountNumbersTask& task) {
    return static_cast<NumberCounter*>(counter)->add(task);
}
inline Fault numbers_finish(void* counter, const CountNumbersTask& task) {
    return static_cast<NumberCounter*>(counter)->finish(task);
}

}  // namespace tally::TALLY_ISA
