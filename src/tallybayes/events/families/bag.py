"""The common part of multinomial and complement: columns are counts of the faces of one die.

Counted: how often each face came up in each class. The likelihood is a table (F, C): the amount that one count of each
face adds to a row's score.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.events.cell_hashes import CellHashes
from tallybayes.events.event import (
    ClassCodes,
    Counted,
    Event,
    InputKind,
    LeftOut,
    Weights,
    chunks,
    negative_or_infinite,
)
from tallybayes.events.families.bag_counts import bag_lengths
from tallybayes.events.families.bag_rows import BagRows, LeftOutBag, leave_bag_out
from tallybayes.events.families.dirichlet import contrast
from tallybayes.events.families.empirical_bayes import empirical_bayes_alpha
from tallybayes.events.families.variance import trigamma
from tallybayes.events.inputs import Dense, Floats, Numbers, Sparse, Value, as_number
from tallybayes.events.likelihood import Likelihood, Profile, weigh, weigh_table
from tallybayes.events.plain_terms import LinearCounts
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact

__all__ = ["BagEvent", "BagTable", "ShareVariance", "entries_of"]


@dataclass(frozen=True)
class ShareVariance:
    """The posterior variance of log-shares: ψ₁ of the count of each face, and of the total."""

    each: Floats  # (F, C)
    whole: Floats  # (C,)

    @classmethod
    def of(cls, counts: Floats, totals: Floats, alpha: Floats) -> ShareVariance:
        """Return the variances, given counts (F, C), totals (C,) and each face's pseudo-count (F,)."""
        total = totals + alpha.sum()
        # without counts and prior the variance of every face is infinite already
        return cls(np.ascontiguousarray(trigamma(counts + alpha[:, None])), np.where(total > 0, trigamma(total), 0.0))

    @cached_property
    def _squares(self) -> Products:
        return Products.of(-self.each)

    def add(self, data: Dense | Sparse, out: Floats) -> None:
        """Add the variance of Σ x log φ.

        Notes
        -----
        The shares of a Dirichlet sum to 1: Cov(log φ_j, log φ_k) = −ψ₁(total), so the variance is
        Σ x² ψ₁(count) − (Σ x)² ψ₁(total).
        """
        size, minus = np.zeros((len(data), 1)), np.zeros_like(out)
        Products.of(np.ones((data.width, 1))).add(data, size)
        self._squares.add(_squared(data), minus)
        out += np.maximum(-minus - size**2 * self.whole, 0.0)


@dataclass(frozen=True, eq=False)
class BagTable(Likelihood[Dense | Sparse]):
    """The amount that one count of each face adds to the score of each class."""

    log: Floats  # (F, C)

    @property
    @abstractmethod
    def _variance(self) -> ShareVariance:
        """The variances of the table's log-shares."""

    def add_variance(self, data: Dense | Sparse, out: Floats) -> None:
        """Add the variance of each row's score."""
        self._variance.add(data, out)

    def add_log_prob(self, data: Dense | Sparse, out: Floats) -> Floats | None:
        """Add each count times its table entry; return the number of rolls of sparse rows."""
        return self._products.add(data, out)

    @cached_property
    def _products(self) -> Products:
        return Products.of(self.log)

    def add_terms(self, data: Dense | Sparse, weights: Floats, out: Floats) -> None:
        """Add each count times its table entry, weighted, column by column."""
        if isinstance(data, Sparse):
            row, column, value = data.entries()
            some = value != 0
            row, column = row[some], column[some]
            np.add.at(out, (row, column), value[some] * weigh(self.log[column], weights[row]))
            return
        for rows in chunks(len(data)):
            x = np.nan_to_num(data.map(lambda values, rows=rows: values[rows]).matrix())  # type: ignore[misc]
            with np.errstate(invalid="ignore"):
                out[rows] += np.where(x != 0, x * weigh_table(self.log, weights[rows]), 0.0)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the amounts that counts of one face add: by default, counts from 0 to 5."""
        values = tuple(range(6)) if at is None else tuple(at)
        x = np.array(values, np.float64)[:, None]
        with np.errstate(invalid="ignore"):
            return Profile("counts", values, np.where(x == 0, 0.0, x * self.log[f]))

    def of_cell(self, f: int, value: Value) -> tuple[Floats, float]:
        """Return the amount that a count adds under each class, and the count as its length."""
        return self.profile(f, [value]).log[0], as_number(value)

    def support(self, data: Dense | Sparse) -> Floats:  # (F, C)
        """Return how often each face came up in each class."""
        return self.statistic.sums["counts"].to_float().T

    def to_plain(self) -> tuple[LinearCounts, ...]:
        """Return the amount of one count of each face."""
        return tuple(LinearCounts(log) for log in self.log)

    def contrasted(self) -> BagTable:
        """Return each face's amounts less the largest."""
        return replace(self, log=contrast(self.log))

    @property
    def n_parameters(self) -> int:
        """The number of faces less one."""
        return max(int(self.statistic.sums["counts"].shape[1]) - 1, 0)


