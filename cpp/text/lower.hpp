// Text in lower case, in a buffer with a bit per byte that says whether the byte is part of a word.
//
// IN  a document; characters (null if all of the text is ASCII). OUT text and bits, appended to.
// The caller reserves room; bytes that are not UTF-8 throw BadText here.
// Cost: ASCII takes 64 bytes at a time; other text takes one character at a time.
// Twin: the first lines of tokens in kernels/text_reference.py.
#pragma once

#include <array>
#include <bit>

#include "text/column.hpp"

#if defined(__SSE2__) || (defined(_MSC_VER) && defined(_M_X64))
#include <emmintrin.h>
#define TALLY_TEXT_SSE2 1
#endif

namespace tally::text {

constexpr bool is_ascii_word(u8 c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr bool is_ascii_space(u8 c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }

constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

struct BlockBits {
    u64 word;  // bytes of words, if all are ASCII
    u64 high;  // bytes that are not ASCII
};

// Lower 64 bytes from `in` to `out`.
template <bool Lower>
inline BlockBits copy_block(const char* in, char* out) {
    BlockBits bits{0, 0};
#if defined(TALLY_TEXT_SSE2)
    const __m128i twenty = _mm_set1_epi8(0x20), a = _mm_set1_epi8('a'), zero = _mm_set1_epi8('0');
    const __m128i letters = _mm_set1_epi8(25), digits = _mm_set1_epi8(9), line = _mm_set1_epi8('_');
    for (int k = 0; k < 4; ++k) {
        const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 16 * k));
        const __m128i letter = _mm_sub_epi8(_mm_or_si128(c, twenty), a), digit = _mm_sub_epi8(c, zero);
        const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, letters), letter);
        const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, digits), digit);
        const __m128i is_word = _mm_or_si128(_mm_or_si128(is_letter, is_digit), _mm_cmpeq_epi8(c, line));
        const __m128i lowered = Lower ? _mm_or_si128(c, _mm_and_si128(is_letter, twenty)) : c;
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * k), lowered);
        bits.word |= static_cast<u64>(static_cast<u32>(_mm_movemask_epi8(is_word))) << 16 * k;
        bits.high |= static_cast<u64>(static_cast<u32>(_mm_movemask_epi8(c))) << 16 * k;
    }
#else
    static constexpr auto kinds = [] {
        std::array<u8, 256> table{};
        for (int c = 0; c < 256; ++c) table[static_cast<std::size_t>(c)] = is_ascii_word(static_cast<u8>(c)) ? 1 : 0;
        return table;
    }();
    for (int k = 0; k < 64; ++k) {
        const auto c = static_cast<u8>(in[k]);
        bits.word |= static_cast<u64>(kinds[c]) << k;
        bits.high |= static_cast<u64>(c >> 7) << k;
        out[k] = Lower ? ascii_lower(in[k]) : in[k];
    }
#endif
    return bits;
}

// Lowered text and its bits; bits past the end are 0.
class Lowered {
public:
    static constexpr i64 kMargin = 256;  // bytes that may be written or read past the end

    explicit Lowered(i64 room) { reserve(room); }

    i64 size() const { return size_; }
    const char* text() const { return text_.data(); }
    const u64* bits() const { return bits_.data(); }
    bool bit(i64 i) const { return (bits_[i / 64] >> (i % 64) & 1) != 0; }

    void reserve(i64 room) {
        if (room <= room_) return;
        room_ = room;
        text_.resize(room + kMargin);
        const i64 words = bits_.size(), wanted = (room + kMargin) / 64 + 2;
        bits_.resize(wanted);
        for (i64 k = words; k < wanted; ++k) bits_[k] = 0;
    }

    void separate() {  // append one byte that is in no word
        text_[size_++] = ' ';
    }

