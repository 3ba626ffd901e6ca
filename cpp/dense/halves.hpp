// Eight lanes of 32-bit integers, such as the upper halves of eight doubles: AVX2 where the compiler targets it, else
// plain loops. See dense/simd.hpp.
#pragma once

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

#if defined(__AVX2__)

struct I8 {
    __m256i v;
};

inline I8 load_eight(const i32* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
inline I8 all_eight(i32 x) { return {_mm256_set1_epi32(x)}; }
inline I8 operator+(I8 a, I8 b) { return {_mm256_add_epi32(a.v, b.v)}; }
inline I8 operator-(I8 a, I8 b) { return {_mm256_sub_epi32(a.v, b.v)}; }
inline I8 operator&(I8 a, I8 b) { return {_mm256_and_si256(a.v, b.v)}; }
inline I8 operator|(I8 a, I8 b) { return {_mm256_or_si256(a.v, b.v)}; }
template <int K>
inline I8 shift_right(I8 a) {  // shifts zeros in
    return {_mm256_srli_epi32(a.v, K)};
}
inline I8 shift_right(I8 a, I8 by) { return {_mm256_srlv_epi32(a.v, by.v)}; }  // each lane by its own number
inline bool any(I8 a) { return _mm256_testz_si256(a.v, a.v) == 0; }
inline I8 halves(I4 a) { return {a.v}; }  // both halves of four integers

template <int Which>
inline I8 one_half(I4 a, I4 b) {
    const __m256 mixed = _mm256_shuffle_ps(_mm256_castsi256_ps(a.v), _mm256_castsi256_ps(b.v), Which);
    return {_mm256_permute4x64_epi64(_mm256_castps_si256(mixed), _MM_SHUFFLE(3, 1, 2, 0))};
}
inline I8 high_halves(I4 a, I4 b) { return one_half<_MM_SHUFFLE(3, 1, 3, 1)>(a, b); }
inline I8 low_halves(I4 a, I4 b) { return one_half<_MM_SHUFFLE(2, 0, 2, 0)>(a, b); }

// Store eight numbers below 2^16.
inline void store_shorts(u16* p, I8 a) {
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(a.v), _mm256_extracti128_si256(a.v, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), packed);
}

// Store eight columns of eight numbers below 2^16 as rows; row i goes to rows + 8 * to[i].
inline void store_shorts_as_rows(const I8 (&columns)[8], u16* rows, const i32* to) {
    __m256i pair[4];  // of columns, row by row
    for (int k = 0; k < 4; ++k) pair[k] = _mm256_or_si256(columns[2 * k].v, _mm256_slli_epi32(columns[2 * k + 1].v, 16));
    const __m256i left = _mm256_unpacklo_epi32(pair[0], pair[1]), left2 = _mm256_unpackhi_epi32(pair[0], pair[1]);
    const __m256i right = _mm256_unpacklo_epi32(pair[2], pair[3]), right2 = _mm256_unpackhi_epi32(pair[2], pair[3]);
    const __m256i each[4] = {_mm256_unpacklo_epi64(left, right), _mm256_unpackhi_epi64(left, right),
                             _mm256_unpacklo_epi64(left2, right2), _mm256_unpackhi_epi64(left2, right2)};
    for (int i = 0; i < 4; ++i) {  // rows i and i + 4
        _mm_storeu_si128(reinterpret_cast<__m128i*>(rows + 8 * to[i]), _mm256_castsi256_si128(each[i]));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(rows + 8 * to[i + 4]), _mm256_extracti128_si256(each[i], 1));
    }
}

#else

struct I8 {
    i32 v[8];
};

#define TALLY_EIGHT(expression)                 \
    I8 out;                                     \
    for (int k = 0; k < 8; ++k) {               \
        out.v[k] = static_cast<i32>(expression);\
    }                                           \
    return out

inline I8 load_eight(const i32* p) { TALLY_EIGHT(p[k]); }
inline I8 all_eight(i32 x) { TALLY_EIGHT(x); }
inline I8 operator+(I8 a, I8 b) { TALLY_EIGHT(static_cast<u32>(a.v[k]) + static_cast<u32>(b.v[k])); }
inline I8 operator-(I8 a, I8 b) { TALLY_EIGHT(static_cast<u32>(a.v[k]) - static_cast<u32>(b.v[k])); }
inline I8 operator&(I8 a, I8 b) { TALLY_EIGHT(a.v[k] & b.v[k]); }
inline I8 operator|(I8 a, I8 b) { TALLY_EIGHT(a.v[k] | b.v[k]); }
template <int K>
inline I8 shift_right(I8 a) {
    TALLY_EIGHT(static_cast<u32>(a.v[k]) >> K);
}
inline I8 shift_right(I8 a, I8 by) { TALLY_EIGHT(static_cast<u32>(a.v[k]) >> by.v[k]); }
inline bool any(I8 a) {
    i32 some = 0;
    for (const i32 each : a.v) some |= each;
    return some != 0;
}
inline I8 halves(I4 a) { TALLY_EIGHT(static_cast<u64>(a.v[k / 2]) >> 32 * (k % 2)); }
inline I8 high_halves(I4 a, I4 b) { TALLY_EIGHT(static_cast<u64>((k < 4 ? a : b).v[k % 4]) >> 32); }
inline I8 low_halves(I4 a, I4 b) { TALLY_EIGHT(static_cast<u64>((k < 4 ? a : b).v[k % 4])); }

#undef TALLY_EIGHT

inline void store_shorts(u16* p, I8 a) {
    for (int k = 0; k < 8; ++k) p[k] = static_cast<u16>(a.v[k]);
}

inline void store_shorts_as_rows(const I8 (&columns)[8], u16* rows, const i32* to) {
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 8; ++k) rows[8 * to[i] + k] = static_cast<u16>(columns[k].v[i]);
}

#endif

}  // namespace tally::TALLY_ISA
