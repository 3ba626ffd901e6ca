// Hashes of texts.
//
// IN  a column (row bounds are checked), a seed
// OUT out (n,), added to modulo 2^64; a missing text adds nothing
// Cost: about five cycles per 8 bytes. It has no twin: tests/kernels/test_hashes.py checks its properties.
#pragma once

#include "text/column.hpp"

namespace tally::text {

inline u64 hash_bytes(const char* p, i64 size, u64 seed) {
    u64 hash = seed ^ (static_cast<u64>(size) * 0x9E3779B97F4A7C15u);
    const char* const end = p + size;
    for (; end - p >= 8; p += 8) {
        hash = (hash ^ load64(p)) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
    }
    u64 rest = 0;
    std::memcpy(&rest, p, static_cast<std::size_t>(end - p));
    hash = (hash ^ rest) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93u;
    return hash ^ (hash >> 29);
}

inline void hash_texts(const Column& column, u64 seed, u64* out) {
    Reader reader(column);
    for (i64 row = 0; row < column.n; ++row) {
        const Document document = reader.read(row);
        if (document.valid) out[row] += hash_bytes(document.begin, document.end - document.begin, seed);
    }
}

}  // namespace tally::text
