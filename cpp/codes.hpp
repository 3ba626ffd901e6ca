// Counting and scoring columns of small integer codes. A code v of column f stands at place offsets[f] + v - low of
// the columns laid end to end; a code outside [low, low + size) is skipped and counted, or scored as the last.
//
// IN: table (n, F) of integers of any width, classes (n,), offsets (F + 1,). The caller guarantees that offsets do not
// decrease and that `scores` holds offsets[F] rows. Classes and codes are checked here, as they are read.
// Cost: counting about 2 cycles a code, scoring about 2 cycles a code for up to 16 classes.
// Twins: reference.count_codes, reference.score_codes, reference.score_own_codes.
#pragma once

#include "limbs.hpp"
#include "simd.hpp"

namespace tally::TALLY_ISA {

constexpr i64 kCodeTile = 64;  // rows: a tile of a wide table of 64-bit codes stays in the first-level cache

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

// The place of a code in its column, as an unsigned number that is too large if the code is outside.
inline u64 place_of(i64 code, i64 low) { return static_cast<u64>(code) - static_cast<u64>(low); }

// Check and copy the classes of a tile.
inline Fault read_classes(const i32* classes, i64 start, i64 count, i64 n_classes, i64* local) {
    for (i64 i = 0; i < count; ++i) {
        const i64 c = classes[start + i];
        if (c < 0 || c >= n_classes) return {FaultKind::bad_class, start + i, 0, static_cast<double>(c)};
        local[i] = c;
    }
    return {};
}

// IN/OUT: counter of place p and class c at counters[p * place_step + c * class_step].
template <class Counter>
inline Fault count_codes_into(
    const CountCodesTask& task, i64 from, i64 to, Counter* counters, i64 place_step, i64 class_step) {
    i64 local[kCodeTile];
    for (i64 start = from; start < to; start += kCodeTile) {
        const i64 count = smaller(kCodeTile, to - start);
        const Fault fault = read_classes(task.classes, start, count, task.n_classes, local);
        if (fault.kind != FaultKind::none) return fault;
        for (i64 i = 0; i < count; ++i) local[i] *= class_step;
        for (i64 f = 0; f < task.table.n_columns; ++f) {
            const Column column = task.table.columns[f];
            const u64 size = static_cast<u64>(task.offsets[f + 1] - task.offsets[f]);
            Counter* const counter = counters + task.offsets[f] * place_step;
            const char* code = column.base + start * column.stride;
            i64 outside = 0;
            with_code_type(column.type, [&](auto zero) {
                for (i64 i = 0; i < count; ++i, code += column.stride) {
                    const u64 place = place_of(*reinterpret_cast<const decltype(zero)*>(code), task.low);
                    if (place < size)
                        ++counter[static_cast<i64>(place) * place_step + local[i]];
                    else
                        ++outside;
                }
            });
            task.outside[f] += outside;
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
            const u64 place = place_of(integer_element(task.table.columns[f], i), task.low);
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

inline Fault count_codes(const CountCodesTask& task) {
    const PlainArithmetic plain;
    if (task.weights != nullptr) return count_codes_weighted(task);
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes, places = task.offsets[F];
    Scratch<i64> counts(C * places);  // (C, places)
    // Short counters, class innermost, keep the working set small; not worth their copying for few codes.
    const bool large = n * F > 4 * C * places;
    const i64 step = large ? i64{1} << 31 : larger<i64>(n, 1);
    for (i64 start = 0; start < n; start += step) {
        const i64 stop = smaller(n, start + step);
        if (!large) {
            const Fault fault = count_codes_into(task, start, stop, counts.get(), 1, places);
            if (fault.kind != FaultKind::none) return fault;
            continue;
        }
        Scratch<u32> narrow(places * C);
        const Fault fault = count_codes_into(task, start, stop, narrow.get(), C, 1);
        if (fault.kind != FaultKind::none) return fault;
        for (i64 p = 0; p < places; ++p)
            for (i64 c = 0; c < C; ++c) counts[c * places + p] += narrow[p * C + c];
    }
    *task.counts = {counts.release(), C * places, 1, 0};
    return {};
}

// One column of score_codes: where its part of the score table begins, how long it is, what an outside code adds.
struct CodePart {
    Column column;
    u64 size;
    const double* scores;
    const double* fallback;
};

template <class Code, int Vectors>
inline void score_codes_rows(const ScoreCodesTask& task, const CodePart* parts, i64 F, i64 start, i64 count) {
    const i64 C = task.n_classes;
    const First tail = first(C - 4 * (Vectors - 1));
    for (i64 i = start; i < start + count; ++i) {
        double* const out = task.out + i * C;
        F4 sum[Vectors];
        for (int k = 0; k < Vectors - 1; ++k) sum[k] = load(out + 4 * k);
        sum[Vectors - 1] = load_first(out + 4 * (Vectors - 1), tail);
        for (i64 f = 0; f < F; ++f) {
            const CodePart& part = parts[f];
            const u64 place = place_of(element<Code>(part.column, i), task.low);
            const double* row = place < part.size ? part.scores + static_cast<i64>(place) * C : part.fallback;
            for (int k = 0; k < Vectors - 1; ++k) sum[k] = sum[k] + load(row + 4 * k);
            sum[Vectors - 1] = sum[Vectors - 1] + load_first(row + 4 * (Vectors - 1), tail);
        }
        for (int k = 0; k < Vectors - 1; ++k) store(out + 4 * k, sum[k]);
        store_first(out + 4 * (Vectors - 1), tail, sum[Vectors - 1]);
    }
}

template <class Code>
inline void score_codes_wide(const ScoreCodesTask& task, const CodePart* parts, i64 F, i64 start, i64 count) {
    const i64 C = task.n_classes;
    for (i64 i = start; i < start + count; ++i) {
        double* const out = task.out + i * C;
        for (i64 f = 0; f < F; ++f) {
            const CodePart& part = parts[f];
            const u64 place = place_of(element<Code>(part.column, i), task.low);
            const double* row = place < part.size ? part.scores + static_cast<i64>(place) * C : part.fallback;
            for (i64 c = 0; c < C; ++c) out[c] += row[c];
        }
    }
}

inline Fault score_codes(const ScoreCodesTask& task) {
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes;
    if (C == 0) return {};
    Scratch<double> nothing(C);
    Scratch<CodePart> parts(F);
    for (i64 f = 0; f < F; ++f) {
        const i64 size = task.offsets[f + 1] - task.offsets[f];
        const double* scores = task.scores + task.offsets[f] * C;
        const bool last = task.outside_is_last && size > 0;
        parts[f] = {task.table.columns[f], static_cast<u64>(size), scores,
                    last ? scores + (size - 1) * C : nothing.get()};
    }
    // Runs of columns of one type are scored together, in tiles of rows so that the next run finds `out` in cache.
    for (i64 start = 0; start < n; start += kCodeTile) {
        const i64 count = smaller(kCodeTile, n - start);
        for (i64 f0 = 0, f1 = 0; f0 < F; f0 = f1) {
            for (f1 = f0; f1 < F && parts[f1].column.type == parts[f0].column.type; ++f1) {}
            with_code_type(parts[f0].column.type, [&](auto zero) {
                using Code = decltype(zero);
                const CodePart* run = &parts[f0];
                switch ((C + 3) / 4) {
                    case 1: return score_codes_rows<Code, 1>(task, run, f1 - f0, start, count);
                    case 2: return score_codes_rows<Code, 2>(task, run, f1 - f0, start, count);
                    case 3: return score_codes_rows<Code, 3>(task, run, f1 - f0, start, count);
                    case 4: return score_codes_rows<Code, 4>(task, run, f1 - f0, start, count);
                    case 5: return score_codes_rows<Code, 5>(task, run, f1 - f0, start, count);
                    default: return score_codes_wide<Code>(task, run, f1 - f0, start, count);
                }
            });
        }
    }
    return {};
}

inline Fault score_own_codes(const ScoreCodesTask& task) {
    const i64 C = task.n_classes;
    i64 local[kCodeTile];
    for (i64 start = 0; start < task.table.n_rows; start += kCodeTile) {
        const i64 count = smaller(kCodeTile, task.table.n_rows - start);
        const Fault fault = read_classes(task.classes, start, count, C, local);
        if (fault.kind != FaultKind::none) return fault;
        for (i64 f = 0; f < task.table.n_columns; ++f) {
            const Column& column = task.table.columns[f];
            const u64 size = static_cast<u64>(task.offsets[f + 1] - task.offsets[f]);
            const double* scores = task.scores + task.offsets[f] * C;
            with_code_type(column.type, [&](auto zero) {
                for (i64 i = 0; i < count; ++i) {
                    const u64 place = place_of(element<decltype(zero)>(column, start + i), task.low);
                    if (place < size)
                        task.out[(start + i) * C + local[i]] += scores[static_cast<i64>(place) * C + local[i]];
                }
            });
        }
    }
    return {};
}

}  // namespace tally::TALLY_ISA
