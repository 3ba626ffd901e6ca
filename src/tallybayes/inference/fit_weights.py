"""Fit a weight for each term, so that the classes of rows left out are most probable.

Naive Bayes counts what correlated columns repeat. With L_u the left-out terms of column u and s_c its plain score,

    score_c = s_c + m · (b_c + Σ_u (w_u − 1) · L_uc + Σ_u β_u,bin,c)

where m is the share of the other columns that a row has: a column alone needs no correction. The weights are
w_u = t + ω_u, drawn to one common t, which is drawn to 1; bias b and corrections β are drawn to 0. How strongly is
chosen by marginal likelihood, group by group, and for corrections column by column. The problem is convex.

The common weight is not below 0 (Breiman 1996). A row left out is missing from the counts of its own class alone, so
where columns say nothing, a negative weight would tell the class of each row, and corrections would hide the rest.

A term outside s_c, an interaction I, has a weight w ≥ 0 of its own, which costs μ·w with μ = √(2τh), h the curvature of
the loss by w. At w = 0 the slope g exceeds μ where the score test g²/2h exceeds τ: choosing and shrinking are one
problem. g grows as the rows and μ as their root, so the penalty fades. A free interaction is drawn to 0 like a
correction instead: better with many rows, and too trusting with few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats
from tallybayes.inference.precisions import BIAS, CORRECTION, FREE, INTERACTION, WEIGHT, first_precisions, groups_of
from tallybayes.inference.terms import FittedWeights, LateTerms, Terms

__all__ = ["THRESHOLD", "fit_fading", "fit_weights"]

THRESHOLD = 4.0  # τ, nats that an interaction must gain: with 3, one small draw in twenty lost more than 0.006

_ROUNDS = 4  # of fitting and choosing the precisions: further rounds hardly change them
# Rows that find precisions and a first point nearly as well as more: the last rounds take all, and find the precisions
# once more. Twice as many changed no loss by 0.0005 on large tables, but for one that lost 0.003 by them. Many terms
# need fewer rows.
_SOME, _SOME_CELLS, _FEWEST_ROWS, _LAST_ROUNDS = 2048, 1 << 20, 1024, 2
# Nats per row. New rows lose half a nat, together as many rows as were fitted to, for each number that these have
# decided (Akaike 1973). Where that is less than this, no validation would show what more rows have to add.
_TOLD = 0.002
# A loss closer to its minimum than this share cannot be told from it on new rows; earlier rounds need less.
_STEPS, _GAIN, _NEAR = 60, 2e-5, 3e-4
_LEAST_LOSS = 0.1  # nats per row: where next to nothing is left to gain, a share of it is less than that
# Of the common weight: the loss is convex, and shorter steps than the first do not overshoot.
_FARTHEST, _NEAR_STEP, _LAST_STEP = 0.5, 0.01, 1e-12
_WALL = 10.0  # times the curvature by the common weight: that of the wall which keeps it from falling below 0
# Powers of the share of other columns: from weights that fade evenly to those that only whole rows have.
_POWERS = (1, 2, 4, 8, 16, 32)
_NOTHING = np.zeros(0)


def fit_weights(
    terms: Terms | LateTerms, *, common: bool = False, precision: float = 1.0, alone: FittedWeights | None = None
) -> FittedWeights:
    """Return the most probable weights.

    Parameters
    ----------
    terms : Terms
        The terms.
    common : bool
        Whether all terms have one weight, and nothing else is fitted.
    precision : float
        How strongly the common weight is drawn to 1.
    alone : FittedWeights, optional
        What was fitted to the same terms without interactions, if that is known.
    """
    own, n, U = np.flatnonzero(terms.target), len(terms.classes), len(terms.target)
    some = max(_FEWEST_ROWS, min(_SOME, _SOME_CELLS // max(1, U * terms.others)))
    if alone is None:
        mine = terms if len(own) == U else terms.all.of(own)
        if common:
            fit = _Fit(mine.all, precision=precision)
            fit.run_common()
        elif n < 2 * some:
            fit = _Fit(mine.all, precision=precision)
            fit.run_common(_NEAR_STEP)
            fit.run(rounds=_ROUNDS)
        else:
            fit = few = _Fit(mine.take(slice(None, None, -(-n // some))), precision=precision)
            few.run_common(_NEAR_STEP)
            few.run(rounds=_ROUNDS - 1, gain=_NEAR)
            if few.effective > 2 * _TOLD * few.terms.total:
                fit = _Fit(mine.all, few.fitted())
                fit.learn(few)
                fit.run(rounds=_LAST_ROUNDS)
        alone = fit.fitted()
    if len(own) == U:
        return alone
    whole = terms.all
    fit = _Fit(whole, alone)
    # One round: precisions stay as they were without interactions, which would take the place of other numbers. Only
    # that of free interactions is found in further rounds.
    fit.run(rounds=3 if whole.free.any() else 1, kinds=(FREE,))
    return fit.fitted()


def fit_fading(terms: Terms | LateTerms, whole: int, *, common: bool, precision: float) -> FittedWeights:
    """Return the most probable weights, and the power under which all rows are most probable.

    Where whole rows have all columns, the power matters to rows with columns dropped alone.

    Parameters
    ----------
    terms : Terms
        The terms of whole rows, then those of rows with columns dropped.
    whole : int
        The number of whole rows.
    common : bool
        Whether all terms have one weight, and nothing else is fitted.
    precision : float
        How strongly the common weight is drawn to 1.
    """
    fitted = fit_weights(terms, common=common, precision=precision)
    complete = bool((terms.share[:whole] == 1).all())  # a power of 1 is 1
    moved = terms.take(slice(whole, None)) if complete else terms.all
    while len(terms.classes) > whole:
        powers = [power for power in _POWERS if power >= fitted.fading]
        best = powers[int(np.argmin(moved.losses(fitted, powers)))]
        if best == fitted.fading:
            return fitted
        faded = terms.all.faded(best)  # whole rows are as before, and the weights near
        again = fit_weights(faded, precision=precision, common=True) if common else _again(faded, fitted)
        fitted = replace(again, fading=best)
    return fitted


def _again(terms: Terms, start: FittedWeights) -> FittedWeights:
    """Return the most probable weights near others; precisions are found without interactions, as at first."""
    own = np.flatnonzero(terms.target)
    if len(own) < len(terms.target):
        return fit_weights(terms, alone=_again(terms.of(own), replace(start, scale=start.scale[own])))
    fit = _Fit(terms, start)
    fit.run(rounds=_ROUNDS)
    return fit.fitted()


@dataclass(frozen=True)
class _Prior:
    """What draws numbers to 0, and the common weight from below 0, where interactions cost something.

    `unit` has the step of each number that changes the loss by about ½, `each` the precisions, and `linear` the
    linear penalties.
    """

    unit: Floats
    each: Floats
    linear: Floats
    wall: float

    def add(self, point: Floats, loss: float, slope: Floats) -> tuple[float, Floats]:
        """Return loss and slope, by units, with the prior's part."""
        slope = slope + self.each * point
        loss += 0.5 * float(np.add.reduce(self.each * point**2))
        below = min(0.0, 1 + float(point[0]))
        if below < 0:
            loss += 0.5 * self.wall * below**2
            slope[0] += self.wall * below
        slope += self.linear
        loss += float((self.linear * point).sum())
        return loss, slope * self.unit


