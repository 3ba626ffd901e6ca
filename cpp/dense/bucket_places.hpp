// The places of numbers in the plain arrays of their columns (see BucketTable::Near), for eight columns at a time.
//
// Most numbers are placed by the upper halves of their bits. Where one of eight is missing, 0.0 or beside its plain
// array, or a column's shift is too small for that, all bits of the eight are looked at.
// IN: up to eight columns of a table, the plain array of each. OUT: places (n, 8), row i at to[i].
// Cost: about 2 operations per value.
#pragma once

#include "dense/buckets.hpp"
#include "dense/halves.hpp"

namespace tally::TALLY_ISA {

// The plain arrays of eight columns, or of one column eight times.
class NearEight {
public:
    using Near = BucketTable::Near;
    static constexpr Near kNone = {63, 0, 0};  // of a lane without a column: no number is far

    NearEight() = default;
    explicit NearEight(const Near& near) : NearEight(near, near, near, near, near, near, near, near) {}
    NearEight(const Near& a, const Near& b, const Near& c, const Near& d, const Near& e, const Near& f, const Near& g,
              const Near& h)
        : left_(a, b, c, d), right_(e, f, g, h) {
        const Near each[] = {a, b, c, d, e, f, g, h};
        i32 shift[8], low[8];
        for (int k = 0; k < 8; ++k) {
            // Otherwise every number is `bad` below, as infinity and NaN are: they are above all places.
            const bool upper = each[k].shift >= 32 && is_below_infinity(each[k].shift - 32, each[k].low);
            shift[k] = upper ? static_cast<i32>(each[k].shift - 32) : 31;
            low[k] = upper ? static_cast<i32>(each[k].low) : 1;
            masked_ |= each[k].mask != 0;
        }
        shift_ = load_eight(shift);
        low_ = load_eight(low);
    }

    bool masked() const { return masked_; }

    // The places of eight numbers; `far` is set if one of them has none.
    template <bool Masked>
    I8 place(F4 left, F4 right, bool& far) const {
        static_assert(BucketTable::kNear == 1024);  // bit 10, where the sign goes
        const I8 high = high_halves(bits(left), bits(right));
        const I8 from = shift_right(high & all_eight(INT32_MAX), shift_) - low_;
        I8 bad = from & all_eight(~1023);
        if constexpr (Masked) bad = bad | halves((bits(left) & left_.mask) | (bits(right) & right_.mask));
        if (any(bad)) return exact(left, right, far);
        return from + (shift_right<21>(high) & all_eight(1024));
    }

private:
    static bool is_below_infinity(i64 shift, i64 low) {
        constexpr i64 infinity = 0x7FF00000;
        return shift == kNone.shift - 32 || low + BucketTable::kNear <= infinity >> shift;
    }

    TALLY_NOINLINE I8 exact(F4 left, F4 right, bool& far) const {
        const I4 low = left_.place(left), high = right_.place(right), missing = all(BucketTable::kMissing);
        far |= any(less(missing, low) | less(missing, high));
        return low_halves(low, high);
    }

    NearLanes left_{}, right_{};
    I8 shift_{}, low_{};
    bool masked_ = false;
};

// Copy rows of up to eight columns next to each other.
template <class T>
inline void copy_beside(const Column& column, i64 start, i64 count, double* values) {
    const char* from = column.base + start * column.stride;
    for (i64 i = 0; i < count; ++i, from += column.stride)
        values[i * kTogether] = static_cast<double>(*reinterpret_cast<const T*>(from));
}

inline void copy_beside(const Eight& eight, i64 start, i64 count, double* values) {
    if (eight.width == kTogether && eight.same && eight.adjacent && eight.columns->type == Type::f64) {
        const i64 stride = eight.columns->stride;
        const char* from = eight.columns->base + start * stride;
        for (i64 i = 0; i < count; ++i, from += stride, values += kTogether) {
            const double* row = reinterpret_cast<const double*>(from);
            prefetch(from + kAhead * stride);
            prefetch(from + kAhead * stride + (kTogether - 1) * i64{sizeof(double)});  // often on the next cache line
            store(values, load(row));
            store(values + 4, load(row + 4));
        }
        return;
    }
    for (i64 k = 0; k < eight.width; ++k) {
        const Column& column = eight.columns[k];
        if (column.type == Type::f64) copy_beside<double>(column, start, count, values + k);
        else copy_beside<float>(column, start, count, values + k);
    }
}

// Up to eight columns of a table, and how their rows are read.
class PlacedEight {
public:
    static constexpr i64 kChunk = 32;  // rows of all columns that stay in the first cache from eight to eight

