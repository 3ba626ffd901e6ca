// The union of two sorted vocabularies, in one pass.
//
// IN  two columns of distinct tokens sorted by code point; the order is checked here (NotSorted)
// OUT strings; places_left, places_right: the position in the union of each token of either side
// Cost: one comparison and one copy per token.
// Twin: merge_vocabularies in kernels/text_reference.py.
#pragma once

#include "text/order.hpp"

namespace tally::text {

struct NotSorted {  // a token that is not greater than the one before
    bool left;
    i64 row;
};

class SortedTokens {
public:
    SortedTokens(const Column& column, bool left) : reader_(column), n_(column.n), left_(left) { advance(); }
    bool at_end() const { return row_ == n_; }
    const Document& token() const { return token_; }
    void advance() {
        const Document before = token_;
        if (++row_ == n_) return;
        token_ = reader_.read(row_);
        if (row_ > 0 && compare(before, token_) >= 0) throw NotSorted{left_, row_};
    }
    static int compare(const Document& a, const Document& b) {
        const i64 length_a = a.end - a.begin, length_b = b.end - b.begin;
        const i64 common = length_a < length_b ? length_a : length_b;
        const int order = common > 0 ? std::memcmp(a.begin, b.begin, static_cast<std::size_t>(common)) : 0;
        return order != 0 ? order : length_a < length_b ? -1 : length_a > length_b ? 1 : 0;
    }

private:
    Reader reader_;
    i64 n_, row_ = -1;
    bool left_;
    Document token_;
};

inline Strings merge(const Column& left, const Column& right, Growing<i64>& places_left, Growing<i64>& places_right) {
    Strings out;
    places_left.reserve(left.n);
    places_right.reserve(right.n);
    SortedTokens a(left, true), b(right, false);
    while (!a.at_end() || !b.at_end()) {
        const int order = a.at_end() ? 1 : b.at_end() ? -1 : SortedTokens::compare(a.token(), b.token());
        const Document& token = order <= 0 ? a.token() : b.token();
        const i64 place = out.offsets.size() - 1;
        out.put(token.begin, token.end - token.begin);
        out.end();
        if (order <= 0) {
            places_left.push(place);
            a.advance();
        }
        if (order >= 0) {
            places_right.push(place);
            b.advance();
        }
    }
    return out;
}

}  // namespace tally::text
