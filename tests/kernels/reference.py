"""The specification of the compiled kernels, in plain NumPy and Python integers.

The code is slow and obvious on purpose. Tests compare every compiled kernel with its twin of the same name here. An
exact sum of products of p doubles is a Python integer in units of ``2**(-1088 * p)``: a double is a multiple of
2**-1074, and 1088 is the next multiple of a limb's 32 bits.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallybayes.kernels.buckets import MOST_BUCKETS, BucketCodes, BucketCounts, JoinedBuckets, Keys, ordered
from tallybayes.kernels.hashes import Words
from tallybayes.kernels.leave_one_out import Coefficients
from tallybayes.kernels.sparse_pattern import Rows, Starts
from tallybayes.kernels.types import BadEntry, Codes, Columns, Floats, Integers, Limbs, NotFinite, PowerSums, Sizes
from tallybayes.kernels.weigh import CodedTerms, WeighedTerms

WORD = 34  # limbs below the binary point that hold any double
Objects = NDArray[np.object_]
_WORD = 2**64 - 1


def _units(x: float) -> int:
    """Return the integer x * 2**1088."""
    numerator, denominator = float(x).as_integer_ratio()
    return (numerator << 32 * WORD) // denominator


def _columns(columns: Any) -> list[NDArray[Any]]:
    """Return a table or a sequence of columns as a list of columns."""
    if isinstance(columns, np.ndarray):
        return [columns[:, f] for f in range(columns.shape[1])]
    return list(columns)


def _zeros(*shape: int) -> Objects:
    out = np.empty(shape, dtype=object)
    out.fill(0)
    return out


def limbs(values: Objects, words: int = 0) -> Limbs:
    """Convert Python integers, in units of ``2**(-32 * words)``, to as few limbs as possible."""
    flat = [int(v) for v in values.ravel()]
    low = min(((v & -v).bit_length() - 1) // 32 for v in flat if v) if any(flat) else words
    high = max((v.bit_length() // 32 for v in flat if v), default=low)
    out = np.zeros((len(flat), high - low + 1), dtype=np.int64)
    for i, value in enumerate(flat):
        rest = value >> (32 * low)
        for k in range(high - low):
            out[i, k] = rest & 0xFFFFFFFF
            rest >>= 32
        out[i, -1] = rest
    return Limbs(out.reshape(*values.shape, high - low + 1), low - words)


def integers(exact: Limbs) -> Objects:
    """Convert limbs to Python integers in units of ``2**(32 * base)``."""
    out = _zeros(*exact.limbs.shape[:-1])
    for k in range(exact.limbs.shape[-1]):
        out = out + exact.limbs[..., k].astype(object) * (1 << 32 * k)
    return np.asarray(out, dtype=object)


def power_sums(
    columns: Columns, classes: NDArray[np.int32], n_classes: int, *, order: int = 2, weights: Floats | None = None
) -> PowerSums:
    """Return exact sums of w, w*x and w*x*x per class and column; NaN is missing."""
    parts = _columns(columns)
    shape = n_classes, len(parts)
    weight, first, second = _zeros(*shape), _zeros(*shape), _zeros(*shape)
    for i, c in enumerate(classes):
        w = 1 << 32 * WORD if weights is None else _units(weights[i])
        for f, column in enumerate(parts):
            x = float(column[i])
            if np.isinf(x):
                raise NotFinite(i, f, x)
            if np.isnan(x):
                continue
            weight[c, f] += w
            first[c, f] += w * _units(x)
            second[c, f] += w * _units(x) ** 2
    return PowerSums(limbs(weight, WORD), limbs(first, 2 * WORD), limbs(second, 3 * WORD) if order == 2 else None)


def count_codes(
    columns: Codes,
    classes: NDArray[np.int32],
    n_classes: int,
    sizes: Sizes,
    *,
    low: int = 0,
    weights: Floats | None = None,
) -> tuple[Limbs, NDArray[np.int64]]:
    """Return the exact weight of each code per class, and the codes outside."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    counts = _zeros(n_classes, int(offsets[-1]))
    outside = np.zeros(len(sizes), dtype=np.int64)
    for f, column in enumerate(_columns(columns)):
        for i, c in enumerate(classes):
            v = int(column[i]) - low
            if 0 <= v < sizes[f]:
                counts[c, offsets[f] + v] += 1 << 32 * WORD if weights is None else _units(weights[i])
            else:
                outside[f] += 1
    return limbs(counts, WORD), outside


