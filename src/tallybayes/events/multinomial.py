"""Multinomial: the columns are counts of the faces of one die (words of a text), rolled many times in each row.

Remembered: how often each face came up in each class. Believed: φ_k = (count_k + α) / (total + α·V), V the number of
columns. The columns of one such block compete for the same probability; `group` keeps several dice apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.encoded import Dense, Floats, Sparse
from tallybayes.events.base import ClassCodes, Counted, Event, How, Weights, negative_or_infinite
from tallybayes.events.dirichlet import contrast, log_share
from tallybayes.events.doubts import trigamma
from tallybayes.events.evident import evident_alpha
from tallybayes.exact import Exact
from tallybayes.statistic import Axis, Statistic

__all__ = ["DieDoubt", "Multinomial", "add_products", "count_bag", "own_entries"]


@dataclass(frozen=True)
class DieDoubt:
    """How far the shares of a die's faces may be off: ψ₁ of what was counted of each face, and of all."""

    each: Floats  # (F, C)
    whole: Floats  # (C,)

    @classmethod
    def of(cls, counts: Floats, totals: Floats, alpha: Floats) -> DieDoubt:
        """The doubts of a die from counts (F, C), their totals (C,) and each face's pseudo-count (F,)."""
        total = totals + alpha.sum()
        # a die of which nothing is known has infinite doubts in every face already
        return cls(np.ascontiguousarray(trigamma(counts + alpha[:, None])), np.where(total > 0, trigamma(total), 0.0))

    def add(self, data: Dense | Sparse, out: Floats) -> None:
        """Add the variance of Σ x log φ.

        Notes
        -----
        The faces of a Dirichlet share their total: Cov(log φ_j, log φ_k) = −ψ₁(total), so that the variance is
        Σ x² ψ₁(count) − (Σ x)² ψ₁(total).
        """
        size, minus = np.zeros((len(data), 1)), np.zeros_like(out)
        add_products(data, np.ones((data.width, 1)), size)
        add_products(_squared(data), -self.each, minus)
        out += np.maximum(-minus - size**2 * self.whole, 0.0)


