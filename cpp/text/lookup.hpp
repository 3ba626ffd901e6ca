// A fixed vocabulary in which the n-grams of documents are looked up.
//
// IN  the vocabulary, a column of V distinct tokens (a repeated one throws Duplicate)
// OUT index(level, id): the token's position in the vocabulary, or -1
// Cost: to build, about as much as counting the vocabulary's text; then as text/index.hpp.
// Twin: Lookup in kernels/text_reference.py.
#pragma once

#include <algorithm>

#include "text/ngrams.hpp"

namespace tally::text {

struct Duplicate {  // the vocabulary has a token twice
    i64 row;
};

// Every n-gram of the vocabulary, and every prefix of one, with its position in the vocabulary or -1. It does not
// change after construction, so threads may share it.
class Lookup {
public:
    Lookup(const Column& vocabulary, const Options& options_, const std::vector<Token>& stop_words)
        : options(options_), n_tokens(vocabulary.n), words_(8, vocabulary.n) {
        for (const Token& token : stop_words) words_.intern(token);
        n_stop = words_.size();
        if (options.analyzer == Analyzer::word)
            for (i64 n = 2; n <= options.max_n; ++n) longer_.emplace_back(8);
        Reader reader(vocabulary), ahead(vocabulary);
        for (i64 row = 0; row < vocabulary.n; ++row) {
            if (row % kSweep == 0) ask(ahead, row, std::min(row + kSweep, vocabulary.n));
            const Document entry = reader.read(row);
            i32* index = insert(entry.begin, entry.end);
            if (index == nullptr) continue;
            if (*index != -1) throw Duplicate{row};
            *index = static_cast<i32>(row);
        }
    }

    i64 levels() const { return 1 + static_cast<i64>(longer_.size()); }
    u32 size(i64 level) const { return level == 1 ? words_.size() : at(level).size(); }
    i32 index(i64 level, u32 id) const { return *(level == 1 ? words_.payload<i32>(id) : at(level).payload<i32>(id)); }
    const Words& words() const { return words_; }
    const Pairs& at(i64 level) const { return longer_[static_cast<std::size_t>(level - 2)]; }

    const Options options;
    const i64 n_tokens;
    u32 n_stop = 0;

private:
    // The position in the vocabulary, and whether it is set: payloads are zero at first.
    template <class Numbered>
    static i32* place(const Numbered& numbered, u32 id) {
        auto* payload = numbered.template payload<i32>(id);
        if (std::exchange(payload[1], 1) == 0) payload[0] = -1;
        return payload;
    }

    // Prefetch where the next entries belong, as far as they are single words.
    void ask(Reader& reader, i64 first, i64 end) const {
        for (i64 row = first; row < end; ++row) {
            const Document entry = reader.read(row);
            words_.ask(token_of(entry.begin, entry.end - entry.begin));
        }
    }

    // Null for a token that no document can produce: an n-gram of another length.
    i32* insert(const char* p, const char* end) {
        if (options.analyzer != Analyzer::word) return place(words_, words_.intern(token_of(p, end - p)));
        const i64 level = 1 + std::count(p, end, ' ');
        if (level < options.min_n || level > options.max_n) return nullptr;
        u32 parent = kNone;
        i32* index = nullptr;
        for (i64 k = 1; k <= level; ++k) {
            const char* q = std::find(p, end, ' ');
            const u32 word = words_.intern(token_of(p, q - p));
            index = place(words_, word);
            if (k > 1) {
                Pairs& pairs = longer_[static_cast<std::size_t>(k - 2)];
                parent = pairs.intern(Pairs::key_of(parent, word));
                index = place(pairs, parent);
            } else {
                parent = word;
            }
            p = q == end ? end : q + 1;
        }
        return index;
    }

    Words words_;
    std::vector<Pairs> longer_;
};

// Only the n-grams of a Lookup have numbers.
class Known {
public:
    explicit Known(const Lookup& lookup) : lookup_(lookup) {}
    void number_words(const Token* tokens, i64 n, u32* ids) { lookup_.words().find(tokens, n, ids); }
    void number_longer(i64 level, const u64* keys, i64 n, u32* ids) { lookup_.at(level).find(keys, n, ids); }
    void between_documents() {}

private:
    const Lookup& lookup_;
};

// Numbers for the n-grams of a Lookup first, then for unknown ones. Unknown tokens are numbered for a while because
// distinct ones must be counted once each. A payload holds the last row that has the token, plus 1.
class KnownAndMet {
public:
    explicit KnownAndMet(const Lookup& lookup) : lookup_(lookup), met_(lookup.options, {}, 4) {}

    void number_words(const Token* tokens, i64 n, u32* ids) {
        lookup_.words().find(tokens, n, ids);
        for (i64 k = 0; k < n; ++k)
            if (ids[k] == kNone) ids[k] = lookup_.size(1) + met_.words.intern(tokens[k]);
    }
    void number_longer(i64 level, const u64* keys, i64 n, u32* ids) {
        lookup_.at(level).find(keys, n, ids);  // finds no key that has an unknown word
        for (i64 k = 0; k < n; ++k)
            if (ids[k] == kNone && !Pairs::is_none(keys[k]))
                ids[k] = lookup_.size(level) + met_.at(level).intern(keys[k]);
    }
    void between_documents() {
        i64 held = 0;
        for (i64 level = 1; level <= met_.levels(); ++level) held += met_.size(level);
        if (held > kHeld) met_ = Learned(lookup_.options, {}, 4);
    }
    u32* last_row(i64 level, u32 id) const { return met_.payload<u32>(level, id - lookup_.size(level)); }

private:
    static constexpr i64 kHeld = i64{1} << 16;
    const Lookup& lookup_;
    Learned met_;
};

}  // namespace tally::text