def count_pairs(
    columns: Codes,
    classes: NDArray[np.int32],
    n_classes: int,
    sizes: Sizes,
    *,
    weights: Floats | None = None,
) -> Limbs:
    """Return the exact weight of each pair of codes per class and column pair."""
    coded, tables = _columns(columns), [_zeros(n_classes, 0)]
    for f, g in itertools.combinations(range(len(sizes)), 2):
        table = _zeros(n_classes, sizes[f], sizes[g])
        for i, c in enumerate(classes):
            u, v = int(coded[f][i]), int(coded[g][i])
            if 0 <= u < sizes[f] and 0 <= v < sizes[g]:
                table[c, u, v] += 1 << 32 * WORD if weights is None else _units(weights[i])
        tables.append(table.reshape(n_classes, -1))
    return limbs(np.concatenate(tables, axis=1), WORD)


def _shift_of(keys: list[int], shift: int) -> int:
    """Return the least shift, from the given one on, with which the keys fall into few enough buckets."""
    while len({key >> shift for key in keys}) > MOST_BUCKETS:
        shift += 1
    return shift


def find_buckets(columns: Columns) -> BucketCodes:
    """Return the bucket of each value, and the buckets of each column."""
    codes, keys, shifts = [], [], []
    for column in _columns(columns):
        bits = [None if np.isnan(x) else int(ordered(float(x))) for x in column]
        shift = _shift_of([b for b in bits if b is not None], 0)
        found: dict[int, int] = {}
        codes.append([-1 if b is None else found.setdefault(b >> shift << shift, len(found)) for b in bits])
        keys.append(list(found))
        shifts.append(shift)
    sizes = np.array([len(one) for one in keys], np.int64)
    flat = np.array([key for one in keys for key in one], np.int64)
    n = len(codes[0]) if codes else 0
    return BucketCodes(np.array(codes, np.int16).reshape(len(codes), n), flat, sizes, np.array(shifts, np.int64))


def count_buckets(columns: Columns, classes: NDArray[np.int32], n_classes: int) -> BucketCounts:
    """Return the buckets of each column, rising, and the rows of each class in them."""
    found, counts, keys = find_buckets(columns), [], []
    for codes, mine in zip(found.codes, np.split(found.keys, np.cumsum(found.sizes)[:-1]), strict=False):
        order, present, each = np.argsort(mine), codes >= 0, np.zeros((n_classes, len(mine)), np.int64)
        keys.append(mine[order])
        np.add.at(each, (classes[present], codes[present]), 1)
        counts.append(each[:, order])
    none = np.zeros((n_classes, 0), np.int64)
    return BucketCounts(
        np.concatenate([none, *counts], axis=1),
        np.concatenate([np.zeros(0, np.int64), *keys]),
        found.sizes,
        found.shifts,
    )


def find_cells(columns: Columns, edges: Floats, sizes: Sizes) -> NDArray[np.uint8]:
    """Return how many of a column's edges are at most each value."""
    ends = np.cumsum(sizes)
    found = [
        [255 if np.isnan(x) else int((edges[end - size : end] <= x).sum()) for x in column]
        for column, size, end in zip(_columns(columns), sizes, ends, strict=True)
    ]
    return np.array(found, np.uint8).reshape(len(found), len(found[0]) if found else 0)


def join_buckets(
    keys: Keys, sizes: Sizes, shifts: Keys, other_keys: Keys, other_sizes: Sizes, other_shifts: Keys
) -> JoinedBuckets:
    """Return the buckets that all rows would have, given those of two parts."""
    joint: list[int] = []
    mine: list[int] = []
    theirs: list[int] = []
    new_sizes, new_shifts = [], []
    left, right = (np.split(k, np.cumsum(s)[:-1]) for k, s in ((keys, sizes), (other_keys, other_sizes)))
    for a, b, shift, other in zip(left, right, shifts, other_shifts, strict=True):
        shift = _shift_of([*a.tolist(), *b.tolist()], max(int(shift), int(other)))
        both = sorted({key >> shift << shift for key in [*a.tolist(), *b.tolist()]})
        for part, places in ((a, mine), (b, theirs)):
            places += [len(joint) + both.index(key >> shift << shift) for key in part.tolist()]
        joint += both
        new_sizes.append(len(both))
        new_shifts.append(shift)
    return JoinedBuckets(*(np.array(part, np.int64) for part in (joint, new_sizes, new_shifts, mine, theirs)))


