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
            std::sort(hashes.begin(), hashes.end());
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
};

}  // namespace tally::mail
