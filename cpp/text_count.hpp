// How often each token occurs in each class, and in how many documents.
//
// IN  a column, the class of each row in [0, C) (checked by the caller)
// OUT the sorted vocabulary, and per class and token two integers
// Cost: one pass over the text. Per distinct token 16 to 32 bytes of slots, 16 of key (8 for n-grams), 4 + 8 C of
// counters; its bytes if there are more than 15.
// Twin: count_text in kernels/text_reference.py.
#pragma once

#include "text_order.hpp"

namespace tally::text {

class Counter {
public:
    // spill: after how many tokens the 32-bit counters are emptied into wide ones; at most 2^32 - 1
    Counter(const Options& options, const std::vector<Token>& stop_words, const i32* classes, i64 n_classes, i64 spill)
        : vocabulary_(options, stop_words, static_cast<i64>(bytes_for(2 * n_classes + 1, 4))), classes_(classes),
          C_(n_classes), spill_(spill), first_(options.analyzer == Analyzer::word ? options.min_n : 1),
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
        if (level == 1) add(vocabulary_.words, row, ids, n);
        else add(vocabulary_.at(level), row, ids, n);
    }
    void end(i64 row, bool valid, i64) {
        if (!valid) ++missing[classes_[row]];
    }

    // OUT tokens, documents (C, V), where V is the number of nodes.
    void write(const Order& order, i64* tokens, i64* documents) const {
        const i64 V = order.nodes.size();
        for (i64 v = 0; v < V; ++v) {
            if (v + 8 < V) prefetch(vocabulary_.payload<u32>(order.nodes[v + 8].level, order.nodes[v + 8].id));
            const Node node = order.nodes[v];
            const u32* counters = vocabulary_.payload<u32>(node.level, node.id) + 1;
            const auto& wide = wide_[node.level - 1];
            const i64 place = 2 * C_ * static_cast<i64>(node.id);
            for (i64 c = 0; c < C_; ++c) {
                tokens[c * V + v] = counters[2 * c];
                documents[c * V + v] = counters[2 * c + 1];
                if (place < wide.size()) {
                    tokens[c * V + v] += wide[place + 2 * c];
                    documents[c * V + v] += wide[place + 2 * c + 1];
                }
            }
        }
    }

private:
    // A token's payload: the last row it was seen in, plus 1; then per class its occurrences and its documents.
    template <class Numbered>
    void add(const Numbered& numbered, i64 row, const u32* ids, i64 n) {
        const auto stamp = static_cast<u32>(row + 1);
        const i64 place = 1 + 2 * static_cast<i64>(classes_[row]);
        for (i64 k = 0; k < n; ++k) {
            if (ids[k] == kNone) continue;
            u32* payload = numbered.template payload<u32>(ids[k]);
            payload[place] += 1;
            payload[place + 1] += payload[0] != stamp ? 1 : 0;
            payload[0] = stamp;
        }
    }

    void spill() {
        for (i64 level = first_; level <= vocabulary_.levels(); ++level) {
            Growing<i64>& wide = wide_[static_cast<std::size_t>(level - 1)];
            const i64 known = wide.size(), n = vocabulary_.size(level);
            wide.resize(n * 2 * C_);
            std::fill(wide.data() + known, wide.data() + wide.size(), 0);
            for (i64 id = 0; id < n; ++id) {
                u32* counters = vocabulary_.payload<u32>(level, static_cast<u32>(id)) + 1;
                for (i64 k = 0; k < 2 * C_; ++k) wide[id * 2 * C_ + k] += std::exchange(counters[k], 0);
            }
        }
    }

    Learned vocabulary_;
    const i32* classes_;
    i64 C_, spill_, first_, since_ = 0;
    std::vector<Growing<i64>> wide_;

public:
    Growing<i64> missing;  // (C,) null documents
    const Learned& vocabulary() const { return vocabulary_; }
    i64 first() const { return first_; }
};

}  // namespace tally::text
