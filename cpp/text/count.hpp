// How often each token occurs in each class, and in how many documents.
//
// IN  a column, the class of each row in [0, C) (checked by the caller)
// OUT the sorted vocabulary, and two integers per token and class it occurs in (most tokens occur in few classes)
// Cost: one pass over the text. Memory per distinct token: 16 to 32 bytes of slots, 16 of key (8 for n-grams), 4 of
// stamp, the token's bytes if it has more than 15, and counters. Counters take 8 C bytes for up to four classes.
// With more classes they take 12 bytes while the token occurs in one class, as most do, and then 8 C more.
// Twin: count_text in kernels/text_reference.py.
#pragma once

#include "text/order.hpp"

namespace tally::text {

struct Counts {
    u32 tokens, documents;
};

// Counters by token number and class. A token's payload begins with the last row that holds it, plus 1.
class Counters {
public:
    explicit Counters(i64 n_classes)
        : C_(n_classes), rows_(static_cast<i64>(bytes_for(n_classes, sizeof(Counts)))) {}

    bool all() const { return C_ <= kAll; }  // whether a payload has a counter for every class
    i64 payload() const {
        return static_cast<i64>(all() ? 4 + bytes_for(C_, sizeof(Counts)) : sizeof(One));
    }

    template <class Numbered>
    void add(const Numbered& numbered, i64 row, i32 c, const u32* ids, i64 n) {
        const auto stamp = static_cast<u32>(row + 1);
        if (all()) add_to_all(numbered, stamp, c, ids, n);
        else add_to_one(numbered, stamp, static_cast<u32>(c), ids, n);
    }

    // Call act(c, counts) for every class in which the token may occur.
    template <class Act>
    void each(char* payload, Act act) const {
        if (all()) {
            auto* counts = reinterpret_cast<Counts*>(payload + 4);
            for (i64 c = 0; c < C_; ++c) act(c, counts[c]);
            return;
        }
        auto& one = *reinterpret_cast<One*>(payload);
        if ((one.where & kRow) != 0) {
            auto* counts = reinterpret_cast<Counts*>(rows_[one.where & ~kRow]);
            for (i64 c = 0; c < C_; ++c)
                if (counts[c].tokens != 0) act(c, counts[c]);
        } else if (one.where != 0) {
            act(static_cast<i64>(one.where) - 1, one.counts);
        }
    }

private:
    static constexpr i64 kAll = 4;
    static constexpr u32 kRow = 0x80000000u;

    struct One {
        u32 last_row;
        u32 where;  // 0: not seen; c + 1: class c only; kRow + r: row r of rows_, with a counter per class
        Counts counts;
    };

    template <class Numbered>
    void add_to_all(const Numbered& numbered, u32 stamp, i32 c, const u32* ids, i64 n) {
        const i64 place = 1 + 2 * static_cast<i64>(c);
        for (i64 k = 0; k < n; ++k) {
            if (ids[k] == kNone) continue;
            u32* payload = numbered.template payload<u32>(ids[k]);
            payload[place] += 1;
            payload[place + 1] += payload[0] != stamp ? 1 : 0;
            payload[0] = stamp;
        }
    }

    // Two sweeps: the first prefetches the rows that the second counts in.
    template <class Numbered>
    void add_to_one(const Numbered& numbered, u32 stamp, u32 c, const u32* ids, i64 n) {
        One* ones[kSweep];
        for (; n > 0; ids += kSweep, n -= kSweep) {
            i64 found = 0;
            for (i64 k = 0; k < (n < kSweep ? n : kSweep); ++k) {
                if (ids[k] == kNone) continue;
                One* one = numbered.template payload<One>(ids[k]);
                if ((one->where & kRow) != 0) prefetch(rows_[one->where & ~kRow] + c * sizeof(Counts));
                ones[found++] = one;
            }
            for (i64 k = 0; k < found; ++k) {
                One& one = *ones[k];
                Counts& counts = (one.where & kRow) != 0 ? row(one)[c] : one.where == c + 1 ? one.counts : place(one, c);
                counts.tokens += 1;
                counts.documents += one.last_row != stamp ? 1 : 0;
                one.last_row = stamp;
            }
        }
    }
    Counts* row(const One& one) const { return reinterpret_cast<Counts*>(rows_[one.where & ~kRow]); }

    // Make the counter of a class that is new for the token: its first class or a later one.
    Counts& place(One& one, u32 c) {
        if (one.where == 0) {
            one.where = c + 1;
            return one.counts;
        }
        const u32 r = rows_.add();
        auto* counts = reinterpret_cast<Counts*>(rows_[r]);
        std::memset(counts, 0, static_cast<std::size_t>(C_) * sizeof(Counts));
        counts[one.where - 1] = one.counts;
        one.where = kRow | r;
        return counts[c];
    }

