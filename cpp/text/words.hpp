// The words of documents: runs of two or more word characters of the lowered text, as re.findall(r"(?u)\b\w\w+\b", ...)
// finds them. A batch holds many short documents or a part of a long one.
//
// IN  a column; options; characters (null if all of the text is ASCII). OUT: take(batch) is called, in row order.
// The caller guarantees nothing about the text: bytes that are not UTF-8 throw BadText.
// Cost: one pass over the text, ASCII 64 bytes at a time. Twin: tokens in kernels/text_reference.py.
#pragma once

#include "text/lower.hpp"
#include "text/token.hpp"

namespace tally::text {

// Tokens up to `end` belong to `row`. If the document is not done, the next batch has the rest.
struct Segment {
    i64 row;
    i64 end;
    bool done;
    bool valid;  // false: the document is null
};

struct Batch {
    Growing<Token> tokens;
    Growing<Segment> segments;

    void clear() {
        tokens.clear();
        segments.clear();
    }
};

// Calls take(batch) until every row of the column was in a segment that is done, in row order.
template <class Take>
class WordScanner {
public:
    WordScanner(const Column& column, const Options& options, const Characters* characters, Take& take)
        : column_(column), options_(options), characters_(characters), take_(take), lowered_(kPiece) {}

    void scan() {
        Reader reader(column_);
        for (i64 row = 0; row < column_.n; ++row) {
            const Document document = reader.read(row);
            const char* p = document.begin;
            const bool lower = options_.lowercase && !document.prepared;
            while (true) {
                p = lower ? lowered_.append<true>(p, document, limit_, characters_, row)
                          : lowered_.append<false>(p, document, limit_, characters_, row);
                if (p == document.end) break;
                flush(row);
            }
            lowered_.separate();
            batch_.segments.push({row, lowered_.size(), true, document.valid});
            if (lowered_.size() >= limit_ || batch_.segments.size() >= kRows) flush(-1);
        }
        flush(-1);
    }

private:
    // A piece and its tokens must stay in the first-level cache.
    static constexpr i64 kPiece = 2048, kRows = 1024;

    // Pass on the words in the buffer. If document `open` >= 0 goes on, its last word may be incomplete and stays.
    void flush(i64 open) {
        i64 stop = lowered_.size();
        if (open >= 0) {
            while (stop > 0 && lowered_.bit(stop - 1)) --stop;
            if (stop == 0) {  // a very long word
                limit_ = lowered_.size() * 2;
                lowered_.reserve(limit_);
                return;
            }
            batch_.segments.push({open, stop, false, true});
        }
        find_bounds(stop);
        make_tokens();
        take_(batch_);
        batch_.clear();
        const i64 rest = lowered_.size() - stop;
        if (rest > 0) lowered_.keep_last(rest);
        else lowered_.clear();
        limit_ = rest * 2 > kPiece ? rest * 2 : kPiece;
        lowered_.reserve(limit_);
    }

    // Find the first and the last byte of each word. One ASCII character alone is not a word; it is a bit without
    // neighbours, so dropping it costs nothing.
    void find_bounds(i64 stop) {
        const u64* bits = lowered_.bits();
        const i64 n_words = (stop + 63) / 64;
        starts_.resize(stop / 3 + 80);
        lasts_.resize(stop / 3 + 80);
        i64 *start = starts_.data(), *last = lasts_.data();
        u64 before = 0;
        for (i64 k = 0; k < n_words; ++k) {
            u64 word = bits[k], next = bits[k + 1];
            if (k == n_words - 1) {  // the byte before `stop` is in no word, so no word is cut
                next = 0;
                if (stop % 64 != 0) word &= (u64{1} << stop % 64) - 1;
            }
            const u64 left = word << 1 | before, right = word >> 1 | next << 63;
            start = put_positions(word & ~left & right, 64 * k, start);
            last = put_positions(word & ~right & left, 64 * k, last);
            before = word >> 63;
        }
        n_bounds_ = start - starts_.data();
    }
    static i64* put_positions(u64 bits, i64 base, i64* out) {
        constexpr u64 kLast = u64{1} << 63;  // avoids a test for 0; positions past `end` are ignored
        i64* const end = out + count_bits(bits);
        for (int k = 0; k < 8; ++k) {  // 8 are mostly enough, and then no branch is mispredicted
            out[k] = base + std::countr_zero(bits | kLast);
            bits &= bits - 1;
        }
        for (out += 8; out < end; ++out) {
            *out = base + std::countr_zero(bits | kLast);
            bits &= bits - 1;
        }
        return end;
    }
    static int count_bits(u64 x) {  // std::popcount is a function call on baseline x86-64
        x -= x >> 1 & 0x5555555555555555u;
        x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
        return static_cast<int>(((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
    }

    void make_tokens() {
        const char* text = lowered_.text();
        batch_.tokens.resize(n_bounds_);
        Token* out = batch_.tokens.data();
        Segment* segment = batch_.segments.data();
        Segment* const end = segment + batch_.segments.size();
        i64 n = 0;
        for (i64 k = 0; k < n_bounds_; ++k) {
            const i64 start = starts_[k], length = lasts_[k] + 1 - start;
            for (; start >= segment->end; ++segment) segment->end = n;
            const char* p = text + start;
            if (static_cast<signed char>(*p) < 0 && length_of(*p) == length) continue;
            if (length > Token::kInline) [[unlikely]] {
                out[n++] = long_token(p, length);
                continue;
            }
            // token_at, inlined: a call costs half of the speed
            const auto& mask = kMasks[static_cast<std::size_t>(length)];
            out[n++] = short_token(load_little(p) & mask[0], load_little(p + 8) & mask[1], length);
        }
        for (; segment < end; ++segment) segment->end = n;
        batch_.tokens.resize(n);
    }

    const Column& column_;
    const Options& options_;
    const Characters* characters_;
    Take& take_;
    Lowered lowered_;
    i64 limit_ = kPiece;
    Batch batch_;
    Growing<i64> starts_, lasts_;
    i64 n_bounds_ = 0;
};

}  // namespace tally::text
