// Scores of dense columns under normal or Student densities, with precomputed normalising constants.
//
//   gaussian: out[i, c] += sum_f constant[c, f] - z*z            z = (x[i, f] - mean[c, f] - rest[c, f]) * scale[c, f]
//   student:  out[i, c] += sum_f constant[c, f] - power[c, f] * log(1 + z*z)
//
// over the columns f that are not NaN in row i.
// IN: table (n, F) of doubles or floats; mean, rest, scale, constant, power (C, F). OUT: out (n, C), added to.
// The caller guarantees shapes, nothing about values. A row's scores depend on that row alone, to the last bit: neither
// its neighbours nor its position in the call change the order of operations.
// Cost: 4 (student: 6) vector operations per 4 rows, class and column. Twins: reference.score_gaussian, score_student.
#pragma once

#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

constexpr i64 kChunk = 64;  // columns: a chunk of 32 rows takes 16 kB
constexpr double kLarge = 1e100;
constexpr double kLittle = 1.0 / 64.0;  // where logarithm_of_little_more_than_one is exact

// Lanes are rows: x (chunk, 4 * V) holds a block of rows of a chunk of columns, transposed.
template <int V>
class Block {
public:
    static constexpr i64 kRows = 4 * V;
    alignas(64) double x[kChunk * kRows];
    bool holes;

    void read(const Table& table, i64 row, i64 count, i64 f0, i64 f1) {
        const Column* columns = table.columns + f0;
        const i64 width = f1 - f0;
        I4 found = all(i64{0});
        if (count < kRows || width < 4 || !adjacent(columns, width))
            for (i64 f = 0; f < width; ++f) found = found | read_one(columns[f], row, count, x + f * kRows);
        else if (columns->type == Type::f64)
            found = read_rows<double>(*columns, row, width);
        else
            found = read_rows<float>(*columns, row, width);
        holes = any(found);
    }

    // Prefetch part `k` of `shares` of the block that starts at `row`: rows, or columns if they are not adjacent.
    static void fetch(const Table& table, i64 row, i64 f0, i64 f1, i64 k, i64 shares) {
        if (row + kRows > table.n_rows) return;
        const Column *first = table.columns + f0, *last = table.columns + (f1 - 1);
        const i64 size = first->type == Type::f64 ? 8 : 4;
        const bool rows = first->stride == last->stride && last->base == first->base + (f1 - f0 - 1) * size;
        const i64 items = rows ? kRows : f1 - f0, bytes = (rows ? f1 - f0 : kRows) * size;
        for (i64 i = items * k / shares; i < items * (k + 1) / shares; ++i) {
            const char* from = rows ? first->base + (row + i) * first->stride : first[i].base + row * first[i].stride;
            for (i64 b = 0; b < bytes; b += 64) prefetch(from + b);
            prefetch(from + bytes - 1);
        }
    }

private:
    static bool adjacent(const Column* column, i64 width) {
        const i64 size = column->type == Type::f64 ? 8 : 4;
        for (i64 k = 1; k < width; ++k)
            if (column[k].type != column->type || column[k].stride != column->stride ||
                column[k].base != column->base + k * size)
                return false;
        return true;
    }

    // Read adjacent columns, four at a time, along the rows, which the processor prefetches. The last four may overlap
    // those before.
    template <class Real>
    I4 read_rows(const Column& first, i64 row, i64 width) {
        I4 found = all(i64{0});
        for (int v = 0; v < V; ++v) {
            const char* from = first.base + (row + 4 * v) * first.stride;
            const Real* each[4];
            for (int k = 0; k < 4; ++k) each[k] = reinterpret_cast<const Real*>(from + k * first.stride);
            for (i64 f = 0; f < width; f += 4) {
                const i64 at = smaller(f, width - 4);
                F4 rows[4];
                for (int k = 0; k < 4; ++k) rows[k] = load_four(each[k] + at);
                transpose(rows[0], rows[1], rows[2], rows[3]);
                for (int k = 0; k < 4; ++k) {
                    found = found | bits(missing(rows[k]));
                    store(x + (at + k) * kRows + 4 * v, rows[k]);
                }
            }
        }
        return found;
    }

