"""Categorical: a column takes one of a few values, each with its own probability in each class.

Counted: how often each value occurs in each class. Estimated: (count + α) / (total + α·K), K the number of values
seen. A value never seen counts as one more value with a count of zero. With α averaged (`families.tree`), the prior is
not α of each value but α rows that look like the column over all classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.events.cell_hashes import CellHashes
from tallybayes.events.event import ClassCodes, Counted, Event, InputKind, LeftOut, PairTerms, Weights, chunks
from tallybayes.events.families.dirichlet import contrast, leave_codes_out, log_share
from tallybayes.events.families.empirical_bayes import empirical_bayes_alpha
from tallybayes.events.families.tree import Level
from tallybayes.events.families.variance import minus_variance
from tallybayes.events.families.weighted_likelihood import times
from tallybayes.events.folds import Folds
from tallybayes.events.inputs import Codes, Floats, Value
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Pixels, Profile, Table
from tallybayes.events.plain_terms import LookupTable
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["Categorical", "CategoricalTable", "level_of"]

_MOST_PAIRS = 1 << 21  # terms of pairs of a value and a class, in each class: 16 MB


@dataclass(frozen=True, eq=False)
class CategoricalTable(Likelihood[Codes]):
    """Log-probabilities of every value, with a row after each column's values for one never seen."""

    log: Floats  # (Σ (V + 1), C)
    scale: Floats | None = None  # (F,) the weights of the columns, where they are weighted

    def add_variance(self, data: Codes, out: Floats) -> None:
        """Look up minus the variance of each value's log-share, as if it were a log-probability."""
        minus = np.zeros_like(out)
        self._minus_variances.add_log_prob(data, minus)
        out -= minus

    @cached_property
    def _minus_variances(self) -> CategoricalTable:
        statistic, options = self.statistic, self.options
        log = _log_shares(statistic, options, *_counts(statistic), minus_variance)
        if options.averaged is not None:
            unseen = log[np.cumsum(statistic.sizes + 1) - 1]  # as with α = 1
            log = _averaged(statistic, options, log, -level_of(statistic).variances(), unseen)
        if self.scale is not None:
            log = log * np.repeat(self.scale, statistic.sizes + 1)[:, None] ** 2
        return CategoricalTable(statistic, options, log)

    def add_log_prob(self, data: Codes, out: Floats) -> None:
        """Look up each value's log-probability."""
        table = data.table(self.log)
        kernels.score_codes(data.columns, table, data.sizes, out, low=data.low, outside=data.outside)

    def add_terms(self, data: Codes, weights: Floats, out: Floats) -> None:
        """Add the log-probability of each value, weighted, column by column."""
        table = data.table(self.log)
        kernels.terms_codes(data.columns, table, data.sizes, weights, out, low=data.low, outside=data.outside)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the log-probability of each value; a value never seen has the column's last row."""
        labels = self.statistic.labels[f]
        start = int(self.statistic.sizes[:f].sum()) + f
        values = labels.values if at is None else tuple(at)
        place = {value: k for k, value in enumerate(labels.values)}
        rows = start + np.array([place.get(value, len(labels)) for value in values], np.intp)
        return Profile("values", values, self.log[rows])

    def support(self, data: Codes) -> Floats:  # (F, C)
        """Return the weight of the rows of each class with the same value."""
        counts, found = self.statistic.sums["counts"].to_float(), data.first()
        if not counts.shape[1]:  # columns without any value at all
            return np.zeros((len(found), len(counts)))
        seen = (found >= 0) & (found < self.statistic.sizes)
        starts = np.cumsum(self.statistic.sizes) - self.statistic.sizes
        return np.where(seen[:, None], counts[:, np.where(seen, starts + found, 0)].T, 0.0)

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw values by their probabilities."""
        drawn: Drawn = []
        for labels, log in zip(self.statistic.labels, _by_column(self), strict=True):
            p = np.exp(log[:, c])
            nothing = pa.nulls(n, labels.array.type)  # a column without any value
            drawn.append(labels.array.take(rng.choice(len(labels), n, p=p / p.sum())) if len(labels) else nothing)
        return drawn

    def missing(self) -> Floats:  # (C, F)
        """Return the share of rows whose value was not counted."""
        totals, rows = _totals(self.statistic).to_float(), self.statistic.rows.to_float()[:, None]
        return np.divide(rows - totals, rows, out=np.zeros_like(totals), where=rows > 0)

    def pixels(self) -> Pixels:
        """Return the mean of numeric or boolean values; dark is the least value, lit the largest."""
        average, dark, lit = (np.full((self.log.shape[1], len(self.statistic.labels)), np.nan) for _ in range(3))
        for f, (labels, log) in enumerate(zip(self.statistic.labels, _by_column(self), strict=True)):
            values = _numbers(labels)
            if values is not None:
                average[:, f], dark[:, f], lit[:, f] = values @ np.exp(log), log[0], log[-1]
        return Pixels("mean", average, dark, lit)

    def table(self, f: int) -> Table:
        """Return a row per value: counts beside probabilities."""
        at = self.statistic.values_of(f)
        counts = self.statistic.sums["counts"].take(at, axis=1).to_float().T
        return self.statistic.labels[f].values, counts, np.exp(self.log[at + f])

    def to_plain(self) -> tuple[LookupTable, ...]:
        """Return a table of each column's values."""
        tables = np.split(self.log, np.cumsum(self.statistic.sizes + 1)[:-1])
        return tuple(LookupTable(self.cells(f), log) for f, log in enumerate(tables))

    def cells(self, f: int) -> Categories:
        """Return the values seen in column f."""
        labels = self.statistic.labels[f]
        assert isinstance(labels, Categories)
        return labels

    def cell_weights(self, f: int) -> Floats:  # (V,)
        """Return the weight of all rows with each value of column f."""
        counts = self.statistic.sums["counts"].take(self.statistic.values_of(f), axis=1)
        return np.asarray(counts.to_float().sum(axis=0))

    def find_cells(self, data: Codes) -> Iterable[npt.NDArray[np.intp]]:  # (n,) for each column
        """Return the position of each row's value among the values seen."""
        return (data.of_column(f, slice(0, len(data))) for f in range(len(self.statistic.labels)))

    def scaled(self, weights: Floats, additions: Mapping[int, Floats]) -> CategoricalTable:
        """Return the table with each column's rows times its weight, plus the additions."""
        log = times(np.repeat(weights, self.statistic.sizes + 1)[:, None], self.log)
        starts = np.cumsum(self.statistic.sizes + 1) - self.statistic.sizes - 1
        for f, addition in additions.items():
            log[starts[f] : starts[f] + len(addition)] += addition
        return replace(self, log=log, scale=weights)

    def contrasted(self) -> CategoricalTable:
        """Return each value's log-probabilities less the largest."""
        return replace(self, log=contrast(self.log))

    @property
    def n_values(self) -> tuple[int, ...]:
        """The number of values seen in each column."""
        return tuple(self.statistic.sizes.tolist())

    @property
    def categories(self) -> tuple[Categories, ...]:
        """The values of each column; one more row after them is for a value never seen."""
        return self.statistic.labels


