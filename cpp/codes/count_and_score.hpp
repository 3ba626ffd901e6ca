// Counting and scoring columns of small integer codes. Columns are concatenated: code v of column f has position
// offsets[f] + v - low. A code outside [low, low + size) is skipped and counted, or scored as the last code.
//
// IN: table (n, F) of integers of any width, classes (n,), offsets (F + 1,), value_hashes (offsets[F],) or null. OUT:
// counts (C, offsets[F]) and outside (F,), with value_hashes also hashes (n,), added to; or out (n, C), added to. The caller guarantees that offsets do not decrease and that `scores` has offsets[F]
// rows. Classes and codes are checked here, as they are read.
// Cost: counting about 2 cycles per code, scoring about 2 cycles per code for up to 16 classes.
// Twins: reference.count_codes, reference.score_codes, reference.score_own_codes.
#pragma once

#include "codes/hash.hpp"
#include "codes/row_index.hpp"
#include "exact/limbs.hpp"

namespace tally::TALLY_ISA {

// Check and copy the classes of a tile.
inline Fault read_classes(const i32* classes, i64 start, i64 count, i64 n_classes, i64* local) {
    for (i64 i = 0; i < count; ++i) {
        const i64 c = classes[start + i];
        if (c < 0 || c >= n_classes) return {FaultKind::bad_class, start + i, 0, static_cast<double>(c)};
        local[i] = c;
    }
    return {};
}

// Where codes are counted and hashed: the positions of a class follow each other, and each column ends with one for codes
// outside it, whose hash is 0.
struct CodeCounters {
    i64 pitch;          // from one class to the next
    u32* counters;      // (C, pitch)
    const u64* hashes;  // (pitch,), or null
};

// Count rows [from, to), and hash them.
template <bool Hashed, class Index>
inline Fault count_codes_into(const CountCodesTask& task, i64 from, i64 to, Index& index, const CodeCounters& into) {
    i64 local[Index::kRows];
    const i64 F = task.table.n_columns;
    for (i64 start = from; start < to; start += index.rows()) {
        const i64 count = smaller(index.rows(), to - start);
        const Fault fault = read_classes(task.classes, start, count, task.n_classes, local);
        if (fault.kind != FaultKind::none) return fault;
        for (i64 f0 = 0; f0 < F; f0 += Index::kWidth) {
            const i64 width = smaller(Index::kWidth, F - f0);
            index.fill(start, count, f0, f0 + width);
            const i64 pitch = index.pitch();
            // column after column within a row, so that adjacent increments never wait for each other
            for (i64 i = 0; i < count; ++i) {
                const auto* place = index.row(i);
                index.fetch(start + i);
                u32* const counter = into.counters + local[i] * into.pitch;
                u64 sum = 0, other = 0;  // two independent chains of additions
                i64 f = 0;
                for (; f + 4 <= width; f += 4, place += 4 * pitch) {
                    const i64 a = place[0], b = place[pitch], c = place[2 * pitch], d = place[3 * pitch];
                    ++counter[a];
                    ++counter[b];
                    ++counter[c];
                    ++counter[d];
                    if constexpr (Hashed) {
                        sum += into.hashes[a] + into.hashes[b];
                        other += into.hashes[c] + into.hashes[d];
                    }
                }
                for (; f < width; ++f, place += pitch) {
                    ++counter[*place];
                    if constexpr (Hashed) sum += into.hashes[*place];
                }
                if constexpr (Hashed) task.hashes[start + i] += sum + other;
            }
        }
    }
    return {};
}

inline Fault count_codes_weighted(const CountCodesTask& task) {
    const i64 places = task.offsets[task.table.n_columns];
    LimbArray counts(task.n_classes * places);
    for (i64 i = 0; i < task.table.n_rows; ++i) {
        const i64 c = task.classes[i];
        if (c < 0 || c >= task.n_classes) return {FaultKind::bad_class, i, 0, static_cast<double>(c)};
        const double w = task.weights[i];
        if (!(w >= 0.0) || is_infinite(w)) return {FaultKind::bad_weight, i, 0, w};
        const Parts parts = parts_of(w);
        for (i64 f = 0; f < task.table.n_columns; ++f) {
            const u64 place = static_cast<u64>(integer_element(task.table.columns[f], i)) - static_cast<u64>(task.low);
            if (place < static_cast<u64>(task.offsets[f + 1] - task.offsets[f]))
                counts.add(
                    c * places + task.offsets[f] + static_cast<i64>(place), parts.mantissa, parts.exponent, false);
            else
                ++task.outside[f];
        }
        if ((i + 1) % kRowsPerSettle == 0) counts.settle();
    }
    counts.finish(*task.counts);
    return {};
}

// For fewer codes than positions: count one by one into counts (C, places).
inline Fault count_few_codes(const CountCodesTask& task, i64 places) {
    Scratch<i64> counts(task.n_classes * places);
    for (i64 i = 0; i < task.table.n_rows; ++i) {
        const i64 c = task.classes[i];
        if (c < 0 || c >= task.n_classes) return {FaultKind::bad_class, i, 0, static_cast<double>(c)};
        for (i64 f = 0; f < task.table.n_columns; ++f) {
            const u64 place = static_cast<u64>(integer_element(task.table.columns[f], i)) - static_cast<u64>(task.low);
            if (place < static_cast<u64>(task.offsets[f + 1] - task.offsets[f]))
                ++counts[c * places + task.offsets[f] + static_cast<i64>(place)];
            else
                ++task.outside[f];
        }
    }
    *task.counts = {counts.release(), task.n_classes * places, 1, 0};
    return {};
}

// For codes that are counted one by one: hash them apart.
inline void hash_counted_codes(const CountCodesTask& task) {
    i64 outside = 0;  // counted elsewhere
    if (task.value_hashes != nullptr)
        hash_codes({task.table, task.value_hashes, task.offsets, task.low, task.hashes, &outside});
}

// Add up counters of all rows by an index whose columns end with a position for codes outside them.
template <class Index>
inline Fault count_indexed(const CountCodesTask& task, Index& index, const u64* hashes) {
    constexpr i64 kMost = i64{1} << 31;  // rows before a 32-bit counter must be emptied
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes, places = task.offsets[F];
    Scratch<i64> counts(C * places);  // (C, places)
    for (i64 start = 0; start < n; start += kMost) {
        Scratch<u32> counters((places + F) * C);
        const CodeCounters into{places + F, counters.get(), hashes};
        const i64 stop = smaller(n, start + kMost);
        const Fault fault = task.value_hashes == nullptr ? count_codes_into<false>(task, start, stop, index, into)
                                                         : count_codes_into<true>(task, start, stop, index, into);
        if (fault.kind != FaultKind::none) return fault;
        const u32* counter = counters.get();
        for (i64 c = 0; c < C; ++c)
            for (i64 f = 0; f < F; ++f) {
                for (i64 p = task.offsets[f]; p < task.offsets[f + 1]; ++p) counts[c * places + p] += *counter++;
                task.outside[f] += *counter++;
            }
    }
    *task.counts = {counts.release(), C * places, 1, 0};
    return {};
}

inline Fault count_codes(const CountCodesTask& task) {
    const PlainArithmetic plain;
    const i64 F = task.table.n_columns, places = task.offsets[F];
    if (task.weights != nullptr || task.table.n_rows * F < task.n_classes * places) {
        hash_counted_codes(task);
        return task.weights != nullptr ? count_codes_weighted(task) : count_few_codes(task, places);
    }
    Scratch<u64> hashes(task.value_hashes == nullptr ? 0 : places + F);
    if (task.value_hashes != nullptr)
        for (i64 f = 0; f < F; ++f)
            std::copy(task.value_hashes + task.offsets[f], task.value_hashes + task.offsets[f + 1],
                      hashes.get() + task.offsets[f] + f);
    const auto set = [&](auto set_one) {
        for (i64 f = 0; f < F; ++f) set_one(f, task.offsets[f + 1] - task.offsets[f], task.offsets[f] + f);
    };
    if (RowIndex::suits(task.table, task.offsets, task.low, places + F)) {
        RowIndex index(task.table, task.low, 1);
        set([&](i64 f, i64 size, i64 start) { index.set(f, size, start); });
        return count_indexed(task, index, hashes.get());
    }
    CodeIndex index(task.table, task.low, 1);
    set([&](i64 f, i64 size, i64 start) { index.set(f, size, start, start + size); });
    return count_indexed(task, index, hashes.get());
}

constexpr i64 kMostOfVectors = 20;  // classes whose sums stay in registers

// Vectors = 0 serves any number of classes. Rows of a table that is padded are whole vectors.
template <int Vectors, bool Padded, class Index>
inline void score_rows(const double* scores, i64 C, double* to, Index& index, i64 start, i64 count, i64 width) {
    const i64 pitch = index.pitch();
    if constexpr (Vectors == 0) {
        for (i64 i = 0; i < count; ++i) {
            double* const out = to + (start + i) * C;
            const auto* place = index.row(i);
            for (i64 f = 0; f < width; ++f, place += pitch)
                for (i64 c = 0; c < C; ++c) out[c] += scores[*place + c];
        }
    } else {
        constexpr int kLast = Vectors - 1;
        const First tail = first(C - 4 * kLast);
        const auto load_last = [&](const double* p) { return Padded ? load(p) : load_first(p, tail); };
        for (i64 i = 0; i < count; ++i) {
            double* const out = to + (start + i) * C;
            const auto* place = index.row(i);
            index.fetch(start + i);
            F4 sum[Vectors], other[Vectors];  // two independent chains of additions
            for (int k = 0; k < kLast; ++k) sum[k] = load(out + 4 * k);
            sum[kLast] = load_first(out + 4 * kLast, tail);
            for (int k = 0; k < Vectors; ++k) other[k] = all(0.0);
            i64 f = 0;
            for (; f + 2 <= width; f += 2, place += 2 * pitch) {
                const double *one = scores + place[0], *two = scores + place[pitch];
                for (int k = 0; k < kLast; ++k) {
                    sum[k] = sum[k] + load(one + 4 * k);
                    other[k] = other[k] + load(two + 4 * k);
                }
                sum[kLast] = sum[kLast] + load_last(one + 4 * kLast);
                other[kLast] = other[kLast] + load_last(two + 4 * kLast);
            }
            if (f < width) {
                const double* one = scores + place[0];
                for (int k = 0; k < kLast; ++k) sum[k] = sum[k] + load(one + 4 * k);
                sum[kLast] = sum[kLast] + load_last(one + 4 * kLast);
            }
            for (int k = 0; k < kLast; ++k) store(out + 4 * k, sum[k] + other[k]);
            store_first(out + 4 * kLast, tail, sum[kLast] + other[kLast]);
        }
    }
}

// Add the rows of the table that an index points to, for all its columns; a tile at a time.
template <bool Padded, class Index>
inline void score_indexed(i64 n, i64 F, const double* scores, i64 C, double* out, Index& index) {
    for (i64 start = 0; start < n; start += index.rows()) {
        const i64 count = smaller(index.rows(), n - start);
        for (i64 f0 = 0; f0 < F; f0 += Index::kWidth) {
            const i64 width = smaller(Index::kWidth, F - f0);
            index.fill(start, count, f0, f0 + width);
            switch ((C + 3) / 4) {
                case 1: score_rows<1, Padded>(scores, C, out, index, start, count, width); break;
                case 2: score_rows<2, Padded>(scores, C, out, index, start, count, width); break;
                case 3: score_rows<3, Padded>(scores, C, out, index, start, count, width); break;
                case 4: score_rows<4, Padded>(scores, C, out, index, start, count, width); break;
                case 5: score_rows<5, Padded>(scores, C, out, index, start, count, width); break;
                default: score_rows<0, Padded>(scores, C, out, index, start, count, width);
            }
        }
    }
}

// Return the distance from one array of doubles to another, so that both are addressed from the first.
inline i64 distance_from(const double* from, const double* to) {
    return static_cast<i64>(reinterpret_cast<std::intptr_t>(to) - reinterpret_cast<std::intptr_t>(from)) / 8;
}

// Score by a table whose rows are `step` doubles apart; `skip` is the distance to a row of zeros.
template <bool Padded>
inline void score_by_table(const ScoreCodesTask& task, const double* scores, i64 step, i64 skip) {
    const i64 F = task.table.n_columns;
    CodeIndex index(task.table, task.low, step);
    for (i64 f = 0; f < F; ++f) {
        const i64 size = task.offsets[f + 1] - task.offsets[f], base = task.offsets[f] * step;
        index.set(f, size, base, task.outside_is_last && size > 0 ? base + (size - 1) * step : skip);
    }
    score_indexed<Padded>(task.table.n_rows, F, scores, task.n_classes, task.out, index);
}

// A copy of a table of scores, whose columns have a row more: that of a code outside them. Its rows are `step` doubles
// apart, and the index of adjacent codes points to them.
class RowTable {
public:
    template <class Task>
    RowTable(const Task& task, i64 step)
        : index(task.table, task.low, step), scores_((task.offsets[task.table.n_columns] + task.table.n_columns) * step) {
        const i64 C = task.n_classes;
        for (i64 f = 0; f < task.table.n_columns; ++f) {
            const i64 size = task.offsets[f + 1] - task.offsets[f], base = (task.offsets[f] + f) * step;
            const double* from = task.scores + task.offsets[f] * C;
            for (i64 v = 0; v < size; ++v) std::copy_n(from + v * C, C, scores_.get() + base + v * step);
            index.set(f, task.outside_is_last && size > 0 ? size - 1 : size, base);
        }
    }