    static I4 read_one(const Column& column, i64 row, i64 count, double* to) {
        if (count == kRows && column.type == Type::f64 && column.stride == 8) {
            I4 found = all(i64{0});
            const auto* from = reinterpret_cast<const double*>(column.base) + row;
            for (int v = 0; v < V; ++v) {
                const F4 x = load(from + 4 * v);
                found = found | bits(missing(x));
                store(to + 4 * v, x);
            }
            return found;
        }
        if (column.type == Type::f64)
            for (i64 i = 0; i < count; ++i) to[i] = element<double>(column, row + i);
        else
            for (i64 i = 0; i < count; ++i) to[i] = element<float>(column, row + i);
        for (i64 i = count; i < kRows; ++i) to[i] = 0.0;
        I4 found = all(i64{0});
        for (int v = 0; v < V; ++v) found = found | bits(missing(load(to + 4 * v)));
        return found;
    }
};

// Sum the constants of the columns f in [f0, f1) that are not missing, for each row of the block.
template <int V>
inline void sum_constants(const Block<V>& block, const double* constant, i64 width, F4 (&sum)[V]) {
    for (int v = 0; v < V; ++v) sum[v] = all(0.0);
    for (i64 f = 0; f < width; ++f)
        for (int v = 0; v < V; ++v)
            sum[v] = sum[v] + drop(missing(load(block.x + f * 4 * V + 4 * v)), all(constant[f]));
}

// Minus the deviation from a mean; `rest` is what the mean has beyond a double, where values are far from 0.
template <bool Paired>
inline F4 deviation(F4 x, F4 mean, const double* rest, i64 f) {
    if constexpr (Paired) return mean - x + all(rest[f]);
    return mean - x;
}

struct Gaussian {
    template <int V, bool Holes, bool Paired>
    static void score(const Block<V>& block, const ScoreDenseTask& task, i64 at, i64 width, F4 (&sum)[V]) {
        const double *mean = task.mean + at, *scale = task.scale + at, *rest = Paired ? task.rest + at : nullptr;
        for (int v = 0; v < V; ++v) sum[v] = all(0.0);
        for (i64 f = 0; f < width; ++f) {
            const F4 m = all(mean[f]), s = all(scale[f]);
            for (int v = 0; v < V; ++v) {
                const F4 x = load(block.x + f * 4 * V + 4 * v);
                F4 z = deviation<Paired>(x, m, rest, f) * s;
                if constexpr (Holes) z = drop(missing(x), z);
                sum[v] = sum[v] + z * z;
            }
        }
    }
};

// Columns of equal power share one logarithm: u is the product of their 1 + z*z, minus 1, so small z keep their
// precision. The logarithm is taken before u can overflow.
struct Student {
    template <int V, bool Holes, bool Paired>
    static void score(const Block<V>& block, const ScoreDenseTask& task, i64 at, i64 width, F4 (&sum)[V]) {
        const double *mean = task.mean + at, *scale = task.scale + at, *power = task.power + at;
        const double* rest = Paired ? task.rest + at : nullptr;
        F4 u[V];
        for (int v = 0; v < V; ++v) sum[v] = u[v] = all(0.0);
        for (i64 f = 0; f < width;) {
            i64 stop = f + 1;
            if ((stop == width || power[stop] != power[f]) && (f == 0 || power[f - 1] != power[f])) {
                alone<V, Holes, Paired>(block, mean, rest, scale, power[f], f, sum);
                f = stop;
                continue;
            }
            while (stop < smaller(width, f + 4) && power[stop] == power[f]) ++stop;
            double before[4 * V];
            for (int v = 0; v < V; ++v) store(before + 4 * v, u[v]);
            for (i64 g = f; g < stop; ++g) {
                const F4 m = all(mean[g]), s = all(scale[g]);
                for (int v = 0; v < V; ++v) {
                    const F4 x = load(block.x + g * 4 * V + 4 * v);
                    F4 z = deviation<Paired>(x, m, rest, g) * s;
                    if constexpr (Holes) z = drop(missing(x), z);
                    const F4 square = z * z;
                    u[v] = u[v] * square + (u[v] + square);
                }
            }
            bool tame = true;
            for (int v = 0; v < V; ++v) tame = tame && lanes(not_at_most(u[v], all(kLarge))) == 0;
            if (!tame) rescue<V>(block, mean, rest, scale, power[f], f, stop, before, u, sum);
            const bool last = stop == width || power[stop] != power[f];
            f = stop;
            if (!last) continue;
            const F4 p = all(power[stop - 1]);
            for (int v = 0; v < V; ++v) {
                sum[v] = sum[v] + p * logarithm_of_one_plus(u[v]);
                u[v] = all(0.0);
            }
        }
    }