class BagEvent(Event[Dense | Sparse]):
    """Counts of the faces of one die."""

    input: ClassVar[InputKind] = "bag"
    domain: ClassVar[str] = "finite numbers not below 0"
    sums: ClassVar[dict[str, Sum]] = {"counts": Sum("column")}

    def invalid(self, values: Numbers) -> npt.NDArray[np.bool_] | None:
        """Return a mask of negative or infinite values."""
        return negative_or_infinite(values)

    def count(self, data: Dense | Sparse, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count how often each face came up in each class; a missing entry is a count of zero."""
        return _count(data, classes, n_classes, weights=weights)

    def count_and_hash(
        self, data: Dense | Sparse, classes: ClassCodes, n_classes: int, weights: Weights, hashes: CellHashes
    ) -> Counted:
        """Count the same, and hash the rows while they are in a cache."""
        return _count(data, classes, n_classes, weights=weights, seeds=hashes.seeds, out=hashes.out)

    def length(self, data: Dense | Sparse) -> Floats:  # (n,)
        """Return the number of rolls of each row."""
        if isinstance(data, Sparse):
            return bag_lengths(data)
        total = np.zeros(len(data))
        for rows in chunks(len(data)):
            total[rows] = np.nansum(data.map(lambda values, rows=rows: values[rows]).matrix(), axis=1)  # type: ignore[misc]
        return total

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats:
        """Return the one smoothing under which the counts of all faces are most probable."""
        counts = statistic.sums["counts"].to_float()
        return np.full(counts.shape[1], empirical_bayes_alpha(counts))

    @abstractmethod
    def left_out(self, rows: BagRows, counts: SparseExact) -> LeftOutBag:
        """Return rows to be scored by counts (C, F) without their own."""

    def without_rows(
        self, statistic: Statistic, data: Dense | Sparse, classes: ClassCodes, weights: Weights
    ) -> LeftOut:
        """Return the rows; their counts are found once, however many smoothings are tried."""
        counts, bag = SparseExact.from_whole(statistic.sums["counts"]), entries_of(data)
        add = leave_bag_out(bag, counts.shape[0], classes, weights, lambda rows: self.left_out(rows, counts))
        return LeftOut(add, lambda: self.length(data))


def _count(data: Dense | Sparse, classes: ClassCodes, n_classes: int, **hashed: Any) -> Counted:
    """Return the counts of each face, given weights and where hashes go, as kernels take them."""
    if isinstance(data, Sparse):
        limbs = kernels.count_sparse(*data.parts(), data.width, classes, n_classes, **hashed)
    else:
        limbs = kernels.power_sums(data.columns, classes, n_classes, order=1, **hashed).first
    return {"counts": Exact.from_limbs(limbs)}, ()


@dataclass(frozen=True)
class Products:
    """A table (F, C) to multiply rows with, taking 0 · −∞ as 0.

    An impossible face may have a count of zero.
    """

    table: Floats  # without −∞
    impossible: Floats | None  # 1 where the table is −∞; None where it nowhere is

    @classmethod
    def of(cls, table: Floats) -> Products:
        """Look through the table, once for all rows."""
        impossible = np.isneginf(table)
        if not impossible.any():
            return cls(table, None)
        return cls(np.where(impossible, 0.0, table), impossible.astype(np.float64))

    def add(self, data: Dense | Sparse, out: Floats) -> Floats | None:  # (n,)
        """Add data · table to `out`; return the sum of each sparse row."""
        lengths = np.empty(len(data)) if isinstance(data, Sparse) else None
        if isinstance(data, Sparse):
            kernels.score_sparse(*data.parts(), self.table, out, lengths)
        else:
            matrix = data.matrix()
            matrix = np.where(np.isnan(matrix), 0.0, matrix) if np.isnan(matrix).any() else matrix
            kernels.add_product(matrix, self.table, out)
        if self.impossible is None:
            return lengths
        hits = np.zeros_like(out)
        if isinstance(data, Sparse):
            kernels.score_sparse(*data.parts(), self.impossible, hits)
        else:
            kernels.add_product(matrix > 0, self.impossible, hits)
        out[hits > 0] = -np.inf
        return lengths


def _squared(data: Dense | Sparse) -> Dense | Sparse:
    if isinstance(data, Sparse):
        return replace(data, data=np.square(data.data, dtype=np.float64))
    return data.map(lambda values: np.square(values, dtype=np.float64))


def entries_of(data: Dense | Sparse) -> Sparse:
    """Return the rows as sparse entries that are not zero."""
    if isinstance(data, Sparse):
        row, column, value = data.entries()
    else:
        matrix = np.nan_to_num(data.matrix(), nan=0.0)
        row, column = np.nonzero(matrix)
        value = matrix[row, column]
    some = value != 0
    starts = np.concatenate([[0], np.cumsum(np.bincount(row[some], minlength=len(data)))])
    return Sparse(starts, column[some], value[some], data.width)
