// Documents as rows of a compressed sparse matrix of token counts, columns sorted within each row.
//
// IN  a column, and a Lookup if the vocabulary is fixed
// OUT indptr (n + 1,), indices, data; unknown (n,): tokens outside the vocabulary, -1 for a null document
// Cost: one pass over the text, then a radix sort of each row's entries.
// Twin: vectorise in kernels/text_reference.py.
#pragma once

#include "text/lookup.hpp"
#include "text/order.hpp"

namespace tally::text {

// The growing matrix. The caller remembers each column's place in the current row.
class Matrix {
public:
    Growing<i64> indptr;
    Growing<i32> indices;
    Growing<i64> data;
    Growing<i64> unknown;

    explicit Matrix(i64 n) {
        indptr.reserve(n + 1);
        indptr.push(0);
        unknown.reserve(n);
    }
    u32 put(i32 column) {  // add an entry; return its place in the row
        const i64 place = indices.size() - row_;
        indices.push(column);
        data.push(1);
        return static_cast<u32>(place);
    }
    void again(u32 place) { ++data[row_ + place]; }
    void end_row(i64 n_unknown) {
        row_ = indices.size();
        indptr.push(row_);
        unknown.push(n_unknown);
    }

    // Renumber columns by `names` (if not null), then sort each row. The caller guarantees columns below n_columns.
    void sort(const i32* names, i64 n_columns) {
        const int bits = static_cast<int>(std::bit_width(static_cast<u64>(n_columns)));
        for (i64 row = 0; row + 1 < indptr.size(); ++row) {
            const i64 begin = indptr[row], n = indptr[row + 1] - begin;
            items_.resize(n);
            counts_.resize(n);
            for (i64 k = 0; k < n; ++k) {
                const i32 column = indices[begin + k];
                items_[k] = static_cast<u64>(names == nullptr ? column : names[column]) << 32 | static_cast<u64>(k);
                counts_[k] = data[begin + k];
            }
            sort_items(bits);
            for (i64 k = 0; k < n; ++k) {
                indices[begin + k] = static_cast<i32>(items_[k] >> 32);
                data[begin + k] = counts_[static_cast<i64>(items_[k] & 0xFFFFFFFFu)];
            }
        }
    }

private:
    // Sort by the upper halves, which differ only in their lowest `bits` bits.
    void sort_items(int bits) {
        const i64 n = items_.size();
        if (n < 64) {
            std::sort(items_.data(), items_.data() + n);
            return;
        }
        spare_.resize(n);
        for (int shift = 32; shift < 32 + bits; shift += 8) {
            i64 places[257] = {};
            for (i64 k = 0; k < n; ++k) ++places[(items_[k] >> shift & 0xFF) + 1];
            for (int d = 0; d < 256; ++d) places[d + 1] += places[d];
            for (i64 k = 0; k < n; ++k) spare_[places[items_[k] >> shift & 0xFF]++] = items_[k];
            std::swap(items_, spare_);
        }
    }

    i64 row_ = 0;  // where the current row begins
    Growing<u64> items_, spare_;
    Growing<i64> counts_;
};

// A token's payload: the last row that has it, plus 1; its place in that row; its column.
struct Seen {
    u32 last_row, place, column;
};

// Counts all tokens; the documents make the vocabulary.
class Learner {
public:
    Learner(const Options& options, const std::vector<Token>& stop_words, Matrix& matrix)
        : vocabulary(options, stop_words, sizeof(Seen)), matrix_(matrix) {}

    void add(i64 level, i64 row, const u32* ids, i64 n) {
        if (level == 1) add(vocabulary.words, row, ids, n);
        else add(vocabulary.at(level), row, ids, n);
    }
    void end(i64, bool valid, i64) { matrix_.end_row(valid ? 0 : -1); }