class _Fit:
    """The numbers being fitted, t, ω, b and β one after the other, and the precision of each group."""

    def __init__(self, terms: Terms, alone: FittedWeights | None = None, *, precision: float = 1.0) -> None:
        U, C = len(terms.target), len(terms.base) + 1
        self.terms, self.sizes, self.first = terms, (U, C, terms.corrections), terms.target - terms.offset
        self.groups, self.effective = groups_of(terms), 0.0
        self.at = np.zeros(len(self.groups.of))
        if alone is None:
            self.precision = first_precisions(terms, precision)
        else:
            known = np.arange(U) if len(alone.scale) == U else np.flatnonzero(terms.target)
            self.at[0] = alone.common
            self.at[1 + known] = alone.scale - terms.target[known] * (1 + alone.common)
            self.at[1 + U :] = np.concatenate([alone.bias, alone.table.ravel()])
            self.precision = alone.precision
        self.steps = np.zeros((0, 2, len(self.at)))  # the last ones, and the changes of the slope of the loss alone

    def learn(self, few: _Fit) -> None:
        """Take over what steps on some of the rows told of the curvature: that of all rows is as much larger."""
        self.steps = few.steps * np.array([[1.0], [self.terms.total / few.terms.total]])

    def fitted(self) -> FittedWeights:
        """Return the numbers as they are."""
        scale, bias, table = self.parts(self.at)
        return FittedWeights(
            self.terms.offset + scale, bias, table, float(self.at[0]), self.precision, effective=self.effective
        )

    def parts(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what is added to the weights of terms, the bias and the corrections."""
        U, C, K = self.sizes
        scale = self.first + self.terms.target * point[0] + point[1 : 1 + U]
        return scale, point[1 + U : 1 + U + C], point[1 + U + C :].reshape(K, C)

    def evaluate(self, point: Floats, *, curved: bool = False) -> tuple[float, Floats, Floats]:
        """Return loss, slope and, if it is asked for, curvature by t, ω, b and β."""
        terms, U = self.terms, self.sizes[0]
        found = terms.weigh(*self.parts(point), curved=curved)
        slope = np.empty(1 + len(found.slopes))
        slope[0], slope[1:] = np.add.reduce(found.slopes[:U] * terms.target), found.slopes
        if not curved:
            return found.loss, slope, _NOTHING
        curve = np.maximum(np.concatenate([[found.all_curve], found.curves]), 0.0)  # below 0 by rounding only
        return found.loss, slope, curve

    def run(self, *, rounds: int, kinds: Sequence[int] = (WEIGHT, BIAS, CORRECTION), gain: float = _GAIN) -> None:
        """Fit all numbers until steps gain no more, and find the precisions of some kinds between rounds."""
        soft = self.groups.of == INTERACTION
        if soft.any():
            self._run_bounded(rounds, kinds, soft)
            return
        least = _LEAST_LOSS * self.terms.total
        self.at, self.precision, self.steps, self.effective = self.terms.fit(
            first=self.first,
            groups=self.groups,
            kinds=kinds,
            start=self.at,
            precision=self.precision,
            steps=self.steps,
            rounds=[kernels.Limits(_STEPS, gain if k == rounds - 1 else _NEAR, least) for k in range(rounds)],
            wall=_WALL,
            function=lambda point, curved: self.evaluate(point, curved=curved),
        )

    def _run_bounded(self, rounds: int, kinds: Sequence[int], soft: npt.NDArray[np.bool_]) -> None:
        """Fit all numbers, the soft ones not below 0 and at the cost of a linear penalty."""
        linear = _NOTHING
        for k in range(rounds):
            curvature = self.evaluate(self.at, curved=True)[2]
            found = kernels.find_precisions(self.groups, curvature, self.at, self.precision, kinds if k else ())
            self.precision, self.effective = found
            linear = linear if k else np.where(soft, np.sqrt(2 * THRESHOLD * curvature), 0.0)
            each = self.precision[self.groups.of]
            prior = _Prior(1 / np.sqrt(curvature + each), each, linear, _WALL * curvature[0])
            self.at = _bounded(self._drawn(prior), self.at / prior.unit, soft) * prior.unit

    def _drawn(self, prior: _Prior) -> Callable[[Floats], tuple[float, Floats]]:
        """Return the function to minimise, of numbers in units."""

        def value(scaled: Floats) -> tuple[float, Floats]:
            point = scaled * prior.unit
            return prior.add(point, *self.evaluate(point)[:2])

        return value

    def run_common(self, last: float = _LAST_STEP) -> None:
        """Fit the common weight alone, by Newton's method, until a step is at most `last`.

        Corrections can say almost the same. From here on they need not, and weights are what they are meant to be:
        columns that repeat each other share the weight of one.
        """
        one, t, precision = self.terms.summed(), float(self.at[0]), float(self.precision[0])
        bias, nothing = np.zeros(self.sizes[1]), np.zeros((0, self.sizes[1]))
        for _ in range(_STEPS):
            found = one.weigh(np.array([t]), bias, nothing, curved=True)
            slope, curve = float(found.slopes[0]), max(0.0, found.all_curve)  # below 0 by rounding only
            step = (slope + precision * t) / (curve + precision)
            t -= min(max(step, -_FARTHEST), _FARTHEST)
            if abs(step) <= last:
                break
        self.at[0] = max(-1.0, t)


def _bounded(function: Callable[[Floats], tuple[float, Floats]], start: Floats, soft: npt.NDArray[np.bool_]) -> Floats:
    """Minimise a function of numbers, some not below 0."""
    from scipy.optimize import minimize  # slow to import, and only needed for interactions

    bounds = [(0.0, None) if one else (None, None) for one in soft]
    options = {"maxiter": _STEPS, "ftol": _GAIN, "gtol": 1e-3}
    return np.asarray(minimize(function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x)
