// Numbers for distinct tokens: open addressing over rows that never move.
//
// A slot is 8 bytes (32 bits of hash, 32 of number), so that a million tokens take 8 to 16 MB of slots; a token of up to
// 15 bytes, nearly every word there is, lies whole in its row of 16 bytes plus whatever the caller keeps with it.
// Every lookup works on a batch in three sweeps (ask for the slots, ask for the rows, compare), so that memory is
// waited for once per batch and not once per token.
#pragma once

#include "text_column.hpp"

namespace tally::text {

// Seeds of the hash, set once when the module is loaded: who writes the text must not be able to choose collisions.
inline u64 secret[2] = {0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u};

inline u64 mix(u64 a, u64 b) {  // both halves of the product
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

// A token: up to 15 bytes in the words themselves, filled up with zeros, and the length in the last byte; or where it
// is, its length, and kLong in the last byte.
struct Token {
    u64 low, high, hash;

    static constexpr u64 kLong = 0xFF, kInline = 15;
    bool is_long() const { return high >> 56 == kLong; }
    i64 length() const { return static_cast<i64>(is_long() ? high & ~(kLong << 56) : high >> 56); }
};

static_assert(sizeof(void*) <= 8);

inline u64 keep_bytes(u64 word, i64 count) {  // the first 0 to 8 in memory
    if constexpr (std::endian::native == std::endian::little)
        return count >= 8 ? word : word & ((u64{1} << 8 * count) - 1);
    else
        return count >= 8 ? word : count == 0 ? 0 : word & ~u64{0} << 8 * (8 - count);
}

inline u64 hash_long(const char* p, i64 length) {
    u64 h = static_cast<u64>(length) ^ secret[0];
    const char* last = p + length - 16;
    for (; p < last; p += 16) h = mix(load64(p) ^ h, load64(p + 8) ^ secret[1]);
    return mix(load64(last) ^ h, load64(last + 8) ^ secret[1]) ^ h;
}

// The token at p; 16 bytes from p can be read, whatever the length.
inline Token token_of(const char* p, i64 length) {
    Token token;
    if (length <= static_cast<i64>(Token::kInline)) {
        static constexpr auto masks = [] {
            std::array<std::array<u64, 2>, 16> out{};
            for (int n = 0; n < 16; ++n)
                for (int k = 0; k < n; ++k) out[n][k / 8] |= u64{0xFF} << 8 * (k % 8);
            return out;
        }();
        const auto& mask = masks[static_cast<std::size_t>(length)];
        token.low = load_little(p) & mask[0];
        token.high = (load_little(p + 8) & mask[1]) | static_cast<u64>(length) << 56;
        token.hash = mix(token.low ^ secret[0], token.high ^ secret[1]);
    } else {
        token.low = static_cast<u64>(reinterpret_cast<std::uintptr_t>(p));
        token.high = static_cast<u64>(length) | Token::kLong << 56;
        token.hash = hash_long(p, length);
    }
    return token;
}
}  // namespace
