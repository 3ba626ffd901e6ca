"""Correlation: what several numbers say together, as one normal distribution in each class.

A number becomes a normal score z, the quantile of a standard normal distribution at its rank, by a map that is fixed
before counting. Scores are whole multiples of 2⁻¹⁰, so that sums of their products are exact. Counted, of the rows that
have all d numbers: n, Σz and Σzzᵀ of each class. The prior is one row at 0 for the mean and two rows of independent
scores for the covariance, the fewest for which it has a mean. Averaged over mean and covariance, z has a Student t
density with k = n + 1 rows:

    t(z) ∝ |Ψ|^−½ (1 + q·k / (k + 1))^−(n + 3 + d)/2,   q = uᵀΨ⁻¹u,  u = z − m,  m = Σz / k,  Ψ = 2I + Σzzᵀ − k·mmᵀ

    I(z) = log t(z) − Σ_j log t_j(z_j)

with t_j the density of one score. I is added to the log-likelihoods of the columns. A row of weight w is left out by
u·k/(k − w) and Ψ − wk/(k − w)·uuᵀ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.errors import BadOption, wanted
from tallybayes.events.event import ClassCodes, Counted, LeftOut, Weights, chunks
from tallybayes.events.families.normal_together import UNIT, Moments, NormalPosterior
from tallybayes.events.inputs import Dense, Floats, Value
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Profile, Table, weigh
from tallybayes.events.plain_terms import PlainTerm
from tallybayes.events.product import Product
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["MOST_NUMBERS", "Correlation", "ScoredColumn"]

MOST_NUMBERS = 50  # columns of a correlation: 1,326 sums for each class
_LARGEST = 1 << 13  # units: no rank among 10¹⁴ rows has a score of 8
_MOST_KNOTS = 256  # of a map: a cell between two of them has 8 bits
_AT_ONCE = 1 << 26  # rows: sums of this many products of two scores stay below 2⁵³, so doubles add them exactly


class ScoredColumn(NamedTuple):
    """One column of a correlation, and its map to normal scores.

    Attributes
    ----------
    column : str
        The column.
    values : tuple of float
        Some values, rising; between two of them scores rise in a straight line, and beyond the last they stay.
    scores : tuple of int
        The scores of these values, in units of 2⁻¹⁰.
    """

    column: str
    values: tuple[float, ...]
    scores: tuple[int, ...]

    @property
    def sound(self) -> bool:
        """Whether values and scores rise."""
        values, scores = np.array(self.values, np.float64), np.array(self.scores, np.int64)
        rise = bool((np.diff(values) > 0).all() and (np.diff(scores) >= 0).all() and np.isfinite(values).all())
        few = len(values) == len(scores) and 1 < len(values) <= _MOST_KNOTS
        return rise and few and bool((np.abs(scores) <= _LARGEST).all())


@dataclass(frozen=True)
class Correlation(Product[Dense]):
    """Numbers that are normal together: one column of a schema that is made of others.

    Parameters
    ----------
    parts : tuple of ScoredColumn
        The columns and their scores.
    base : {0.0, 1.0}
        The weight before calibration.
    free : bool
        Whether a fitted weight costs nothing.

    Examples
    --------
    >>> import numpy as np, tallybayes as tb
    >>> x, e = np.random.default_rng(0).normal(size=(2, 200, 2))
    >>> x[:, 1] = x[:, 0] * ([1] * 100 + [-1] * 100) + 0.3 * e[:, 1]        # they rise together, or one falls
    >>> model = tb.fit(x, ["together"] * 100 + ["apart"] * 100, structure="auto")
    >>> model.table("x0 & x1").values.round(1)                       # doctest: +SKIP
    array([[-0.9,  0.9]])
    """

    parts: tuple[ScoredColumn, ...]
    base: float = 0.0
    free: bool = True

    name: ClassVar[str] = "correlation"
    sums: ClassVar[dict[str, Sum]] = {"moments": Sum("value", signed=True)}

    @classmethod
    def of(cls, parts: Sequence[Sequence[Any]], base: float, free: bool = False) -> Correlation:
        """Return the correlation that plain values describe; raise ValueError if they cannot."""
        made = tuple(
            ScoredColumn(str(name), tuple(map(float, values)), tuple(map(int, scores)))
            for name, values, scores in parts
        )
        sound = all(part.sound for part in made) and base in (0.0, 1.0) and isinstance(free, bool)
        if not 2 <= len(made) <= MOST_NUMBERS or not sound:
            raise ValueError("parts of a correlation")
        return cls(made, float(base), free)

    @property
    def size(self) -> int:
        """The number of sums of a class: n, Σz and the upper triangle of Σzzᵀ."""
        d = len(self.parts)
        return 1 + d + d * (d + 1) // 2

    def scores(self, columns: Sequence[npt.NDArray[Any]]) -> Dense:
        """Return the scores of each row in whole units; NaN in all of them where one is missing."""
        real = tuple(x if x.dtype in (np.float64, np.float32) else x.astype(np.float64) for x in columns)
        found, missing = kernels.interpolate(real, *self._knots)
        if missing:
            found[:, np.isnan(found).any(axis=0)] = np.nan
        return Dense(tuple(found))

    @cached_property
    def _knots(self) -> tuple[Floats, Floats, tuple[int, ...]]:
        """The values and scores of all parts, and how many each part has."""
        values, scores = (np.concatenate([part[k] for part in self.parts]).astype(np.float64) for k in (1, 2))
        return values, scores, tuple(len(part.values) for part in self.parts)

    def value(self, data: Dense) -> tuple[float, ...] | None:
        """Return the scores of the first row."""
        first = data.first()
        return None if np.isnan(first).any() else tuple(first.tolist())

    def in_words(self, data: Dense) -> str | None:
        """Return how many numbers there are."""
        return None if np.isnan(data.first()).any() else f"{len(self.parts)} numbers together"

    def tables(self, statistic: Statistic) -> tuple[float, Sequence[Floats]]:
        """Return no table: numbers are summed, not counted by value."""
        return math.nan, []

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether some rows could have these sums."""
        places = statistic.labels[0].values
        if not all(isinstance(one, int) and 0 <= one < self.size for one in places):
            return False
        found = self.moments(statistic)
        squares = np.diagonal(found.products, axis1=1, axis2=2)
        nothing = found.n == 0
        left = np.abs(found.totals).sum(axis=1) + np.abs(found.products).sum(axis=(1, 2))
        return bool((found.n >= 0).all() and (squares >= 0).all() and not left[nothing].any())

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count the exact n, Σz and Σzzᵀ of each class."""
        z = data.matrix()
        kept = np.flatnonzero(~np.isnan(z[:, 0]))
        z, own = z[kept], classes[kept]
        labels = (Categories(pa.array(np.arange(self.size))),)
        if weights is not None:
            return {"moments": self._count_weighted(z, own, n_classes, weights[kept])}, labels
        sums = Exact.zeros((n_classes, self.size))
        for start in range(0, len(z), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            sums = sums + Exact.from_counts(self._count_whole(z[rows], own[rows], n_classes))
        return {"moments": sums}, labels

    def _count_whole(self, z: Floats, classes: ClassCodes, n_classes: int) -> npt.NDArray[np.int64]:  # (C, size)
        """Return sums of whole numbers, which a matrix product of doubles adds exactly in any order."""
        out = np.zeros((n_classes, self.size), np.int64)
        upper = np.triu_indices(1 + z.shape[1])  # of (1, z): n, Σz, Σzzᵀ
        order = np.argsort(classes, kind="stable")
        ends = np.searchsorted(classes[order], np.arange(n_classes + 1))
        whole = np.concatenate([np.ones((len(z), 1)), z], axis=1)[order]
        for c in np.flatnonzero(np.diff(ends)).tolist():
            mine = whole[ends[c] : ends[c + 1]]
            out[c] = (mine.T @ mine)[upper]
        return out

    def _count_weighted(self, z: Floats, classes: ClassCodes, n_classes: int, weights: Floats) -> Exact:  # (C, size)
        first, second = np.triu_indices(1 + z.shape[1])
        sums = Exact.zeros((n_classes, self.size))
        for rows in chunks(len(z)):
            whole = np.concatenate([np.ones((len(z[rows]), 1)), z[rows]], axis=1)
            part = kernels.power_sums(
                whole[:, first] * whole[:, second], classes[rows], n_classes, order=1, weights=weights[rows]
            )
            sums = sums + Exact.from_limbs(part.first)
        return sums

    def moments(self, statistic: Statistic) -> Moments:
        """Return the sums of each class."""
        d, C = len(self.parts), statistic.rows.shape[0]
        sums = np.zeros((C, self.size))
        sums[:, np.asarray(statistic.labels[0].values, np.intp)] = statistic.sums["moments"].to_float()
        whole = np.zeros((C, 1 + d, 1 + d))
        first, second = np.triu_indices(1 + d)
        whole[:, first, second] = whole[:, second, first] = sums
        return Moments(whole[:, 0, 0], whole[:, 0, 1:] * UNIT, whole[:, 1:, 1:] * UNIT**2)

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> CorrelationDensity:
        """Return the density of the scores of each class."""
        return CorrelationDensity(statistic, options, self, self.base)

    def without_rows(self, statistic: Statistic, data: Dense, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its class."""
        posterior = NormalPosterior.of(self.moments(statistic))

        def add(options: EstimateOptions, out: Floats) -> None:
            if not self.base:
                return
            kept = np.flatnonzero(~np.isnan(data.column(0)))
            w = np.ones(len(kept)) if weights is None else weights[kept]
            for some in chunks(len(kept)):
                at = kept[some]
                out[at] += self.base * posterior.log_ratios_without(data.take(at), classes[at], w[some])

        return LeftOut(add, lambda: self.length(data))


