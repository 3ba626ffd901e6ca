// A tile of rows, sorted by class and read four columns at a time.
//
// IN: table (n, F), classes (n,). OUT: ClassTile: the rows of each class; Fours: four columns of the tile's rows.
// The caller guarantees that no tile is longer than the length passed at construction, and that rows exist. Classes are
// checked here. Cost: sorting a few ns per row; reading is free if four columns are adjacent doubles, else a copy.
#pragma once

#include "dense/simd.hpp"

namespace tally::TALLY_ISA {

// The rows of a tile listed class by class.
class ClassTile {
public:
    ClassTile(const i32* classes, i64 n_classes, i64 tile)
        : classes_(classes), C_(n_classes), local_(tile), order_(tile), present_(tile), counts_(C_), starts_(C_) {}

    // Go on with the classes of other rows.
    void read(const i32* classes) { classes_ = classes; }

    Fault sort(i64 start, i64 count) {
        for (i64 k = 0; k < n_present_; ++k) counts_[present_[k]] = 0;
        n_present_ = 0;
        for (i64 i = 0; i < count; ++i) {
            const i32 c = classes_[start + i];
            if (c < 0 || c >= C_) return {FaultKind::bad_class, start + i, 0, static_cast<double>(c)};
            local_[i] = c;
            if (counts_[c]++ == 0) present_[n_present_++] = c;
        }
        i32 place = 0;
        for (i64 k = 0; k < n_present_; ++k) {
            starts_[present_[k]] = place;
            place += counts_[present_[k]];
        }
        for (i64 i = 0; i < count; ++i) order_[starts_[local_[i]]++] = static_cast<i32>(i);
        for (i64 k = 0; k < n_present_; ++k) starts_[present_[k]] -= counts_[present_[k]];
        return {};
    }

    i64 n_present() const { return n_present_; }  // number of classes in the tile
    i32 present(i64 k) { return present_[k]; }
    i64 rows(i32 c) { return counts_[c]; }
    const i32* order(i32 c) { return &order_[starts_[c]]; }
    i32 class_of(i64 i) { return local_[i]; }

private:
    const i32* classes_;
    const i64 C_;
    Scratch<i32> local_, order_, present_, counts_, starts_;
    i64 n_present_ = 0;
};

// Whether the numbers of a column are next to each other, rather than those of a row.
inline bool is_in_columns(const Table& table) {
    return table.n_columns > 1 && table.columns->stride == (table.columns->type == Type::f64 ? 8 : 4);
}

// Four columns that are read together. If the width of a row-major table is not a multiple of four, the last group
// overlaps the one before it, and `from` is its first lane that counts. In other tables the last group is padded with
// zeros, and lanes from `to` on do not count.
struct Four {
    i64 column;  // of lane 0
    int from, to;
    bool direct;  // adjacent doubles
};

// Row i of the tile's four columns is at base + i * stride; `step` is the table's distance between rows, in bytes.
struct FourRows {
    const double* base;
    i64 stride, step;
};

class Fours {
public:
    Fours(const Table& table, i64 tile)
        : table_(table), F_(table.n_columns), tile_(tile), size((F_ + 3) / 4), packed_(4 * tile) {}

    // Go on with another table of as many columns.
    void read(const Table& table) { table_ = table; }

    Four at(i64 g) const {
        Four four;
        four.direct = F_ >= 4 && adjacent(smaller(4 * g, F_ - 4), Type::f64, 8);
        four.column = four.direct ? smaller(4 * g, F_ - 4) : 4 * g;
        four.from = static_cast<int>(4 * g - four.column);
        four.to = static_cast<int>(smaller<i64>(4, F_ - four.column));
        return four;
    }

    FourRows read(const Four& four, i64 start, i64 count) {
        const Column& column = table_.columns[four.column];
        if (four.direct) {
            const auto* base = reinterpret_cast<const double*>(column.base + start * column.stride);
            return {base, column.stride / 8, column.stride};
        }
        pack(four, start, count);
        return {packed_.get(), 4, 0};
    }

private:
    bool adjacent(i64 f, Type type, i64 bytes) const {
        const Column* column = table_.columns + f;
        for (int lane = 0; lane < 4; ++lane)
            if (column[lane].type != type || column[lane].stride != column[0].stride ||
                column[lane].base != column[0].base + bytes * lane)
                return false;
        return true;
    }

    void pack(const Four& four, i64 start, i64 count) {
        double* packed = packed_.get();
        const Column* columns = table_.columns + four.column;
        i64 done = 0;
        if (four.to < 4) {
            for (i64 i = 0; i < 4 * count; ++i) packed[i] = 0.0;
        } else if (adjacent(four.column, Type::f32, 4)) {
            const char* from = columns->base + start * columns->stride;
            for (; done < count; ++done, from += columns->stride) {
                store(packed + 4 * done, load_floats(reinterpret_cast<const float*>(from)));
                prefetch(from + tile_ * columns->stride);
            }
        } else if (contiguous(columns, Type::f64, 8)) {
            done = transpose_columns<double>(columns, start, count, [](const double* p) { return load(p); });
        } else if (contiguous(columns, Type::f32, 4)) {
            done = transpose_columns<float>(columns, start, count, [](const float* p) { return load_floats(p); });
        }
        for (int lane = 0; lane < four.to; ++lane)
            for (i64 i = done; i < count; ++i) packed[4 * i + lane] = real_element(columns[lane], start + i);
    }

    static bool contiguous(const Column* columns, Type type, i64 bytes) {
        for (int lane = 0; lane < 4; ++lane)
            if (columns[lane].type != type || columns[lane].stride != bytes) return false;
        return true;
    }

    template <class T, class Load>
    i64 transpose_columns(const Column* columns, i64 start, i64 count, Load load_four) {
        const T* from[4];
        for (int lane = 0; lane < 4; ++lane) from[lane] = reinterpret_cast<const T*>(columns[lane].base) + start;
        i64 i = 0;
        for (; i + 4 <= count; i += 4) {
            F4 four[4];
            for (int lane = 0; lane < 4; ++lane) {
                four[lane] = load_four(from[lane] + i);
                prefetch(from[lane] + i + tile_);
            }
            transpose(four[0], four[1], four[2], four[3]);
            for (int k = 0; k < 4; ++k) store(packed_.get() + 4 * (i + k), four[k]);
        }
        return i;
    }

    Table table_;
    const i64 F_, tile_;

public:
    const i64 size;  // number of groups of four

private:
    Scratch<double> packed_;
};

}  // namespace tally::TALLY_ISA