    // Add one column whose power no neighbour has: each of the weighted ones. With many rows of a class z*z is so small
    // that a series will do; which logarithm is taken depends on the lane alone.
    template <int V, bool Holes, bool Paired>
    static void alone(const Block<V>& block, const double* mean, const double* rest, const double* scale, double power,
                      i64 f, F4 (&sum)[V]) {
        const F4 m = all(mean[f]), s = all(scale[f]), p = all(power);
        F4 z[V];
        int large = 0;
        for (int v = 0; v < V; ++v) {
            const F4 x = load(block.x + f * 4 * V + 4 * v);
            z[v] = deviation<Paired>(x, m, rest, f) * s;
            if constexpr (Holes) z[v] = drop(missing(x), z[v]);
            large |= lanes(not_at_most(z[v] * z[v], all(kLittle)));
        }
        for (int v = 0; v < V; ++v) {
            const F4 square = z[v] * z[v];
            F4 log = logarithm_of_little_more_than_one(large == 0 ? square : smallest(square, all(kLittle)));
            if (large != 0) {
                const F4 big = not_at_most(square, all(kLittle));
                log = either(drop(big, log), keep(big, logarithm_of_large(z[v])));
            }
            sum[v] = sum[v] + p * log;
        }
    }

    // log(1 + z*z), also where the square overflows.
    static F4 logarithm_of_large(F4 z) {
        const F4 square = z * z, log = logarithm_of_one_plus(smallest(square, all(kLarge)));
        const int wild = lanes(not_at_most(square, all(kLarge)));
        if (wild == 0) return log;
        double away[4], out[4];
        store(away, z);
        store(out, log);
        for (int lane = 0; lane < 4; ++lane)
            if ((wild >> lane & 1) != 0) out[lane] = 2.0 * logarithm(std::fabs(away[lane]));
        return load(out);
    }

    // Recompute columns [f, stop) one value at a time for the lanes whose product grew too large.
    template <int V>
    static void rescue(const Block<V>& block, const double* mean, const double* rest, const double* scale, double power,
                       i64 f, i64 stop, const double (&before)[4 * V], F4 (&u)[V], F4 (&sum)[V]) {
        for (int v = 0; v < V; ++v) {
            const int wild = lanes(not_at_most(u[v], all(kLarge)));
            if (wild == 0) continue;
            double product[4], total[4];
            store(product, u[v]);
            store(total, sum[v]);
            for (int lane = 0; lane < 4; ++lane) {
                if ((wild >> lane & 1) == 0) continue;
                product[lane] = before[4 * v + lane];
                for (i64 g = f; g < stop; ++g) {
                    const double x = block.x[g * 4 * V + 4 * v + lane];
                    if (is_nan(x)) continue;
                    const double away = x - mean[g] - (rest == nullptr ? 0.0 : rest[g]);
                    const double z = away * scale[g], square = z * z;
                    if (!(square <= kLarge)) {
                        total[lane] += power * 2.0 * logarithm(std::fabs(z));
                        continue;
                    }
                    product[lane] += square + product[lane] * square;
                    if (product[lane] > kLarge) {
                        total[lane] += power * logarithm(product[lane]);
                        product[lane] = 0.0;
                    }
                }
            }
            u[v] = load(product);
            sum[v] = load(total);
        }
    }
};

