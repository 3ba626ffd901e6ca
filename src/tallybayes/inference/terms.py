"""Left-out terms of rows as the fit of weights takes them, and what it fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from tallybayes import engines, kernels
from tallybayes.events.inputs import Floats

__all__ = ["FittedWeights", "Terms", "less_last", "probabilities", "weighted_sum"]

_AT_ONCE = 1 << 19  # terms and codes of a slice of rows, 6 MB: some half a millisecond of work for a thread


@dataclass(frozen=True)
class Terms:
    """Left-out terms of n rows, ready to be weighted.

    Attributes
    ----------
    base : ndarray, shape (C − 1, n)
        The plain scores: the log of the class prior plus all terms of offset 1; less the score of the last class.
    terms : ndarray, shape (U, C − 1, n)
        The terms, less the last class's; 0 where a column is missing.
    offset : ndarray, shape (U,)
        The weight of each term in `base`: 1 for a column, 0 for a missing value and for an interaction.
    target : ndarray, shape (U,)
        The weight that each term is drawn to with few rows: 1, or 0 for an interaction, which has to earn its weight.
    free : ndarray of bool, shape (U,)
        Which interactions cost nothing beside that.
    codes : ndarray of int32, shape (V, n)
        The correction of each row in each table; −1 for none.
    corrections : int
        The number of corrections of all tables together.
    share : ndarray, shape (n,)
        The share of the other columns that each row has.
    classes : ndarray of int32, shape (n,)
        The rows' classes.
    weights : ndarray, shape (n,), or None
        The rows' weights.
    threads : int
        The number of threads that weigh them; results do not depend on it.
    """

    base: Floats
    terms: Floats
    offset: Floats
    target: Floats
    free: npt.NDArray[np.bool_]
    codes: npt.NDArray[np.int32]
    corrections: int
    share: Floats
    classes: npt.NDArray[np.int32]
    weights: Floats | None
    threads: int = 1

    @classmethod
    def of_one(
        cls, prior: Floats, term: Floats, share: Floats, classes: npt.NDArray[np.int32], weights: Floats | None
    ) -> Terms:
        """Return the terms of rows whose columns all have one weight, given prior and sum of terms, (n, C) each."""
        nothing, one = np.zeros((0, len(classes)), np.int32), np.ones(1)
        return cls(
            less_last((prior + term).T), less_last(term.T)[None], one, one, one > 1, nothing, 0, share, classes, weights
        )

    def of(self, index: npt.NDArray[np.intp]) -> Terms:
        """Return some of the terms."""
        kept = {name: getattr(self, name)[index] for name in ("terms", "offset", "target", "free")}
        return replace(self, **kept)

    def summed(self) -> Terms:
        """Return one term in place of all: their sum, where all are drawn to a common weight."""
        base, more = self.base, self.target - self.offset
        if more.any():
            base = base + self.share * weighted_sum(more, self.terms)
        one, nothing = np.ones(1), np.zeros((0, len(self.classes)), np.int32)
        total = weighted_sum(self.target, self.terms)[None]
        return replace(
            self, base=base, terms=total, offset=one, target=one, free=one > 1, codes=nothing, corrections=0
        )

    def only(self, rows: int) -> Terms:
        """Return the terms with the weights of all but the first rows at 0."""
        weights = np.ones(len(self.classes)) if self.weights is None else self.weights.copy()
        weights[rows:] = 0.0
        return replace(self, weights=weights)

    def faded(self, power: int) -> Terms:
        """Return the terms with a power of the share of other columns in its place."""
        return replace(self, share=self.share**power)

    def loss(self, fitted: FittedWeights | None = None) -> float:
        """Return the mean loss under fitted weights, or without any."""
        U, C = len(self.terms), len(self.base) + 1
        if fitted is None:
            parts = np.zeros(U), np.zeros(C), np.zeros((self.corrections, C))
        else:
            parts = fitted.scale - self.offset, fitted.bias, fitted.table
        return self.weigh(*parts, sloped=False).loss / self.total

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(len(self.classes) if self.weights is None else self.weights.sum())

    def weigh(
        self, scale: Floats, bias: Floats, table: Floats, *, sloped: bool = True, curved: bool = False
    ) -> kernels.WeighedTerms:
        """Return loss, slopes and curvatures where these are added to the weights; slices of rows on threads."""
        given = self.base, self.terms, self.codes, self.classes, self.weights, self.share, scale, bias, table
        work = partial(kernels.weigh_terms, *given, sloped=sloped, curved=curved)
        n, rows = len(self.classes), max(1, _AT_ONCE // (len(self.terms) * len(self.base) + len(self.codes) + 1))
        if n <= rows:
            return work()

        def of_slice(rows: slice) -> kernels.WeighedTerms:
            return work(rows=rows)

        return engines.fold_rows(n, of_slice, _sum, threads=self.threads, rows=rows)

    def take(self, rows: slice) -> Terms:
        """Return the terms of some rows."""
        return Terms(
            np.ascontiguousarray(self.base[:, rows]),
            np.ascontiguousarray(self.terms[:, :, rows]),
            self.offset,
            self.target,
            self.free,
            np.ascontiguousarray(self.codes[:, rows]),
            self.corrections,
            np.ascontiguousarray(self.share[rows]),
            np.ascontiguousarray(self.classes[rows]),
            None if self.weights is None else np.ascontiguousarray(self.weights[rows]),
            self.threads,
        )


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


def probabilities(terms: Terms, fitted: FittedWeights) -> Floats:  # (n, C)
    """Return the probabilities of the classes under fitted weights."""
    padded = less_last(np.concatenate([fitted.table, np.zeros((1, len(fitted.bias)))]).T)  # a code of −1 adds nothing
    more = less_last(fitted.bias)[:, None] + weighted_sum(fitted.scale - terms.offset, terms.terms)
    for codes in terms.codes:
        more += padded[:, codes]
    scores = np.zeros((len(terms.classes), len(fitted.bias)))
    scores[:, :-1] = (terms.base + terms.share * more).T
    kernels.softmax(scores)
    return scores


def _sum(one: kernels.WeighedTerms, other: kernels.WeighedTerms) -> kernels.WeighedTerms:
    return kernels.WeighedTerms(
        one.loss + other.loss, one.slopes + other.slopes, one.curves + other.curves, one.all_curve + other.all_curve
    )


def weighted_sum(weights: Floats, terms: Floats) -> Floats:
    """Return Σ_u weights[u] · terms[u]; unlike BLAS, in the same order on every processor, and on one thread.

    Examples
    --------
    >>> weighted_sum(np.array([1.0, 0.0, 2.0]), np.array([[1.0], [5.0], [3.0]]))
    array([7.])
    """
    out = np.zeros(terms.shape[1:])
    for weight, term in zip(weights.tolist(), terms, strict=True):
        if weight:
            out += term if weight == 1 else weight * term
    return out


def less_last(values: Floats) -> Floats:
    """Return values of classes (C, ...) less those of the last: (C − 1, ...), in order in memory."""
    return np.ascontiguousarray(values[:-1] - values[-1:])
