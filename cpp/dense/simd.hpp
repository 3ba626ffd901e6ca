// Four lanes of doubles or 64-bit integers: AVX2 where the compiler targets it, else plain loops that any compiler can
// vectorise. Comparison results are F4 with all bits of a lane set or clear.
//
// Every operation is rounded by itself, in the same order on every instruction set, so all of them give the same bits.
// So there is no fused multiply-add, which some processors lack: emulating it makes their kernels 14 times slower, and
// avoiding it makes the others' kernels 10 % slower. `product_error` is exact either way.
#pragma once

#include <cmath>

#include "dense/scratch.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tally::TALLY_ISA {

#if defined(__AVX2__)

struct F4 {
    __m256d v;
};
struct I4 {
    __m256i v;
};

inline F4 load(const double* p) { return {_mm256_loadu_pd(p)}; }
inline F4 load_floats(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
inline void store(double* p, F4 a) { _mm256_storeu_pd(p, a.v); }
// Four pairs of adjacent doubles, as four first and four second ones.
inline void load_pairs(const double* a, const double* b, const double* c, const double* d, F4& first, F4& second) {
    const __m256d ac = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a)), _mm_loadu_pd(c), 1);
    const __m256d bd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(b)), _mm_loadu_pd(d), 1);
    first.v = _mm256_unpacklo_pd(ac, bd);
    second.v = _mm256_unpackhi_pd(ac, bd);
}
inline F4 all(double x) { return {_mm256_set1_pd(x)}; }
inline F4 four(double a, double b, double c, double d) { return {_mm256_setr_pd(a, b, c, d)}; }
inline F4 operator+(F4 a, F4 b) { return {_mm256_add_pd(a.v, b.v)}; }
inline F4 operator-(F4 a, F4 b) { return {_mm256_sub_pd(a.v, b.v)}; }
inline F4 operator*(F4 a, F4 b) { return {_mm256_mul_pd(a.v, b.v)}; }
inline F4 operator/(F4 a, F4 b) { return {_mm256_div_pd(a.v, b.v)}; }
inline F4 product_error(F4 a, F4 b, F4 ab) { return {_mm256_fmsub_pd(a.v, b.v, ab.v)}; }  // a * b - ab, exactly
inline F4 greatest(F4 a, F4 b) { return {_mm256_max_pd(a.v, b.v)}; }  // b where either is NaN
inline F4 smallest(F4 a, F4 b) { return {_mm256_min_pd(a.v, b.v)}; }  // b where either is NaN
inline F4 less(F4 a, F4 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_LT_OQ)}; }
inline F4 not_at_most(F4 a, F4 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_NLE_UQ)}; }
inline F4 missing(F4 a) { return {_mm256_cmp_pd(a.v, a.v, _CMP_UNORD_Q)}; }
inline F4 keep(F4 mask, F4 a) { return {_mm256_and_pd(mask.v, a.v)}; }
inline F4 drop(F4 mask, F4 a) { return {_mm256_andnot_pd(mask.v, a.v)}; }
inline F4 either(F4 a, F4 b) { return {_mm256_or_pd(a.v, b.v)}; }
inline int lanes(F4 mask) { return _mm256_movemask_pd(mask.v); }
inline I4 bits(F4 a) { return {_mm256_castpd_si256(a.v)}; }
inline F4 doubles(I4 a) { return {_mm256_castsi256_pd(a.v)}; }