@dataclass(frozen=True)
class Multinomial(Event):
    """Counts of the faces of one die, a die for each class.

    Parameters
    ----------
    group : str
        Columns declared with different groups belong to different dice.

    Examples
    --------
    >>> import tallybayes as tb
    >>> words = {"cheap": [2, 0], "hello": [1, 3], "kind": ["spam", "ham"]}
    >>> model = tb.fit(words, "kind", events="multinomial")
    >>> model.table("cheap").values      # ham: (0+1)/(3+2), spam: (2+1)/(3+2)
    array([[0.2, 0.6]])
    """

    group: str = ""

    name: ClassVar[str] = "multinomial"
    takes: ClassVar[Any] = "bag"
    wants: ClassVar[str] = "finite numbers not below 0"
    axes: ClassVar[dict[str, Axis]] = {"counts": "column"}

    def unfit(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
        """Negative or infinite values."""
        return negative_or_infinite(values)

    def count(self, data: Dense | Sparse, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """How often each face came up in each class."""
        return {"counts": count_bag(data, classes, n_classes, weights)}, ()

    def estimate(self, statistic: Statistic, how: How) -> Floats:  # (F, C)
        """The log-share of each face, smoothed."""
        counts, totals = _counts(statistic)
        return log_share(counts, totals, how.alpha[:, None], len(counts), how.alpha.sum())

    def evident_alpha(self, statistic: Statistic) -> Floats:
        """The one smoothing under which the counts of all faces are most probable."""
        counts = statistic.sums["counts"].to_float()
        return np.full(counts.shape[1], evident_alpha(counts))

    def freedom(self, statistic: Statistic, parameters: Any) -> int:
        """The faces of a die, but for the last."""
        return max(int(statistic.sums["counts"].shape[1]) - 1, 0)

    def contrast(self, parameters: Floats) -> Floats:
        """Each face's log-shares less the largest."""
        return contrast(parameters)

    def score(self, parameters: Floats, data: Dense | Sparse, out: Floats) -> None:
        """Σ count · log φ."""
        add_products(data, parameters, out)

    def leave_one_out(
        self,
        statistic: Statistic,
        how: How,
        data: Dense | Sparse,
        classes: ClassCodes,
        weights: Weights,
        out: Floats,
    ) -> None:
        """As `score`, with the row's own counts taken from its class."""
        scores = np.zeros_like(out)
        add_products(data, self.estimate(statistic, how), scores)
        counts = statistic.sums["counts"]
        totals = counts.sum(axis=1)
        row, column, value, w, size = own_entries(data, weights)
        own = classes[row]
        count, total = counts.less((own, column), w[row], value), totals.less((own,), w[row], size[row])
        left = log_share(count, total, how.alpha[column], data.width, how.alpha.sum())
        scores[np.arange(len(data)), classes] = np.bincount(row, value * left, minlength=len(data))
        out += scores

    def doubt(self, statistic: Statistic, how: How) -> DieDoubt:
        """What is not known of the shares of the faces."""
        return DieDoubt.of(*_counts(statistic), how.alpha)

    def add_doubt(self, doubts: DieDoubt, data: Dense | Sparse, out: Floats) -> None:
        """Add the variance of Σ count · log φ."""
        doubts.add(data, out)

    def sample(self, parameters: Floats, c: int, size: int, rng: np.random.Generator) -> list[npt.NDArray[Any]]:
        """Each row one roll of the die: the shape of a text of one word."""
        p = np.exp(parameters[:, c])
        return list(rng.multinomial(1, p / p.sum(), size=size).T)

    def table(self, statistic: Statistic, parameters: Floats, f: int) -> tuple[tuple[Any, ...], Floats | None, Floats]:
        """One row: the count and the probability of this face."""
        counts = statistic.sums["counts"].take(np.array([f]), axis=1).to_float().T
        return ("share",), counts, np.exp(parameters[f : f + 1])


def count_bag(data: Dense | Sparse, classes: ClassCodes, n_classes: int, weights: Weights) -> Exact:  # (C, F)
    """The exact sum of each column in each class; a missing entry is a count of zero."""
    if isinstance(data, Sparse):
        return Exact.from_limbs(kernels.count_sparse(*data.parts(), data.width, classes, n_classes, weights=weights))
    return Exact.from_limbs(kernels.power_sums(data.columns, classes, n_classes, order=1, weights=weights).first)


def add_products(data: Dense | Sparse, table: Floats, out: Floats) -> None:
    """Add data · table to `out`, taking 0 · −∞ as 0: an impossible face that did not come up says nothing."""
    impossible = np.isneginf(table)
    some = bool(impossible.any())
    if some:
        table = np.where(impossible, 0.0, table)
    if isinstance(data, Sparse):
        kernels.score_sparse(*data.parts(), table, out)
    else:
        matrix = data.matrix()
        matrix = np.where(np.isnan(matrix), 0.0, matrix) if np.isnan(matrix).any() else matrix
        out += matrix @ table
    if not some:
        return
    hits = np.zeros_like(out)
    if isinstance(data, Sparse):
        kernels.score_sparse(*data.parts(), impossible.astype(np.float64), hits)
    else:
        hits += (matrix > 0).astype(np.float64) @ impossible
    out[hits > 0] = -np.inf


def _squared(data: Dense | Sparse) -> Dense | Sparse:
    if isinstance(data, Sparse):
        return replace(data, data=np.square(data.data, dtype=np.float64))
    return data.map(lambda values: np.square(values, dtype=np.float64))


def own_entries(
    data: Dense | Sparse, weights: Weights
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any], Floats, Floats, Floats]:
    """Row, column and value of each entry that is not zero, each row's weight and each row's total."""
    if isinstance(data, Sparse):
        row, column, value = data.entries()
    else:
        matrix = np.nan_to_num(data.matrix(), nan=0.0)
        row, column = np.nonzero(matrix)
        value = matrix[row, column]
    value = value.astype(np.float64)
    some = value != 0
    row, column, value = row[some], column[some], value[some]
    w = np.ones(len(data)) if weights is None else weights
    return row, column, value, w, np.asarray(np.bincount(row, value, minlength=len(data)), np.float64)


def _counts(statistic: Statistic) -> tuple[Floats, Floats]:
    """Counts (F, C) and their totals (C,)."""
    counts = statistic.sums["counts"]
    return np.ascontiguousarray(counts.to_float().T), counts.sum(axis=1).to_float()