    // Whether there are rows enough to make up for the copy, and RowIndex can index it.
    template <class Task>
    static bool suits(const Task& task, i64 step) {
        const i64 F = task.table.n_columns, places = task.offsets[F];
        return 2 * places <= task.table.n_rows &&
               RowIndex::suits(task.table, task.offsets, task.low, (places + F) * step);
    }

    const double* scores() { return scores_.get(); }
    RowIndex index;

private:
    AlignedScratch<double> scores_;
};

inline Fault score_codes(const ScoreCodesTask& task) {
    const i64 C = task.n_classes, F = task.table.n_columns, places = task.offsets[F];
    if (C == 0) return {};
    // Rows that fill whole vectors of a cache line each are read sooner, but only many rows make up for the copy.
    const bool copied = 2 * places <= task.table.n_rows, padded = C > 2 && C < kMostOfVectors;
    const i64 step = padded ? (C + 3) / 4 * 4 : C;
    if (RowTable::suits(task, step)) {
        RowTable table(task, step);
        if (step % 4 == 0) score_indexed<true>(task.table.n_rows, F, table.scores(), C, task.out, table.index);
        else score_indexed<false>(task.table.n_rows, F, table.scores(), C, task.out, table.index);
    } else if (copied && step > C) {
        AlignedScratch<double> table((places + 1) * step);
        for (i64 p = 0; p < places; ++p) std::copy_n(task.scores + p * C, C, table.get() + p * step);
        score_by_table<true>(task, table.get(), step, places * step);
    } else {
        Scratch<double> nothing(C);  // added for a skipped code; addressed by its distance from the table, like any row
        score_by_table<false>(task, task.scores, C, distance_from(task.scores, nothing.get()));
    }
    return {};
}

inline Fault score_own_codes(const ScoreCodesTask& task) {
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes;
    i64 local[CodeIndex::kRows];
    CodeIndex index(task.table, task.low, C);
    for (i64 f = 0; f < F; ++f) index.set(f, task.offsets[f + 1] - task.offsets[f], task.offsets[f] * C, -1);
    for (i64 start = 0; start < n; start += CodeIndex::kRows) {
        const i64 count = smaller(CodeIndex::kRows, n - start);
        const Fault fault = read_classes(task.classes, start, count, C, local);
        if (fault.kind != FaultKind::none) return fault;
        for (i64 f0 = 0; f0 < F; f0 += CodeIndex::kWidth) {
            const i64 width = smaller(CodeIndex::kWidth, F - f0);
            index.fill(start, count, f0, f0 + width);
            const i64 pitch = index.pitch();
            for (i64 i = 0; i < count; ++i) {
                const i64* place = index.row(i);
                double sum = 0.0;
                for (i64 f = 0; f < width; ++f, place += pitch)
                    if (*place >= 0) sum += task.scores[*place + local[i]];
                task.out[(start + i) * C + local[i]] += sum;
            }
        }
    }
    return {};
}

}  // namespace tally::TALLY_ISA
