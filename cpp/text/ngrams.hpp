// From batches of words to numbers of n-grams; counting, scoring and vectorising share this step.
//
// IN  batches of text/words.hpp or text/chars.hpp, in row order. OUT: calls of a sink, see Grams.
// Cost: one lookup per word and length of n-gram. Twin: tokens in kernels/text_reference.py.
#pragma once

#include "text/chars.hpp"
#include "text/index.hpp"

namespace tally::text {

// A vocabulary that numbers every n-gram it is given. Stop words are its first n_stop words.
class Learned {
public:
    Learned(const Options& options, const std::vector<Token>& stop_words, i64 payload) : words(payload) {
        for (const Token& token : stop_words) words.intern(token);
        n_stop = words.size();
        if (options.analyzer != Analyzer::word) return;
        for (i64 n = 2; n <= options.max_n; ++n) longer.emplace_back(payload);
    }
    void number_words(const Token* tokens, i64 n, u32* ids) { words.intern(tokens, n, ids); }
    void number_longer(i64 level, const u64* keys, i64 n, u32* ids) { at(level).intern(keys, n, ids); }
    void between_documents() {}

    Pairs& at(i64 level) { return longer[static_cast<std::size_t>(level - 2)]; }
    const Pairs& at(i64 level) const { return longer[static_cast<std::size_t>(level - 2)]; }
    template <class T>
    T* payload(i64 level, u32 id) const {
        return level == 1 ? words.payload<T>(id) : at(level).payload<T>(id);
    }
    u32 size(i64 level) const { return level == 1 ? words.size() : at(level).size(); }
    i64 levels() const { return 1 + static_cast<i64>(longer.size()); }

    Words words;
    std::vector<Pairs> longer;  // pairs, triples, ...
    u32 n_stop = 0;
};

// Takes batches of words. Calls sink.add(level, row, ids, n) with the numbers of the n-grams that end in each word of a
// document (kNone if there is none), shortest n-grams first, and sink.end(row, valid, n_words) after the document.
template <class Vocabulary, class Sink>
class Grams {
public:
    Grams(Vocabulary& vocabulary, Sink& sink, const Options& options, i64 levels, u32 n_stop)
        : vocabulary_(vocabulary), sink_(sink), n_stop_(n_stop), ids_(static_cast<std::size_t>(levels)),
          carried_(static_cast<std::size_t>(levels), kNone) {
        first_ = options.analyzer == Analyzer::word ? options.min_n : 1;
    }

    void operator()(Batch& batch) {
        if (n_words_ == 0) vocabulary_.between_documents();
        i64 n = batch.tokens.size();
        ids_[0].resize(n);
        vocabulary_.number_words(batch.tokens.data(), n, ids_[0].data());
        if (n_stop_ > 0) n = drop_stop_words(batch);
        const auto levels = static_cast<i64>(ids_.size());
        for (i64 level = 2; level <= levels; ++level) number_longer(level, batch, n);
        give(batch);
    }

private:
    i64 drop_stop_words(Batch& batch) {
        u32* ids = ids_[0].data();
        i64 from = 0, n = 0;
        for (i64 s = 0; s < batch.segments.size(); ++s) {
            Segment& segment = batch.segments[s];
            for (; from < segment.end; ++from) {
                ids[n] = ids[from];
                n += ids[from] >= n_stop_ ? 1 : 0;
            }
            segment.end = n;
        }
        return n;
    }

    // The n-gram that ends in a word is the (n-1)-gram that ends in the word before, plus the word.
    void number_longer(i64 level, const Batch& batch, i64 n) {
        const u32 *words = ids_[0].data(), *shorter = ids_[static_cast<std::size_t>(level - 2)].data();
        u32& carried = carried_[static_cast<std::size_t>(level - 2)];
        keys_.resize(n);
        i64 k = 0;
        u32 parent = carried;
        for (i64 s = 0; s < batch.segments.size(); ++s) {
            for (const i64 end = batch.segments[s].end; k < end; ++k) {
                keys_[k] = Pairs::key_of(parent, words[k]);
                parent = shorter[k];
            }
            if (batch.segments[s].done) parent = kNone;
        }
        carried = parent;
        auto& ids = ids_[static_cast<std::size_t>(level - 1)];
        ids.resize(n);
        vocabulary_.number_longer(level, keys_.data(), n, ids.data());
    }

    void give(const Batch& batch) {
        i64 from = 0;
        for (i64 s = 0; s < batch.segments.size(); ++s) {
            const Segment& segment = batch.segments[s];
            const i64 count = segment.end - from;
            for (i64 level = first_; level <= static_cast<i64>(ids_.size()); ++level)
                sink_.add(level, segment.row, ids_[static_cast<std::size_t>(level - 1)].data() + from, count);
            n_words_ += count;
            from = segment.end;
            if (!segment.done) continue;
            sink_.end(segment.row, segment.valid, n_words_);
            n_words_ = 0;
        }
    }

    Vocabulary& vocabulary_;
    Sink& sink_;
    u32 n_stop_;
    i64 first_ = 1;
    std::vector<Growing<u32>> ids_;  // per level, the number of the n-gram that ends in each word of the batch
    std::vector<u32> carried_;       // per level, that of the document's last word so far
    Growing<u64> keys_;
    i64 n_words_ = 0;
};

}  // namespace tally::text
