"""Left-out terms of rows as the fit of weights takes them, and what it fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import engines, kernels
from tallybayes.cached_property import cached_property
from tallybayes.events.inputs import Floats

__all__ = ["FittedWeights", "LateTerms", "Terms", "less_last", "no_codes"]

_AT_ONCE = 1 << 20  # terms of a slice of rows: some half a millisecond of work for a thread
_NO_TABLES = np.zeros(0, np.int64)
_Given: TypeAlias = tuple[
    Floats,
    npt.NDArray[np.float32],
    npt.NDArray[np.int32],
    kernels.CodedTerms,
    npt.NDArray[np.int32],
    Floats | None,
    Floats,
]
_Loss: TypeAlias = Callable[[Floats, bool], tuple[float, Floats, Floats]]
_ROWS_PER_ENTRY = 4  # the fewest rows of a slice, for each entry of a table: every slice makes the tables anew


@dataclass(frozen=True)
class Terms:
    """Left-out terms of n rows, ready to be weighted.

    Attributes
    ----------
    base : ndarray, shape (C − 1, n)
        The plain scores: the log of the class prior plus all terms of offset 1; less the score of the last class.
    terms : ndarray of float32, shape (T, C − 1, n)
        Terms of each row, less the last class's; 0 where a column is missing. They are many, and read many times.
    numbers : ndarray of int32, shape (T,)
        Which of all U terms these are.
    coded : kernels.CodedTerms
        The other terms, by codes that rows share, and which correction each row has in each table.
    offset : ndarray, shape (U,)
        The weight of each term in `base`: 1 for a column, 0 for a missing value and for an interaction.
    target : ndarray, shape (U,)
        The weight that each term is drawn to with few rows: 1, or 0 for an interaction, which has to earn its weight.
    free : ndarray of bool, shape (U,)
        Which interactions cost nothing beside that.
    tables : ndarray of int64
        The number of corrections of each column that has some.
    share : ndarray, shape (n,)
        The share of the other columns that each row has.
    classes : ndarray of int32, shape (n,)
        The rows' classes.
    weights : ndarray, shape (n,), or None
        The rows' weights.
    kept : ndarray, shape (k,), or None
        The share of its columns that each of the last k rows keeps: they repeat earlier rows.
    threads : int
        The number of threads that weigh them; results do not depend on it.
    """

    base: Floats
    terms: npt.NDArray[np.float32]
    numbers: npt.NDArray[np.int32]
    coded: kernels.CodedTerms
    offset: Floats
    target: Floats
    free: npt.NDArray[np.bool_]
    tables: npt.NDArray[np.int64]
    share: Floats
    classes: npt.NDArray[np.int32]
    weights: Floats | None
    kept: Floats | None = None
    threads: int = 1

    @classmethod
    def of_one(
        cls, prior: Floats, term: Floats, share: Floats, classes: npt.NDArray[np.int32], weights: Floats | None
    ) -> Terms:
        """Return the terms of rows whose columns all have one weight, given prior and sum of terms, (n, C) each."""
        one, none = np.ones(1), no_codes(*prior.shape)
        total, first = less_last(term.T)[None].astype(np.float32), np.zeros(1, np.int32)
        base = less_last((prior + term).T)
        return cls(base, total, first, none, one, one, one > 1, _NO_TABLES, share, classes, weights)

    def of(self, index: npt.NDArray[np.intp]) -> Terms:
        """Return some of the terms."""
        place = np.full(len(self.offset) + 1, -1, np.int32)  # that of −1, too
        place[index] = np.arange(len(index))
        kept = place[self.numbers] >= 0
        return replace(
            self,
            terms=self.terms[kept],
            numbers=place[self.numbers[kept]],
            coded=self.coded._replace(terms=place[self.coded.terms]),
            **{name: getattr(self, name)[index] for name in ("offset", "target", "free")},
        )

    def total_of(self, factors: Floats) -> Floats:  # (C − 1, n)
        """Return the sum of all terms, each times a factor."""
        out = kernels.weighted_sum(factors[self.numbers], self.terms)
        if not len(self.coded.codes):
            return out
        of_table = np.append(factors, 0.0)[self.coded.terms]
        values = np.repeat(of_table, self.coded.sizes)[:, None] * self.coded.values
        rows = np.zeros((len(self.classes), len(self.base)))
        kernels.score_codes(tuple(self.coded.codes), values, self.coded.sizes, rows)
        return out + rows.T

    def summed(self) -> Terms:
        """Return one term in place of all: their sum, where all are drawn to a common weight."""
        base, more, one = self.base, self.target - self.offset, np.ones(1)
        if more.any():
            base = base + self.share * self.total_of(more)
        return replace(
            self,
            base=base,
            terms=self.total_of(self.target)[None].astype(np.float32),
            numbers=np.zeros(1, np.int32),
            coded=no_codes(len(self.classes), len(base) + 1),
            offset=one,
            target=one,
            free=one > 1,
            tables=_NO_TABLES,
        )

    def faded(self, power: int) -> Terms:
        """Return the terms with a power of the share of other columns in its place."""
        return replace(self, share=self.share**power)

    def losses(self, fitted: FittedWeights, powers: Sequence[int]) -> list[float]:
        """Return the mean loss under fitted weights, for each power of the share of other columns in its place."""
        parts, total = self._parts(fitted), self.total
        return [self.weigh(*parts, sloped=False, share=self.share**power).loss / total for power in powers]

    def _parts(self, fitted: FittedWeights) -> tuple[Floats, Floats, Floats]:
        """Return what fitted weights add to the weights of terms, the bias and the corrections."""
        return fitted.scale - self.offset, fitted.bias, fitted.table

    @property
    def corrections(self) -> int:
        """The number of corrections."""
        return int(self.tables.sum())

    @property
    def repetition(self) -> float:
        """How many times larger the variance of a slope is than if no row repeated another.

        A row and its copy tell the same of a column that the copy keeps: their slopes add up, and so does its variance
        as the square.
        """
        if self.kept is None or not len(self.kept):
            return 1.0
        k = len(self.kept)
        share, weight = self.share[-k:], np.ones(k) if self.weights is None else self.weights[-k:]
        once = self.total - weight.sum() + (weight * self.kept * share**2).sum()
        return float(1 + 2 * (weight * self.kept * share).sum() / once)

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(len(self.classes) if self.weights is None else self.weights.sum())

    def weigh(
        self,
        scale: Floats,
        bias: Floats,
        table: Floats,
        *,
        sloped: bool = True,
        curved: bool = False,
        share: Floats | None = None,
        p: Floats | None = None,
    ) -> kernels.WeighedTerms:
        """Return loss, slopes and curvatures where these are added to the weights; slices of rows on threads."""
        given = self._given if share is None else (*self._given[:-1], share)
        n, at_once = len(self.classes), self._at_once
        if n <= at_once:
            return kernels.weigh_terms(*given, scale, bias, table, sloped=sloped, curved=curved, p=p)

        def of_slice(rows: slice) -> kernels.WeighedTerms:
            return kernels.weigh_terms(*given, scale, bias, table, rows=rows, sloped=sloped, curved=curved, p=p)

        pairs = -(-n // (2 * at_once))  # of equal slices: with an odd one, a second thread would wait for the first
        return engines.fold_rows(n, of_slice, _sum, threads=self.threads, rows=-(-n // (2 * pairs)))

    def fit(self, *, function: _Loss, **begin: Any) -> kernels.FittedTerms:
        """Return the numbers near the minimum of the loss with a prior, see `kernels.fit_terms`.

        `function` returns loss, slope and curvature of rows in slices on threads; few rows need no threads.
        """
        alone = len(self.classes) <= self._at_once
        return kernels.fit_terms(*self._given, target=self.target, function=None if alone else function, **begin)

    @property
    def _given(self) -> _Given:
        """The terms as kernels take them."""
        return self.base, self.terms, self.numbers, self.coded, self.classes, self.weights, self.share

    @property
    def _at_once(self) -> int:
        """The rows of a slice."""
        V, D = len(self.coded.codes), len(self.base)
        at_once = _AT_ONCE // ((len(self.terms) + V) * D + 1)
        return max(at_once, _ROWS_PER_ENTRY * len(self.coded.bins) // max(1, V))

    def probabilities(self, fitted: FittedWeights) -> Floats:  # (n, C)
        """Return the probabilities of the classes under fitted weights."""
        p = np.empty((len(self.classes), len(self.base) + 1))
        self.weigh(*self._parts(fitted), sloped=False, p=p)
        return p

    @property
    def others(self) -> int:
        """The number of classes but one."""
        return len(self.base)

    @property
    def all(self) -> Terms:
        """These terms."""
        return self

    def take(self, rows: slice) -> Terms:
        """Return the terms of some rows."""
        return replace(
            self,
            base=np.ascontiguousarray(self.base[:, rows]),
            terms=np.ascontiguousarray(self.terms[:, :, rows]),
            coded=self.coded._replace(codes=np.ascontiguousarray(self.coded.codes[:, rows])),
            share=np.ascontiguousarray(self.share[rows]),
            classes=np.ascontiguousarray(self.classes[rows]),
            weights=None if self.weights is None else np.ascontiguousarray(self.weights[rows]),
            kept=None,  # few rows are taken together with their copies
        )


@dataclass(frozen=True)
class LateTerms:
    """Left-out terms that are written when they are taken: where few rows decide a fit, it never reads all.

    Attributes
    ----------
    target, share, classes
        As those of `Terms`.
    others : int
        The number of classes but one.
    take : callable
        Returns the terms of a slice of the rows.
    """

    target: Floats
    share: Floats
    classes: npt.NDArray[np.int32]
    others: int
    take: Callable[[slice], Terms]

    @cached_property
    def all(self) -> Terms:
        """The terms of all rows."""
        return self.take(slice(None))


def no_codes(n: int, classes: int) -> kernels.CodedTerms:
    """Return no coded terms of n rows."""
    none = np.zeros(0, np.int32)
    return kernels.CodedTerms(none.reshape(0, n), np.zeros(0, np.int64), np.zeros((0, classes - 1)), none, none)


@dataclass(frozen=True)
class FittedWeights:
    """The weight of each term (U,), the bias of each class (C,), and the corrections (K, C).

    `precision` has the precision of each group of numbers, `common` the weight that terms are drawn to, less 1,
    `fading` the power of the share of other columns, and `effective` how many of the numbers the rows have decided.
    """

    scale: Floats
    bias: Floats
    table: Floats
    common: float
    precision: Floats
    fading: int = 1
    effective: float = 0.0


def _sum(one: kernels.WeighedTerms, other: kernels.WeighedTerms) -> kernels.WeighedTerms:
    return kernels.WeighedTerms(
        one.loss + other.loss, one.slopes + other.slopes, one.curves + other.curves, one.all_curve + other.all_curve
    )


def less_last(values: Floats) -> Floats:
    """Return values of classes (C, ...) less those of the last: (C − 1, ...), in order in memory."""
    return np.ascontiguousarray(values[:-1] - values[-1:])
