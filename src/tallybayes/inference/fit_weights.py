"""Fit a weight for each term, so that the classes of rows left out are most probable.

Naive Bayes counts what correlated columns repeat. With L_u the left-out terms of column u and s_c its plain score,

    score_c = s_c + m · (b_c + Σ_u (w_u − 1) · L_uc + Σ_u β_u,bin,c)

where m is the share of the other columns that a row has: a column alone needs no correction. The weights are
w_u = t + ω_u, drawn to one common t, which is drawn to 1; bias b and corrections β are drawn to 0. How strongly is
chosen by marginal likelihood, group by group. The problem is convex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats
from tallybayes.inference.lbfgs import minimise

__all__ = ["FittedWeights", "Terms", "fit_weights"]

_ROUNDS = 4  # of fitting and choosing the precisions: further rounds no longer change them
_STEPS, _GAIN = 60, 1e-6  # a loss closer to its minimum than this cannot be told from it on new rows
_FIRST = 4.0  # the first precision of each group: numbers of about ±½
_LEAST, _MOST = 0.02, 1e4  # precisions: a group is never free of its prior, and beyond the last it is at 0
# The prior of a precision: it acts like one number of size 0.3, so that a group of two or three is not set free.
_PRIOR_NUMBERS, _PRIOR_SQUARES = 0.5, 0.05


@dataclass(frozen=True)
class Terms:
    """Left-out terms of n rows, ready to be weighted.

    Attributes
    ----------
    base : ndarray, shape (C, n)
        The plain scores: the log of the class prior plus all terms of offset 1.
    terms : ndarray, shape (U, C, n)
        The terms; 0 where a column is missing.
    offset : ndarray, shape (U,)
        The weight of each term in `base`: 1 for a column, 0 for the term of its being missing.
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
    """

    base: Floats
    terms: Floats
    offset: Floats
    codes: npt.NDArray[np.int32]
    corrections: int
    share: Floats
    classes: npt.NDArray[np.int32]
    weights: Floats | None

    def take(self, rows: slice) -> Terms:
        """Return the terms of some rows."""
        return Terms(
            np.ascontiguousarray(self.base[:, rows]),
            np.ascontiguousarray(self.terms[:, :, rows]),
            self.offset,
            np.ascontiguousarray(self.codes[:, rows]),
            self.corrections,
            np.ascontiguousarray(self.share[rows]),
            np.ascontiguousarray(self.classes[rows]),
            None if self.weights is None else np.ascontiguousarray(self.weights[rows]),
        )


@dataclass(frozen=True)
class FittedWeights:
    """The weight of each term (U,), the bias of each class (C,), the corrections (K, C), and the loss under them."""

    scale: Floats
    bias: Floats
    table: Floats
    loss: float


def fit_weights(terms: Terms, *, common: bool = False) -> FittedWeights:
    """Return the most probable weights; with `common`, one weight for all terms and nothing else."""
    U, C, _ = terms.terms.shape
    K = terms.corrections
    sizes = np.array([1, U, C, K * C])  # the numbers of each group: t, ω, b, β
    group = np.repeat(np.arange(4), sizes)
    at, precision = np.zeros(len(group)), np.array([1.0, _FIRST, _FIRST, _FIRST])
    free = group == 0 if common else np.ones(len(group), bool)

    def evaluate(point: Floats, *, curved: bool = False) -> tuple[float, Floats, Floats]:
        """Return loss, slope and curvature by t, ω, b and β."""
        scale = 1.0 - terms.offset + point[0] + point[1 : 1 + U]
        bias, table = point[1 + U : 1 + U + C], point[1 + U + C :].reshape(K, C)
        given = terms.base, terms.terms, terms.codes, terms.classes, terms.weights, terms.share
        found = kernels.weigh_terms(*given, scale, bias, table, curved=curved)
        slope = np.concatenate([[found.slopes[:U].sum()], found.slopes])
        return found.loss, slope, np.concatenate([[found.all_curve], found.curves])

    for k in range(1 if common else _ROUNDS):
        curvature = evaluate(at, curved=True)[2]
        if k:
            for g in range(1, 4):
                mine = group == g
                fitted = (curvature[mine] / (curvature[mine] + precision[g])).sum()
                chosen = (fitted + _PRIOR_NUMBERS) / ((at[mine] ** 2).sum() + _PRIOR_SQUARES)
                precision[g] = np.clip(chosen, _LEAST, _MOST)
        each = precision[group]
        unit = np.where(free, 1 / np.sqrt(curvature + each), 0.0)

        def value(scaled: Floats, unit: Floats = unit, each: Floats = each) -> tuple[float, Floats]:
            point = scaled * unit
            loss, slope, _ = evaluate(point)
            return loss + 0.5 * float((each * point**2).sum()), (slope + each * point) * unit

        start = np.divide(at, unit, out=np.zeros_like(at), where=free)
        at = minimise(value, start, steps=_STEPS, gain=_GAIN) * unit
    scale, bias, table = 1.0 + at[0] + at[1 : 1 + U], at[1 + U : 1 + U + C], at[1 + U + C :].reshape(K, C)
    return FittedWeights(scale, bias, table, evaluate(at)[0])
