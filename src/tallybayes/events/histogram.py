"""Histogram: a real column as counts of buckets, whatever the shape of its distribution.

Counted: Σw, Σwx and Σwx² as for `gaussian`, and the weight of each bucket: a run of doubles with equal leading bits, at
most 1,024 to a column. Estimated from these sums alone: a tree of counts cut at pooled medians, a Student t, and a
kernel density, averaged by how well each predicts the classes of rows left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.buckets import Buckets
from tallybayes.cached_property import cached_property
from tallybayes.errors import BadOption, wanted
from tallybayes.events.cell_hashes import CellHashes
from tallybayes.events.class_totals import class_totals
from tallybayes.events.event import ClassCodes, Counted, Event, LeftOut, PairTerms, RowCounter, Weights, chunks
from tallybayes.events.families.cells import choose_cells
from tallybayes.events.families.experts import Experts
from tallybayes.events.families.normal import by_class, centre, over_all
from tallybayes.events.folds import Folds
from tallybayes.events.gaussian import Gaussian, normal_sums
from tallybayes.events.inputs import Dense, Floats, Value
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Pixels, Profile, Table
from tallybayes.events.plain_terms import IntervalTable
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["Histogram", "HistogramTable"]

Method = Literal["average", "tree", "student", "kernel"]
_MISSING = 255  # the code of a missing value
_LARGEST = 1e307  # so that a margin can be added
_FEW_CLASSES = 64  # whose counters, of eight columns, stay in the second cache
# Bytes of counters that a thread may keep from batch to batch, and their bytes for each column: of a table of buckets,
# and of each class.
_MOST_CARRIED, _OF_TABLE, _OF_CLASS = 32 << 20, 32 << 10, 8 << 10
_TOGETHER = 256  # columns whose experts are found for each fold at a time: of ten classes they take some 50 MB
_GRID = 121  # points at which a density is plotted


@dataclass(frozen=True, eq=False)
class HistogramTable(Likelihood[Dense]):
    """Log-terms of the cells of each column: scoring a number is looking up its cell.

    Attributes
    ----------
    experts : Experts
        The cells, and what they follow from.
    contrast : ndarray, shape (ΣK, C), or None
        The part of each cell's log-density in which classes differ, weighted or not; None for all of it.
    scale : ndarray, shape (F,), or None
        The weights of the columns, where they are weighted.
    """

    experts: Experts
    contrast: Floats | None = None
    scale: Floats | None = None

    @cached_property
    def log(self) -> Floats:  # (ΣK, C)
        """The log-density of each cell in each class, or only the part in which classes differ."""
        return self.experts.mixed + self.experts.log_density() if self.contrast is None else self.contrast

    def add_log_prob(self, data: Dense, out: Floats) -> None:
        """Look up the cell of each value; an infinite one is impossible."""
        cells = self.experts.cells
        kernels.score_codes(cells.find(data).T, self.log, cells.sizes, out)
        infinite = data.infinite()
        if infinite is not None:
            out[infinite] = -np.inf

    def add_terms(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Look up the cell of each value, weighted, column by column."""
        cells = self.experts.cells
        kernels.terms_codes(cells.find(data).T, self.log, cells.sizes, weights, out)

    def add_variance(self, data: Dense, out: Floats) -> None:
        """Look up the variance of each value's cell."""
        cells = self.experts.cells
        kernels.score_codes(cells.find(data).T, self._variances, cells.sizes, out)

    @cached_property
    def _variances(self) -> Floats:  # (ΣK, C)
        variances = self.experts.variances()
        return variances if self.scale is None else self.scale[self.experts.cells.column, None] ** 2 * variances

    def contrasted(self) -> HistogramTable:
        """Return the terms without the density that all classes share; weighted terms never have it."""
        return self if self.scale is not None else replace(self, contrast=self.experts.mixed)

    def to_plain(self) -> tuple[IntervalTable, ...]:
        """Return a table of each column's cells."""
        cells = self.experts.cells
        edges, logs = (
            np.split(part, np.cumsum(sizes)[:-1])
            for part, sizes in ((cells.edges, cells.sizes - 1), (self.log, cells.sizes))
        )
        return tuple(IntervalTable(edge, log) for edge, log in zip(edges, logs, strict=True))

    def cells(self, f: int) -> Floats:
        """Return the value that stands for each cell of column f."""
        cells = self.experts.cells
        return cells.value[cells.of_column[f]]

    def cell_weights(self, f: int) -> Floats:  # (V,)
        """Return the weight of all rows in each cell of column f."""
        cells = self.experts.cells
        return cells.pooled[cells.of_column[f]]

    def find_cells(self, data: Dense) -> npt.NDArray[np.uint8]:  # (F, n)
        """Return the cell of each row's value."""
        return self.experts.cells.find(data)

    def scaled(self, weights: Floats, additions: Mapping[int, Floats]) -> HistogramTable:
        """Return the terms of each column times its weight, plus the additions."""
        cells = self.experts.cells
        log = weights[cells.column, None] * self.experts.mixed
        for f, addition in additions.items():
            log[cells.of_column[f]] += addition
        return replace(self, contrast=log, scale=weights)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the log-density at the given values, or over the range of the column."""
        values = self._grid(f) if at is None else tuple(at)
        cell = self.experts.cells.of_values(f, np.array(values, np.float64))
        return Profile("numbers", values, self.log[cell])

    def _grid(self, f: int) -> Sequence[float]:
        cells = self.experts.cells
        first, last = int(cells.starts[f]), int(cells.starts[f] + cells.sizes[f]) - 1
        low, high = cells.low[first], cells.high[last]
        margin = (high / 20 - low / 20) or 1.0
        steps = np.linspace(0, 1, _GRID)
        low, high = max(low, -_LARGEST) - margin, min(high, _LARGEST) + margin
        values: list[float] = (low * (1 - steps) + high * steps).tolist()
        return values

    def support(self, data: Dense) -> Floats:  # (F, C)
        """Return the weight of the rows of each class in the same leaf of the tree."""
        leaf, cells = self.experts.leaves, self.experts.cells
        row = data if len(data) == 1 else Dense(data.first()[None])
        code = cells.find(row)[:, 0].astype(np.intp)
        found = self._by_leaf[leaf[cells.starts + np.minimum(code, cells.sizes - 1)]]
        return np.where((code == _MISSING)[:, None], 0.0, found)

    @cached_property
    def _by_leaf(self) -> Floats:  # (leaves, C)
        """The weight of each leaf in each class."""
        leaf, counts = self.experts.leaves, self.experts.counts
        return np.stack([np.bincount(leaf, counts[:, c]) for c in range(counts.shape[1])], axis=1)

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw cells by weight over all classes, times the class's share there; then a value inside the cell."""
        cells, shares = self.experts.cells, self._shares()
        drawn: Drawn = []
        for start, size in zip(cells.starts, cells.sizes, strict=True):
            p = shares[start : start + size, c]
            if not p.sum() > 0:
                drawn.append(np.full(n, np.nan))  # no row has a value
                continue
            at = start + rng.choice(size, n, p=p / p.sum())
            between = rng.random(n)
            drawn.append(cells.low[at] * (1 - between) + cells.high[at] * between)
        return drawn

    def _shares(self) -> Floats:  # (ΣK, C)
        """Return the probability of each cell in each class, up to a factor.

        It is the weight over all classes times p(c | x).
        """
        return self.experts.cells.pooled[:, None] * np.exp(self.experts.mixed)

    def table(self, f: int) -> Table:
        """Return a row per leaf of the tree: counts beside probabilities."""
        cells, shares = self.experts.cells, self._shares()
        at = np.flatnonzero((cells.column == f) & (cells.pooled > 0))
        first = np.flatnonzero(np.diff(self.experts.leaves[at], prepend=-1))
        if not len(at):  # no row has a value
            return (), np.zeros((0, shares.shape[1])), np.zeros((0, shares.shape[1]))
        counts, weight = (np.add.reduceat(part[at], first, axis=0) for part in (self.experts.counts, shares))
        last = np.append(first[1:], len(at)) - 1
        ends = zip(cells.low[at][first], cells.high[at][last], strict=True)
        names = tuple(f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}" for low, high in ends)
        total = weight.sum(axis=0)
        return names, counts, np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)

    def pixels(self) -> Pixels:
        """Return the mean; dark and lit are one standard deviation of the column below and above its mean."""
        middle, deviation = centre(over_all(self.statistic))
        mean = by_class(self.statistic).mean
        dark, lit = (
            np.stack([self.profile(f, [x]).log[0] for f, x in enumerate(middle + side * deviation)], axis=1)
            for side in (-1, 1)
        )
        return Pixels("mean", mean, dark, lit)

    @property
    def n_parameters(self) -> int:
        """The free shares of the leaves, and location and scale of each column."""
        return int(self.experts.leaves[-1]) + 1 - len(self.experts.cells.sizes) + 2 * len(self.experts.cells.sizes)

    def on(self, statistic: Statistic) -> HistogramTable:
        """Return the likelihood that other sums give with the same cells, cuts, ω and weights.

        This is what a row left out is scored by.
        """
        experts = Experts.planned(statistic, self.experts.plan, self.options.floor)
        return replace(self, statistic=statistic, experts=experts, contrast=None)


