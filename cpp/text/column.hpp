// A column of documents as Arrow stores it, read in row order. Some documents are replaced by prepared ones.
//
// IN  a Column. The caller guarantees that offsets and validity exist for every row; offsets are checked here.
// Cost: survey reads the text once, 64 bytes at a time.
#pragma once

#include "text/unicode.hpp"

namespace tally::text {

// Faults that stop a kernel; the binding turns them into Python exceptions.
struct BadText {  // bytes that are not UTF-8
    i64 row, byte;
};
struct BadColumn {  // offsets that decrease or leave the data
    i64 row;
};
struct TooMany {  // more than 2^31 - 2 distinct tokens of one length
};

enum class Analyzer : i32 { word, character, character_in_word };

struct Options {
    bool lowercase = true;
    Analyzer analyzer = Analyzer::word;
    i64 min_n = 1, max_n = 1;
};

// Borrowed memory. Offsets have 4 or 8 bytes and any alignment; the column's own start at `first`.
struct Column {
    const u8* validity = nullptr;  // null: all rows are valid
    const char* offsets = nullptr;
    bool wide = false;
    i64 first = 0;
    i64 n = 0;
    const char* data = nullptr;
    i64 size = 0;  // bytes of data

    // Prepared documents: rows patch_rows[k] are read from patch_data instead, and are not lowered.
    const i64* patch_rows = nullptr;     // increasing
    const i64* patch_offsets = nullptr;  // (n_patches + 1,), checked by the binding
    const char* patch_data = nullptr;
    i64 n_patches = 0;

    i64 offset(i64 i) const {
        if (wide) {
            i64 value;
            std::memcpy(&value, offsets + (first + i) * 8, 8);
            return value;
        }
        i32 value;
        std::memcpy(&value, offsets + (first + i) * 4, 4);
        return value;
    }
    bool valid(i64 i) const { return validity == nullptr || (validity[(first + i) / 8] >> ((first + i) % 8) & 1) != 0; }
};

struct Document {
    const char* begin = nullptr;
    const char* end = nullptr;
    const char* readable = nullptr;  // end of the readable memory around the document
    bool valid = true;
    bool prepared = false;
};

class Reader {
public:
    explicit Reader(const Column& column) : column_(column) {}

    Document read(i64 row) {  // call with increasing rows
        const i64 begin = column_.offset(row), end = column_.offset(row + 1);
        if (begin < 0 || end < begin || end > column_.size) throw BadColumn{row};
        while (patch_ < column_.n_patches && column_.patch_rows[patch_] < row) ++patch_;
        if (!column_.valid(row)) return {nullptr, nullptr, nullptr, false, true};
        if (patch_ < column_.n_patches && column_.patch_rows[patch_] == row) {
            const char* data = column_.patch_data;
            return {data + column_.patch_offsets[patch_], data + column_.patch_offsets[patch_ + 1],
                    data + column_.patch_offsets[column_.n_patches], true, true};
        }
        return {column_.data + begin, column_.data + end, column_.data + column_.size, true, false};
    }

private:
    const Column& column_;
    i64 patch_ = 0;
};

inline bool is_ascii(const char* p, const char* end) {
    u64 bits = 0;
    for (; end - p >= 64; p += 64) {
        for (int k = 0; k < 64; k += 8) bits |= load64(p + k);
        if ((bits & 0x8080808080808080u) != 0) return false;
    }
    for (; p < end; ++p) bits |= static_cast<u8>(*p);
    return (bits & 0x8080808080808080u) == 0;
}

inline bool has_capital_sigma(const char* p, const char* end) {
    while (end - p >= 2) {
        p = static_cast<const char*>(std::memchr(p, 0xCE, static_cast<std::size_t>(end - p - 1)));
        if (p == nullptr) return false;
        if (static_cast<u8>(p[1]) == 0xA3) return true;
        ++p;
    }
    return false;
}

enum class Prepare : i32 { nothing, sigma, not_ascii };

// Return whether all of the text is ASCII. OUT rows, appended to: the documents that Python must prepare. These are the
// documents with a capital sigma, whose lower case depends on its neighbours, or all documents that are not ASCII.
inline bool survey(const Column& column, Prepare prepare, Growing<i64>& rows) {
    if (column.n == 0) return true;
    Reader reader(column);
    const i64 begin = column.offset(0), end = column.offset(column.n);
    const bool inside = begin >= 0 && begin <= end && end <= column.size;
    if (inside && is_ascii(column.data + begin, column.data + end)) return true;
    if (prepare == Prepare::nothing) return false;
    for (i64 row = 0; row < column.n; ++row) {
        const Document document = reader.read(row);
        if (!document.valid) continue;
        if (prepare == Prepare::sigma ? has_capital_sigma(document.begin, document.end)
                                      : !is_ascii(document.begin, document.end))
            rows.push(row);
    }
    return false;
}

}  // namespace tally::text
