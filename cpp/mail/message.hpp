// A message: header fields, parts within parts, and their text. Nothing is refused.
//
// IN  the bytes of one message
// OUT tokens of the header fields and of the body; bytes that were left out
// Cost: linear, with at most kDepth boundaries looked for in a line; kScanBytes, kHeaderBytes, kTextBytes, kParts bound
// it. Parts are found in one pass over the lines, so that parts nested 5,000 deep cost no more than others.
#pragma once

#include "mail/html.hpp"

namespace tally::mail {

// What the headers of a part say of its content.
struct Part {
    std::string kind = "text", encoding, boundary;
};

class Message {
public:
    Tokens header, body;
    i64 skipped = 0;   // bytes beyond a bound
    i64 attached = 0;  // bytes of attachments, whose content has no words

    void read(Bytes data) {
        data_ = cut(data, 0, kScanBytes);
        header.clear();
        body.clear();
        boundaries_.clear();
        skipped = length(data) - length(data_);
        attached = 0;
        room_ = kTextBytes;
        header_room_ = kHeaderBytes;
        parts_ = 0;
        entities(data_.substr(0, 5) == "From " ? line_end(0) : 0);
        header.finish();
        body.finish();
    }

private:
    struct Boundary {
        i64 end, after, level;  // where the content ends, where the next line begins, whose boundary; −1 for none
        bool closing;
    };

    char at_(i64 k) const { return data_[static_cast<std::size_t>(k)]; }

    i64 line_end(i64 at) const {
        if (at >= length(data_)) return length(data_);
        const char* start = data_.data() + at;
        const auto* found = static_cast<const char*>(std::memchr(start, '\n', static_cast<std::size_t>(length(data_) - at)));
        return found == nullptr ? length(data_) : found - data_.data() + 1;
    }

    void entities(i64 at) {
        for (bool top = true;; top = false) {
            Part part;
            at = fields(at, part, top);
            ++parts_;
            const bool room = static_cast<i64>(boundaries_.size()) < kDepth;
            if (part.kind == "message" && room && parts_ < kParts) continue;
            const bool opened = part.kind == "multipart" && !part.boundary.empty() && room;
            if (opened) boundaries_.push_back(part.boundary);
            const i64 depth = static_cast<i64>(boundaries_.size());
            Boundary next = find_boundary(at);
            // content, or a multipart without its own boundary: one text
            if (!opened || next.level != depth - 1) content(cut(data_, at, next.end), part);
            while (next.level >= 0 && next.closing) next = find_boundary(next.after);  // after a closing line: no part
            if (next.level < 0) return;
            if (parts_ >= kParts) {
                skipped += length(data_) - next.after;
                return;
            }
            at = next.after;
        }
    }

    Boundary find_boundary(i64 at) {
        for (i64 after; at < length(data_); at = after) {
            after = line_end(at);
            if (boundaries_.empty()) return {length(data_), length(data_), -1, false};
            if (at_(at) != '-' || cut(data_, at, at + 2) != "--") continue;
            const Bytes line = cut(data_, at + 2, std::min(after, at + kLineBytes));
            for (i64 level = static_cast<i64>(boundaries_.size()) - 1; level >= 0; --level) {
                const std::string& boundary = boundaries_[static_cast<std::size_t>(level)];
                if (line.substr(0, boundary.size()) != boundary) continue;
                const Bytes rest = line.substr(boundary.size());
                const bool closing = rest.substr(0, 2) == "--";
                if (!closing && !strip(rest, kSpaces).empty()) continue;
                boundaries_.resize(static_cast<std::size_t>(level + (closing ? 0 : 1)));
                return {at, after, level, closing};
            }
        }
        return {at, at, -1, false};
    }

    // Read the header fields; return where the content begins.
    i64 fields(i64 at, Part& part, bool top) {
        last_.clear();
        for (i64 after; at < length(data_); at = after) {
            after = line_end(at);
            i64 colon = at;
            while (colon < after && colon - at < kNameBytes && is(at_(colon), Kind::name)) ++colon;
            if (colon == at || colon == after || at_(colon) != ':')  // an empty line, or one that is no field
                return strip(cut(data_, at, after), "\r\n").empty() ? after : at;
            while (after < length(data_) && (at_(after) == ' ' || at_(after) == '\t')) after = line_end(after);
            lower_into(cut(data_, at, colon), name_);
            const i64 taken = std::min(after - at, kFieldBytes);
            if (taken > header_room_) {
                skipped += after - at;
            } else if (!is_local(name_)) {
                header_room_ -= taken;
                field(cut(data_, colon + 1, after), part, top ? header : body);
                last_ = name_;
            }
        }
        return at;
    }

    // Fields that a mailbox or this filter adds: with them, a message could not be forgotten after it was moved.
    static bool is_local(Bytes name) {
        for (const Bytes local : {"status", "x-status", "x-keywords", "x-uid", "x-imap", "x-imapbase", "content-length", "lines"})
            if (name == local) return true;
        return name.substr(0, 7) == "x-tally" || name.substr(0, 10) == "x-mozilla-";
    }