@dataclass(frozen=True)
class Histogram(Event[Dense]):
    """Counts of buckets: a tree of shares, a Student t and a kernel density, averaged.

    Parameters
    ----------
    method : {"average", "tree", "student", "kernel"}
        All, weighted by how well each predicts rows left out, or only one of them.

    Notes
    -----
    Adding never makes buckets finer, and neither does subtracting: ``(a + b) - b`` equals ``a`` at the resolution of
    ``a + b``. With at most 1,024 distinct values there is nothing to lose, and it equals ``a`` to the bit.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0], "y": list("aaaabbbb")}
    >>> tb.fit(rows, "y", events="histogram").table("x").rows
    ('0', '1 to 4')
    """

    method: Method = "average"

    name: ClassVar[str] = "histogram"
    labels: ClassVar[type[Buckets]] = Buckets
    sums: ClassVar[dict[str, Sum]] = {**Gaussian.sums, "counts": Sum("value")}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in get_args(Method):
            raise BadOption(wanted("method", "'average', 'tree', 'student' or 'kernel'", repr(self.method)))

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count the exact moments of each class, and the weight of each bucket."""
        if weights is None and n_classes <= _FEW_CLASSES:
            return _count_rows(data, classes, n_classes, None)
        if weights is not None and not weights.all():  # a row without weight must not make buckets coarser
            some = weights > 0
            data, classes, weights = data.map(lambda values: values[some]), classes[some], weights[some]
        sums, _ = Gaussian().count(data, classes, n_classes, weights)
        found = kernels.find_buckets(data.columns)
        counts, _ = kernels.count_codes(tuple(found.codes), classes, n_classes, found.sizes, weights=weights)
        column = np.repeat(np.arange(len(found.sizes)), found.sizes)
        order = np.lexsort((found.keys, column))
        labels = Buckets.split(found.keys[order], found.sizes, found.shifts)
        return {**sums, "counts": Exact.from_limbs(counts).take(order, axis=1)}, labels

    def count_and_hash(
        self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights, hashes: CellHashes
    ) -> Counted | None:
        """Count the same, and hash the rows while they are in a cache."""
        few = weights is None and n_classes <= _FEW_CLASSES
        return _count_rows(data, classes, n_classes, hashes) if few else None

    def counter(self, width: int, n_classes: int) -> RowCounter[Dense] | None:
        """Return a counter of batches, where the memory that it keeps is small."""
        small = width * (_OF_TABLE + n_classes * _OF_CLASS) <= _MOST_CARRIED
        return _RowCounter(width, n_classes) if small and n_classes <= _FEW_CLASSES else None

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether no variance is below zero, and every value that is present is in a bucket."""
        counts, sizes = statistic.sums["counts"], statistic.sizes
        some = np.flatnonzero(sizes)
        totals = Exact.zeros((counts.shape[0], len(sizes)))
        if len(some):
            totals = counts.group((np.cumsum(sizes) - sizes)[some]).spread(some, len(sizes), axis=1)
        return Gaussian().consistent(statistic) and statistic.present() == totals

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> HistogramTable:
        """Return the table of each column's cells. It needs neither a rule nor a smoothing: both are averaged."""
        experts = self._experts(statistic, options)
        return HistogramTable(statistic, options, experts)

    @property
    def _methods(self) -> tuple[bool, bool, bool]:
        """Which experts take part."""
        tree, student, kernel = (self.method in ("average", one) for one in ("tree", "student", "kernel"))
        return tree, student, kernel

    def _experts(self, statistic: Statistic, options: EstimateOptions) -> Experts:
        def make() -> Experts:
            return Experts.of(statistic, choose_cells(statistic), options.floor, self._methods)

        return statistic.derive(f"experts {self.method} {options.floor}", make)

    def without_rows(self, statistic: Statistic, data: Dense, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its cell, its class and the column as a whole.

        Cells, cuts, ω and the experts' weights stay those of all rows, and the density that all classes share is left
        out: it is the same as a new estimate with these kept (`HistogramTable.on`), up to that density.
        """

        def columns(options: EstimateOptions) -> Iterator[Floats]:
            return _terms_without(self._experts(statistic, options), data, classes, weights)

        def add(options: EstimateOptions, out: Floats) -> None:
            for [term] in columns(options):
                out += term

        def pairs(options: EstimateOptions) -> PairTerms | None:
            experts = self._experts(statistic, options)
            if experts.pairs is None:
                return None
            return PairTerms(experts.cells.find(data).T, experts.cells.sizes, experts.pairs)

        return LeftOut(add, lambda: self.length(data), columns, pairs if weights is None else None)

    def without_rows_of_folds(
        self, statistic: Statistic, data: Dense, classes: ClassCodes, weights: Weights, folds: Folds
    ) -> LeftOut:
        """Return the rows, whose ω and experts' weights are those of the rows of other folds.

        One row hardly changes them, but together its columns would: a thousand that say nothing seem to tell its class.
        """

        def columns(options: EstimateOptions) -> Iterator[Floats]:
            for first in range(0, data.width, _TOGETHER):
                at = np.arange(first, min(first + _TOGETHER, data.width))
                some = Dense(data.some(slice(first, first + len(at))))
                yield from self._of_folds(statistic.of_columns(at), some, classes, weights, folds, options)

        def add(options: EstimateOptions, out: Floats) -> None:
            for [term] in columns(options):
                out += term

        return LeftOut(add, lambda: self.length(data), columns)

    def _of_folds(
        self,
        statistic: Statistic,
        data: Dense,
        classes: ClassCodes,
        weights: Weights,
        folds: Folds,
        options: EstimateOptions,
    ) -> Iterator[Floats]:
        """Yield the terms of the rows, (1, n, C), column by column."""
        cells, C, each = choose_cells(statistic), statistic.rows.shape[0], []
        for rows in folds:
            sums, labels = self.count(data.take(rows), classes[rows], C, folds.weights_of(rows))
            held = class_totals(classes[rows], C, folds.weights_of(rows))
            others = statistic.subtract(Statistic.of_counted(self.sums, held, sums, labels), statistic.rows - held)
            plan = Experts.of(others, cells, options.floor, self._methods).plan
            each.append((rows, Experts.planned(statistic, plan, options.floor)))
        for f, codes in enumerate(cells.find(data)):
            out = np.empty((len(classes), C))
            for rows, experts in each:
                left = None if weights is None else weights[rows]
                out[rows] = _terms_of_column(experts, f, codes[rows], classes[rows], left)
            yield out[None]

    @classmethod
    def test_variants(cls) -> list[Self]:
        """Return the average and its three parts."""
        return [cls(), cls("tree"), cls("student"), cls("kernel")]


def _count_rows(data: Dense, classes: ClassCodes, n_classes: int, hashes: CellHashes | None) -> Counted:
    """Count rows without weights, and hash them if asked to; all in one pass over memory."""
    seeds, out = (None, None) if hashes is None else (hashes.seeds, hashes.out)
    return _counted(*kernels.count_numbers(data.columns, classes, n_classes, seeds=seeds, out=out))


class _RowCounter(RowCounter[Dense]):
    """Counts batches without weights as `_count_rows` counts one."""

    def __init__(self, width: int, n_classes: int) -> None:
        self._counter = kernels.NumberCounter(width, n_classes)

    def add(self, data: Dense, classes: ClassCodes, hashes: CellHashes | None) -> None:
        seeds, out = (None, None) if hashes is None else (hashes.seeds, hashes.out)
        self._counter.add(data.columns, classes, seeds=seeds, out=out)

    def finish(self) -> Counted:
        return _counted(*self._counter.finish())


def _counted(sums: kernels.PowerSums, found: kernels.BucketCounts) -> Counted:
    labels = Buckets.split(found.keys, found.sizes, found.shifts)
    return {**normal_sums(sums), "counts": Exact.from_counts(found.counts)}, labels


def _terms_without(experts: Experts, data: Dense, classes: ClassCodes, weights: Weights) -> Iterator[Floats]:
    """Yield the terms of rows left out, (1, n, C), column by column."""
    for f, codes in enumerate(experts.cells.find(data)):
        yield _terms_of_column(experts, f, codes, classes, weights)[None]


def _terms_of_column(
    experts: Experts, f: int, codes: npt.NDArray[np.uint8], classes: ClassCodes, weights: Weights
) -> Floats:  # (n, C)
    """Return the terms of one column of rows left out; 0 where a value is missing."""
    C, absent = experts.counts.shape[1], codes == _MISSING
    if weights is None:  # rows of one class in one cell share them
        cell = np.where(absent, 0, codes) if absent.any() else codes
        by_class = experts.without_pairs(f, cell * np.intp(C) + classes)
        by_class[:, absent] = 0.0
        return by_class.T
    start, out = int(experts.cells.starts[f]), np.zeros((len(codes), C))
    for rows in chunks(len(codes)):
        present = rows.start + np.flatnonzero(~absent[rows])
        cell, own = start + codes[present].astype(np.intp), classes[present].astype(np.intp)
        out[present] = experts.mixed_without(cell, own, weights[present])
    return out
