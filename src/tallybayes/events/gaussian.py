"""Gaussian: a real column, bell-shaped in each class.

Remembered: Σw, Σwx and Σwx², exactly. Believed: a normal density (mle, map), or what is left of it when the mean and
variance are averaged over: a Student t (bayes). The prior is α rows that look like the column over all classes.

Notation: n, mean, m2 are weight, mean and sum of squared deviations in a class; N, M, M2 the same over all classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from tallybayes import kernels
from tallybayes.encoded import Dense, Floats
from tallybayes.events.base import ClassCodes, Counted, Event, How, Weights, chunks
from tallybayes.exact import Exact, nearest
from tallybayes.statistic import Axis, Statistic

__all__ = ["Gaussian"]

# Below this share of what it was, a difference of doubles has lost digits that matter: take the exact sums instead.
_CANCELLED = 1e-4


# Values beyond 1e150 in size have squares beyond the doubles: their spread is taken as this large, and no larger.
_LARGEST, _SMALLEST = 1e300, 1e-300


class Moments(NamedTuple):
    """Weight, mean and sum of squared deviations."""

    n: Floats
    mean: Floats
    m2: Floats


@dataclass(frozen=True)
class Bell:
    """Location, squared scale, and degrees of freedom (None: normal)."""

    location: Floats
    scale2: Floats
    freedom: Floats | None

    def log_density(self, x: Floats) -> Floats:
        """The log of the density at x."""
        z2 = (x - self.location) ** 2 / self.scale2
        if self.freedom is None:
            return -0.5 * z2 + self.constant
        return self.constant - 0.5 * (self.freedom + 1) * np.log1p(z2 / self.freedom)

    @cached_property
    def constant(self) -> Floats:
        """The log of the density at the centre."""
        if self.freedom is None:
            return np.asarray(-0.5 * np.log(2 * np.pi * self.scale2))
        nu = self.freedom
        return np.asarray(gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(np.pi * nu * self.scale2))

    @cached_property
    def scale(self) -> Floats:
        """What the kernels multiply deviations by before they square them."""
        return np.asarray(np.sqrt(0.5 / self.scale2 if self.freedom is None else 1 / (self.freedom * self.scale2)))

    @cached_property
    def power(self) -> Floats:
        """By what the kernels multiply the log of one plus that square."""
        assert self.freedom is not None
        return (self.freedom + 1) / 2


@dataclass(frozen=True)
class Gaussian(Event):
    """A normal density in each class; by default averaged over what the mean and variance may be.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": [1.0, 3.0, 7.0, 9.0], "y": ["a", "a", "b", "b"]}, "y", estimate="mle")
    >>> model.table("x").values      # mean, sd, n of a and b
    array([[2., 8.],
           [1., 1.],
           [2., 2.]])
    """

    name: ClassVar[str] = "gaussian"
    axes: ClassVar[dict[str, Axis]] = {"missing": "column", "first": "column", "second": "column"}

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """The exact Σx and Σx² of each class, and the weight of what is missing."""
        sums = kernels.power_sums(data.columns, classes, n_classes, order=2, weights=weights)
        assert sums.second is not None
        present = Exact.from_limbs(sums.weight)
        first, second = Exact.from_limbs(sums.first), Exact.from_limbs(sums.second)
        return {"present": present, "first": first, "second": second}, ()

    def estimate(self, statistic: Statistic, how: How) -> Bell:  # of (C, F)
        """The bell of each class and column."""
        return _believe(_by_class(statistic), _over_all(statistic), how, how.alpha)

    def score(self, parameters: Bell, data: Dense, out: Floats) -> None:
        """Add the log-density of each value."""
        at, scale, constant = parameters.location, parameters.scale, parameters.constant
        if parameters.freedom is None:
            kernels.score_gaussian(data.columns, at, scale, constant, out)
        else:
            kernels.score_student(data.columns, at, scale, constant, parameters.power, out)

    def leave_one_out(
        self, statistic: Statistic, how: How, data: Dense, classes: ClassCodes, weights: Weights, out: Floats
    ) -> None:
        """As `score`, with the row taken from its class and from the column as a whole, whence the prior comes."""
        by_class, over_all = _by_class(statistic), _over_all(statistic)
        for f in range(data.width):
            column = data.column(f)
            exact = _ExactColumn(statistic, f)
            for rows in chunks(len(data)):
                x = column[rows].astype(np.float64)
                here = np.flatnonzero(~np.isnan(x))
                own, x = classes[rows][here], x[here]
                w = np.ones(len(here)) if weights is None else weights[rows][here]
                mine = _downdate(Moments(*(part[own, f] for part in by_class)), x, w, exact, own)
                whole = _downdate(Moments(*(np.full(len(here), part[f]) for part in over_all)), x, w, exact, None)
                each = Moments(*(np.tile(part[:, f], (len(here), 1)) for part in by_class))
                for part, replacement in zip(each, mine, strict=True):
                    part[np.arange(len(here)), own] = replacement
                bell = _believe(each, Moments(*(part[:, None] for part in whole)), how, how.alpha[f])
                out[rows.start + here] += bell.log_density(x[:, None])

    def sample(self, parameters: Bell, c: int, size: int, rng: np.random.Generator) -> list[npt.NDArray[Any]]:
        """Values drawn from each column's bell."""
        location, scale = parameters.location[c], np.sqrt(parameters.scale2[c])
        shape = (size, len(location))
        drawn = (
            rng.standard_normal(shape) if parameters.freedom is None else rng.standard_t(parameters.freedom[c], shape)
        )
        return list((location + scale * drawn).T)

    def table(self, statistic: Statistic, parameters: Bell, f: int) -> tuple[tuple[Any, ...], Floats | None, Floats]:
        """Mean, standard deviation and weight; under "bayes" the location and scale of the Student t."""
        n = statistic.present().to_float()[:, f]
        rows = ("mean", "sd", "n") if parameters.freedom is None else ("location", "scale", "n")
        return rows, None, np.stack([parameters.location[:, f], np.sqrt(parameters.scale2[:, f]), n])


