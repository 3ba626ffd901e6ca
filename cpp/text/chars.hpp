// Character n-grams of documents: of the whole text, or within words padded with a space on both sides. They are
// those of scikit-learn's analyzers "char" and "char_wb".
//
// IN  a column; options; characters (null if all of the text is ASCII)
// OUT take(batch) is called with the n-grams of each document, in row order
// The caller guarantees nothing about the text: bytes that are not UTF-8 throw BadText.
// Cost: one copy of the text in lower case, and a hash per n-gram. Twin: tokens in kernels/text_reference.py.
#pragma once

#include "text/words.hpp"

namespace tally::text {

template <class Take>
class CharScanner {
public:
    CharScanner(const Column& column, const Options& options, const Characters* characters, Take& take)
        : column_(column), options_(options), characters_(characters), take_(take), lowered_(4096) {}

    void scan() {
        Reader reader(column_);
        for (i64 row = 0; row < column_.n; ++row) {
            const Document document = reader.read(row);
            row_ = row;
            lower(document);
            text_.clear();
            text_.reserve(2 * raw_.size() + kSlack);  // tokens may point into it, so it must not move
            if (options_.analyzer == Analyzer::character) {
                collapse_spaces();
                grams(text_.data(), text_.data() + text_.size());
            } else {
                pad_words();
            }
            hand_over(true, document.valid);
        }
    }

private:
    static constexpr i64 kBatch = 1024, kSlack = 64;

    // Write the whole document to raw_, in lower case.
    void lower(const Document& document) {
        raw_.clear();
        const bool lower = options_.lowercase && !document.prepared;
        for (const char* p = document.begin; p < document.end;) {
            p = lower ? lowered_.template append<true>(p, document, 4096, characters_, row_)
                      : lowered_.template append<false>(p, document, 4096, characters_, row_);
            const i64 held = raw_.size();
            raw_.resize(held + lowered_.size());
            std::memcpy(raw_.data() + held, lowered_.text(), static_cast<std::size_t>(lowered_.size()));
            lowered_.clear();
        }
    }

    bool is_space(const char* p, const char* end) const {
        if (static_cast<signed char>(*p) >= 0) return is_ascii_space(static_cast<u8>(*p));
        u32 c = 0;
        return decode(p, end, c) != 0 && (*characters_)[c].space();
    }
    void copy(const char* from, const char* to) {
        const i64 held = text_.size();
        text_.resize(held + (to - from));
        if (to > from) std::memcpy(text_.data() + held, from, static_cast<std::size_t>(to - from));
    }

    // Replace two or more spaces of any kind by one; keep a single space as it is.
    void collapse_spaces() {
        const char *p = raw_.data(), *end = p + raw_.size();
        while (p < end) {
            const char* q = p;
            while (q < end && !is_space(q, end)) q += length_of(*q);
            copy(p, q);
            p = q;
            int spaces = 0;
            for (; q < end && is_space(q, end); q += length_of(*q)) ++spaces;
            if (spaces > 1) text_.push(' ');
            else copy(p, q);
            p = q;
        }
    }

    void pad_words() {
        const char *p = raw_.data(), *end = p + raw_.size();
        while (p < end) {
            const char* q = p;
            while (q < end && !is_space(q, end)) q += length_of(*q);
            if (q > p) {
                const i64 held = text_.size();
                text_.push(' ');
                copy(p, q);
                text_.push(' ');
                grams(text_.data() + held, text_.data() + text_.size());
            }
            p = q < end ? q + length_of(*q) : q;
        }
    }

    // Push every n-gram of [begin, end). Within words, a word of at most n characters is its own last n-gram.
    void grams(const char* begin, const char* end) {
        for (i64 n = options_.min_n; n <= options_.max_n; ++n) {
            const char *p = begin, *q = begin;
            i64 held = 0;
            for (; held < n && q < end; ++held) q += length_of(*q);
            if (held == 0 || (held < n && options_.analyzer == Analyzer::character)) return;
            push(p, q);
            if (q == end) return;
            while (q < end) {
                p += length_of(*p);
                q += length_of(*q);
                push(p, q);
            }
        }
    }
    void push(const char* begin, const char* end) {
        if (batch_.tokens.size() == kBatch) hand_over(false, true);
        batch_.tokens.push(token_at(begin, end - begin));
    }
    void hand_over(bool done, bool valid) {
        batch_.segments.push({row_, batch_.tokens.size(), done, valid});
        take_(batch_);
        batch_.clear();
    }

    const Column& column_;
    const Options& options_;
    const Characters* characters_;
    Take& take_;
    Lowered lowered_;
    Growing<char> raw_, text_;
    Batch batch_;
    i64 row_ = 0;
};

template <class Take>
void scan(const Column& column, const Options& options, const Characters* characters, Take& take) {
    if (options.analyzer == Analyzer::word) WordScanner<Take>(column, options, characters, take).scan();
    else CharScanner<Take>(column, options, characters, take).scan();
}

}  // namespace tally::text
