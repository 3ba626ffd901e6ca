// Transfer encodings, encoded words of headers, and HTML entities. What is not valid is passed over or kept as it is.
//
// IN  bytes; room: how many decoded bytes are wanted at most
// OUT appended to `out`; the number of bytes read is returned
// Cost: linear.
#pragma once

#include "mail/bytes.hpp"

namespace tally::mail {

inline i64 base64(Bytes content, i64 room, std::string& out) {
    u32 bits = 0;
    int n = 0;
    for (i64 at = 0; at < length(content); ++at) {
        if (room <= 0) return at;
        const char c = content[static_cast<std::size_t>(at)];
        u32 value;
        if (c >= 'A' && c <= 'Z') value = static_cast<u32>(c - 'A');
        else if (c >= 'a' && c <= 'z') value = static_cast<u32>(c - 'a' + 26);
        else if (c >= '0' && c <= '9') value = static_cast<u32>(c - '0' + 52);
        else if (c == '+') value = 62;
        else if (c == '/') value = 63;
        else continue;
        bits = (bits << 6 | value) & 0xFFFFu;
        if ((n += 6) < 8) continue;
        n -= 8;
        out.push_back(static_cast<char>(bits >> n & 255u));
        --room;
    }
    return length(content);
}

inline int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// In a header, _ is a space.
inline i64 quoted_printable(Bytes content, i64 room, bool header, std::string& out) {
    const char *p = content.data(), *const end = p + content.size();
    for (; p < end && room > 0; ++p, --room) {
        if (*p != '=') {
            out.push_back(header && *p == '_' ? ' ' : *p);
            continue;
        }
        const i64 left = end - p;
        if (left > 2 && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
            out.push_back(static_cast<char>(hex(p[1]) * 16 + hex(p[2])));
            p += 2;
        } else if (left > 1 && p[1] == '\n') {  // a soft line break is nothing
            p += 1;
            ++room;
        } else if (left > 2 && p[1] == '\r' && p[2] == '\n') {
            p += 2;
            ++room;
        } else {
            out.push_back('=');
        }
    }
    return p - content.data();
}

// A header value with its encoded words (RFC 2047) decoded; each charset stays, as a word.
inline Bytes decode_words(Bytes value, std::string& out) {
    if (value.find("=?") == Bytes::npos) return value;
    out.clear();
    for (i64 at = 0;;) {
        const auto found = value.find("=?", static_cast<std::size_t>(at));
        if (found == Bytes::npos) {
            out.append(cut(value, at));
            return out;
        }
        const i64 first = static_cast<i64>(found);
        out.append(cut(value, at, first));
        const auto question = cut(value, 0, first + kEncodedBytes).find('?', found + 2);
        i64 second = -1, end = -1;
        if (question != Bytes::npos) {
            second = static_cast<i64>(question);
            const auto last = cut(value, 0, second + 3 + kEncodedBytes).find("?=", question + 3);
            if (last != Bytes::npos) end = static_cast<i64>(last);
        }
        const Bytes how = second < 0 ? Bytes() : cut(value, second + 1, second + 3);
        const char kind = how.size() == 2 && how[1] == '?' ? lower(how[0]) : ' ';
        if (end < 0 || (kind != 'q' && kind != 'b')) {
            out.append("=?");
            at = first + 2;
            continue;
        }
        out.push_back(' ');
        out.append(cut(value, first + 2, second));
        out.push_back(' ');
        const Bytes content = cut(value, second + 3, end);
        if (kind == 'b') base64(content, kFieldBytes, out);
        else quoted_printable(content, kFieldBytes, true, out);
        at = end + 2;
    }
}

inline void append_utf8(u32 code, std::string& out) {
    const auto put = [&](u32 byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 63));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 63));
        put(0x80 | (code & 63));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 63));
        put(0x80 | (code >> 6 & 63));
        put(0x80 | (code & 63));
    }
}

// A code point written in digits, or after x in hexadecimal digits; 0 if there is none.
inline u32 code_point(Bytes digits) {
    u32 base = 10, code = 0;
    if (!digits.empty() && lower(digits[0]) == 'x') {
        base = 16;
        digits.remove_prefix(1);
    }
    if (digits.empty()) return 0;
    for (const char c : digits) {
        const int value = hex(c);
        if (value < 0 || static_cast<u32>(value) >= base) return 0;
        code = code * base + static_cast<u32>(value);  // at most eight digits
    }
    return (code >= 32 && code < 0xD800) || (code >= 0xE000 && code < 0x110000) ? code : 0;
}

// Append the character of the HTML entity at `at`, or the & as it is; return where to go on.
inline i64 entity(Bytes text, i64 at, std::string& out) {
    const auto semicolon = cut(text, at, at + 10).find(';');
    if (semicolon != Bytes::npos) {
        const i64 end = at + static_cast<i64>(semicolon);
        const Bytes name = cut(text, at + 1, end);
        const char named = name == "nbsp" ? ' ' : name == "amp" ? '&' : name == "lt" ? '<' : name == "gt" ? '>' : name == "quot" ? '"' : '\0';
        const u32 code = name.empty() || name[0] != '#' ? 0 : code_point(name.substr(1));
        if (named != '\0' || code == 160) {
            out.push_back(named != '\0' ? named : ' ');
            return end + 1;
        }
        if (code != 0) {
            append_utf8(code, out);
            return end + 1;
        }
    }
    out.push_back('&');
    return at + 1;
}

}  // namespace tally::mail