inline I4 load(const i64* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
inline void store(i64* p, I4 a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.v); }
inline I4 all(i64 x) { return {_mm256_set1_epi64x(x)}; }
inline I4 operator+(I4 a, I4 b) { return {_mm256_add_epi64(a.v, b.v)}; }
inline I4 operator-(I4 a, I4 b) { return {_mm256_sub_epi64(a.v, b.v)}; }
inline I4 operator&(I4 a, I4 b) { return {_mm256_and_si256(a.v, b.v)}; }
inline I4 operator|(I4 a, I4 b) { return {_mm256_or_si256(a.v, b.v)}; }
inline I4 operator^(I4 a, I4 b) { return {_mm256_xor_si256(a.v, b.v)}; }
template <int K>
inline I4 shift_left(I4 a) {
    return {_mm256_slli_epi64(a.v, K)};
}
template <int K>
inline I4 shift_right(I4 a) {  // shifts zeros in
    return {_mm256_srli_epi64(a.v, K)};
}
inline I4 shift_right(I4 a, i64 by) { return {_mm256_srl_epi64(a.v, _mm_cvtsi64_si128(by))}; }
inline I4 shift_right(I4 a, I4 by) { return {_mm256_srlv_epi64(a.v, by.v)}; }  // each lane by its own number
inline I4 multiply_low_halves(I4 a, I4 b) { return {_mm256_mul_epi32(a.v, b.v)}; }  // signed 32 x 32 -> 64
inline I4 operator*(I4 a, I4 b) {  // modulo 2^64, of three products of halves
    const __m256i across = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a.v, 32), b.v),
                                            _mm256_mul_epu32(a.v, _mm256_srli_epi64(b.v, 32)));
    return {_mm256_add_epi64(_mm256_mul_epu32(a.v, b.v), _mm256_slli_epi64(across, 32))};
}
// Lanes whose upper half is the greater or smaller of two without a sign; their lower halves mean nothing.
inline I4 greatest_high(I4 a, I4 b) { return {_mm256_max_epu32(a.v, b.v)}; }
inline I4 smallest_high(I4 a, I4 b) { return {_mm256_min_epu32(a.v, b.v)}; }
inline bool any(I4 a) { return _mm256_testz_si256(a.v, a.v) == 0; }
inline I4 less(I4 a, I4 b) { return {_mm256_cmpgt_epi64(b.v, a.v)}; }
inline I4 choose(I4 mask, I4 yes, I4 no) { return {_mm256_blendv_epi8(no.v, yes.v, mask.v)}; }
inline I4 load(const i32* p) { return {_mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))}; }
inline I4 load(const std::int16_t* p) {
    return {_mm256_cvtepi16_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))};
}
inline __m128i four_bytes(const void* p) {
    int bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return _mm_cvtsi32_si128(bytes);
}
inline I4 load(const std::int8_t* p) { return {_mm256_cvtepi8_epi64(four_bytes(p))}; }
inline I4 load(const std::uint8_t* p) { return {_mm256_cvtepu8_epi64(four_bytes(p))}; }

// The four 32-bit digits of two words, lowest first.
inline I4 digits_of(u64 low, u64 high) {
    return {_mm256_cvtepu32_epi64(_mm_set_epi64x(static_cast<i64>(high), static_cast<i64>(low)))};
}

// Transpose: a, b, c, d are rows before and columns after.
inline void transpose(F4& a, F4& b, F4& c, F4& d) {
    const __m256d ab = _mm256_unpacklo_pd(a.v, b.v), ab2 = _mm256_unpackhi_pd(a.v, b.v);
    const __m256d cd = _mm256_unpacklo_pd(c.v, d.v), cd2 = _mm256_unpackhi_pd(c.v, d.v);
    a.v = _mm256_permute2f128_pd(ab, cd, 0x20);
    b.v = _mm256_permute2f128_pd(ab2, cd2, 0x20);
    c.v = _mm256_permute2f128_pd(ab, cd, 0x31);
    d.v = _mm256_permute2f128_pd(ab2, cd2, 0x31);
}

// The first `count` (1 to 4) of four doubles; the others are 0 and their memory is not accessed.
struct First {
    __m256i mask;
};
inline First first(i64 count) {
    return {_mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3))};
}
inline F4 load_first(const double* p, First f) { return {_mm256_maskload_pd(p, f.mask)}; }
inline void store_first(double* p, First f, F4 a) { _mm256_maskstore_pd(p, f.mask, a.v); }

#else

struct F4 {
    double v[4];
};
struct I4 {
    i64 v[4];
};

#define TALLY_LANES(Out, expression)            \
    Out out;                                    \
    for (int k = 0; k < 4; ++k) {               \
        out.v[k] = (expression);                \
    }                                           \
    return out

