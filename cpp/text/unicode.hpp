// UTF-8, and the properties of characters: part of a word, space, lower case.
//
// Unicode grows with every Python version, so the tables are not compiled in: kernels/text_unicode.py makes them from
// the running Python. Cost: two reads per character that is not ASCII.
#pragma once

#include <map>

#include "text/memory.hpp"

namespace tally::text {

constexpr u32 kCharacters = 0x110000;

// Decode the code point at p. Return its number of bytes, 0 if they are not UTF-8 by the rules of Python's decoder.
inline int decode(const char* text, const char* end, u32& c) {
    const auto* p = reinterpret_cast<const u8*>(text);
    const auto left = end - text;
    const auto follows = [&](int k) { return (p[k] & 0xC0u) == 0x80u; };
    if (p[0] < 0x80) {
        c = p[0];
        return 1;
    }
    if (p[0] < 0xC2) return 0;
    if (p[0] < 0xE0) {
        if (left < 2 || !follows(1)) return 0;
        c = (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
        return 2;
    }
    if (p[0] < 0xF0) {
        if (left < 3 || !follows(1) || !follows(2)) return 0;
        c = (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        return c < 0x800 || (c >= 0xD800 && c < 0xE000) ? 0 : 3;
    }
    if (left < 4 || p[0] > 0xF4 || !follows(1) || !follows(2) || !follows(3)) return 0;
    c = (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    return c < 0x10000 || c >= kCharacters ? 0 : 4;
}

// Return the number of bytes of the character with this first byte. The caller guarantees UTF-8.
inline i64 length_of(char lead) {
    const auto c = static_cast<u8>(lead);
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

inline int encode(u32 c, char* out) {
    const auto put = [&](int k, u32 byte) { out[k] = static_cast<char>(static_cast<u8>(byte)); };
    if (c < 0x80) {
        put(0, c);
        return 1;
    }
    if (c < 0x800) {
        put(0, 0xC0 | c >> 6);
        put(1, 0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        put(0, 0xE0 | c >> 12);
        put(1, 0x80 | (c >> 6 & 0x3F));
        put(2, 0x80 | (c & 0x3F));
        return 3;
    }
    put(0, 0xF0 | c >> 18);
    put(1, 0x80 | (c >> 12 & 0x3F));
    put(2, 0x80 | (c >> 6 & 0x3F));
    put(3, 0x80 | (c & 0x3F));
    return 4;
}

// A character's kind: flags in the low bits; above them lower case minus code point, or the number of an expansion.
class Kind {
public:
    static constexpr u32 kWord = 1, kSpace = 2, kMany = 4;
    Kind() = default;
    Kind(bool word, bool space, bool many, i32 rest)
        : bits_(static_cast<u32>(rest) << 3 | (many ? kMany : 0) | (space ? kSpace : 0) | (word ? kWord : 0)) {}
    bool word() const { return (bits_ & kWord) != 0; }
    bool space() const { return (bits_ & kSpace) != 0; }
    bool many() const { return (bits_ & kMany) != 0; }
    bool is_lower() const { return bits_ >> 2 == 0; }  // its own lower case
    i32 rest() const { return static_cast<i32>(bits_) >> 3; }
    u32 bits() const { return bits_; }

private:
    u32 bits_ = 0;
};

// The kinds of all characters, in pages of 256. Equal pages are stored once: about 100 KB, a plain array takes 4 MB.
class Characters {
public:
    // IN word, space (kCharacters,) 0 or 1; lower (kCharacters,): the lower case, or -1 - k for the k-th expansion,
    // many[starts[k]], ..., many[starts[k + 1] - 1]. The caller guarantees that all of these are characters.
    Characters(const u8* word, const u8* space, const i32* lower, std::vector<i32> many, std::vector<i64> starts)
        : many_(std::move(many)), starts_(std::move(starts)), pages_(kCharacters / kPage) {
        std::map<std::vector<u32>, u32> pages;
        std::vector<u32> page(kPage);
        for (u32 first = 0; first < kCharacters; first += kPage) {
            std::vector<Kind> kinds;
            for (u32 c = first; c < first + kPage; ++c) {
                const bool expands = lower[c] < 0;
                const i32 rest = expands ? -1 - lower[c] : lower[c] - static_cast<i32>(c);
                kinds.emplace_back(word[c] != 0, space[c] != 0, expands, rest);
                page[c - first] = kinds.back().bits();
            }
            const auto [place, is_new] = pages.try_emplace(page, static_cast<u32>(kinds_.size()));
            if (is_new) kinds_.insert(kinds_.end(), kinds.begin(), kinds.end());
            pages_[first / kPage] = place->second;
        }
    }

    Kind operator[](u32 c) const { return kinds_[pages_[c / kPage] + c % kPage]; }
    const i32* begin(i32 expansion) const { return many_.data() + starts_[static_cast<std::size_t>(expansion)]; }
    const i32* end(i32 expansion) const { return many_.data() + starts_[static_cast<std::size_t>(expansion) + 1]; }

private:
    static constexpr u32 kPage = 256;
    std::vector<i32> many_;
    std::vector<i64> starts_;
    std::vector<u32> pages_;
    std::vector<Kind> kinds_;
};

}  // namespace tally::text
