// Words of header fields and of text: each one, adjacent pairs, and the parts of host names and addresses.
//
// IN  bytes of a header value or of a text without tags
// OUT tokens
// Cost: linear in the bytes.
#pragma once

#include "mail/tokens.hpp"

namespace tally::mail {

// A word in small letters; only the length of a long one, in tens. `room` keeps the bytes.
inline Word short_word(Bytes given, std::string& room) {
    if (length(given) <= kLongWord) {
        lower_into(given, room);
    } else {
        const i64 tens = length(given) / 10 * 10;
        room = "#" + std::to_string(tens < 100 ? tens : 100);
    }
    return Word(room);
}

// The suffixes of a host name in small letters, or the prefixes of an address of numbers.
inline void add_host(Bytes given, const Prefix& prefix, Tokens& out) {
    static const Word at("at"), ip("ip");
    const Bytes name = strip(cut(given, 0, kHostBytes), ".");
    i64 dots[kHostBytes], n = 0;
    bool numbers = true;
    for (i64 k = 0; k < length(name); ++k) {
        const char c = name[static_cast<std::size_t>(k)];
        if (c == '.') dots[n++] = k;
        else numbers = numbers && is(c, digit);
    }
    if (numbers) {
        for (i64 k = 0; k < n && k < 3; ++k) out.add(prefix, ip, Word(cut(name, 0, dots[k])));
        out.add(prefix, ip, Word(name));
        return;
    }
    for (i64 k = n > 4 ? n - 4 : 0; k < n; ++k) out.add(prefix, at, Word(cut(name, dots[k] + 1)));
    out.add(prefix, at, Word(name));
}

class Words {
public:
    void atoms(Bytes value, const Prefix& prefix, Tokens& out) {
        const char *p = value.data(), *const end = p + value.size();
        Word last{Bytes()};
        while (p < end) {
            if (!is(*p, Kind::atom)) {
                ++p;
                continue;
            }
            const char* const start = p;
            while (p < end && is(*p, Kind::atom)) ++p;
            const Bytes whole(start, static_cast<std::size_t>(p - start));
            const Word word = short_word(whole, next());
            out.add(prefix, word);
            if (!last.text.empty()) out.add(prefix, last, word);
            last = word;
            lower_into(whole, host_);
            const Bytes host = cut(host_, static_cast<i64>(host_.rfind('@') + 1));  // npos + 1 is 0
            if (host.find('.') != Bytes::npos) add_host(host, prefix, out);
        }
    }

    void text(Bytes given, Tokens& out) {
        static const Prefix none{Bytes("")}, url("url:");
        const char *p = given.data(), *const end = p + given.size();
        Word last{Bytes()};
        while (p < end) {
            if (!is(*p, Kind::word)) {
                if (*p != ':' || end - p < 3 || p[1] != '/' || p[2] != '/') {
                    ++p;
                    continue;
                }
                p += 3;
                const char* const start = p;
                while (p < end && is(*p, Kind::host)) ++p;
                if (p > start) {
                    lower_into(Bytes(start, static_cast<std::size_t>(p - start)), host_);
                    add_host(host_, url, out);
                }
                last = Word(Bytes());
                continue;
            }
            const char* const start = p;
            bool high = false;
            while (p < end && is(*p, Kind::word)) high |= static_cast<u8>(*p++) >= 128;
            const Bytes whole = strip(Bytes(start, static_cast<std::size_t>(p - start)), "'-");
            if (whole.empty()) continue;
            if (high && length(whole) > 12) {  // text without spaces, such as Chinese: two letters of UTF-8 at a time
                lower_into(whole, host_);
                for (i64 k = 0; k + 6 <= length(host_); k += 3) out.add(none, Word(cut(host_, k, k + 6)));
            }
            const Word word = short_word(whole, next());
            out.add(none, word);
            if (!last.text.empty()) out.add(none, last, word);
            last = word;
        }
    }

private:
    std::string& next() {  // not the buffer of the last word
        which_ = 1 - which_;
        return room_[which_];
    }
    std::string room_[2], host_;
    std::size_t which_ = 0;
};

}  // namespace tally::mail
