// HTML tags. They are looked for in every text, because HTML is often labelled as plain text.
//
// IN  text; OUT the text with tags replaced by a space, comments removed and entities decoded; tokens of the tags
// Cost: linear. A tag ends at the next < if it has no >, and an unclosed comment is looked for once.
#pragma once

#include "mail/decode.hpp"
#include "mail/words.hpp"

namespace tally::mail {

class Html {
public:
    explicit Html(Tokens& out) : tokens_(out) {}

    // Return the text without tags, in memory of this object.
    Bytes without_tags(Bytes text) {
        text_ = text;
        out_.clear();
        open_comment_ = false;
        const i64 n = length(text);
        for (i64 at = 0; at < n;) {
            const char c = at_(at);
            if (c == '\0') ++at;  // every other byte of UTF-16
            else if (c == '<') at = tag(at);
            else if (c == '&') at = entity(text, at, out_);
            else {
                out_.push_back(c);
                ++at;
            }
        }
        return out_;
    }

private:
    char at_(i64 k) const { return text_[static_cast<std::size_t>(k)]; }

    i64 tag(i64 at) {
        const i64 n = length(text_);
        if (cut(text_, at, at + 4) == "<!--" && !open_comment_) {
            const auto end = text_.find("-->", static_cast<std::size_t>(at + 4));
            if (end != Bytes::npos) return static_cast<i64>(end) + 3;
            open_comment_ = true;
        }
        const i64 start = at + 1 < n && at_(at + 1) == '/' ? at + 2 : at + 1;
        i64 end = start;
        while (end < n && end - start < 16 && is(at_(end), alnum)) ++end;
        if (end == start || end == n || !(is(at_(end), space) || at_(end) == '/' || at_(end) == '>')) {
            out_.push_back('<');
            return at + 1;
        }
        lower_into(cut(text_, at + 1, end), name_);
        const Word name(name_);
        tokens_.add(tag_, name);
        out_.push_back(' ');
        return attributes(end, name);
    }

    i64 attributes(i64 at, const Word& name) {
        const i64 n = length(text_);
        for (i64 k = 0; k < kAttributes; ++k) {
            while (at < n && (is(at_(at), space) || at_(at) == '/')) ++at;
            const i64 start = at;
            while (at < n && !is(at_(at), space) && at_(at) != '/' && at_(at) != '=' && at_(at) != '<' && at_(at) != '>')
                ++at;
            if (at >= n || at_(at) == '<') return at;
            if (at_(at) == '=' && at == start) {  // no name
                ++at;
                continue;
            }
            const Word key = short_word(cut(text_, start, at), key_);
            if (!key.text.empty()) tokens_.add(tag_, name, key);
            if (at_(at) == '>') return at + 1;
            if (at_(at) == '=') at = attribute(at + 1, key);
        }
        return at;
    }

    i64 attribute(i64 at, const Word& key) {
        const i64 n = length(text_);
        Bytes value;
        if (at < n && (at_(at) == '"' || at_(at) == '\'')) {
            const char quote = at_(at);
            const i64 start = ++at;
            while (at < n && at_(at) != quote && at_(at) != '<') ++at;
            value = cut(text_, start, at);
            if (at < n && at_(at) == quote) ++at;
        } else {
            const i64 start = at;
            while (at < n && !is(at_(at), space) && at_(at) != '<' && at_(at) != '>') ++at;
            value = cut(text_, start, at);
        }
        if (value.find("://") != Bytes::npos) out_.append(" ").append(value).append(" ");
        else tokens_.add(value_, key, short_word(value, room_));
        return at;
    }

    Tokens& tokens_;
    const Prefix tag_{"<"}, value_{"="};
    Bytes text_;
    std::string out_, name_, key_, room_;
    bool open_comment_ = false;
};

}  // namespace tally::mail
