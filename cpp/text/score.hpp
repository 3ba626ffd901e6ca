// Sums of a table's rows over the tokens of each document.
//
// IN  a column, a Lookup of V tokens, table (V, C), unknown (C,) or null
// OUT out (n, C), added to; lengths (n,): tokens of each document that add something, -1 for a null one
// The caller guarantees that the table has V rows. A row's scores depend on that row alone, to the last bit: sums are
// per document and n-gram length, in the order of the text, and do not depend on where batches end.
// Cost: one lookup and C additions per n-gram.
// Twin: Lookup.score in kernels/text_reference.py.
#pragma once

#include "bind/interface.hpp"
#include "text/lookup.hpp"

namespace tally::text {

struct ScoreTask {
    const Lookup* lookup;
    const double* table;    // (V, C)
    const double* unknown;  // (C,) or null
    i64 n_classes;
    double* out;   // OUT (n, C)
    i64* lengths;  // OUT (n,)
    void (*sum_rows)(const SumRowsTask&);
};

// The sums of the current document; both scorers use it.
class Sums {
public:
    Sums(const ScoreTask& task, i64 levels)
        : task_(task), C_(task.n_classes), sums_(static_cast<std::size_t>(levels * C_), 0.0) {}

protected:
    double* sums(i64 level) { return sums_.data() + (level - 1) * C_; }
    const double* scores(i32 index) const { return task_.table + static_cast<i64>(index) * C_; }

    void finish(i64 row, bool valid, i64 known, i64 unknown) {
        double* out = task_.out + row * C_;
        task_.lengths[row] = !valid ? -1 : task_.unknown == nullptr ? known : known + unknown;
        for (i64 c = 0; c < C_; ++c) {
            double total = 0.0;
            for (std::size_t k = static_cast<std::size_t>(c); k < sums_.size(); k += static_cast<std::size_t>(C_))
                total += std::exchange(sums_[k], 0.0);
            if (unknown > 0 && task_.unknown != nullptr) total += static_cast<double>(unknown) * task_.unknown[c];
            if (known + unknown > 0) out[c] += total;
        }
    }

    const ScoreTask& task_;
    const i64 C_;

private:
    std::vector<double> sums_;
};

// Every occurrence counts. Unknown n-grams need no numbers: their count is the total for n words less the known ones.
class ScoreAll : public Sums {
public:
    ScoreAll(const ScoreTask& task, i64 levels) : Sums(task, levels), levels_(levels) {
        const Options& options = task.lookup->options;
        first_ = options.analyzer == Analyzer::word ? options.min_n : 1;
    }

    void add(i64 level, i64, const u32* ids, i64 n) {
        if (C_ == 2) add_pairs(level, ids, n);
        else add_rows(level, ids, n);
    }
    void end(i64 row, bool valid, i64 n_words) {
        i64 total = 0;
        for (i64 level = first_; level <= levels_ && level <= n_words; ++level) total += n_words - level + 1;
        finish(row, valid, known_, total - known_);
        known_ = 0;
    }

private:
    static constexpr i64 kFetched = 64;  // classes of a row that are prefetched; the processor prefetches the rest

    i32 index(i64 level, u32 id) const { return id == kNone ? -1 : task_.lookup->index(level, id); }

    // Collect the positions of known tokens, so that table rows can be prefetched. Return their number.
    i64 find(i64 level, const u32* ids, i64 n, i32* indices) {
        i64 found = 0;
        for (i64 k = 0; k < n; ++k) {
            indices[found] = index(level, ids[k]);
            if (indices[found] < 0) continue;
            const double* row = scores(indices[found]);
            for (i64 c = 0; c < C_ && c < kFetched; c += 8) prefetch(row + c);
            ++found;
        }
        known_ += found;
        return found;
    }
    void add_pairs(i64 level, const u32* ids, i64 n) {
        double first = sums(level)[0], second = sums(level)[1];
        i32 indices[kSweep];
        for (; n > 0; ids += kSweep, n -= kSweep) {
            const i64 found = find(level, ids, n < kSweep ? n : kSweep, indices);
            for (i64 k = 0; k < found; ++k) {
                first += scores(indices[k])[0];
                second += scores(indices[k])[1];
            }
        }
        sums(level)[0] = first;
        sums(level)[1] = second;
    }
    // Many classes: add groups of tokens whose rows fit together in the first-level cache. Each sum grows in the order
    // of the text.
    void add_rows(i64 level, const u32* ids, i64 n) {
        i32 indices[kSweep];
        for (; n > 0; ids += group_, n -= group_) {
            const i64 found = find(level, ids, n < group_ ? n : group_, indices);
            task_.sum_rows({task_.table, C_, indices, found, sums(level)});
        }
    }

    static i64 group_for(i64 n_classes) {
        constexpr i64 kCached = 16384 / 8;
        const i64 rows = kCached / (n_classes > 0 ? n_classes : 1);
        return rows < 8 ? 8 : rows < kSweep ? rows : kSweep;
    }

    const i64 group_ = group_for(C_);
    i64 levels_, first_ = 1, known_ = 0;
};

// Every distinct token counts once.
class ScoreDistinct : public Sums {
public:
    ScoreDistinct(const ScoreTask& task, i64 levels, const KnownAndMet& vocabulary)
        : Sums(task, levels), vocabulary_(vocabulary), last_rows_(static_cast<std::size_t>(levels)) {
        for (i64 level = 1; level <= levels; ++level)
            last_rows_[static_cast<std::size_t>(level - 1)].assign(task.lookup->size(level), 0);
    }

    void add(i64 level, i64 row, const u32* ids, i64 n) {
        const auto stamp = static_cast<u32>(row + 1);
        const u32 size = task_.lookup->size(level);
        u32* last_rows = last_rows_[static_cast<std::size_t>(level - 1)].data();
        double* sum = sums(level);
        for (i64 k = 0; k < n; ++k) {
            if (k + kAhead < n && ids[k + kAhead] < size) prefetch(last_rows + ids[k + kAhead]);
            const u32 id = ids[k];
            if (id == kNone) continue;
            u32* last = id < size ? last_rows + id : vocabulary_.last_row(level, id);
            if (std::exchange(*last, stamp) == stamp) continue;
            const i32 index = id < size ? task_.lookup->index(level, id) : -1;
            if (index < 0) {
                ++unknown_;
                continue;
            }
            ++known_;
            for (i64 c = 0; c < C_; ++c) sum[c] += scores(index)[c];
        }
    }
    void end(i64 row, bool valid, i64) {
        finish(row, valid, known_, unknown_);
        known_ = unknown_ = 0;
    }

private:
    static constexpr i64 kAhead = 16;
    const KnownAndMet& vocabulary_;
    std::vector<std::vector<u32>> last_rows_;
    i64 known_ = 0, unknown_ = 0;
};

inline void score(const Column& column, const Characters* characters, const ScoreTask& task, bool distinct) {
    const Lookup& lookup = *task.lookup;
    const i64 levels = lookup.levels();
    if (distinct) {
        KnownAndMet vocabulary(lookup);
        ScoreDistinct scorer(task, levels, vocabulary);
        Grams<KnownAndMet, ScoreDistinct> grams(vocabulary, scorer, lookup.options, levels, lookup.n_stop);
        scan(column, lookup.options, characters, grams);
    } else {
        Known vocabulary(lookup);
        ScoreAll scorer(task, levels);
        Grams<Known, ScoreAll> grams(vocabulary, scorer, lookup.options, levels, lookup.n_stop);
        scan(column, lookup.options, characters, grams);
    }
}

}  // namespace tally::text