def add_limbs(left: NDArray[np.int64], right: NDArray[np.int64], out: NDArray[np.int64]) -> tuple[int, int]:
    """Add limbs modulo 2^64; return the bits of the greatest magnitude before and after."""
    out[...] = left + right
    before, after = ([abs(int(x)) for x in part.ravel()] for part in (np.concatenate([left, right]), out))
    return max(before, default=0).bit_length(), max(after, default=0).bit_length()


def add_columns(values: NDArray[np.int64], places: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """Add each column to the one at its place, modulo 2^64."""
    for v, place in enumerate(places):
        out[:, place] += values[:, v]


def look_up_counts(counts: NDArray[np.int64], values: Floats, out: Floats, first: int = 0) -> int:
    """Look up the value of each count of some columns, transposed; return how many have none, which are NaN."""
    counts = counts[:, first : first + len(out)]
    known = (counts >= 0) & (counts < len(values))
    out[:] = np.where(known, np.append(values, 0.0)[np.where(known, counts, 0)], np.nan).T
    return int((~known).sum())


def count_sparse(
    indptr: Integers,
    indices: Integers,
    data: NDArray[Any],
    n_columns: int,
    classes: NDArray[np.int32],
    n_classes: int,
    *,
    weights: Floats | None = None,
    binary: bool = False,
) -> Limbs:
    """Return exact weighted sums of CSR entries (binary: their presence) per class and column."""
    counts = _zeros(n_classes, n_columns)
    for i, c in enumerate(classes):
        w = 1 << 32 * WORD if weights is None else _units(weights[i])
        for k in range(indptr[i], indptr[i + 1]):
            x = data[k].item()
            if not 0 <= x < np.inf:
                raise BadEntry(i, int(indices[k]), x)
            counts[c, indices[k]] += w * (((x > 0) << 32 * WORD) if binary else _exact(x))
    return limbs(counts, 2 * WORD)


def _exact(x: float | int) -> int:
    return x << 32 * WORD if isinstance(x, int) else _units(x)


def score_gaussian(
    columns: Columns, mean: Floats, scale: Floats, constant: Floats, out: Floats, *, rest: Floats | None = None
) -> bool:
    """Add normal log-densities to out; return whether a value is NaN.

    Adds the sum over columns of ``constant - ((x - mean) * scale)**2``; NaN adds nothing.
    """
    for f, column in enumerate(_columns(columns)):
        z = _away(column, f, mean, rest) * scale[:, f]
        out += np.where(np.isnan(column)[:, None], 0.0, constant[:, f] - z * z)
    return any(np.isnan(column).any() for column in _columns(columns))


def _away(column: NDArray[Any], f: int, mean: Floats, rest: Floats | None) -> Floats:
    away = np.asarray(column, dtype=np.float64)[:, None] - mean[:, f]
    return away if rest is None else away - rest[:, f]


def score_student(
    columns: Columns,
    mean: Floats,
    scale: Floats,
    constant: Floats,
    power: Floats,
    out: Floats,
    *,
    rest: Floats | None = None,
) -> None:
    """Add Student's t log-densities to out.

    Adds the sum over columns of ``constant - power * log1p(((x - mean) * scale)**2)``; NaN adds nothing.
    """
    for f, column in enumerate(_columns(columns)):
        z = np.abs(_away(column, f, mean, rest) * scale[:, f])
        log = np.where(z > 1e100, 2 * np.log(np.maximum(z, 1)), np.log1p(np.minimum(z, 1e100) ** 2))
        out += np.where(np.isnan(column)[:, None], 0.0, constant[:, f] - power[:, f] * log)


def leave_dense(
    columns: Columns,
    classes: NDArray[np.int32],
    moments: Floats,
    whole: Floats,
    full: Coefficients,
    less: Coefficients,
    out: Floats,
    *,
    floor: float,
    student: bool,
) -> NDArray[np.int64]:
    """Add leave-one-out log-densities; return the cells where that cancels too many digits."""
    cancelled = []
    for f, column in enumerate(_columns(columns)):
        for i, own in enumerate(classes):
            x = float(column[i])
            if np.isnan(x):
                continue
            N, M, M2, rest_of_whole = (float(v) for v in whole[:, f])
            n, mean, m2, rest = (float(v) for v in moments[:, own, f])
            away, far = (x - mean) - rest, (x - M) - rest_of_whole
            own_m2 = m2 - away**2 * n / (n - 1) if n > 1 else m2
            whole_m2 = M2 - far**2 * N / (N - 1) if N > 1 else M2
            if N <= 1 or (n > 1 and m2 > 0 and not own_m2 > 1e-4 * m2) or (M2 > 0 and not whole_m2 > 1e-4 * M2):
                cancelled.append((i, f))
                continue
            moved, variance = rest_of_whole - far / (N - 1), whole_m2 / (N - 1)
            location = M + moved
            least = max(floor * (variance if M2 > 0 else min(max(location**2, 1.0), 1e300)), 1e-300)
            for c in range(out.shape[1]):
                pull, between, share, over, freedom, constant = (float(k[c, f]) for k in (less if c == own else full))
                _, at, square, beyond = (float(v) for v in moments[:, c, f])
                if c == own:
                    beyond, square = beyond - away / (n - 1) if n > 1 else beyond, own_m2
                apart = (at - M) + (beyond - moved)
                spread = square + between * min(apart**2, 1e300)
                scale2 = float(np.clip(share * spread + over * variance, least, 1e300))
                q = ((x - at) - beyond + pull * apart) ** 2 / scale2
                log = (freedom + 1) / 2 * np.log1p(q / freedom) if student else q / 2
                out[i, c] += constant - np.log(scale2) / 2 - log
    return np.array(cancelled, np.int64).reshape(-1, 2)


def _mixed(word: int, seed: int) -> int:
    word = ((word ^ seed) * 0x9E3779B97F4A7C15) & _WORD
    word = ((word ^ (word >> 32)) * 0xD6E8FEB86659FD93) & _WORD
    return word ^ (word >> 29)


def _key(column: int, seed: int) -> int:
    """Return the offset that is added to the bits of a column's numbers."""
    return _mixed(column & _WORD, (seed & _WORD) ^ 0xA0761D6478BD642F)


def _hash(x: float, key: int) -> int:
    """Multiply the signed halves of a number's bits, and fold the product."""
    if np.isnan(x):
        return 0
    bits = (int(np.float64(x + 0.0).view(np.uint64)) + key) & _WORD
    low, high = (half - ((half >> 31) << 32) for half in (bits & 0xFFFFFFFF, bits >> 32))
    product = (low * high) & _WORD
    return product ^ (product >> 32)


def _add_words(out: Words, total: int) -> None:
    out += np.array([total & _WORD], np.uint64).view(np.int64)


def mix_words(words: Words) -> None:
    """Mix each word in place."""
    for i, word in enumerate(words.tolist()):
        word &= _WORD
        for shift, factor in ((31, 0x7FB5D329728EA185), (27, 0x81DADEF4BC2DD44D), (33, 1)):
            word = (word ^ word >> shift) * factor & _WORD
        words[i] = np.array([word], np.uint64).view(np.int64)[0]


def hash_dense(columns: Columns, seeds: Words, out: Words) -> None:
    """Add the hashes of each row's numbers."""
    parts = _columns(columns)
    for i in range(len(out)):
        total = sum(_hash(float(column[i]), _key(int(seed), 0)) for column, seed in zip(parts, seeds, strict=True))
        _add_words(out[i : i + 1], total)


def hash_codes(columns: Codes, hashes: Words, sizes: Sizes, out: Words, *, low: int = 0) -> int:
    """Add the hashes that each row's codes point to, and return how many codes are out of range."""
    offsets, outside = np.concatenate([[0], np.cumsum(sizes)]).astype(int), 0
    for f, column in enumerate(_columns(columns)):
        for i in range(len(out)):
            v = int(column[i]) - low
            if 0 <= v < sizes[f]:
                out[i : i + 1] += hashes[offsets[f] + v]
            else:
                outside += 1
    return outside


def hash_sparse(indptr: Integers, indices: Integers, data: NDArray[Any], n_columns: int, seed: int, out: Words) -> None:
    """Add the hashes of each row's entries that are not 0."""
    for i in range(len(out)):
        entries = [(int(indices[k]), float(data[k])) for k in range(indptr[i], indptr[i + 1]) if data[k] != 0]
        total = sum(_hash(x, _key(j, seed)) for j, x in entries)
        _add_words(out[i : i + 1], total)


def score_codes(
    columns: Codes,
    table: Floats,
    sizes: Sizes,
    out: Floats,
    *,
    low: int = 0,
    outside: Literal["skip", "last"] = "skip",
) -> None:
    """Add the rows of the table that a row's codes point to."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    for f, column in enumerate(_columns(columns)):
        for i in range(len(out)):
            v = int(column[i]) - low
            if 0 <= v < sizes[f]:
                out[i] += table[offsets[f] + v]
            elif outside == "last" and sizes[f] > 0:
                out[i] += table[offsets[f + 1] - 1]


def terms_dense(
    columns: Columns,
    mean: Floats,
    scale: Floats,
    constant: Floats,
    power: Floats | None,
    factors: Floats,
    out: Floats,
    *,
    rest: Floats | None = None,
) -> None:
    """Add each column's log-densities, summed with the factors ``factors``, to out (n, F)."""
    for f, column in enumerate(_columns(columns)):
        for c in range(factors.shape[1]):
            terms = np.zeros((len(out), 1))
            at = slice(c, c + 1), slice(f, f + 1)
            beyond = None if rest is None else rest[at]
            if power is None:
                score_gaussian([column], mean[at], scale[at], constant[at], terms, rest=beyond)
            else:
                score_student([column], mean[at], scale[at], constant[at], power[at], terms, rest=beyond)
            some = factors[:, c] != 0
            out[some, f] += factors[some, c] * terms[some, 0]


def terms_codes(
    columns: Codes,
    table: Floats,
    sizes: Sizes,
    factors: Floats,
    out: Floats,
    *,
    low: int = 0,
    outside: Literal["skip", "last"] = "skip",
) -> None:
    """Add each code's table row, summed with the factors ``factors``, to out (n, F)."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    for f, column in enumerate(_columns(columns)):
        terms = np.zeros_like(factors)
        part = table[offsets[f] : offsets[f + 1]]
        score_codes([column], part, [int(sizes[f])], terms, low=low, outside=outside)
        out[:, f] += np.where(factors == 0, 0.0, factors * np.where(factors == 0, 0.0, terms)).sum(axis=1)


def score_own_codes(
    columns: Codes, table: Floats, sizes: Sizes, classes: NDArray[np.int32], out: Floats, *, low: int = 0
) -> None:
    """Do as score_codes, for each row's own class only."""
    scores = np.zeros_like(out)
    score_codes(columns, table, sizes, scores, low=low)
    rows = np.arange(len(out))
    out[rows, classes] += scores[rows, classes]


def score_sparse(
    indptr: Integers,
    indices: Integers,
    data: NDArray[Any],
    table: Floats,
    out: Floats,
    lengths: Floats | None = None,
) -> None:
    """Add each row's CSR entries times their rows of the table, and sum them, in order; 0 adds nothing."""
    for i in range(len(out)):
        if lengths is not None:
            lengths[i] = sum(map(float, data[indptr[i] : indptr[i + 1]]))
        for k in range(indptr[i], indptr[i + 1]):
            if data[k] != 0:
                out[i] += float(data[k]) * table[indices[k]]


def leave_sparse(
    indptr: Integers,
    indices: Integers,
    data: NDArray[Any],
    classes: NDArray[np.int32],
    counts: NDArray[np.int64],
    alpha: Floats,
    out: Floats,
) -> None:
    """Add each row's entries times the logs of its own class's counts without them; 0 adds nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(len(out)):
            for k in range(indptr[i], indptr[i + 1]):
                x, f = float(data[k]), indices[k]
                if x != 0:
                    out[i] += x * np.log(counts[classes[i], f] - x + alpha[f])


def _shifted(scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Return scores less their row's maximum, that maximum, and the shifted log-sum-exp."""
    top = scores.max(axis=1, initial=-np.inf)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore", over="ignore"):
        shifted = scores - top[:, None]
        return shifted, top, np.log(np.exp(shifted).sum(axis=1))


def softmax(scores: Floats, out: Floats | None = None) -> Floats:
    """Turn scores into probabilities, in out or in place; return each row's log-sum-exp."""
    shifted, top, log_sum = _shifted(scores)
    out = scores if out is None else out
    out[...] = np.exp(shifted - np.where(np.isneginf(log_sum), 0.0, log_sum)[:, None])
    return np.asarray(top + log_sum)


def number_row(row: dict[str, Any], names: tuple[str, ...], most: float) -> list[float] | None:
    """Return the numbers of a row, NaN where missing; None if a value is no finite number or not below a bound."""
    values = [row.get(name) for name in names]
    numbers = all(value is None or isinstance(value, float | int) for value in values)
    if not numbers or not any(name in row for name in names):
        return None
    found = [np.nan if value is None else float(value) for value in values]
    return None if any(abs(x) >= most for x in found) else found


def cell_probabilities(
    row: dict[str, Any], names: tuple[str, ...], edges: Floats, sizes: Sizes, table: Floats, prior: Floats
) -> Floats | None:
    """Return the probability of each class for a row of numbers; None for any other row, or an impossible one."""
    found = number_row(row, names, np.inf)
    if found is None:
        return None
    scores = prior[None].copy()
    score_codes(find_cells(np.array([found]), edges, [size - 1 for size in sizes]).T, table, sizes, scores)
    return scores[0] if np.isfinite(softmax(scores)[0]) else None


def best_class(scores: Floats, best: Integers) -> bool:
    """Write the position of each row's first largest score; return whether all of these are finite."""
    for i, row in enumerate(scores):
        best[i] = next((c for c, x in enumerate(row) if x == max(row)), 0)
    return bool(np.isfinite(scores.max(axis=1)).all())


def log_softmax(scores: Floats, out: Floats | None = None) -> Floats:
    """Turn scores into log-probabilities, in out or in place; return each row's log-sum-exp."""
    shifted, top, log_sum = _shifted(scores)
    out = scores if out is None else out
    out[...] = shifted - np.where(np.isneginf(log_sum), 0.0, log_sum)[:, None]
    return np.asarray(top + log_sum)


def log_norm(scores: Floats) -> Floats:
    """Return each row's log-sum-exp."""
    _, top, log_sum = _shifted(scores)
    return np.asarray(top + log_sum)


def temper(
    scores: Floats, own: Floats, logs: Floats, weights: Floats | None, u: float, v: float, loss: Floats
) -> tuple[float, ...]:
    """Compute losses under a temperature, and the weighted sums of them and their derivatives."""
    silent = np.isnan(logs)
    t = np.where(silent, 1.0, np.exp(np.minimum(u + v * logs, 709.0)))
    p = np.exp(scores * t[:, None])
    loss[...] = np.log(p.sum(axis=1)) - t * own
    p /= p.sum(axis=1, keepdims=True)
    mean = (p * scores).sum(axis=1)
    w = np.where(silent, 0.0, 1.0 if weights is None else weights)
    size = np.where(silent, 0.0, logs)
    g = w * t * (mean - own)
    h = w * t * t * np.maximum((p * scores**2).sum(axis=1) - mean**2, 0.0) + g
    total = loss.sum() if weights is None else (weights * loss).sum()
    return float(total), *(float(x.sum()) for x in (g, g * size, h, h * size, h * size * size))


def _ratio(numerator: int, denominator: int) -> float:
    """Return the double nearest to a quotient of integers."""
    try:
        return numerator / denominator
    except OverflowError:
        return np.inf if (numerator < 0) == (denominator < 0) else -np.inf


def _scaled(value: int, words: int) -> tuple[int, int]:
    """Return ``value * 2**(32 * words)`` as numerator and denominator."""
    return (value << 32 * words, 1) if words >= 0 else (value, 1 << -32 * words)


def to_float(exact: Limbs) -> Floats:
    """Return the double nearest to each exact number."""
    values = integers(exact)
    out = [_ratio(*_scaled(int(v), exact.base)) for v in values.ravel()]
    return np.array(out, dtype=np.float64).reshape(values.shape)


def exact_moments(n: Limbs, s1: Limbs, s2: Limbs) -> tuple[Floats, Floats, Floats]:
    """Return weight, mean and sum of squared deviations from exact power sums."""
    mean, m2 = np.zeros(n.limbs.shape[:-1]), np.zeros(n.limbs.shape[:-1])
    counts, sums, squares = integers(n), integers(s1), integers(s2)
    for cell in np.ndindex(mean.shape):
        a, b, c = (_scaled(int(v[cell]), e.base) for v, e in ((counts, n), (sums, s1), (squares, s2)))
        if a[0]:
            mean[cell] = _ratio(b[0] * a[1], b[1] * a[0])
            # s2 - s1*s1/n over one common denominator
            top = c[0] * b[1] ** 2 * a[0] - b[0] ** 2 * a[1] * c[1]
            m2[cell] = _ratio(top, c[1] * b[1] ** 2 * a[0])
    return to_float(n), mean, m2


def rest_of_mean(n: Limbs, s1: Limbs, mean: Floats) -> Floats:
    """Return the exact mean less the given double; 0 where that is infinite, or nothing was counted."""
    rest, counts, sums = np.zeros(mean.shape), integers(n), integers(s1)
    for cell in np.ndindex(mean.shape):
        a, b = (_scaled(int(v[cell]), e.base) for v, e in ((counts, n), (sums, s1)))
        if a[0] and np.isfinite(mean[cell]):
            rest[cell] = float(Fraction(b[0] * a[1], b[1] * a[0]) - Fraction(float(mean[cell])))
    return rest


def cells(starts: Starts, rows: Rows) -> list[tuple[int, int]]:
    """Column and row of each entry, in order."""
    return [(v, int(row)) for v in range(len(starts) - 1) for row in rows[starts[v] : starts[v + 1]]]


def join_places(
    starts: Starts, rows: Rows, other_starts: Starts, other_rows: Rows
) -> tuple[Starts, Rows, NDArray[np.int64], NDArray[np.int64]]:
    """As ``sparse_pattern.join_places``."""
    left, right = cells(starts, rows), cells(other_starts, other_rows)
    union = sorted({*left, *right})
    place = {cell: k for k, cell in enumerate(union)}
    ends = np.cumsum([0, *(sum(v == column for v, _ in union) for column in range(len(starts) - 1))])
    from_left, from_right = (np.array([place[cell] for cell in side], np.int64) for side in (left, right))
    return ends.astype(np.int64), np.array([row for _, row in union], np.int32), from_left, from_right


def find_places(
    starts: Starts, rows: Rows, of_rows: NDArray[np.int64], of_columns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """As ``sparse_pattern.find_places``."""
    place = {cell: k for k, cell in enumerate(cells(starts, rows))}
    wanted = zip(of_columns.tolist(), of_rows.tolist(), strict=True)
    return np.array([place.get(cell, -1) for cell in wanted], np.int64)


def copy_ranges(values: NDArray[Any], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """As ``sparse_pattern.copy_ranges``."""
    ranges = zip(starts.tolist(), lengths.tolist(), strict=True)
    return np.array([values[k] for start, length in ranges for k in range(start, start + length)], values.dtype)


def sum_cells(
    starts: Starts,
    columns: NDArray[np.int64],
    times: Floats,
    table: Floats,
    cells: NDArray[np.int64],
    at: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    """As ``cell_sums.sum_cells``: sums of doubles in the order of the entries, rounded once."""
    for i, row in enumerate(at):
        entries = range(starts[i], starts[i + 1])
        sums = np.zeros((out.shape[0], out.shape[2]))
        for k in entries:
            sums[cells[columns[k]]] += times[k] * table[columns[k]]
        for g in {cells[columns[k]] for k in entries}:
            out[g, row] = sums[g]


def weigh_terms(
    base: Floats,
    terms: Floats,
    numbers: NDArray[np.int32],
    coded: CodedTerms,
    classes: NDArray[np.int32],
    weights: Floats | None,
    share: Floats,
    scale: Floats,
    bias: Floats,
    table: Floats,
    *,
    curved: bool = False,
) -> WeighedTerms:
    """Compute the loss of weighted terms; its gradient and diagonal curvature by scale, bias and table."""
    whole = np.zeros((len(scale), *base.shape))
    np.add.at(whole, numbers, terms)
    codes = np.full(coded.codes.shape, -1)
    starts = np.cumsum(coded.sizes) - coded.sizes
    for v, code in enumerate(coded.codes):
        rows = np.flatnonzero(code >= 0)
        entry = starts[v] + code[rows]
        codes[v, rows] = coded.bins[entry]
        if coded.terms[v] >= 0:
            whole[coded.terms[v]][:, rows] += coded.values[entry].T
    return _weigh(base, whole, codes, classes, weights, share, scale, bias, table, curved)


def weighted_sum(weights: Floats, terms: NDArray[Any]) -> Floats:
    """Add one term after the other; products have the type of the terms."""
    out = np.zeros(terms.shape[1:])
    for weight, term in zip(weights.tolist(), terms, strict=True):
        if weight:
            out += weight * term
    return out


def _weigh(
    base: Floats,
    terms: Floats,
    codes: NDArray[np.integer],
    classes: NDArray[np.int32],
    weights: Floats | None,
    share: Floats,
    scale: Floats,
    bias: Floats,
    table: Floats,
    curved: bool,
) -> WeighedTerms:
    n, C, K = len(classes), len(bias), len(table)
    base = np.concatenate([base, np.zeros((1, n))])  # of the last class
    terms = np.concatenate([terms, np.zeros((len(terms), 1, n))], axis=1)
    padded = np.concatenate([table, np.zeros((1, C))])  # a code of -1 adds nothing
    inside = bias[:, None] + np.tensordot(scale, terms, 1)
    for code in codes:
        inside += padded[code].T
    scores = base + share * inside
    scores -= scores.max(axis=0)
    p = np.exp(scores)
    total = p.sum(axis=0)
    p /= total
    w = np.ones(n) if weights is None else weights
    loss = float((w * (np.log(total) - scores[classes, np.arange(n)])).sum())
    left = p.copy()
    left[classes, np.arange(n)] -= 1.0
    left *= w * share
    v = w * share**2
    spread = v * p * (1 - p)

    def by_code(values: Floats) -> Floats:
        out = np.zeros((K + 1, C))
        for code in codes:
            for c in range(C):
                out[:, c] += np.bincount(np.where(code < 0, K, code), values[c], minlength=K + 1)
        return out[:K]

    def curvature(term: Floats) -> float:
        return float((v * ((p * term**2).sum(axis=0) - (p * term).sum(axis=0) ** 2)).sum())

    slopes = np.concatenate([np.tensordot(terms, left, 2), left.sum(axis=1), by_code(left).ravel()])
    if not curved:
        return WeighedTerms(loss, slopes, np.zeros_like(slopes), 0.0)
    of_terms = np.array([curvature(term) for term in terms])
    curves = np.concatenate([of_terms, spread.sum(axis=1), by_code(spread).ravel()])
    return WeighedTerms(loss, slopes, curves, curvature(terms.sum(axis=0)))


def score_test(
    columns: NDArray[np.integer],
    full: Floats,
    less: Floats,
    sizes: Sizes,
    classes: NDArray[np.int32],
    p: Floats,
    slope_weights: Floats,
    curve_weights: Floats,
) -> tuple[Floats, Floats]:
    """Compute slope and curvature of the log-likelihood by the weight of each column's terms."""
    slope, curve, start = np.zeros(len(sizes)), np.zeros(len(sizes)), 0
    for f, size in enumerate(sizes):
        code = np.asarray(columns)[:, f].astype(np.int64)
        rows = np.flatnonzero((code >= 0) & (code < size))
        own, at = classes[rows], start + code[rows]
        x = full[at].copy()
        x[np.arange(len(rows)), own] = less[at, own]
        mean = (p[rows] * x).sum(axis=1)
        slope[f] = (slope_weights[rows] * (x[np.arange(len(rows)), own] - mean)).sum()
        curve[f] = (curve_weights[rows] * ((p[rows] * x * x).sum(axis=1) - mean**2)).sum()
        start += int(size)
    return slope, curve