    PlacedEight() = default;
    PlacedEight(const Table& table, i64 f) : eight(table, f) {
        const i64 before = f + eight.width - kTogether;
        if (before < 0) return;
        const Eight read(table, before);  // where fewer are left, they are the last of these
        if (!read.same || !read.adjacent) return;
        row = read.columns;
        lead = kTogether - eight.width;
    }

    // Look up where the plain arrays are now.
    void begin(BucketTable* const* tables) {
        BucketTable::Near near[kTogether];
        for (i64 k = 0; k < kTogether; ++k)
            near[k] = k < lead || k >= lead + eight.width ? NearEight::kNone : tables[k - lead]->near;
        row_ = NearEight(near[0], near[1], near[2], near[3], near[4], near[5], near[6], near[7]);
        if (in_columns())
            for (i64 k = 0; k < kTogether; ++k) column_[k] = NearEight(near[k]);
        far = false;
    }

    // Write the places of rows of eight adjacent numbers; row i goes to out + 8 * to[i].
    template <class Real>
    void place_rows(const char* from, i64 stride, i64 count, const i32* to, u16* out) {
        if (row_.masked()) place_rows<Real, true>(from, stride, count, to, out);
        else place_rows<Real, false>(from, stride, count, to, out);
    }

    // Write the places of some rows; row i goes to out + 8 * to[i].
    void place(i64 start, i64 count, const i32* to, u16* out) {
        i64 done = 0;
        if (in_columns() && eight.columns->type == Type::f64) done = place_columns<double>(start, count, to, out);
        else if (in_columns()) done = place_columns<float>(start, count, to, out);
        while (done < count) {
            double copied[kTogether * kTileRows] = {};
            const i64 end = smaller(done + kTileRows, count);
            copy_beside(eight, start + done, end - done, copied + lead);
            const auto* const from = reinterpret_cast<const char*>(copied);
            place_rows<double>(from, sizeof(double) * kTogether, end - done, to + done, out);
            done = end;
        }
    }

    Eight eight;
    const Column* row = nullptr;  // the first of eight adjacent numbers, or null
    i64 lead = 0;                 // places of a row before that of the first column
    bool far = false;             // whether some number has no place

private:
    bool in_columns() const {
        const i64 size = eight.columns->type == Type::f64 ? i64{sizeof(double)} : i64{sizeof(float)};
        bool close = row == nullptr && eight.same;
        for (i64 k = 0; k < eight.width; ++k) close &= eight.columns[k].stride == size;
        return close;
    }

    template <class Real, bool Masked>
    void place_rows(const char* from, i64 stride, i64 count, const i32* to, u16* out) {
        const NearEight near = row_;  // a copy stays in registers
        bool some = false;
        for (i64 i = 0; i < count; ++i, from += stride) {
            const Real* const row = reinterpret_cast<const Real*>(from);
            prefetch(from + kChunk * stride);
            const I8 found = near.place<Masked>(load_four(row), load_four(row + 4), some);
            store_shorts(out + kTogether * to[i], found);
        }
        far |= some;
    }

    // Place eight rows at a time, and return how many.
    template <class Real>
    i64 place_columns(i64 start, i64 count, const i32* to, u16* out) {
        return row_.masked() ? place_columns<Real, true>(start, count, to, out)
                             : place_columns<Real, false>(start, count, to, out);
    }

    template <class Real, bool Masked>
    i64 place_columns(i64 start, i64 count, const i32* to, u16* out) {
        const Real* from[kTogether];
        for (i64 k = 0; k < kTogether; ++k)
            from[k] = reinterpret_cast<const Real*>(eight.columns[smaller(k, eight.width - 1)].base) + start;
        i64 i = 0;
        for (; i + 8 <= count; i += 8) {
            I8 places[kTogether];
            for (i64 k = 0; k < kTogether; ++k)
                places[k] = column_[k].template place<Masked>(load_four(from[k] + i), load_four(from[k] + i + 4), far);
            store_shorts_as_rows(places, out, to + i);
        }
        return i;
    }

    NearEight row_, column_[kTogether];
};

}  // namespace tally::TALLY_ISA