    // Drop all but the last `count` bytes.
    void keep_last(i64 count) {
        const i64 from = size_ - count;
        std::memmove(text_.data(), text_.data() + from, static_cast<std::size_t>(count));
        for (i64 k = 0; k <= count / 64; ++k) bits_[k] = bits_at(from + 64 * k);
        for (i64 k = count / 64 + 1; k <= size_ / 64 + 1; ++k) bits_[k] = 0;
        size_ = count;
    }
    void clear() {
        std::memset(bits_.data(), 0, static_cast<std::size_t>(size_ / 64 + 2) * 8);
        size_ = 0;
    }

    // Append text from p until at least `until` bytes are stored or the document ends. Return where it stopped. The
    // caller has reserved `until` bytes.
    template <bool Lower>
    const char* append(const char* p, const Document& document, i64 until, const Characters* characters, i64 row) {
        while (p < document.end && size_ < until) {
            const i64 left = document.end - p;
            const i64 count = left < 64 ? left : 64;
            char* out = text_.data() + size_;
            BlockBits block;
            if (document.readable - p >= 64) {
                block = copy_block<Lower>(p, out);
            } else {
                char copy[64] = {};
                std::memcpy(copy, p, static_cast<std::size_t>(count));
                block = copy_block<Lower>(copy, out);
            }
            const u64 inside = count == 64 ? ~u64{0} : (u64{1} << count) - 1;
            block.high &= inside;
            if (block.high == 0) {
                put_bits(block.word & inside);
                size_ += count;
                p += count;
                continue;
            }
            const int plain = std::countr_zero(block.high);
            put_bits(block.word & ((u64{1} << plain) - 1));
            size_ += plain;
            p = append_characters<Lower>(p + plain, p + count, document, characters, row);
        }
        return p;
    }

private:
    u64 bits_at(i64 i) const {
        const u64 low = bits_[i / 64] >> (i % 64);
        return i % 64 == 0 ? low : low | bits_[i / 64 + 1] << (64 - i % 64);
    }
    void put_bits(u64 bits) {
        const i64 shift = size_ % 64;
        bits_[size_ / 64] |= bits << shift;
        if (shift != 0) bits_[size_ / 64 + 1] |= bits >> (64 - shift);
    }
    void put(const char* bytes, int count, bool word) {
        std::memcpy(text_.data() + size_, bytes, 4);
        if (word) put_bits((u64{1} << count) - 1);
        size_ += count;
    }
    void put(u32 c, bool word) {
        char bytes[4] = {};
        put(bytes, encode(c, bytes), word);
    }

    // Append the characters that start before `stop` (at most 64 bytes away), or fewer if ASCII text follows.
    template <bool Lower>
    const char* append_characters(const char* p, const char* stop, const Document& document,
                                  const Characters* characters, i64 row) {
        while (p < stop) {
            const auto lead = static_cast<u8>(*p);
            if (lead < 0x80) {
                if (stop - p >= 8 && (load64(p) & 0x8080808080808080u) == 0) return p;  // blocks are faster for ASCII
                text_[size_] = Lower ? ascii_lower(*p) : *p;
                if (is_ascii_word(lead)) put_bits(1);
                ++size_;
                ++p;
                continue;
            }
            u32 c = 0;
            const int length = decode(p, document.end, c);
            if (length == 0 || characters == nullptr) throw BadText{row, p - document.begin};
            const Kind kind = (*characters)[c];
            if (!Lower || kind.is_lower()) {
                char bytes[4] = {};
                std::memcpy(bytes, p, static_cast<std::size_t>(length));
                put(bytes, length, kind.word());
            } else {
                put_lower(c, kind, *characters);
            }
            p += length;
        }
        return p;
    }
    void put_lower(u32 c, Kind kind, const Characters& characters) {
        if (!kind.many()) {
            const u32 lower = c + static_cast<u32>(kind.rest());
            return put(lower, characters[lower].word());
        }
        reserve(size_ + 4 * (characters.end(kind.rest()) - characters.begin(kind.rest())));
        for (const i32* l = characters.begin(kind.rest()); l < characters.end(kind.rest()); ++l)
            put(static_cast<u32>(*l), characters[static_cast<u32>(*l)].word());
    }

    Growing<char> text_;
    Growing<u64> bits_;
    i64 size_ = 0, room_ = 0;
};

}  // namespace tally::text