// Add the scores of four classes to four adjacent columns of `out`, whose rows have C.
template <int V>
inline void add_four(F4 (&classes)[4][V], i64 C, double* out) {
    for (int v = 0; v < V; ++v) {
        transpose(classes[0][v], classes[1][v], classes[2][v], classes[3][v]);
        for (int k = 0; k < 4; ++k, out += C) store(out, load(out) + classes[k][v]);
    }
}

// Score class c for every row of a block: its columns from f0 on, of which `block` holds `width`.
template <class Density, int V, bool Paired>
inline void score_class(const Block<V>& block, const ScoreDenseTask& task, double constant, i64 at, i64 width,
                        F4 (&score)[V]) {
    F4 sum[V], constants[V];
    if (block.holes) {
        Density::template score<V, true, Paired>(block, task, at, width, sum);
        sum_constants<V>(block, task.constant + at, width, constants);
    } else {
        Density::template score<V, false, Paired>(block, task, at, width, sum);
        for (int v = 0; v < V; ++v) constants[v] = all(constant);
    }
    for (int v = 0; v < V; ++v) score[v] = constants[v] - sum[v];
}

template <class Density, int V, bool Paired>
inline void score_block(const ScoreDenseTask& task, const double* constants, i64 row, i64 count) {
    constexpr i64 kRows = Block<V>::kRows;
    const i64 F = task.table.n_columns, C = task.n_classes, chunks = (F + kChunk - 1) / kChunk;
    Block<V> block;
    for (i64 chunk = 0; chunk < chunks; ++chunk) {
        const i64 f0 = chunk * kChunk, width = smaller(kChunk, F - f0);
        block.read(task.table, row, count, f0, f0 + width);
        if (block.holes && task.holes != nullptr) *task.holes = true;
        F4 four[4][V];  // classes, so that rows of four scores are added to `out`
        for (i64 c = 0; c < C; ++c) {
            Block<V>::fetch(task.table, row + kRows, f0, f0 + width, c, C);
            F4(&score)[V] = four[c % 4];
            score_class<Density, V, Paired>(block, task, constants[chunk * C + c], c * F + f0, width, score);
            double* out = task.out + row * C + c;
            if (count < kRows || c >= C / 4 * 4) {
                double each[kRows];
                for (int v = 0; v < V; ++v) store(each + 4 * v, score[v]);
                for (i64 i = 0; i < count; ++i) out[i * C] += each[i];
            } else if (c % 4 == 3) {
                add_four<V>(four, C, out - 3);
            }
        }
    }
}

template <class Density, bool Paired>
inline Fault score_dense(const ScoreDenseTask& task) {
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes;
    Scratch<double> constants(((F + kChunk - 1) / kChunk) * C);  // per chunk and class, summed as sum_constants does
    for (i64 c = 0; c < C; ++c)
        for (i64 f = 0; f < F; ++f) constants[f / kChunk * C + c] += task.constant[c * F + f];
    i64 row = 0;
    for (; row + 32 <= n; row += 32) score_block<Density, 8, Paired>(task, constants.get(), row, 32);
    for (; row < n; row += 4) score_block<Density, 1, Paired>(task, constants.get(), row, smaller<i64>(4, n - row));
    return {};
}

inline Fault score_gaussian(const ScoreDenseTask& task) {
    return task.rest == nullptr ? score_dense<Gaussian, false>(task) : score_dense<Gaussian, true>(task);
}
inline Fault score_student(const ScoreDenseTask& task) {
    return task.rest == nullptr ? score_dense<Student, false>(task) : score_dense<Student, true>(task);
}

}  // namespace tally::TALLY_ISA
