// Contributions of columns to scores: each column's terms, multiplied by class weights and summed over classes.
//
//   out[i, f] += sum_c asked[i, c] * term(x[i, f], c)
//
// where the terms are those of dense/score.hpp or codes/count_and_score.hpp, and asked holds the class weights. A class
// of weight 0 adds nothing, even if its term is -inf. A missing value adds nothing.
// IN: as for the scores; asked (n, C). OUT: out (n, F), added to. The caller guarantees shapes and finite
// weights, nothing about other values.
// Cost: dense: a logarithm (Student) per 4 columns and class; codes: about 2 cycles per code of two classes.
// Twins: reference.terms_dense, reference.terms_codes.
#pragma once

#include "codes/count_and_score.hpp"
#include "dense/elementary.hpp"

namespace tally::TALLY_ISA {

// The classes of one row whose weight is not 0.
class ClassWeights {
public:
    explicit ClassWeights(i64 n_classes) : C_(n_classes), classes_(n_classes), weights_(n_classes) {}

    void read(const double* weights) {
        size_ = 0;
        for (i64 c = 0; c < C_; ++c) {
            if (weights[c] == 0.0) continue;
            classes_[size_] = c;
            weights_[size_++] = weights[c];
        }
    }
    i64 size() const { return size_; }
    i64 of_class(i64 k) { return classes_[k]; }
    double weight(i64 k) { return weights_[k]; }

private:
    const i64 C_;
    i64 size_ = 0;
    Scratch<i64> classes_;
    Scratch<double> weights_;
};

// Return whether each row of the table is adjacent doubles.
inline bool side_by_side(const Table& table) {
    const Column& first = table.columns[0];
    for (i64 f = 0; f < table.n_columns; ++f) {
        const Column& column = table.columns[f];
        if (column.type != Type::f64 || column.stride != first.stride || column.base != first.base + 8 * f) return false;
    }
    return true;
}

// Return power * log(1 + z * z), also if the square overflows.
inline F4 student_term(F4 z, F4 power) {
    const F4 square = z * z;
    // The common case: many rows mean many degrees of freedom, and so small squares.
    if (lanes(not_at_most(square, all(0.015625))) == 0) return power * logarithm_of_little_more_than_one(square);
    if (lanes(not_at_most(square, all(1e100))) == 0) return power * logarithm_of_one_plus(square);
    double away[4], near[4], times[4];
    store(away, z);
    store(near, logarithm_of_one_plus(smallest(square, all(1e100))));
    store(times, power);
    for (int lane = 0; lane < 4; ++lane) {
        const double far = std::fabs(away[lane]);
        const double log = far <= 1e50 ? near[lane] : 2.0 * logarithm(far);
        times[lane] = times[lane] == 0.0 ? 0.0 : times[lane] * log;
    }
    return load(times);
}

template <bool Student>
inline Fault terms_dense_as(const TermsDenseTask& task) {
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes;
    constexpr i64 kTile = 16;  // rows read at a time, so that separate columns are read in runs
    const i64 padded = (F + 3) / 4 * 4;
    Scratch<double> room(5 * C * padded), values(kTile * padded);
    double *const mean = room.get(), *const scale = mean + C * padded, *const constant = scale + C * padded,
                  *const power = constant + C * padded, *const rest = power + C * padded;
    for (i64 c = 0; c < C; ++c)
        for (i64 f = 0; f < F; ++f) {
            mean[c * padded + f] = task.mean[c * F + f];
            rest[c * padded + f] = task.rest == nullptr ? 0.0 : task.rest[c * F + f];
            scale[c * padded + f] = task.scale[c * F + f];
            constant[c * padded + f] = task.constant[c * F + f];
            if constexpr (Student) power[c * padded + f] = task.power[c * F + f];
        }
    const Column* first = task.table.columns;  // none if F is 0
    const bool rows = F > 0 && side_by_side(task.table);
    ClassWeights weights(C);
    for (i64 start = 0; start < n; start += kTile) {
        const i64 count = smaller(kTile, n - start);
        if (rows)
            for (i64 i = 0; i < count; ++i)
                std::memcpy(values.get() + i * padded, first->base + (start + i) * first->stride,
                            static_cast<std::size_t>(F) * sizeof(double));
        else
            for (i64 f = 0; f < F; ++f)
                for (i64 i = 0; i < count; ++i)
                    values[i * padded + f] = real_element(task.table.columns[f], start + i);
        for (i64 i = 0; i < count; ++i) {
            weights.read(task.asked + (start + i) * C);
            double* const out = task.out + (start + i) * F;
            for (i64 f = 0; f < F; f += 4) {
                const F4 x = load(values.get() + i * padded + f), gone = missing(x);
                F4 sum = all(0.0);
                for (i64 k = 0; k < weights.size(); ++k) {
                    const i64 at = weights.of_class(k) * padded + f;
                    const F4 z = drop(gone, (x - load(mean + at) - load(rest + at)) * load(scale + at));
                    const F4 lost = Student ? student_term(z, load(power + at)) : z * z;
                    sum = sum + all(weights.weight(k)) * (load(constant + at) - lost);
                }
                sum = drop(gone, sum);
                if (f + 4 <= F) {
                    store(out + f, load(out + f) + sum);
                    continue;
                }
                double last[4];
                store(last, sum);
                for (i64 g = f; g < F; ++g) out[g] += last[g - f];
            }
        }
    }
    return {};
}

inline Fault terms_dense(const TermsDenseTask& task) {
    return task.power == nullptr ? terms_dense_as<false>(task) : terms_dense_as<true>(task);
}

// Add the terms of a row, four columns at a time. The functions sum those of four columns, and of one, given where the
// scores of their codes begin.
template <class Place, class FourTerms, class OneTerm>
inline void add_row_of_terms(const double* scores, const Place* place, i64 pitch, i64 width, double* out,
                             FourTerms four_terms, OneTerm one_term) {
    i64 f = 0;
    for (; f + 4 <= width; f += 4, place += 4 * pitch) {
        const F4 sum = four_terms(scores + place[0], scores + place[pitch], scores + place[2 * pitch],
                                  scores + place[3 * pitch]);
        store(out + f, load(out + f) + sum);
    }
    for (; f < width; ++f, place += pitch) out[f] += one_term(scores + *place);
}

// The same by class weights. Two adjacent classes are the most common; their scores are read at once.
template <class Place>
inline void add_row_of_terms(const double* scores, ClassWeights& weights, const Place* place, i64 pitch, i64 width,
                             double* out) {
    if (weights.size() == 2 && weights.of_class(1) == weights.of_class(0) + 1) {
        const i64 at = weights.of_class(0);
        const double one = weights.weight(0), two = weights.weight(1);
        return add_row_of_terms(
            scores + at, place, pitch, width, out,
            [&](const double* a, const double* b, const double* c, const double* d) {
                F4 first, second;
                load_pairs(a, b, c, d, first, second);
                return all(0.0) + all(one) * first + all(two) * second;
            },
            [&](const double* a) { return 0.0 + one * a[0] + two * a[1]; });
    }
    add_row_of_terms(
        scores, place, pitch, width, out,
        [&](const double* a, const double* b, const double* c, const double* d) {
            F4 sum = all(0.0);
            for (i64 k = 0; k < weights.size(); ++k) {
                const i64 at = weights.of_class(k);
                sum = sum + all(weights.weight(k)) * four(a[at], b[at], c[at], d[at]);
            }
            return sum;
        },
        [&](const double* a) {
            double sum = 0.0;
            for (i64 k = 0; k < weights.size(); ++k) sum += weights.weight(k) * a[weights.of_class(k)];
            return sum;
        });
}

// Add the terms of the table rows that an index points to; a tile at a time.
template <class Index>
inline void add_terms_of_codes(const TermsCodesTask& task, const double* scores, Index& index) {
    const i64 n = task.table.n_rows, F = task.table.n_columns, C = task.n_classes;
    ClassWeights weights(C);
    for (i64 start = 0; start < n; start += index.rows()) {
        const i64 count = smaller(index.rows(), n - start);
        for (i64 f0 = 0; f0 < F; f0 += Index::kWidth) {
            const i64 width = smaller(Index::kWidth, F - f0);
            index.fill(start, count, f0, f0 + width);
            const i64 pitch = index.pitch();
            for (i64 i = 0; i < count; ++i) {
                weights.read(task.asked + (start + i) * C);
                index.fetch(start + i);
                double* const out = task.out + (start + i) * F + f0;
                add_row_of_terms(scores, weights, index.row(i), pitch, width, out);
            }
        }
    }
}

inline Fault terms_codes(const TermsCodesTask& task) {
    const i64 F = task.table.n_columns, C = task.n_classes;
    if (C == 0) return {};
    if (RowTable::suits(task, C)) {
        RowTable table(task, C);
        add_terms_of_codes(task, table.scores(), table.index);
        return {};
    }
    Scratch<double> nothing(C);  // the terms of a skipped code
    const i64 skip = distance_from(task.scores, nothing.get());
    CodeIndex index(task.table, task.low, C);
    for (i64 f = 0; f < F; ++f) {
        const i64 size = task.offsets[f + 1] - task.offsets[f], base = task.offsets[f] * C;
        index.set(f, size, base, task.outside_is_last && size > 0 ? base + (size - 1) * C : skip);
    }
    add_terms_of_codes(task, task.scores, index);
    return {};
}

}  // namespace tally::TALLY_ISA
