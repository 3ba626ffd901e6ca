// A learned vocabulary in the order of its strings (by code point, which is by byte of UTF-8).
//
// Only words are compared as strings. A space sorts before every word character, so n-grams are sorted by the ranks of
// their words, shorter n-grams first: one radix sort of integers per length. An n-gram's string is built only once, in
// its final memory.
//
// IN  a learned vocabulary. OUT strings in order; nodes: the level and number of each.
// Cost: radix sorts; words are compared only if their first 8 bytes are equal. Twin: sorted() in text_reference.py.
#pragma once

#include <algorithm>

#include "text/ngrams.hpp"

namespace tally::text {

struct Item {
    u64 key;
    u32 id;
};

// Sort by key; keys differ only in the lowest `bits` bits. Equal keys keep their order.
inline void radix_sort(Growing<Item>& items, Growing<Item>& spare, int bits) {
    constexpr int kDigit = 11;
    const i64 n = items.size();
    if (n < 256) {
        std::stable_sort(items.data(), items.data() + n, [](const Item& a, const Item& b) { return a.key < b.key; });
        return;
    }
    spare.resize(n);
    for (int shift = 0; shift < bits; shift += kDigit) {
        const auto digit = [&](const Item& item) { return item.key >> shift & ((u64{1} << kDigit) - 1); };
        i64 places[(1 << kDigit) + 1] = {};
        for (i64 i = 0; i < n; ++i) ++places[digit(items[i]) + 1];
        if (places[digit(items[0]) + 1] == n) continue;
        for (int d = 0; d < 1 << kDigit; ++d) places[d + 1] += places[d];
        for (i64 i = 0; i < n; ++i) spare[places[digit(items[i])]++] = items[i];
        std::swap(items, spare);
    }
}

// Strings as Arrow stores them, with wide offsets.
struct Strings {
    Growing<i64> offsets;
    Growing<char> bytes;

    Strings() { offsets.push(0); }
    void put(const char* p, i64 length) {
        const i64 held = bytes.size();
        if (length == 0) return;
        bytes.resize(held + length);
        std::memcpy(bytes.data() + held, p, static_cast<std::size_t>(length));
    }
    void end() { offsets.push(bytes.size()); }
};

struct Node {
    u32 level, id;
};

class Order {
public:
    // Order the levels from `first` on, without shorter n-grams and stop words.
    Order(const Learned& vocabulary, i64 first) : vocabulary_(vocabulary), first_(first) {
        sort_words();
        for (i64 level = 2; level <= vocabulary.levels(); ++level) sort_longer(level);
        cursors_.assign(orders_.size(), 0);
        i64 count = 0;
        for (i64 level = first; level <= vocabulary.levels(); ++level) count += orders_[at(level)].size();
        if (count > 0x7FFFFFFE) throw TooMany{};
        nodes.reserve(count);
        strings.offsets.reserve(count + 1);
        for (i64 k = 0; k < orders_[0].size(); ++k) emit(1, k, 0);
    }

    Growing<Node> nodes;
    Strings strings;

private:
    static std::size_t at(i64 level) { return static_cast<std::size_t>(level - 1); }

    static u64 prefix(const char* p, i64 length) {
        u64 out = 0;
        for (i64 k = 0; k < 8; ++k) out = out << 8 | (k < length ? static_cast<u8>(p[k]) : 0);
        return out;
    }
    bool less(u32 a, u32 b) const {
        char copy_a[16], copy_b[16];
        i64 length_a, length_b;
        const char *p = vocabulary_.words.bytes(a, copy_a, length_a), *q = vocabulary_.words.bytes(b, copy_b, length_b);
        const int order = std::memcmp(p, q, static_cast<std::size_t>(std::min(length_a, length_b)));
        return order != 0 ? order < 0 : length_a < length_b;
    }

    void sort_words() {
        const Words& words = vocabulary_.words;
        Growing<Item> items;
        char copy[16];
        i64 length;
        for (u32 id = vocabulary_.n_stop; id < words.size(); ++id) {
            const char* p = words.bytes(id, copy, length);
            items.push({prefix(p, length), id});
        }
        radix_sort(items, spare_, 64);
        for (i64 i = 0; i < items.size();) {
            i64 end = i + 1;
            while (end < items.size() && items[end].key == items[i].key) ++end;
            if (end - i > 1)
                std::sort(items.data() + i, items.data() + end,
                          [&](const Item& a, const Item& b) { return less(a.id, b.id); });
            i = end;
        }
        parents_.emplace_back();
        words_.emplace_back();
        keep(items, words.size());
    }

    void sort_longer(i64 level) {
        const Pairs& pairs = vocabulary_.at(level);
        const Growing<u32>&parents = ranks_[at(level - 1)], &words = ranks_[0];
        const int low = bits_for(words.size()), high = bits_for(parents.size());
        Growing<Item> items;
        items.reserve(pairs.size());
        for (u32 id = 0; id < pairs.size(); ++id) {
            const u64 key = pairs.key(id);
            items.push({static_cast<u64>(parents[Pairs::parent_of(key)]) << low | words[Pairs::word_of(key)], id});
        }
        radix_sort(items, spare_, low + high);
        Growing<u32> sorted_parents(items.size()), sorted_words(items.size());
        for (i64 k = 0; k < items.size(); ++k) {
            sorted_parents[k] = static_cast<u32>(items[k].key >> low);
            sorted_words[k] = static_cast<u32>(items[k].key & ((u64{1} << low) - 1));
        }
        parents_.push_back(std::move(sorted_parents));
        words_.push_back(std::move(sorted_words));
        keep(items, pairs.size());
    }
    static int bits_for(i64 n) { return static_cast<int>(std::bit_width(static_cast<u64>(n))); }

    void keep(const Growing<Item>& items, i64 n_ids) {
        Growing<u32> order(items.size()), rank(n_ids);
        for (i64 k = 0; k < items.size(); ++k) {
            order[k] = items[k].id;
            rank[items[k].id] = static_cast<u32>(k);
        }
        orders_.push_back(std::move(order));
        ranks_.push_back(std::move(rank));
    }

    // Write the k-th n-gram of a level, which starts with `held` bytes of string_, then the n-grams that continue it.
    void emit(i64 level, i64 k, i64 held) {
        char copy[16];
        i64 length;
        const u32 id = orders_[at(level)][k], word = level == 1 ? id : orders_[0][words_[at(level)][k]];
        const char* p = vocabulary_.words.bytes(word, copy, length);
        if (level >= first_) {
            strings.put(string_.data(), held);
            strings.put(p, length);
            strings.end();
            nodes.push({static_cast<u32>(level), id});
        }
        if (level == vocabulary_.levels()) return;
        string_.resize(held + length + 1);
        std::memcpy(string_.data() + held, p, static_cast<std::size_t>(length));
        string_[held + length] = ' ';
        const Growing<u32>& parents = parents_[at(level + 1)];
        i64& cursor = cursors_[at(level + 1)];
        while (cursor < parents.size() && parents[cursor] == k) emit(level + 1, cursor++, held + length + 1);
    }

    const Learned& vocabulary_;
    i64 first_;
    Growing<Item> spare_;
    std::vector<Growing<u32>> orders_, ranks_;   // per level: rank -> number, number -> rank
    std::vector<Growing<u32>> parents_, words_;  // per level: rank -> rank of the parent, rank of the last word
    std::vector<i64> cursors_;
    Growing<char> string_;
};

}  // namespace tally::text