inline F4 load(const double* p) { TALLY_LANES(F4, p[k]); }
inline F4 load_floats(const float* p) { TALLY_LANES(F4, static_cast<double>(p[k])); }
inline void store(double* p, F4 a) { std::memcpy(p, a.v, sizeof a.v); }
inline void load_pairs(const double* a, const double* b, const double* c, const double* d, F4& first, F4& second) {
    first = {{a[0], b[0], c[0], d[0]}};
    second = {{a[1], b[1], c[1], d[1]}};
}
inline F4 all(double x) { TALLY_LANES(F4, x); }
inline F4 four(double a, double b, double c, double d) { return {{a, b, c, d}}; }
inline F4 operator+(F4 a, F4 b) { TALLY_LANES(F4, a.v[k] + b.v[k]); }
inline F4 operator-(F4 a, F4 b) { TALLY_LANES(F4, a.v[k] - b.v[k]); }
inline F4 operator*(F4 a, F4 b) { TALLY_LANES(F4, a.v[k] * b.v[k]); }
inline F4 operator/(F4 a, F4 b) { TALLY_LANES(F4, a.v[k] / b.v[k]); }
#if defined(__aarch64__) || defined(_M_ARM64)
inline double product_error(double a, double b, double ab) { return std::fma(a, b, -ab); }
#else
// Dekker's product, exact unless something overflows or underflows.
inline double product_error(double a, double b, double ab) {
    const double scaled_a = 134217729.0 * a, scaled_b = 134217729.0 * b;
    const double a1 = scaled_a - (scaled_a - a), b1 = scaled_b - (scaled_b - b), a2 = a - a1, b2 = b - b1;
    return ((a1 * b1 - ab) + a1 * b2 + a2 * b1) + a2 * b2;
}
#endif
inline F4 product_error(F4 a, F4 b, F4 ab) { TALLY_LANES(F4, product_error(a.v[k], b.v[k], ab.v[k])); }
inline F4 greatest(F4 a, F4 b) { TALLY_LANES(F4, a.v[k] > b.v[k] ? a.v[k] : b.v[k]); }
inline F4 smallest(F4 a, F4 b) { TALLY_LANES(F4, a.v[k] < b.v[k] ? a.v[k] : b.v[k]); }
inline double mask_of(bool yes) { return double_of(yes ? ~u64{0} : u64{0}); }
inline F4 less(F4 a, F4 b) { TALLY_LANES(F4, mask_of(a.v[k] < b.v[k])); }
inline F4 not_at_most(F4 a, F4 b) { TALLY_LANES(F4, mask_of(!(a.v[k] <= b.v[k]))); }
inline F4 missing(F4 a) { TALLY_LANES(F4, mask_of(a.v[k] != a.v[k])); }
inline F4 keep(F4 mask, F4 a) { TALLY_LANES(F4, double_of(bits_of(mask.v[k]) & bits_of(a.v[k]))); }
inline F4 drop(F4 mask, F4 a) { TALLY_LANES(F4, double_of(~bits_of(mask.v[k]) & bits_of(a.v[k]))); }
inline F4 either(F4 a, F4 b) { TALLY_LANES(F4, double_of(bits_of(a.v[k]) | bits_of(b.v[k]))); }
inline int lanes(F4 mask) {
    int out = 0;
    for (int k = 0; k < 4; ++k) out |= static_cast<int>(bits_of(mask.v[k]) >> 63) << k;
    return out;
}
inline I4 bits(F4 a) { TALLY_LANES(I4, static_cast<i64>(bits_of(a.v[k]))); }
inline F4 doubles(I4 a) { TALLY_LANES(F4, double_of(static_cast<u64>(a.v[k]))); }

