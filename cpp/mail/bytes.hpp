// Kinds of bytes, and the shapes that stand for random text. All of mail is read as bytes: a character set that is
// missing or wrong then changes nothing, and no message has to be refused.
//
// Twin of everything in cpp/mail: tests/kernels/mail_reference.py.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "text/memory.hpp"

namespace tally::mail {

using text::i32;
using text::i64;
using text::u32;
using text::u64;
using text::u8;
using Bytes = std::string_view;

constexpr i64 kHeaderBytes = i64{1} << 17;  // of all header fields of a message
constexpr i64 kFieldBytes = i64{1} << 12;   // of one header field
constexpr i64 kTextBytes = i64{1} << 18;    // of all decoded text of a message
constexpr i64 kScanBytes = i64{1} << 24;    // of a message
constexpr i64 kLineBytes = 200;             // of a boundary line
constexpr i64 kEncodedBytes = 1000;         // of an encoded word of a header
constexpr i64 kDepth = 16, kParts = 1000, kAttributes = 32;
constexpr i64 kLongWord = 30;               // bytes; longer words are known by their length only
constexpr i64 kShapeBytes = 100, kHostBytes = 100, kBoundaryBytes = 100, kNameBytes = 76;

enum Kind : u8 { word = 1, atom = 2, name = 4, host = 8, space = 16, alnum = 32, digit = 64 };

constexpr std::array<u8, 256> kinds_of_bytes() {
    std::array<u8, 256> kinds{};
    for (int c = 0; c < 256; ++c) {
        const bool number = c >= '0' && c <= '9';
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        int kind = 0;
        if (number) kind |= digit;
        if (number || letter) kind |= alnum | word | atom | host;
        if (c >= 128 || c == '$' || c == '!' || c == '\'' || c == '-') kind |= word | atom;
        if (c == '.' || c == '_' || c == '@' || c == '+' || c == '%' || c == '#' || c == '&' || c == '*') kind |= atom;
        if (c == '.' || c == '-' || c == '_') kind |= host;
        if (c > 32 && c < 127 && c != ':') kind |= name;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') kind |= space;
        kinds[static_cast<std::size_t>(c)] = static_cast<u8>(kind);
    }
    return kinds;
}

inline constexpr std::array<u8, 256> kKinds = kinds_of_bytes();

inline bool is(char c, int kind) { return (kKinds[static_cast<u8>(c)] & kind) != 0; }
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline i64 length(Bytes text) { return static_cast<i64>(text.size()); }

// text[from:to] as Python has it: bounds beyond the end are the end.
inline Bytes cut(Bytes text, i64 from, i64 to) {
    const i64 n = length(text);
    from = from < n ? from : n;
    to = to < n ? to : n;
    return from < to ? text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)) : Bytes();
}
inline Bytes cut(Bytes text, i64 from) { return cut(text, from, length(text)); }

inline Bytes strip(Bytes text, Bytes of) {
    const auto first = text.find_first_not_of(of);
    if (first == Bytes::npos) return {};
    return text.substr(first, text.find_last_not_of(of) - first + 1);
}
constexpr Bytes kSpaces = " \t\r\n";

inline void lower_into(Bytes text, std::string& out) {
    out.resize(text.size());
    for (std::size_t k = 0; k < text.size(); ++k) out[k] = lower(text[k]);
}

// Kinds of characters, repeated ones once: 9 for digits, a and A for letters. Ids and dates are told by it.
inline void shape(Bytes text, std::string& out) {
    out.clear();
    for (const char c : cut(text, 0, kShapeBytes)) {
        const bool small = (c >= 'a' && c <= 'z') || static_cast<u8>(c) > 127;
        const char kind = is(c, digit) ? '9' : c >= 'A' && c <= 'Z' ? 'A' : small ? 'a' : is(c, space) ? ' ' : c;
        if (out.empty() || out.back() != kind) out.push_back(kind);
    }
    if (length(out) > kLongWord) out.resize(static_cast<std::size_t>(kLongWord));
}

}  // namespace tally::mail
