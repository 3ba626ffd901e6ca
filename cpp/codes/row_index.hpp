// From codes to positions in one flat array, where the codes of a row are adjacent: as CodeIndex, in half the time.
//
// Code v of column f is at base[f] + min(v - low, limit[f]) * step: a code outside its column has the position after
// the last, or that of the last.
// IN: table (n, F) of adjacent codes, F >= kAtOnce; per column limit and base. OUT: positions of a tile of rows and
// columns, in 32 bits. The caller asks `suits` first, and guarantees tiles of at most kRows rows and kWidth columns.
// Cost: about 1.5 operations a code. Twins: those of the kernels that use it.
#pragma once

#include "codes/code_index.hpp"

namespace tally::TALLY_ISA {

// Eight numbers of 32 bits without a sign.
#if defined(__AVX2__)

struct U8 {
    __m256i v;
};
inline U8 load_eight(const u32* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
inline void store_eight(u32* p, U8 a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.v); }
inline U8 eight(u32 x) { return {_mm256_set1_epi32(static_cast<int>(x))}; }
inline U8 operator+(U8 a, U8 b) { return {_mm256_add_epi32(a.v, b.v)}; }
inline U8 operator*(U8 a, U8 b) { return {_mm256_mullo_epi32(a.v, b.v)}; }
inline U8 smallest(U8 a, U8 b) { return {_mm256_min_epu32(a.v, b.v)}; }
// Eight codes less the lowest; the greatest number where a code has more than 32 bits.
inline U8 less_low(const i32* p, U8 low) {
    return {_mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), low.v)};
}
inline U8 less_low(const std::int16_t* p, U8 low) {
    return {_mm256_sub_epi32(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), low.v)};
}
inline U8 less_low(const std::int8_t* p, U8 low) {
    return {_mm256_sub_epi32(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))), low.v)};
}
inline U8 less_low(const std::uint8_t* p, U8 low) {
    return {_mm256_sub_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))), low.v)};
}
inline U8 less_low(const i64* p, U8 low) {
    const __m256 one = _mm256_castpd_ps(_mm256_loadu_pd(reinterpret_cast<const double*>(p)));
    const __m256 two = _mm256_castpd_ps(_mm256_loadu_pd(reinterpret_cast<const double*>(p + 4)));
    const __m256i code = _mm256_castps_si256(_mm256_shuffle_ps(one, two, 0x88));  // 0 1 4 5 2 3 6 7
    const __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(one, two, 0xDD));
    const __m256i fits = _mm256_cmpeq_epi32(high, _mm256_srai_epi32(code, 31));
    const __m256i shifted = _mm256_blendv_epi8(_mm256_set1_epi32(-1), _mm256_sub_epi32(code, low.v), fits);
    return {_mm256_permute4x64_epi64(shifted, 0xD8)};
}

#else

struct U8 {
    u32 v[8];
};
inline U8 load_eight(const u32* p) {
    U8 out;
    std::memcpy(out.v, p, sizeof out.v);
    return out;
}
inline void store_eight(u32* p, U8 a) { std::memcpy(p, a.v, sizeof a.v); }
template <class Lane>
inline U8 each_of_eight(Lane lane) {
    U8 out;
    for (int k = 0; k < 8; ++k) out.v[k] = lane(k);
    return out;
}
inline U8 eight(u32 x) {
    return each_of_eight([&](int) { return x; });
}
inline U8 operator+(U8 a, U8 b) {
    return each_of_eight([&](int k) { return a.v[k] + b.v[k]; });
}
inline U8 operator*(U8 a, U8 b) {
    return each_of_eight([&](int k) { return a.v[k] * b.v[k]; });
}
inline U8 smallest(U8 a, U8 b) {
    return each_of_eight([&](int k) { return smaller(a.v[k], b.v[k]); });
}
template <class Code>
inline U8 less_low(const Code* p, U8 low) {
    return each_of_eight([&](int k) {
        const i32 code = static_cast<i32>(p[k]);
        return static_cast<i64>(code) == static_cast<i64>(p[k]) ? static_cast<u32>(code) - low.v[k] : ~u32{0};
    });
}

#endif

class RowIndex {
public:
    static constexpr i64 kRows = CodeIndex::kFew, kWidth = CodeIndex::kWidth;
    static constexpr i64 kAtOnce = 8;  // columns

    // Whether the codes of a row are adjacent, and differences and positions have 32 bits.
    static bool suits(const Table& table, const i64* offsets, i64 low, i64 positions) {
        constexpr i64 kMost = i64{1} << 30;
        if (table.n_columns < kAtOnce || low <= -kMost || low >= kMost || positions >= kMost) return false;
        for (i64 f = 0; f < table.n_columns; ++f)
            if (offsets[f + 1] - offsets[f] >= kMost) return false;
        return adjacent_codes(table, 0, table.n_columns);
    }

    RowIndex(const Table& table, i64 low, i64 step)
        : table_(table), room_(2 * table.n_columns + kRows * kWidth + 16), limit_(room_.aligned()),
          base_(limit_ + table.n_columns), index_(base_ + table.n_columns), low_(static_cast<u32>(low)),
          step_(static_cast<u32>(step)) {}

    i64 rows() const { return kRows; }

    void set(i64 f, i64 limit, i64 base) {
        limit_[f] = static_cast<u32>(limit);
        base_[f] = static_cast<u32>(base);
    }

    // Compute the positions of rows [row, row + count) and columns [f0, f1), at most kRows and kWidth.
    void fill(i64 row, i64 count, i64 f0, i64 f1) {
        const i64 start = smaller(f0, table_.n_columns - kAtOnce);  // a few last columns come with those before them
        shift_ = f0 - start;
        first_ = table_.columns[start];
        bytes_ = (f1 - start) * size_of_code(first_.type);
        with_code_type(first_.type, [&](auto zero) { fill_rows<decltype(zero)>(row, count, start, f1 - start); });
    }

    // Ask for the same columns of a later row: where a tile asks for all of its next rows at once, the processor has no
    // room for so many requests, and waits for the first.
    void fetch(i64 row) const {
        const char* from = first_.base + (row + CodeIndex::kRows) * first_.stride;
        for (i64 b = 0; b < bytes_; b += 64) prefetch(from + b);
    }

    // The positions of row i, counted from the start of the tile.
    const u32* row(i64 i) const { return index_ + i * kWidth + shift_; }
    i64 pitch() const { return 1; }

private:
    template <class Code>
    void fill_rows(i64 row, i64 count, i64 start, i64 width) {
        const U8 low = eight(low_), step = eight(step_);
        const u32 *limit = limit_ + start, *base = base_ + start;
        const char* from = first_.base + row * first_.stride;
        u32* to = index_;
        for (i64 i = 0; i < count; ++i, to += kWidth, from += first_.stride) {
            const Code* codes = reinterpret_cast<const Code*>(from);
            for (i64 at = 0; at < width; at += kAtOnce) {
                const i64 f = smaller(at, width - kAtOnce);  // the last eight overlap the eight before
                const U8 place = smallest(less_low(codes + f, low), load_eight(limit + f));
                store_eight(to + f, place * step + load_eight(base + f));
            }
        }
    }

    const Table& table_;
    Scratch<u32> room_;  // memory of the next three
    u32 *const limit_, *const base_, *const index_;
    const u32 low_, step_;
    Column first_{};  // of the tile
    i64 shift_ = 0, bytes_ = 0;
};

}  // namespace tally::TALLY_ISA
