"""Numbers put into bins, which are then values of a categorical column.

Counted are the buckets of `histogram`, so bins are cut when a belief is estimated, and the evidence adds and subtracts
whatever the cuts. A bin is a run of whole buckets: a row is scored by the bin that it was counted in.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.buckets import Buckets
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.events.categorical import Categorical, CategoricalTable
from tallybayes.events.event import ClassCodes, Counted, Event, LeftOut, PairTerms, Weights
from tallybayes.events.families.normal import by_class, centre, over_all
from tallybayes.events.families.weighted_likelihood import times
from tallybayes.events.histogram import Histogram
from tallybayes.events.inputs import Codes, Dense, Floats, Value
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Pixels, Profile, Table
from tallybayes.events.plain_terms import IntervalTable
from tallybayes.events.statistic import Statistic, Sum

__all__ = ["MOST_BINS", "BinnedEvent", "BinnedTable", "Cuts", "between"]

MOST_BINS = 254  # of a column: a code has 8 bits, and one stands for missing
_MISSING = 255
_GRID = 121  # points at which a density is plotted


@dataclass(frozen=True, eq=False)
class Cuts:
    """The bins of all columns of a block, one column after the other.

    Attributes
    ----------
    sizes : ndarray of int64, shape (F,)
        The number of bins of each column, at least 1.
    edges : ndarray, shape (Σ(K − 1),)
        The edges between the bins of each column, rising; an edge belongs to the bin above it.
    low, high : ndarray, shape (ΣK,)
        The ends of each bin; the outer ones are the ends of the column.
    """

    sizes: npt.NDArray[np.int64]
    edges: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, buckets: Sequence[Buckets], edges: Sequence[Floats]) -> Cuts:
        """Return the bins that the edges of each column make."""
        ends = [(one.low[0], one.high[-1]) if len(one) else (0.0, 0.0) for one in buckets]
        low = [np.concatenate([[first], edge]) for (first, _), edge in zip(ends, edges, strict=True)]
        high = [np.concatenate([edge, [last]]) for (_, last), edge in zip(ends, edges, strict=True)]
        sizes = np.array([len(edge) + 1 for edge in edges], np.int64)
        return cls(sizes, np.concatenate(edges), np.concatenate(low), np.concatenate(high))

    @cached_property
    def column(self) -> npt.NDArray[np.intp]:  # (ΣK,)
        """The column of each bin."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:  # (F,)
        """The first bin of each column."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def widths(self) -> Floats:  # (ΣK,)
        """The width of each bin; 1 where it has none."""
        with np.errstate(over="ignore"):
            width = np.minimum(self.high - self.low, np.finfo(np.float64).max)
        return np.where(width > 0, width, 1.0)

    def find(self, data: Dense) -> npt.NDArray[np.uint8]:  # (F, n)
        """Return the bin of each value, counted from the first of its column; 255 for missing."""
        return kernels.find_cells(data.columns, self.edges, self.sizes - 1)

    def of_values(self, f: int, values: Floats) -> npt.NDArray[np.intp]:
        """Return the bins of some values of one column, among all bins."""
        start = int(self.starts[f])
        edges = self.edges[start - f : start - f + int(self.sizes[f]) - 1]
        return start + np.searchsorted(edges, values, side="right")

    def names(self, f: int) -> tuple[str, ...]:
        """Return the bins of a column in words."""
        start = int(self.starts[f])
        edges = [f"{edge:.6g}" for edge in self.edges[start - f : start - f + int(self.sizes[f]) - 1]]
        if not edges:
            return ("any",)
        inner = (f"{low} to {high}" for low, high in pairwise(edges))
        return (f"below {edges[0]}", *inner, f"{edges[-1]} or more")

    def count(self, statistic: Statistic) -> Statistic:
        """Return the counts of buckets as those of bins, each a value of a categorical column."""
        at = [self.of_values(f, one.middle) for f, one in enumerate(statistic.labels)]
        index = np.concatenate(at) if at else np.zeros(0, np.intp)
        first, counts, size = np.flatnonzero(np.diff(index, prepend=-1)), statistic.sums["counts"], len(self.low)
        grouped = counts.group(first, axis=1) if len(first) < len(index) else counts
        labels = tuple(Categories(pa.array(np.arange(size))) for size in self.sizes)
        sums = {"counts": grouped.spread(index[first], size, axis=1)}
        return Statistic(statistic.rows, sums, Categorical.sums, labels)


@dataclass(frozen=True, eq=False)
class BinnedTable(Likelihood[Dense]):
    """Log-shares of the bins of each column: scoring a number is looking up its bin.

    Attributes
    ----------
    cuts : Cuts
        The bins.
    inner : CategoricalTable
        The shares of the bins.
    log : ndarray, shape (ΣK, C)
        The log-density of each bin in each class, or only the part in which classes differ.
    scale : ndarray, shape (F,), or None
        The weights of the columns, where they are weighted.
    """

    cuts: Cuts
    inner: CategoricalTable
    log: Floats
    scale: Floats | None = None

    @classmethod
    def of(cls, statistic: Statistic, options: EstimateOptions, cuts: Cuts) -> BinnedTable:
        """Return the table of sums whose bins are known."""
        always = replace(options, unseen="smooth")  # an empty bin is a bin
        inner = Categorical().estimate(cuts.count(statistic), always)
        return cls(statistic, options, cuts, inner, _shares(inner) - kernels.log(cuts.widths)[:, None])

    def on(self, statistic: Statistic) -> BinnedTable:
        """Return the table that other sums give in the same bins: what a row left out is scored by."""
        return BinnedTable.of(statistic, self.options, self.cuts)

    def add_log_prob(self, data: Dense, out: Floats) -> None:
        """Look up the bin of each value; an infinite one is impossible."""
        kernels.score_codes(tuple(self.cuts.find(data)), self.log, self.cuts.sizes, out)
        infinite = data.infinite()
        if infinite is not None:
            out[infinite] = -np.inf

    def add_terms(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Look up the bin of each value, weighted, column by column."""
        kernels.terms_codes(tuple(self.cuts.find(data)), self.log, self.cuts.sizes, weights, out)

    def add_variance(self, data: Dense, out: Floats) -> None:
        """Look up the variance of each bin's log-share."""
        kernels.score_codes(tuple(self.cuts.find(data)), self._variances, self.cuts.sizes, out)

    @cached_property
    def _variances(self) -> Floats:  # (ΣK, C)
        variances = -_without_unseen(self.inner._minus_variances.log, self.cuts.sizes)
        return variances if self.scale is None else self.scale[self.cuts.column, None] ** 2 * variances

    def contrasted(self) -> BinnedTable:
        """Return the shares of bins, whose widths all classes share; weighted terms never have them."""
        return self if self.scale is not None else replace(self, log=_shares(self.inner))

    def scaled(self, weights: Floats, additions: Mapping[int, Floats]) -> BinnedTable:
        """Return the terms of each column times its weight, plus the additions."""
        log = times(weights[self.cuts.column, None], _shares(self.inner))
        for f, addition in additions.items():
            log[self._bins(f)] += addition
        return replace(self, log=log, scale=weights)

    def _bins(self, f: int) -> slice:
        start = int(self.cuts.starts[f])
        return slice(start, start + int(self.cuts.sizes[f]))

    def to_plain(self) -> tuple[IntervalTable, ...]:
        """Return a table of each column's bins."""
        edges, logs = (
            np.split(part, np.cumsum(sizes)[:-1])
            for part, sizes in ((self.cuts.edges, self.cuts.sizes - 1), (self.log, self.cuts.sizes))
        )
        return tuple(IntervalTable(edge, log) for edge, log in zip(edges, logs, strict=True))

    def cells(self, f: int) -> Floats:
        """Return the value that stands for each bin of column f."""
        mine = self._bins(f)
        return np.asarray(self.cuts.low[mine] / 2 + self.cuts.high[mine] / 2)

    def cell_weights(self, f: int) -> Floats:  # (V,)
        """Return the weight of all rows in each bin of column f."""
        return self.inner.cell_weights(f)

    def find_cells(self, data: Dense) -> npt.NDArray[np.uint8]:  # (F, n)
        """Return the bin of each row's value."""
        return self.cuts.find(data)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the log-density at the given values, or over the range of the column."""
        mine = self._bins(f)
        low, high = float(self.cuts.low[mine][0]), float(self.cuts.high[mine][-1])
        steps = np.linspace(0, 1, _GRID)
        values = (low * (1 - steps) + high * steps).tolist() if at is None else tuple(at)
        return Profile("numbers", values, self.log[self.cuts.of_values(f, np.array(values, np.float64))])

    def support(self, data: Dense) -> Floats:  # (F, C)
        """Return the weight of the rows of each class in the same bin."""
        code = self.cuts.find(Dense(data.first()[None]))[:, 0].astype(np.intp)
        counts = self.inner.statistic.sums["counts"].to_float().T
        found = counts[self.cuts.starts + np.minimum(code, self.cuts.sizes - 1)]
        return np.where((code == _MISSING)[:, None], 0.0, found)

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw bins by their shares, then values evenly within them."""
        drawn: Drawn = []
        for f, buckets in enumerate(self.statistic.labels):
            if not len(buckets):  # no row has a value
                drawn.append(np.full(n, np.nan))
                continue
            mine = self._bins(f)
            p = np.exp(_shares(self.inner)[mine, c])
            at, between_ends = mine.start + rng.choice(len(p), n, p=p / p.sum()), rng.random(n)
            drawn.append(self.cuts.low[at] * (1 - between_ends) + self.cuts.high[at] * between_ends)
        return drawn

    def table(self, f: int) -> Table:
        """Return a row per bin: counts beside probabilities."""
        _, counts, shares = self.inner.table(f)
        return self.cuts.names(f), counts, shares

    def pixels(self) -> Pixels:
        """Return the mean; dark and lit are one standard deviation of the column below and above its mean."""
        middle, deviation = centre(over_all(self.statistic))
        dark, lit = (
            np.stack([self.profile(f, [x]).log[0] for f, x in enumerate(middle + side * deviation)], axis=1)
            for side in (-1, 1)
        )
        return Pixels("mean", by_class(self.statistic).mean, dark, lit)

    @property
    def n_parameters(self) -> int:
        """The free shares of the bins."""
        return int((self.cuts.sizes - 1).sum())