    void field(Bytes value, Part& part, Tokens& out) {
        static const Prefix has("has:"), order("order:");
        if (length(value) > kFieldBytes) skipped += length(value) - kFieldBytes;
        value = cut(value, 0, kFieldBytes);
        const Word name(name_);
        prefix_ = name_ + ":";
        const Prefix prefix(prefix_, hash_on(name.hash, ":"));
        out.add(has, name);
        if (!last_.empty()) out.add(order, Word(last_), name);
        if (name_ == "content-type") {
            value = content_type(value, part, prefix, out);
        } else if (name_ == "content-transfer-encoding") {
            lower_into(first_atom(value), part.encoding);
        } else if (name_ == "date" || name_ == "received" || name_ == "x-original-date" || name_ == "resent-date" || name_ == "delivery-date") {
            value = date(value, prefix, out);
        } else if (name_ == "message-id") {
            value = strip(value, " \t\r\n<>");
            const auto at = value.find('@');
            shape(value.substr(0, at), shape_);
            out.add(prefix, Word(shape_));
            value = at == Bytes::npos ? Bytes() : value.substr(at);
        }
        words_.atoms(decode_words(value, decoded_), prefix, out);
    }

    static Bytes first_atom(Bytes value) {
        std::size_t start = 0;
        while (start < value.size() && !is(value[start], Kind::atom)) ++start;
        std::size_t end = start;
        while (end < value.size() && is(value[end], Kind::atom)) ++end;
        return value.substr(start, end - start);
    }

    // Note the type and the boundary; return the value without the boundary.
    Bytes content_type(Bytes value, Part& part, const Prefix& prefix, Tokens& out) {
        static const Word boundary("boundary");
        const Bytes whole = strip(value, kSpaces);
        const auto slash = whole.find('/');
        const Bytes kind = whole.substr(0, slash), rest = slash == Bytes::npos ? Bytes() : whole.substr(slash + 1);
        const bool clean = std::all_of(kind.begin(), kind.end(), [](char c) { return is(c, Kind::atom); });
        const Bytes subtype = first_atom(rest);
        if (!kind.empty() && clean && rest.substr(0, subtype.size()) == subtype) lower_into(kind, part.kind);
        lower_into(value, lowered_);
        const auto found = lowered_.find("boundary=");
        if (found == std::string::npos) return value;
        const i64 start = static_cast<i64>(found) + 9;
        Bytes given;
        i64 after;
        if (cut(value, start, start + 1) == "\"") {
            const auto quote = value.find('"', static_cast<std::size_t>(start + 1));
            const i64 end = quote == Bytes::npos ? length(value) : static_cast<i64>(quote);
            given = cut(value, start + 1, end);
            after = end + 1;
        } else {
            i64 end = start;
            while (end < length(value) && !is(value[static_cast<std::size_t>(end)], space) && value[static_cast<std::size_t>(end)] != ';') ++end;
            given = cut(value, start, end);
            after = end;
        }
        shape(given, shape_);
        out.add(prefix, boundary, Word(shape_));
        given = cut(given, 0, kBoundaryBytes);
        const auto last = given.find_last_not_of(kSpaces);
        part.boundary = given.substr(0, last == Bytes::npos ? 0 : last + 1);
        rest_.assign(cut(value, 0, static_cast<i64>(found))).append(" ").append(cut(value, after));
        return rest_;
    }

    // Add the zone and the shape of a date; return what comes before it.
    Bytes date(Bytes value, const Prefix& prefix, Tokens& out) {
        static const Word shape_of("shape"), zone("zone");
        const auto semicolon = value.rfind(';');
        if (name_ == "received" && semicolon == Bytes::npos) return value;
        const Bytes date = strip(semicolon == Bytes::npos ? value : value.substr(semicolon + 1), kSpaces);
        shape(date, shape_);
        out.add(prefix, shape_of, Word(shape_));
        for (std::size_t k = 0; k + 5 <= date.size(); ++k) {
            if (date[k] != '+' && date[k] != '-') continue;
            const Bytes digits = date.substr(k + 1, 4);
            if (!std::all_of(digits.begin(), digits.end(), [](char c) { return is(c, digit); })) continue;
            out.add(prefix, zone, Word(date.substr(k, 5)));
            break;
        }
        return semicolon == Bytes::npos ? Bytes() : value.substr(0, semicolon);
    }

    void content(Bytes content, const Part& part) {
        if (part.kind != "text" && part.kind != "message" && part.kind != "multipart") {
            attached += length(content);
            return;
        }
        Bytes text;
        i64 read;
        text_.clear();
        if (part.encoding == "base64") {
            read = base64(content, room_, text_);
            text = text_;
        } else if (part.encoding == "quoted-printable") {
            read = quoted_printable(content, room_, false, text_);
            text = text_;
        } else {
            text = cut(content, 0, room_);
            read = length(text);
        }
        room_ -= length(text);
        skipped += length(content) - read;
        words_.text(html_.without_tags(text), body);
    }

    Bytes data_;
    i64 room_ = 0, header_room_ = 0, parts_ = 0;
    std::vector<std::string> boundaries_;
    Words words_;
    Html html_{body};
    std::string name_, last_, prefix_, decoded_, lowered_, rest_, shape_, text_;
};

}  // namespace tally::mail