// Integer lanes wrap around, so they are added as unsigned numbers.
inline I4 load(const i64* p) { TALLY_LANES(I4, p[k]); }
inline void store(i64* p, I4 a) { std::memcpy(p, a.v, sizeof a.v); }
inline I4 all(i64 x) { TALLY_LANES(I4, x); }
inline u64 unsigned_of(i64 x) { return static_cast<u64>(x); }
inline I4 operator+(I4 a, I4 b) { TALLY_LANES(I4, static_cast<i64>(unsigned_of(a.v[k]) + unsigned_of(b.v[k]))); }
inline I4 operator-(I4 a, I4 b) { TALLY_LANES(I4, static_cast<i64>(unsigned_of(a.v[k]) - unsigned_of(b.v[k]))); }
inline I4 operator&(I4 a, I4 b) { TALLY_LANES(I4, a.v[k] & b.v[k]); }
inline I4 operator|(I4 a, I4 b) { TALLY_LANES(I4, a.v[k] | b.v[k]); }
inline I4 operator^(I4 a, I4 b) { TALLY_LANES(I4, a.v[k] ^ b.v[k]); }
template <int K>
inline I4 shift_left(I4 a) {
    TALLY_LANES(I4, static_cast<i64>(static_cast<u64>(a.v[k]) << K));
}
template <int K>
inline I4 shift_right(I4 a) {
    TALLY_LANES(I4, static_cast<i64>(static_cast<u64>(a.v[k]) >> K));
}
inline I4 shift_right(I4 a, i64 by) { TALLY_LANES(I4, static_cast<i64>(static_cast<u64>(a.v[k]) >> by)); }
inline I4 shift_right(I4 a, I4 by) { TALLY_LANES(I4, static_cast<i64>(static_cast<u64>(a.v[k]) >> by.v[k])); }
inline I4 multiply_low_halves(I4 a, I4 b) {
    TALLY_LANES(I4, static_cast<i64>(static_cast<i32>(a.v[k])) * static_cast<i64>(static_cast<i32>(b.v[k])));
}
inline I4 operator*(I4 a, I4 b) { TALLY_LANES(I4, static_cast<i64>(unsigned_of(a.v[k]) * unsigned_of(b.v[k]))); }
inline I4 greatest_high(I4 a, I4 b) { TALLY_LANES(I4, unsigned_of(a.v[k]) < unsigned_of(b.v[k]) ? b.v[k] : a.v[k]); }
inline I4 smallest_high(I4 a, I4 b) { TALLY_LANES(I4, unsigned_of(b.v[k]) < unsigned_of(a.v[k]) ? b.v[k] : a.v[k]); }
inline bool any(I4 a) { return (a.v[0] | a.v[1] | a.v[2] | a.v[3]) != 0; }
inline I4 less(I4 a, I4 b) { TALLY_LANES(I4, a.v[k] < b.v[k] ? -1 : 0); }
inline I4 choose(I4 mask, I4 yes, I4 no) { TALLY_LANES(I4, (mask.v[k] & yes.v[k]) | (~mask.v[k] & no.v[k])); }
inline I4 load(const i32* p) { TALLY_LANES(I4, p[k]); }
inline I4 load(const std::int16_t* p) { TALLY_LANES(I4, p[k]); }
inline I4 load(const std::int8_t* p) { TALLY_LANES(I4, p[k]); }
inline I4 load(const std::uint8_t* p) { TALLY_LANES(I4, p[k]); }

inline I4 digits_of(u64 low, u64 high) {
    return {{static_cast<i64>(low & 0xFFFFFFFFu), static_cast<i64>(low >> 32), static_cast<i64>(high & 0xFFFFFFFFu),
             static_cast<i64>(high >> 32)}};
}

inline void transpose(F4& a, F4& b, F4& c, F4& d) {
    const F4 rows[4] = {a, b, c, d};
    for (int k = 0; k < 4; ++k) {
        a.v[k] = rows[k].v[0];
        b.v[k] = rows[k].v[1];
        c.v[k] = rows[k].v[2];
        d.v[k] = rows[k].v[3];
    }
}

struct First {
    i64 count;
};
inline First first(i64 count) { return {count}; }
inline F4 load_first(const double* p, First f) { TALLY_LANES(F4, k < f.count ? p[k] : 0.0); }
inline void store_first(double* p, First f, F4 a) {
    for (int k = 0; k < 4; ++k)
        if (k < f.count) p[k] = a.v[k];
}

#undef TALLY_LANES

#endif

inline F4 load_four(const double* p) { return load(p); }
inline F4 load_four(const float* p) { return load_floats(p); }

inline I4 high_half(I4 a) {  // the signed upper 32 bits; AVX2 has no 64-bit arithmetic shift
    const I4 sign = all(i64{1} << 31);
    return (shift_right<32>(a) ^ sign) - sign;
}

}  // namespace tally::TALLY_ISA