    i64 C_;
    Rows rows_;
};

// Nonzero counts: the entries of token v are starts[v] to starts[v + 1], with increasing class.
struct Entries {
    Growing<i64> starts, tokens, documents;
    Growing<i32> classes;

    void put(i64 c, i64 n_tokens, i64 n_documents) {
        if (n_tokens == 0) return;
        classes.push(static_cast<i32>(c));
        tokens.push(n_tokens);
        documents.push(n_documents);
    }
};

class Counter {
public:
    // spill: number of tokens after which 32-bit counters are emptied into wide ones; at most 2^32 - 1
    Counter(const Options& options, const std::vector<Token>& stop_words, const i32* classes, i64 n_classes, i64 spill)
        : counters_(n_classes), vocabulary_(options, stop_words, counters_.payload()), classes_(classes), C_(n_classes),
          spill_(spill), first_(options.analyzer == Analyzer::word ? options.min_n : 1),
          wide_(static_cast<std::size_t>(vocabulary_.levels())), missing(n_classes) {
        for (i64 c = 0; c < C_; ++c) missing[c] = 0;
    }

    void run(const Column& column, const Options& options, const Characters* characters) {
        Grams<Learned, Counter> grams(vocabulary_, *this, options, vocabulary_.levels(), vocabulary_.n_stop);
        scan(column, options, characters, grams);
    }

    void add(i64 level, i64 row, const u32* ids, i64 n) {
        if ((since_ += n) > spill_) {
            spill();
            since_ = n;
        }
        if (level == 1) counters_.add(vocabulary_.words, row, classes_[row], ids, n);
        else counters_.add(vocabulary_.at(level), row, classes_[row], ids, n);
    }
    void end(i64 row, bool valid, i64) {
        if (!valid) ++missing[classes_[row]];
    }

    void write(const Order& order, Entries& out) const {
        const i64 V = order.nodes.size();
        std::vector<Entry> found(static_cast<std::size_t>(C_));
        out.starts.resize(V + 1);
        out.starts[0] = 0;
        for (i64 v = 0; v < V; ++v) {
            if (v + 8 < V) prefetch(vocabulary_.payload<char>(order.nodes[v + 8].level, order.nodes[v + 8].id));
            const Node node = order.nodes[v];
            char* const payload = vocabulary_.payload<char>(node.level, node.id);
            const auto& wide = wide_[node.level - 1];
            const i64 place = 2 * C_ * static_cast<i64>(node.id);
            if (place < wide.size()) {
                for (i64 c = 0; c < C_; ++c) found[static_cast<std::size_t>(c)] = {wide[place + 2 * c], wide[place + 2 * c + 1]};
                counters_.each(payload, [&](i64 c, const Counts& counts) {
                    found[static_cast<std::size_t>(c)].tokens += counts.tokens;
                    found[static_cast<std::size_t>(c)].documents += counts.documents;
                });
                for (i64 c = 0; c < C_; ++c) out.put(c, found[static_cast<std::size_t>(c)].tokens, found[static_cast<std::size_t>(c)].documents);
            } else {
                counters_.each(payload, [&](i64 c, const Counts& n) { out.put(c, n.tokens, n.documents); });
            }
            out.starts[v + 1] = out.classes.size();
        }
    }

private:
    void spill() {
        for (i64 level = first_; level <= vocabulary_.levels(); ++level) {
            Growing<i64>& wide = wide_[static_cast<std::size_t>(level - 1)];
            const i64 known = wide.size(), n = vocabulary_.size(level);
            wide.resize(n * 2 * C_);
            std::fill(wide.data() + known, wide.data() + wide.size(), 0);
            for (i64 id = 0; id < n; ++id)
                counters_.each(vocabulary_.payload<char>(level, static_cast<u32>(id)), [&](i64 c, Counts& counts) {
                    wide[id * 2 * C_ + 2 * c] += std::exchange(counts.tokens, 0);
                    wide[id * 2 * C_ + 2 * c + 1] += std::exchange(counts.documents, 0);
                });
        }
    }

    Counters counters_;
    Learned vocabulary_;
    const i32* classes_;
    i64 C_, spill_, first_, since_ = 0;
    struct Entry {
        i64 tokens, documents;
    };
    std::vector<Growing<i64>> wide_;

public:
    Growing<i64> missing;  // (C,) null documents
    const Learned& vocabulary() const { return vocabulary_; }
    i64 first() const { return first_; }
};

}  // namespace tally::text
