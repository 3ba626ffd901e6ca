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
from tallybayes.inference.precisions import most_probable
from tallybayes.inference.terms import FittedWeights, Terms

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
_FIRST = 4.0  # the first precision of each group: numbers of about ±½
# What to expect of weights: that they differ by 0.7, from columns that repeat others to those that count twice; of a
# bias or a correction: some 0.3 nats, as much as turns a doubtful decision.
_USUAL_WEIGHT, _USUAL_CORRECTION = 2.0, 10.0
# The least precision of weights: they differ by a whole column's evidence. Larger ones would feed on the row left out,
# as a negative common weight does.
_LEAST_OF_WEIGHTS = 1.0
_WALL = 10.0  # times the curvature by the common weight: that of the wall which keeps it from falling below 0
# Powers of the share of other columns: from weights that fade evenly to those that only whole rows have.
_POWERS = (1, 2, 4, 8, 16, 32)
_NOTHING = np.zeros(0)
_SOFT = 0.1  # the precision of the weights of interactions: the linear penalty does the shrinking


def fit_weights(
    terms: Terms, *, common: bool = False, precision: float = 1.0, alone: FittedWeights | None = None
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
    own, U, D = np.flatnonzero(terms.target), len(terms.target), len(terms.base)
    some = max(_FEWEST_ROWS, min(_SOME, _SOME_CELLS // max(1, U * D)))
    if alone is None:
        fit = _Fit(terms if len(own) == len(terms.target) else terms.of(own))
        fit.precision[0] = precision
        if common:
            fit.run_common()
        elif len(terms.classes) < 2 * some:
            fit.run_common(_NEAR_STEP)
            fit.run(rounds=_ROUNDS)
        else:
            few = _Fit(fit.terms.take(slice(None, None, -(-len(terms.classes) // some))))
            few.precision[0] = precision
            few.run_common(_NEAR_STEP)
            few.run(rounds=_ROUNDS - 1, gain=_NEAR)
            if few.effective > 2 * _TOLD * few.terms.total:
                fit = _Fit(fit.terms, few.fitted())
                fit.learn(few)
                fit.run(rounds=_LAST_ROUNDS)
            else:
                fit = few
        alone = fit.fitted()
    if len(own) == len(terms.target):
        return alone
    fit = _Fit(terms, alone)
    # One round: precisions stay as they were without interactions, which would take the place of other numbers. Only
    # that of free interactions is found in further rounds.
    fit.run(rounds=3 if terms.free.any() else 1, groups=(_FREE,))
    return fit.fitted()


def fit_fading(terms: Terms, whole: int, *, common: bool, precision: float) -> FittedWeights:
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
    moved = terms.take(slice(whole, None)) if complete else terms
    while len(terms.classes) > whole:
        powers = [power for power in _POWERS if power >= fitted.fading]
        best = powers[int(np.argmin(moved.losses(fitted, powers)))]
        if best == fitted.fading:
            return fitted
        faded = terms.faded(best)  # whole rows are as before, and the weights near
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


# The groups: t, ω, b, all of β, weights of interactions, free ones, and the corrections of each column.
_WEIGHT, _BIAS, _CORRECTION, _INTERACTION, _FREE, _TABLE = 1, 2, 3, 4, 5, 6


@dataclass(frozen=True)
class _Prior:
    """What draws numbers to 0, and the common weight from below 0.

    `unit` has the step of each number that changes the loss by about ½, `each` the precisions, and `linear` the
    linear penalties, if there are some.
    """

    unit: Floats
    each: Floats
    linear: Floats | None
    wall: float

    def add(self, point: Floats, loss: float, slope: Floats) -> tuple[float, Floats]:
        """Return loss and slope, by units, with the prior's part."""
        slope = slope + self.each * point
        loss += 0.5 * float(np.add.reduce(self.each * point**2))
        below = min(0.0, 1 + float(point[0]))
        if below < 0:
            loss += 0.5 * self.wall * below**2
            slope[0] += self.wall * below
        if self.linear is not None:
            slope += self.linear
            loss += float((self.linear * point).sum())
        return loss, slope * self.unit


class _Fit:
    """The numbers being fitted, t, ω, b and β one after the other, and the precision of each group."""

    def __init__(self, terms: Terms, alone: FittedWeights | None = None) -> None:
        U, C = len(terms.target), len(terms.base) + 1
        self.terms, self.sizes, self.first = terms, (U, C, terms.corrections), terms.target - terms.offset
        own = np.where(terms.target > 0, _WEIGHT, np.where(terms.free, _FREE, _INTERACTION))
        tables = np.repeat(_TABLE + np.arange(len(terms.tables)), terms.tables * C)
        self.group = np.concatenate([[0], own, np.full(C, _BIAS), tables])
        self.members = [np.flatnonzero(self.group == g) for g in range(_TABLE)]
        self.members[_CORRECTION] = np.arange(len(self.group) - len(tables), len(self.group))
        self.at, self.effective = np.zeros(len(self.group)), 0.0
        # A number added to all classes changes nothing, and one added to all values of a column is a bias. So of C
        # numbers C − 1 are distinct, each known by C / (C − 1) times as many rows; and of V values V − 1.
        some = 1 - len(terms.tables) / max(1, terms.corrections)
        rest = max(1, C - 1) / C
        self.distinct = np.array([1.0, 1.0, rest, rest * some, 1.0, 1.0])
        self.told = np.array([1.0, 1.0, 1 / rest, 1 / rest, 1.0, 1.0])
        self.usual = np.full(_TABLE, _USUAL_CORRECTION)
        self.usual[_WEIGHT] = _USUAL_WEIGHT
        self.precision = np.full(_TABLE + len(terms.tables), _FIRST)
        self.precision[[0, _INTERACTION]] = 1.0, _SOFT
        if alone is not None:
            known = np.arange(U) if len(alone.scale) == U else np.flatnonzero(terms.target)
            self.at[0] = alone.common
            self.at[1 + known] = alone.scale - terms.target[known] * (1 + alone.common)
            self.at[1 + U :] = np.concatenate([alone.bias, alone.table.ravel()])
            self.precision = alone.precision.copy()
        self.steps = np.zeros((0, 2, len(self.group)))  # the last ones, and the changes of the slope of the loss alone

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

    def run(self, *, rounds: int, groups: Sequence[int] = (_WEIGHT, _BIAS, _CORRECTION), gain: float = _GAIN) -> None:
        """Fit all numbers until steps gain no more, and find the precisions of some groups between rounds."""
        soft = self.group == _INTERACTION
        linear = None
        for k in range(rounds):
            loss, slope, curvature = self.evaluate(self.at, curved=True)
            if k:
                self._find_precisions(curvature, groups)
            elif soft.any():
                linear = np.where(soft, np.sqrt(2 * THRESHOLD * curvature), 0.0)
            each = self.precision[self.group]
            prior = _Prior(1 / np.sqrt(curvature + each), each, linear, _WALL * curvature[0])
            if k == rounds - 1:
                self.effective = sum(self._decided(curvature, g) for g in range(_TABLE))
            if linear is None:
                self._minimise(prior, loss, slope, gain if k == rounds - 1 else _NEAR)
            else:
                self.at = _bounded(self._drawn(prior), self.at / prior.unit, soft) * prior.unit

    def _drawn(self, prior: _Prior) -> Callable[[Floats], tuple[float, Floats]]:
        """Return the function to minimise, of numbers in units."""

        def value(scaled: Floats) -> tuple[float, Floats]:
            point = scaled * prior.unit
            return prior.add(point, *self.evaluate(point)[:2])

        return value

    def _minimise(self, prior: _Prior, loss: float, slope: Floats, gain: float) -> None:
        """Fit all numbers, given loss and slope where they are, and keep what the last steps told of the curvature."""
        self.at, self.steps = self.terms.minimise(
            first=self.first,
            drawn=kernels.Drawn(prior.unit, prior.each, prior.wall),
            start=self.at,
            loss=loss,
            slope=slope,
            steps=self.steps,
            limits=kernels.Limits(_STEPS, gain, _LEAST_LOSS * self.terms.total),
            function=lambda point: self.evaluate(point)[:2],
        )

    def run_common(self, last: float = _LAST_STEP) -> None:
        """Fit the common weight alone, by Newton's method, until a step is at most `last`.

        Corrections can say almost the same. From here on they need not, and weights are what they are meant to be:
        columns that repeat each other share the weight of one.
        """
        one, nothing = self.terms.summed(), np.zeros((0, self.sizes[1]))
        for _ in range(_STEPS):
            found = one.weigh(self.at[:1], np.zeros(self.sizes[1]), nothing, curved=True)
            slope, curve = float(found.slopes[0]), max(0.0, found.all_curve)  # below 0 by rounding only
            step = (slope + self.precision[0] * self.at[0]) / (curve + self.precision[0])
            self.at[0] -= np.clip(step, -_FARTHEST, _FARTHEST)
            if abs(step) <= last:
                break
        self.at[0] = max(-1.0, self.at[0])

    def _decided(self, curvature: Floats, g: int) -> float:
        """Return how many numbers of a group the rows decide, and not its prior."""
        if not len(self.members[g]):
            return 0.0
        h = self.told[g] * curvature[self.members[g]]
        return float(self.distinct[g] * (h / (h + self.precision[self.group[self.members[g]]])).sum())

    def _find_precisions(self, curvature: Floats, groups: Sequence[int]) -> None:
        """Set the precision of each group to its most probable one, given the numbers as the last ones drew them."""
        groups = [g for g in groups if len(self.members[g])]
        mine, sizes = np.concatenate([self.members[g] for g in groups]), [len(self.members[g]) for g in groups]
        h = np.repeat(self.told[groups], sizes) * curvature[mine]
        more = np.divide(self.precision[self.group[mine]], h, out=np.zeros_like(h), where=h > 0)
        repeated, numbers = self.terms.repetition, self.at[mine] * (1 + more)
        known = h / repeated
        found = most_probable(known, numbers, np.array(sizes), self.distinct[groups], self.usual[groups])
        self.precision[groups] = repeated * found
        self.precision[_WEIGHT] = max(_LEAST_OF_WEIGHTS, self.precision[_WEIGHT])
        if _CORRECTION in groups:  # some columns need corrections and others none: about as large as those of all
            last, tables = sizes[-1], self.terms.tables * self.sizes[1]
            each = most_probable(known[-last:], numbers[-last:], tables, self.distinct[_CORRECTION], found[-1])
            self.precision[_TABLE:] = repeated * each


def _bounded(function: Callable[[Floats], tuple[float, Floats]], start: Floats, soft: npt.NDArray[np.bool_]) -> Floats:
    """Minimise a function of numbers, some not below 0."""
    from scipy.optimize import minimize  # slow to import, and only needed for interactions

    bounds = [(0.0, None) if one else (None, None) for one in soft]
    options = {"maxiter": _STEPS, "ftol": _GAIN, "gtol": 1e-3}
    return np.asarray(minimize(function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x)