@dataclass(frozen=True)
class Categorical(Event[Codes]):
    """One of K values, each with its own probability in each class.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"outlook": ["sunny", "rainy", "rainy"], "play": ["no", "yes", "yes"]}, "play", alpha=1)
    >>> model.table("outlook").values.round(3)      # (1+1)/(1+2), (0+1)/(2+2); (0+1)/(1+2), (2+1)/(2+2)
    array([[0.333, 0.75 ],
           [0.667, 0.25 ]])
    """

    name: ClassVar[str] = "categorical"
    discrete: ClassVar[bool] = True
    input: ClassVar[InputKind] = "codes"
    sums: ClassVar[dict[str, Sum]] = {"counts": Sum("value")}

    def count(self, data: Codes, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count how often each value occurs in each class."""
        counts, outside = kernels.count_codes(
            data.columns, classes, n_classes, data.sizes, low=data.low, weights=weights
        )
        if data.settle is not None and outside.any():
            return self.count(data.settle(), classes, n_classes, weights)
        return {"counts": Exact.from_limbs(counts)}, data.labels

    def count_and_hash(
        self, data: Codes, classes: ClassCodes, n_classes: int, weights: Weights, hashes: CellHashes
    ) -> Counted | None:
        """Count the same, and hash the rows while they are in a cache."""
        values = hashes.of_values(data)
        counts, outside = kernels.count_codes(
            data.columns, classes, n_classes, data.sizes, low=data.low, weights=weights, hashes=values, out=hashes.out
        )
        if data.settle is not None and outside.any():
            kernels.hash_codes(data.columns, -values, data.sizes, hashes.out, low=data.low)  # take them back
            return self.count_and_hash(data.settle(), classes, n_classes, weights, hashes)
        return {"counts": Exact.from_limbs(counts)}, data.labels

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> CategoricalTable:
        """Return the log-share of each value, smoothed."""
        return CategoricalTable(statistic, options, _log_table(statistic, options))

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats:
        """Return the smoothing under which each column's counts are most probable."""
        counts = statistic.sums["counts"].to_float()
        return np.array(
            [empirical_bayes_alpha(counts[:, statistic.values_of(f)]) for f in range(len(statistic.labels))]
        )

    def without_rows(self, statistic: Statistic, data: Codes, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its class.

        A value that only this row had is unseen without it: K falls by one and the unseen value adds one, so the
        formula stays the same.
        """

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
        return LeftOut(add, lambda: self.length(data), columns if alone else None, pairs if alone else None)

    def without_rows_of_folds(
        self, statistic: Statistic, data: Codes, classes: ClassCodes, weights: Weights, folds: Folds
    ) -> LeftOut:
        """Return the rows, where columns are averaged over α as the rows of other folds say."""
        alone = self.without_rows(statistic, data, classes, weights)
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
    """Return the position of each code among its column's values, and among those of all; of none, the last of both."""
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
    counts, totals = _counts(statistic)
    full = _log_shares(statistic, options, counts, totals)
    less = _log_shares(statistic, options, np.maximum(counts - 1, 0.0), np.maximum(totals - 1, 0.0))
    if options.averaged is not None:
        level = level_of(statistic) if level is None else level
        pooled, unseen = level.log_pooled_without(np.arange(len(counts)), 1.0), level.log_shares_unseen()
        other, own = level.log_ratios_without_one()
        full = _averaged(statistic, options, full, pooled + other, unseen)
        less = _averaged(statistic, options, less, pooled + own, unseen)
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
    table = _log_table(statistic, options)
    level = level_of(statistic) if level is None else level
    counts, totals = statistic.sums["counts"], _totals(statistic)
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


def _log_table(statistic: Statistic, options: EstimateOptions) -> Floats:  # (Σ (V + 1), C)
    """Return the log-probability of each value, and after each column's values that of one never seen."""
    log = _log_shares(statistic, options, *_counts(statistic))
    if options.averaged is None:
        return log
    level = level_of(statistic)
    return _averaged(statistic, options, log, level.log_shares(), level.log_shares_unseen())


def level_of(statistic: Statistic) -> Level:
    """Return the counts as a level of a tree: the parent of a value is its column."""

    def make() -> Level:
        counts, totals = _counts(statistic)
        columns = np.arange(len(statistic.sizes))
        return Level(counts, np.repeat(columns, statistic.sizes), totals, columns)

    return statistic.derive("level", make)


def _averaged(
    statistic: Statistic, options: EstimateOptions, log: Floats, seen: Floats, unseen: Floats
) -> Floats:  # (Σ (V + 1), C)
    """Return a table with the columns that are averaged over α taken from `seen` (ΣV, C) and `unseen` (F, C)."""
    assert options.averaged is not None
    unseen = np.zeros_like(unseen) if options.unseen == "skip" else unseen
    averages = np.insert(seen, np.cumsum(statistic.sizes), unseen, axis=0)
    return np.where(np.repeat(options.averaged, statistic.sizes + 1)[:, None], averages, log)


def _log_shares(
    statistic: Statistic,
    options: EstimateOptions,
    counts: Floats,
    totals: Floats,
    share: Callable[..., Floats] = log_share,
) -> Floats:  # (Σ (V + 1), C)
    """Return the log-share of each value, and after each column's values that of one never seen."""
    of = np.repeat(np.arange(len(statistic.labels)), statistic.sizes)
    size = statistic.sizes[:, None].astype(float)
    seen = share(counts, totals[of], options.alpha[of, None], size[of])
    unseen = np.zeros_like(totals)
    if options.unseen != "skip":
        unseen = share(0.0, totals, options.alpha[:, None], size + 1)
    return np.insert(seen, np.cumsum(statistic.sizes), unseen, axis=0)


def _by_column(table: CategoricalTable) -> list[Floats]:
    """Return the log-probabilities of each column's values, (V, C) each."""
    ends = np.cumsum([len(labels) + 1 for labels in table.statistic.labels])
    return [
        table.log[end - len(labels) - 1 : end - 1] for end, labels in zip(ends, table.statistic.labels, strict=True)
    ]


def _numbers(labels: Categories) -> Floats | None:
    """Return the values as numbers; None unless all are numbers or booleans."""
    if not len(labels) or labels.array.null_count or labels.kind not in ("whole numbers", "numbers", "booleans"):
        return None
    return np.asarray(labels.to_numpy(), np.float64)


def _counts(statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the counts (ΣV, C) and each column's totals (F, C)."""
    counts = statistic.sums["counts"].to_float().T
    return np.ascontiguousarray(counts), np.ascontiguousarray(_totals(statistic).to_float().T)


def _totals(statistic: Statistic) -> Exact:  # (C, F)
    """Return the weight of all values of each column."""
    counts, sizes = statistic.sums["counts"], statistic.sizes
    some = np.flatnonzero(sizes)
    if not len(some):
        return Exact.zeros((counts.shape[0], len(sizes)))
    return counts.group((np.cumsum(sizes) - sizes)[some]).spread(some, len(sizes), axis=1)
