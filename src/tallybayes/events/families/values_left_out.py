"""Rows of values left out of the counts of categorical columns.

A value that only the row left out had is unseen without it: the number of values falls by one and the unseen value adds
one, so the formula of a share stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import ClassCodes, LeftOut, PairTerms, Weights, chunks
from tallybayes.events.families.dirichlet import leave_codes_out, log_share
from tallybayes.events.families.tree import Level
from tallybayes.events.families.value_shares import averaged, counts_of, level_of, log_shares, log_table, totals_of
from tallybayes.events.folds import Folds
from tallybayes.events.inputs import Codes, Floats
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.statistic import Statistic

__all__ = ["leave_values_out", "leave_values_out_by_folds"]

_MOST_PAIRS = 1 << 21  # terms of pairs of a value and a class, in each class: 16 MB


def leave_values_out(
    statistic: Statistic, data: Codes, classes: ClassCodes, weights: Weights, measure: Callable[[], Floats]
) -> LeftOut:
    """Return rows, each to be taken from its class; `measure` returns their lengths."""

    def add(options: EstimateOptions, out: Floats) -> None:
        if weights is None:
            full, less = (data.table(one) for one in _tables_without_one(statistic, options))
            leave_codes_out(data.columns, data.sizes, full, less, classes, out, low=data.low)
        else:
            _add_without_weight(statistic, data, classes, weights, options, out)

    def columns(options: EstimateOptions) -> Iterator[Floats]:
        full, less = _tables_without_one(statistic, options)
        return _columns_without_one(statistic, data, classes, full, less)

    def pairs(options: EstimateOptions) -> PairTerms | None:
        C = statistic.rows.shape[0]
        if int(data.sizes.sum()) * C * C > _MOST_PAIRS:
            return None
        full, less = (data.table(one) for one in _tables_without_one(statistic, options))
        last = data.rows is not None
        return PairTerms(data.columns, data.sizes, _by_pair(full, less), data.low, last, data.positions())

    alone = weights is None
    return LeftOut(add, measure, columns if alone else None, pairs if alone else None)


def leave_values_out_by_folds(
    statistic: Statistic,
    data: Codes,
    classes: ClassCodes,
    weights: Weights,
    folds: Folds,
    measure: Callable[[], Floats],
) -> LeftOut:
    """Return the same, where columns are averaged over α as the rows of other folds say."""
    alone = leave_values_out(statistic, data, classes, weights, measure)
    if weights is not None:
        return _with_weights(alone, statistic, data, classes, weights, folds)
    assert alone.columns is not None
    assert alone.pairs is not None
    plain_columns, plain_pairs = alone.columns, alone.pairs

    def add(options: EstimateOptions, out: Floats) -> None:
        if options.averaged is None:  # nothing is chosen
            alone.add(options, out)
            return
        of = _tables_of_folds(statistic, data, classes, folds, options)
        leave_codes_out(tuple(of.codes), of.sizes, of.full, of.less, classes, out)

    def columns(options: EstimateOptions) -> Iterator[Floats]:
        if options.averaged is None:
            yield from plain_columns(options)
            return
        of = _tables_of_folds(statistic, data, classes, folds, options)
        for end, size, code in zip(np.cumsum(of.sizes).tolist(), of.sizes.tolist(), of.codes, strict=True):
            yield _terms_without_one(end - size, np.where(code < size, code, -1), classes, of.full, of.less)[None]

    def pairs(options: EstimateOptions) -> PairTerms | None:
        if options.averaged is None:
            return plain_pairs(options)
        of = _tables_of_folds(statistic, data, classes, folds, options)
        if of.full.size * of.full.shape[1] > _MOST_PAIRS:
            return None
        return PairTerms(tuple(of.codes), of.sizes, _by_pair(of.full, of.less), cell_of=of.cell)

    return LeftOut(add, alone.measure, columns, pairs)


class _OfFolds(NamedTuple):
    """Codes of values, those of each fold apart from each other's, and their tables."""

    codes: npt.NDArray[np.int32]  # (F, n): code · folds + fold; that after the last where a value is missing
    sizes: npt.NDArray[np.int64]  # (F,)
    full: Floats  # (Σ sizes, C): see `_tables_without_one`
    less: Floats  # (Σ sizes, C)
    cell: npt.NDArray[np.intp]  # (Σ sizes,): the value that a code stands for


