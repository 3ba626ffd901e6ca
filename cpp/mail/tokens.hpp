// The set of tokens of a message, as hashes and, where a person wants to read them, as text.
//
// A token is a prefix and one word or two. Its hash folds the hashes of its parts, so that a pair of words costs
// one more mixing and no copy. 64 bits: of a million tokens, two share a hash with a probability of 3e-8.
#pragma once

#include <algorithm>
#include <vector>

#include "mail/bytes.hpp"

namespace tally::mail {

constexpr u64 kHashStart = 0xCBF29CE484222325u;

inline u64 hash_on(u64 hash, Bytes text) {  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<u8>(c)) * 0x100000001B3u;
    return hash;
}
inline u64 mix(u64 x) {  // the finaliser of splitmix64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

struct Word {
    Bytes text;
    u64 hash;
    explicit Word(Bytes given) : text(given), hash(hash_on(kHashStart, given)) {}
    Word(Bytes given, u64 known) : text(given), hash(known) {}
};
using Prefix = Word;

// Sort hashes: by their first bits into about one place each, then by insertion. Hashes that are not spread, as only
// an enemy's are, are sorted by comparison.
inline void sort_hashes(std::vector<u64>& hashes, std::vector<u64>& room) {
    constexpr u32 kCrowd = 48;
    const std::size_t n = hashes.size();
    int bits = 4;
    while ((std::size_t{1} << bits) < n && bits < 12) ++bits;
    const int shift = 64 - bits;
    std::array<u32, (1 << 12) + 1> starts;
    std::fill_n(starts.begin(), (std::size_t{1} << bits) + 1, 0);
    for (const u64 hash : hashes) ++starts[(hash >> shift) + 1];
    const u32 most = *std::max_element(starts.begin(), starts.begin() + (1 << bits) + 1);
    if (most > kCrowd) {
        std::sort(hashes.begin(), hashes.end());
        return;
    }
    for (std::size_t b = 0; b < (std::size_t{1} << bits); ++b) starts[b + 1] += starts[b];
    room.resize(n);
    for (const u64 hash : hashes) room[starts[hash >> shift]++] = hash;
    for (std::size_t k = 1; k < n; ++k) {
        const u64 hash = room[k];
        std::size_t at = k;
        for (; at > 0 && room[at - 1] > hash; --at) room[at] = room[at - 1];
        room[at] = hash;
    }
    hashes.swap(room);
}

class Tokens {
public:
    bool readable = false;  // keep the texts, too
    std::vector<u64> hashes;
    std::vector<std::string> texts;

    void clear() {
        hashes.clear();
        texts.clear();
    }
    void add(const Prefix& prefix, const Word& one) {
        hashes.push_back(mix(prefix.hash + one.hash));
        if (readable) texts.emplace_back(std::string(prefix.text).append(one.text));
    }
    void add(const Prefix& prefix, const Word& one, const Word& two) {
        hashes.push_back(mix(mix(prefix.hash + one.hash) + two.hash));
        if (readable) texts.emplace_back(std::string(prefix.text).append(one.text).append(" ").append(two.text));
    }
    // Sort by hash, each token once.
    void finish() {
        if (!readable) {
            sort_hashes(hashes, sorted_);
            hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
            return;
        }
        std::vector<std::pair<u64, std::string>> both;
        for (std::size_t k = 0; k < hashes.size(); ++k) both.emplace_back(hashes[k], std::move(texts[k]));
        std::sort(both.begin(), both.end());
        clear();
        for (auto& [hash, text] : both) {
            if (!hashes.empty() && hashes.back() == hash) continue;
            hashes.push_back(hash);
            texts.push_back(std::move(text));
        }
    }

private:
    std::vector<u64> sorted_;
};

}  // namespace tally::mail
