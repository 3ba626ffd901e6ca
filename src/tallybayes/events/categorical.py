"""Categorical: a column takes one of a few values, each with its own probability in each class.

Counted: how often each value occurs in each class. Estimated: (count + α) / (total + α·K), K the number of values
seen. A value never seen counts as one more value with a count of zero. With α averaged (`families.tree`), the prior is
not α of each value but α rows that look like the column over all classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.events.cell_hashes import CellHashes
from tallybayes.events.event import ClassCodes, Counted, Event, InputKind, LeftOut, Weights
from tallybayes.events.families.dirichlet import contrast
from tallybayes.events.families.empirical_bayes import empirical_bayes_alpha
from tallybayes.events.families.value_shares import averaged, counts_of, level_of, log_shares, log_table, totals_of
from tallybayes.events.families.values_left_out import leave_values_out, leave_values_out_by_folds
from tallybayes.events.families.variance import minus_variance
from tallybayes.events.families.weighted_likelihood import times
from tallybayes.events.folds import Folds
from tallybayes.events.inputs import Codes, Floats, Value
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Pixels, Profile, Table
from tallybayes.events.plain_terms import LookupTable
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["Categorical", "CategoricalTable"]


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
        log = log_shares(statistic, options, *counts_of(statistic), minus_variance)
        if options.averaged is not None:
            unseen = log[np.cumsum(statistic.sizes + 1) - 1]  # as with α = 1
            log = averaged(statistic, options, log, -level_of(statistic).variances(), unseen)
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
        totals, rows = totals_of(self.statistic).to_float(), self.statistic.rows.to_float()[:, None]
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
        return CategoricalTable(statistic, options, log_table(statistic, options))

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats:
        """Return the smoothing under which each column's counts are most probable."""
        counts = statistic.sums["counts"].to_float()
        return np.array(
            [empirical_bayes_alpha(counts[:, statistic.values_of(f)]) for f in range(len(statistic.labels))]
        )

    def without_rows(self, statistic: Statistic, data: Codes, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its class."""
        return leave_values_out(statistic, data, classes, weights, lambda: self.length(data))

    def without_rows_of_folds(
        self, statistic: Statistic, data: Codes, classes: ClassCodes, weights: Weights, folds: Folds
    ) -> LeftOut:
        """Return the rows, where columns are averaged over α as the rows of other folds say."""
        return leave_values_out_by_folds(statistic, data, classes, weights, folds, lambda: self.length(data))


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