class BinnedEvent(Event[Dense]):
    """The base of event models that put numbers into bins; a subclass says where to cut."""

    labels: ClassVar[type[Buckets]] = Buckets
    sums: ClassVar[dict[str, Sum]] = Histogram.sums

    @abstractmethod
    def edges(self, buckets: Buckets, counts: Floats) -> Floats:
        """Return the edges between the bins of a column, given the weight (V, C) of each of its buckets."""

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count the exact moments of each class, and the weight of each bucket."""
        return Histogram().count(data, classes, n_classes, weights)

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether no variance is below zero, and every value that is present is in a bucket."""
        return Histogram().consistent(statistic)

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> BinnedTable:
        """Return the share of each bin, smoothed as those of `categorical`."""
        return BinnedTable.of(statistic, options, self._cuts(statistic))

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats:
        """Return the smoothing under which the counts of each column's bins are most probable."""
        return Categorical().empirical_bayes_alpha(self._cuts(statistic).count(statistic))

    def _cuts(self, statistic: Statistic) -> Cuts:
        def make() -> Cuts:
            counts = statistic.sums["counts"].to_float().T
            each = (counts[statistic.values_of(f)] for f in range(len(statistic.labels)))
            return Cuts.of(statistic.labels, [self.edges(*one) for one in zip(statistic.labels, each, strict=True)])

        return statistic.derive(f"cuts {self.spec}", make)

    def without_rows(self, statistic: Statistic, data: Dense, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its bin and class; the cuts stay those of all rows.

        What is returned is the share of a bin, without its width, which all classes share.
        """
        cuts = self._cuts(statistic)
        codes = cuts.find(data).astype(np.int16)
        codes[codes == _MISSING] = -1
        binned = cuts.count(statistic)
        rows = Codes(tuple(codes), cuts.sizes + 1, binned.labels)
        left = Categorical().without_rows(binned, rows, classes, weights)

        def columns(options: EstimateOptions) -> Iterator[Floats]:
            assert left.columns is not None
            return left.columns(replace(options, unseen="smooth"))

        def add(options: EstimateOptions, out: Floats) -> None:
            left.add(replace(options, unseen="smooth"), out)

        def pairs(options: EstimateOptions) -> PairTerms | None:
            assert left.pairs is not None
            return left.pairs(replace(options, unseen="smooth"))

        alone = weights is None
        return LeftOut(add, lambda: self.length(data), columns if alone else None, pairs if alone else None)


def between(left: float, right: float) -> float:
    """Return a number midway, above the left and at most the right."""
    middle = left / 2 + right / 2
    return middle if middle > left else right


def _shares(inner: CategoricalTable) -> Floats:  # (ΣK, C)
    """Return the log-share of each bin."""
    return _without_unseen(inner.log, inner.statistic.sizes)


def _without_unseen(table: Floats, sizes: npt.NDArray[np.int64]) -> Floats:  # (ΣK, C)
    """Return a table (Σ(K + 1), C) without each column's last row, that of a value never seen."""
    return np.ascontiguousarray(np.delete(table, np.cumsum(sizes + 1) - 1, axis=0))
