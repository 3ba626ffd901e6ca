// One token and its hash.
#pragma once

#include <array>
#include <bit>

#include "text/memory.hpp"

namespace tally::text {

// Seeds of the hash, set once when the module is loaded, so that an author of texts cannot choose collisions.
inline u64 secret[2] = {0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u};

inline u64 mix(u64 a, u64 b) {  // exclusive or of the product's halves
#if defined(__SIZEOF_INT128__)
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    u64 high;
    const u64 low = _umul128(a, b, &high);
    return low ^ high;
#else
    const u64 a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
    const u64 middle = a1 * b0 + (a0 * b0 >> 32), cross = a0 * b1 + (middle & 0xFFFFFFFFu);
    return (a * b) ^ (a1 * b1 + (middle >> 32) + (cross >> 32));
#endif
}

inline u64 load_little(const char* p) {  // first byte lowest, on any machine
    if constexpr (std::endian::native == std::endian::little) return load64(p);
    u64 word = 0;
    for (int k = 0; k < 8; ++k) word |= static_cast<u64>(static_cast<u8>(p[k])) << 8 * k;
    return word;
}

inline void store_little(char* p, u64 word) {
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(p, &word, sizeof word);
        return;
    }
    for (int k = 0; k < 8; ++k) p[k] = static_cast<char>(static_cast<u8>(word >> 8 * k & 0xFF));
}

// Up to 15 bytes in the two words themselves, padded with zeros, and the length in the last byte. A longer token has
// its address, its length, and kLong in the last byte.
struct Token {
    static constexpr u64 kLong = 0xFF;
    static constexpr i64 kInline = 15;

    u64 low, high, hash;

    bool is_long() const { return high >> 56 == kLong; }
    i64 length() const { return static_cast<i64>(is_long() ? high & ~(kLong << 56) : high >> 56); }
    const char* address() const { return reinterpret_cast<const char*>(static_cast<std::uintptr_t>(low)); }
};

inline u64 hash_long(const char* p, i64 length) {
    u64 h = static_cast<u64>(length) ^ secret[0];
    const char* last = p + length - 16;
    for (; p < last; p += 16) h = mix(load64(p) ^ h, load64(p + 8) ^ secret[1]);
    return mix(load64(last) ^ h, load64(last + 8) ^ secret[1]);
}

// kMasks[n]: the first n bytes of two words, lowest first.
constexpr auto kMasks = [] {
    std::array<std::array<u64, 2>, 16> out{};
    for (std::size_t n = 0; n < 16; ++n)
        for (std::size_t k = 0; k < n; ++k) out[n][k / 8] |= u64{0xFF} << 8 * (k % 8);
    return out;
}();

inline Token long_token(const char* p, i64 length) {
    return {static_cast<u64>(reinterpret_cast<std::uintptr_t>(p)), static_cast<u64>(length) | Token::kLong << 56,
            hash_long(p, length)};
}

inline Token short_token(u64 low, u64 high, i64 length) {
    high |= static_cast<u64>(length) << 56;
    return {low, high, mix(low ^ secret[0], high ^ secret[1])};
}

// Return the token at p. The caller guarantees that 16 bytes from p are readable, whatever the length.
inline Token token_at(const char* p, i64 length) {
    if (length > Token::kInline) [[unlikely]] return long_token(p, length);
    const auto& mask = kMasks[static_cast<std::size_t>(length)];
    return short_token(load_little(p) & mask[0], load_little(p + 8) & mask[1], length);
}

// The same, if memory past the token is not readable.
inline Token token_of(const char* p, i64 length) {
    if (length > Token::kInline) return token_at(p, length);
    char copy[16] = {};
    if (length > 0) std::memcpy(copy, p, static_cast<std::size_t>(length));
    return token_at(copy, length);
}

inline u64 hash_pair(u64 key) { return mix(key ^ secret[0], secret[1]); }

}  // namespace tally::text