def _tables_of_folds(
    statistic: Statistic, data: Codes, classes: ClassCodes, folds: Folds, options: EstimateOptions
) -> _OfFolds:
    """Return the terms of each fold's rows, averaged over α as the rows of other folds say."""
    cell, value = _values_of_codes(statistic, data)
    fold, levels = _levels_of_folds(statistic, data, value, classes, folds)
    starts, K = np.cumsum(statistic.sizes + 1) - (statistic.sizes + 1), len(levels)
    row = np.repeat(starts, data.sizes) + cell  # of tables, in which a value never seen comes after those of its column
    tables = [[one[row] for one in _tables_without_one(statistic, options, level)] for level in levels]
    full, less = (np.stack(each, axis=1).reshape(-1, each[0].shape[1]) for each in zip(*tables, strict=True))
    codes = kernels.pair_codes(data.columns, data.sizes, fold, K, low=data.low)
    return _OfFolds(codes, data.sizes * K, full, less, np.repeat(cell, K))


def _values_of_codes(statistic: Statistic, data: Codes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the position of each code among the values of its column, and among those of all columns.

    A code without a value comes after those of its column; among all it is −1.
    """
    sizes, at = statistic.sizes, data.positions()
    if at is None:
        at = np.arange(int(data.sizes.sum())) - np.repeat(np.cumsum(data.sizes) - data.sizes, data.sizes)
    known, first = (np.repeat(one, data.sizes) for one in (sizes, np.cumsum(sizes) - sizes))
    return np.minimum(at, known), np.where(at < known, first + at, -1)


def _levels_of_folds(
    statistic: Statistic, data: Codes, value: npt.NDArray[np.intp], classes: ClassCodes, folds: Folds
) -> tuple[npt.NDArray[np.int32], list[Level]]:
    """Return the fold of each row, and how the rows of the others average over α; `value` is that of each code."""
    level, known = level_of(statistic), np.flatnonzero(value >= 0)
    (V, C), (of, fold) = level.counts.shape, np.unique(folds.of, return_inverse=True)
    groups, K = (fold * C + classes).astype(np.int32), len(of)  # class c of fold k is class k·C + c
    given = data.columns, groups, K * C, data.sizes
    counted, _ = kernels.count_codes(*given, low=data.low, weights=folds.weights)
    held = np.zeros((K, V, C))
    held[:, value[known]] = kernels.to_float(counted).reshape(K, C, len(value))[:, :, known].transpose(0, 2, 1)
    return fold.astype(np.int32), [level.planned_without(one) for one in held]


def _with_weights(
    alone: LeftOut, statistic: Statistic, data: Codes, classes: ClassCodes, weights: Floats, folds: Folds
) -> LeftOut:
    """Return rows of which less than one copy is left out, with choices made without each row's fold."""

    def add(options: EstimateOptions, out: Floats) -> None:
        if options.averaged is None:  # nothing is chosen
            alone.add(options, out)
            return
        _, value = _values_of_codes(statistic, data)
        fold, levels = _levels_of_folds(statistic, data, value, classes, folds)
        for k, level in enumerate(levels):
            found, rows = np.zeros_like(out), np.flatnonzero(fold == k)
            _add_without_weight(statistic, data, classes, weights, options, found, level)
            out[rows] += found[rows]

    return LeftOut(add, alone.measure)


def _by_pair(full: Floats, less: Floats) -> Floats:  # (C, V · C)
    """Return the terms of each value in each class, given those of other classes and of the row's own."""
    (V, C), own = full.shape, np.arange(full.shape[1])
    out = np.repeat(full.T[:, :, None], C, axis=2)
    out[own, :, own] = less.T
    return out.reshape(C, V * C)


def _columns_without_one(
    statistic: Statistic, data: Codes, classes: ClassCodes, full: Floats, less: Floats
) -> Iterator[Floats]:
    """Yield the log-probabilities of each column, (1, n, C), the row's own class having one row less."""
    starts = np.cumsum(statistic.sizes + 1) - statistic.sizes - 1
    for f, start in enumerate(starts.tolist()):
        yield _terms_without_one(start, data.of_column(f, slice(0, len(data))), classes, full, less)[None]


def _terms_without_one(
    start: int, code: npt.NDArray[np.intp], classes: ClassCodes, full: Floats, less: Floats
) -> Floats:  # (n, C)
    """Return the log-probabilities of a column, whose rows of the tables begin at `start`; 0 where it is missing."""
    present = np.flatnonzero(code >= 0)
    place, out = start + code[present], np.zeros((len(code), full.shape[1]))
    out[present] = full[place]
    out[present, classes[present]] = less[place, classes[present]]
    return out


def _tables_without_one(
    statistic: Statistic, options: EstimateOptions, level: Level | None = None
) -> tuple[Floats, Floats]:
    """Return the log-probabilities without a row: in the other classes, and in its own.

    A level says how columns are averaged over α; by default that of all rows.
    """
    counts, totals = counts_of(statistic)
    full = log_shares(statistic, options, counts, totals)
    less = log_shares(statistic, options, np.maximum(counts - 1, 0.0), np.maximum(totals - 1, 0.0))
    if options.averaged is not None:
        level = level_of(statistic) if level is None else level
        pooled, unseen = level.log_pooled_without(np.arange(len(counts)), 1.0), level.log_shares_unseen()
        other, own = level.log_ratios_without_one()
        full = averaged(statistic, options, full, pooled + other, unseen)
        less = averaged(statistic, options, less, pooled + own, unseen)
    if options.unseen == "skip":  # what only one row has is unseen without it
        at = np.arange(len(counts)) + np.repeat(np.arange(len(statistic.sizes)), statistic.sizes)
        full[at[counts.sum(axis=1) <= 1]] = less[at[counts.sum(axis=1) <= 1]] = 0.0
    return full, less


def _add_without_weight(
    statistic: Statistic,
    data: Codes,
    classes: ClassCodes,
    weights: Floats,
    options: EstimateOptions,
    out: Floats,
    level: Level | None = None,
) -> None:
    """Add log-probabilities, the row's own class having the row's weight less.

    A level says how columns are averaged over α; by default that of all rows.
    """
    table = log_table(statistic, options)
    level = level_of(statistic) if level is None else level
    counts, totals = statistic.sums["counts"], totals_of(statistic)
    everywhere = counts.sum(axis=0)
    for rows in chunks(len(data)):
        for f, size in enumerate(statistic.sizes):
            at = statistic.values_of(f)
            code = data.of_column(f, rows)
            seen = np.flatnonzero((code >= 0) & (code < size))
            if not len(seen):
                continue
            value, own, w = at[code[seen]], classes[rows][seen], weights[rows][seen]
            if options.averaged is not None and options.averaged[f]:
                terms = level.log_pooled_without(value, w) + level.log_ratios_without(value, own, w)
            else:
                terms = table[value + f]
                count, total = counts.less((own, value), w), totals.less((own, np.full(len(own), f)), w)
                terms[np.arange(len(seen)), own] = log_share(count, total, options.alpha[f], float(size))
            if options.unseen == "skip":
                terms[everywhere.less((value,), w) <= 0] = 0.0
            out[rows.start + seen] += terms