@dataclass(frozen=True, eq=False)
class CorrelationDensity(Likelihood[Dense]):
    """What scores say together, times a weight."""

    event: Correlation
    factor: float

    @cached_property
    def _posterior(self) -> NormalPosterior:
        moments = self.event.moments(self.statistic)
        return self.statistic.derive("posterior", lambda: NormalPosterior.of(moments))

    def _log(self, data: Dense) -> Floats:  # (n, C)
        return self.factor * self._posterior.log_ratios(data)

    def add_log_prob(self, data: Dense, out: Floats) -> None:
        """Add the interaction of each row that has all numbers."""
        if not self.factor:
            return
        log, missing = self._log(data), np.isnan(data.column(0))
        if missing.any():
            log[missing] = 0.0
        out += log

    def add_terms(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Add the interaction of each row, weighted."""
        log = np.zeros(weights.shape)
        self.add_log_prob(data, log)
        out[:, 0] += weigh(log, weights)

    def add_variance(self, data: Dense, out: Floats) -> None:
        """Add the variance of a normal log-density, (d + q²) / 2n with q the squared distance in deviations."""
        k, d, kept = self._posterior.k, len(self.event.parts), ~np.isnan(data.column(0))
        q = self._posterior.distances(data)[kept] * k
        out[kept] += self.factor**2 * (d + q**2) / (2 * k)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the interaction at given scores; no few of them show it."""
        values = () if at is None else tuple(at)
        scores = np.array(values, np.float64).reshape(len(values), len(self.event.parts))
        return Profile("values", values, self._log(Dense(scores)))

    def support(self, data: Dense) -> Floats:  # (1, C)
        """Return the weight of the rows of each class that have all numbers."""
        n = self.event.moments(self.statistic).n
        return np.zeros((1, len(n))) if np.isnan(data.first()).any() else n[None]

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw nothing: a correlation has no values of its own."""
        return []

    def table(self, f: int) -> Table:
        """Return the correlation of each two columns' scores in each class."""
        n, totals, products = self.event.moments(self.statistic)
        rows = np.maximum(n, 1.0)[:, None]
        mean = totals / rows
        spread = products / rows[:, :, None] - mean[:, :, None] * mean[:, None, :]
        deviation = np.sqrt(np.maximum(np.diagonal(spread, axis1=1, axis2=2), 0.0))
        both = deviation[:, :, None] * deviation[:, None, :]
        found = np.divide(spread, both, out=np.zeros_like(spread), where=both > 0)
        pairs = np.triu_indices(len(self.event.parts), 1)
        names = self.event.columns
        rows_of = tuple(f"{names[i]} & {names[j]}" for i, j in zip(*pairs, strict=True))
        return rows_of, None, np.clip(found[:, *pairs].T, -1.0, 1.0)

    def to_plain(self) -> tuple[PlainTerm, ...]:
        """Refuse: no form that every language computes holds a matrix."""
        got, do = f"the correlation of {len(self.event.parts)} columns", "Fit with structure 'pairs'"
        raise BadOption(wanted("export", "terms of one column or of cells", got, do))

    def missing(self) -> Floats:  # (C, 1)
        """Return the share of rows in which a number is missing."""
        rows, n = self.statistic.rows.to_float(), self.event.moments(self.statistic).n
        return np.asarray(np.divide(rows - n, rows, out=np.zeros_like(rows), where=rows > 0)[:, None])

    def scaled(self, weights: Floats, additions: Mapping[int, Floats]) -> CorrelationDensity:
        """Return the same with another weight, whatever it was."""
        return replace(self, factor=float(weights[0]))

    @property
    def n_parameters(self) -> int:
        """The number of correlations of a class."""
        return math.comb(len(self.event.parts), 2)

    @property
    def categories(self) -> tuple[Categories, ...]:
        """The sums that are not zero."""
        return self.statistic.labels