def _believe(own: Moments, whole: Moments, how: How, alpha: Floats | float) -> Bell:
    """The bell believed in, given a class's moments and those of the column over all classes.

    Notes
    -----
    The conjugate update of a Normal-Inverse-Gamma prior worth α rows with the column's mean M and variance M2/N.
    """
    n, mean, m2 = own
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        variance = np.where(whole.n > 0, np.minimum(whole.m2, _LARGEST) / whole.n, 0.0)
        least = how.floor * np.where(variance > 0, variance, np.clip(whole.mean**2, 1.0, _LARGEST))
        weight = n + alpha
        location = np.where(weight > 0, mean + (alpha / weight) * (whole.mean - mean), whole.mean)
        between = np.minimum((mean - whole.mean) ** 2, _LARGEST)
        spread = np.minimum(m2, _LARGEST) + n * (alpha / weight) * between + alpha * variance
        if how.rule == "bayes":
            scale2 = spread / weight * (1 + 1 / weight)
            freedom = np.where(weight > 0, weight, 1.0)
        else:
            scale2, freedom = spread / (weight - how.ddof), None
            weight = weight - how.ddof
        scale2 = np.where(weight > 0, scale2, variance)  # nothing is known of the spread: the column's own
        return Bell(location, np.clip(scale2, np.maximum(least, _SMALLEST), _LARGEST), freedom)


def _by_class(statistic: Statistic) -> Moments:  # of (C, F)
    sums = statistic.sums
    parts = statistic.present(), sums["first"], sums["second"]
    return Moments(*kernels.exact_moments(*(part.to_limbs() for part in parts)))


def _over_all(statistic: Statistic) -> Moments:  # of (F,)
    sums = statistic.sums
    parts = (part.sum(axis=0) for part in (statistic.present(), sums["first"], sums["second"]))
    return Moments(*kernels.exact_moments(*(part.to_limbs() for part in parts)))


class _ExactColumn:
    """The exact sums of one column, by class and over all classes, looked up only where doubles do not suffice."""

    def __init__(self, statistic: Statistic, f: int) -> None:
        self._parts = [
            part.take(np.array([f]), axis=1)
            for part in (statistic.present(), statistic.sums["first"], statistic.sums["second"])
        ]
        self._totals = [part.sum(axis=0) for part in self._parts]

    def without(self, c: int | None, x: float, w: float) -> tuple[float, float, float]:
        """Weight, mean and m2 of class c (None: of all) without a row of value x and weight w."""
        parts = self._totals if c is None else self._parts
        index = (0,) if c is None else (c, 0)
        return exact_moments_without([part.fraction(*index) for part in parts], x, w)


def exact_moments_without(sums: list[Fraction], x: float, w: float) -> tuple[float, float, float]:
    """Weight, mean and m2 from exact sums less one row, in exact arithmetic."""
    n, first, second = (total - term for total, term in zip(sums, _terms(x, w), strict=True))
    return (nearest(n), nearest(first / n), nearest(second - first * first / n)) if n > 0 else (0.0, 0.0, 0.0)


def _terms(x: float, w: float) -> tuple[Fraction, Fraction, Fraction]:
    value, weight = Fraction(float(x)), Fraction(float(w))
    return weight, weight * value, weight * value * value


def _downdate(
    moments: Moments, x: Floats, w: Floats, exact: _ExactColumn, own: ClassCodes | None
) -> tuple[Floats, Floats, Floats]:
    """The moments without a row of value x and weight w, row by row."""
    with np.errstate(divide="ignore", invalid="ignore"):
        n = moments.n - w
        away = x - moments.mean
        mean = moments.mean - w * away / n
        m2 = moments.m2 - w * away**2 * moments.n / n
    for i in np.flatnonzero(~((m2 > _CANCELLED * moments.m2) & (n > _CANCELLED * moments.n))):
        n[i], mean[i], m2[i] = exact.without(None if own is None else int(own[i]), x[i], w[i])
    return n, mean, m2
