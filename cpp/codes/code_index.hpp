// From codes to positions in one flat array; counting and scoring codes share this step.
//
// Code v of column f is at base[f] + (v - low) * step if 0 <= v - low < size[f], else at fallback[f].
// IN: table (n, F) of codes; per column size, base and fallback. OUT: positions of a tile of rows and columns.
// The caller guarantees: sizes and step below 2^31, |low| below 2^31, tiles of at most kRows and kWidth.
// Cost: two vector operations per code if codes are adjacent, in a row or in a column.
#pragma once

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

template <class Visitor>
inline void with_code_type(Type type, Visitor visit) {
    switch (type) {
        case Type::i8: return visit(std::int8_t{});
        case Type::u8: return visit(std::uint8_t{});
        case Type::i16: return visit(std::int16_t{});
        case Type::i32: return visit(i32{});
        default: return visit(i64{});
    }
}

inline i64 size_of_code(Type type) {
    return type == Type::i64 ? 8 : type == Type::i32 ? 4 : type == Type::i16 ? 2 : 1;
}

// Whether columns [f0, f1) of a row are adjacent, as in a row-major matrix.
inline bool adjacent_codes(const Table& table, i64 f0, i64 f1) {
    const Column* column = table.columns + f0;
    for (i64 k = 1; k < f1 - f0; ++k)
        if (column[k].type != column->type || column[k].stride != column->stride ||
            column[k].base != column->base + k * size_of_code(column->type))
            return false;
    return true;
}

class CodeIndex {
public:
    static constexpr i64 kRows = 64;   // a tile of indices stays in the first-level cache
    static constexpr i64 kFew = 8;     // rows whose indices are used before they are stored: a tenth faster
    static constexpr i64 kWidth = 32;  // columns
    static constexpr i64 kPitch = kRows + 8;

    CodeIndex(const Table& table, i64 low, i64 step)
        : table_(table), columns_((table.n_columns + 7) / 8 * 8), room_(3 * columns_ + kWidth * kPitch + 16),
          limit_(room_.aligned()), base_(limit_ + columns_), fallback_(base_ + columns_), index_(fallback_ + columns_),
          step_(step), bias_(static_cast<i64>(kSign - static_cast<u64>(low))),
          all_adjacent_(table.n_columns > 0 && adjacent_codes(table, 0, table.n_columns)) {}

    // The rows of a tile that is read row by row as soon as it is filled.
    i64 rows() const { return all_adjacent_ ? kFew : kRows; }

    void set(i64 f, i64 size, i64 base, i64 fallback) {
        limit_[f] = static_cast<i64>(static_cast<u64>(size) - kSign);
        base_[f] = base;
        fallback_[f] = fallback;
    }

    // Compute the positions of rows [row, row + count) and columns [f0, f1), at most kRows and kWidth.
    void fill(i64 row, i64 count, i64 f0, i64 f1) {
        const Column& first = table_.columns[f0];
        by_rows_ = f1 - f0 >= 4 && (all_adjacent_ || adjacent_codes(table_, f0, f1));
        width_ = f1 - f0;
        row_pitch_ = (width_ + 7) / 8 * 8;
        if (by_rows_) {
            with_code_type(first.type, [&](auto zero) {
                const i64 bytes = width_ * static_cast<i64>(sizeof zero);
                for (i64 i = 0; i < count; ++i) {
                    const char* from = first.base + (row + i) * first.stride;
                    for (i64 b = 0; b < bytes; b += 64) prefetch(from + kRows * first.stride + b);
                    fill_row(reinterpret_cast<const decltype(zero)*>(from), f0, i);
                }
            });
            return;
        }
        for (i64 f = f0; f < f1; ++f)
            with_code_type(table_.columns[f].type, [&](auto zero) {
                fill_column<decltype(zero)>(row, count, f, f - f0);
            });
    }

    // The position of row i and column f, both counted from the start of the tile, is at row(i)[f * pitch()].
    const i64* row(i64 i) { return by_rows_ ? &index_[i * row_pitch_] : &index_[i]; }
    i64 pitch() const { return by_rows_ ? 1 : kPitch; }
    void fetch(i64) const {}  // a tile asks for the next one

private:
    static constexpr u64 kSign = u64{1} << 63;  // turns a signed comparison into an unsigned one

    // Local copies stay in registers during a loop. Members would not: a stored index might alias them.
    struct Steps {
        I4 bias, step;
        I4 place(I4 code, I4 limit, I4 base, I4 fallback) const {
            const I4 shifted = code + bias;
            return choose(less(shifted, limit), multiply_low_halves(shifted, step) + base, fallback);
        }
    };

    i64 place(i64 code, i64 f) {
        const i64 shifted = static_cast<i64>(static_cast<u64>(code) + static_cast<u64>(bias_));
        const i64 offset = static_cast<i64>(static_cast<u64>(shifted) - kSign);
        return shifted < limit_[f] ? base_[f] + offset * step_ : fallback_[f];
    }

    template <class Code>
    void fill_row(const Code* codes, i64 f0, i64 i) {
        const Steps steps{all(bias_), all(step_)};
        const i64 width = width_;
        i64* const index = &index_[i * row_pitch_];
        const i64 *limit = &limit_[f0], *base = &base_[f0], *fallback = &fallback_[f0];
        for (i64 at = 0; at < width; at += 4) {
            const i64 f = smaller(at, width - 4);  // the last four overlap the four before
            store(index + f, steps.place(load(codes + f), load(limit + f), load(base + f), load(fallback + f)));
        }
    }

    template <class Code>
    void fill_column(i64 row, i64 count, i64 f, i64 k) {
        const Steps steps{all(bias_), all(step_)};
        const I4 limit = all(limit_[f]), base = all(base_[f]), fallback = all(fallback_[f]);
        const Column column = table_.columns[f];
        const char* const from = column.base + row * column.stride;
        i64* const index = &index_[k * kPitch];
        i64 i = 0;
        if (column.stride == static_cast<i64>(sizeof(Code))) {
            for (i64 b = 0; b < kRows * column.stride; b += 64) prefetch(from + kRows * column.stride + b);
            for (; i + 4 <= count; i += 4)
                store(index + i, steps.place(load(reinterpret_cast<const Code*>(from) + i), limit, base, fallback));
        }
        for (; i < count; ++i)
            index[i] = place(static_cast<i64>(*reinterpret_cast<const Code*>(from + i * column.stride)), f);
    }

    const Table& table_;
    const i64 columns_;
    Scratch<i64> room_;  // memory of the next four, each on its own cache lines
    i64 *const limit_, *const base_, *const fallback_, *const index_;
    const i64 step_, bias_;
    const bool all_adjacent_;
    i64 width_ = 0, row_pitch_ = 0;
    bool by_rows_ = false;
};

}  // namespace tally::TALLY_ISA