    Learned vocabulary;
    i64 n_columns = 0;

private:
    template <class Numbered>
    void add(const Numbered& numbered, i64 row, const u32* ids, i64 n) {
        const auto stamp = static_cast<u32>(row + 1);
        for (i64 k = 0; k < n; ++k) {
            if (ids[k] == kNone) continue;
            Seen& seen = *numbered.template payload<Seen>(ids[k]);
            if (seen.last_row == stamp) {
                matrix_.again(seen.place);
                continue;
            }
            if (seen.last_row == 0) {
                if (n_columns >= 0x7FFFFFFE) throw TooMany{};
                seen.column = static_cast<u32>(n_columns++);
            }
            seen.last_row = stamp;
            seen.place = matrix_.put(static_cast<i32>(seen.column));
        }
    }

    Matrix& matrix_;
};

// Counts the tokens of a fixed vocabulary.
class Finder {
public:
    Finder(const Lookup& lookup, Matrix& matrix)
        : lookup_(lookup), matrix_(matrix), seen_(static_cast<std::size_t>(lookup.n_tokens), {0, 0}) {
        first_ = lookup.options.analyzer == Analyzer::word ? lookup.options.min_n : 1;
    }

    void add(i64 level, i64 row, const u32* ids, i64 n) {
        i32 columns[kSweep];
        for (; n > 0; ids += kSweep, n -= kSweep) {
            i64 found = 0;
            for (i64 k = 0; k < (n < kSweep ? n : kSweep); ++k) {
                columns[found] = ids[k] == kNone ? -1 : lookup_.index(level, ids[k]);
                if (columns[found] < 0) continue;
                prefetch(&seen_[static_cast<std::size_t>(columns[found])]);
                ++found;
            }
            known_ += found;
            for (i64 k = 0; k < found; ++k) put(columns[k], static_cast<u32>(row + 1));
        }
    }
    void end(i64, bool valid, i64 n_words) {
        i64 total = 0;
        for (i64 level = first_; level <= lookup_.levels() && level <= n_words; ++level) total += n_words - level + 1;
        matrix_.end_row(valid ? total - known_ : -1);
        known_ = 0;
    }

private:
    struct Place {
        u32 last_row, place;
    };
    void put(i32 column, u32 stamp) {
        Place& seen = seen_[static_cast<std::size_t>(column)];
        if (seen.last_row == stamp) return matrix_.again(seen.place);
        seen = {stamp, matrix_.put(column)};
    }
    const Lookup& lookup_;
    Matrix& matrix_;
    std::vector<Place> seen_;
    i64 first_ = 1, known_ = 0;
};

// OUT matrix. Return the sorted vocabulary.
inline Strings learn_vectors(const Column& column, const Options& options, const std::vector<Token>& stop_words,
                             const Characters* characters, Matrix& matrix) {
    Learner learner(options, stop_words, matrix);
    Learned& vocabulary = learner.vocabulary;
    Grams<Learned, Learner> grams(vocabulary, learner, options, vocabulary.levels(), vocabulary.n_stop);
    scan(column, options, characters, grams);
    Order order(vocabulary, options.analyzer == Analyzer::word ? options.min_n : 1);
    Growing<i32> names(learner.n_columns);
    for (i64 v = 0; v < order.nodes.size(); ++v) {
        const Node node = order.nodes[v];
        names[vocabulary.payload<Seen>(node.level, node.id)->column] = static_cast<i32>(v);
    }
    matrix.sort(names.data(), learner.n_columns);
    return std::move(order.strings);
}

inline void find_vectors(const Column& column, const Lookup& lookup, const Characters* characters, Matrix& matrix) {
    Known vocabulary(lookup);
    Finder finder(lookup, matrix);
    Grams<Known, Finder> grams(vocabulary, finder, lookup.options, lookup.levels(), lookup.n_stop);
    scan(column, lookup.options, characters, grams);
    matrix.sort(nullptr, lookup.n_tokens);
}

}  // namespace tally::text
