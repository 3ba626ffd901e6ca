"""Normal and Student t densities from moments, for `gaussian` and `lognormal`.

The prior is α rows that look like the column over all classes: the conjugate update of a Normal-Inverse-Gamma prior
with the column's mean M and variance M2/N.

Notation: n, mean, m2 are weight, mean and sum of squared deviations in a class; N, M, M2 the same over all classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.events.families.density import Density, DensityLikelihood
from tallybayes.events.families.sampling import finite
from tallybayes.events.families.variance import trigamma
from tallybayes.events.families.weighted_likelihood import ScaledLikelihood
from tallybayes.events.inputs import Dense, Floats
from tallybayes.events.likelihood import EstimateOptions, Pixels
from tallybayes.events.plain_terms import NamedDensity
from tallybayes.events.statistic import Statistic

__all__ = [
    "FAR_FROM_ZERO",
    "LARGEST",
    "Moments",
    "Normal",
    "NormalLikelihood",
    "by_class",
    "centre",
    "coefficients",
    "estimate_normal",
    "filled",
    "over_all",
]

# Stirling's series is accurate to the last digit from here on.
_SERIES = 16
# Squares of values beyond 1e150 overflow a double: larger sums of squares are clipped to this.
LARGEST, _SMALLEST = 1e300, 1e-300
# Standardised values beyond this would overflow when squared: their logarithm is doubled instead.
_FAR = 1e150
# A location this many scales from 0 is kept in two doubles, as kernels keep the mean (kernels.exact_moments).
FAR_FROM_ZERO = 1024.0
_LOG_AT_CENTRE = -0.9189385332046728  # of the normal density: −½ log 2π
_COMPUTED = "constant", "scale"  # of a normal density, once asked for
# Points at which a density is plotted.
_GRID = 121


class Moments(NamedTuple):
    """Weight, mean and sum of squared deviations; and what the mean has beyond a double, where that matters."""

    n: Floats
    mean: Floats
    m2: Floats
    rest: Floats

    def deviation(self, x: Floats) -> Floats:
        """Return x less the mean."""
        return (x - self.mean) - self.rest


@dataclass(frozen=True, eq=False)
class Normal(Density):
    """A normal density, or a Student t.

    Attributes
    ----------
    location, scale2 : ndarray
        Location and squared scale.
    freedom : ndarray or None
        Degrees of freedom; None for a normal density.
    weight : ndarray
        The weight of the rows and prior rows that location and scale were estimated from.
    rest : ndarray
        What the location has beyond a double, if it is far from 0 in units of the scale; else 0.
    """

    location: Floats
    scale2: Floats
    freedom: Floats | None
    weight: Floats
    rest: Floats

    def log_density(self, x: Floats) -> Floats:
        """Return the log of the density at x."""
        with np.errstate(over="ignore"):
            z = np.abs((x - self.location) - self.rest) * self.scale
        near = np.minimum(z, _FAR)
        if self.freedom is None:
            return np.where(z < _FAR, self.constant - near**2, -np.inf)
        log = np.where(z < _FAR, kernels.log1p(near**2), 2 * kernels.log(np.maximum(z, 1.0)))
        return self.constant - self.power * log

    @cached_property
    def constant(self) -> Floats:
        """The log of the density at the centre."""
        return _constant(self.freedom) - 0.5 * kernels.log(self.scale2)

    @cached_property
    def scale(self) -> Floats:
        """The factor by which kernels multiply deviations before they square them."""
        return np.asarray(np.sqrt(0.5 / self.scale2 if self.freedom is None else 1 / (self.freedom * self.scale2)))

    @cached_property
    def power_or_none(self) -> Floats | None:
        """The factor by which kernels multiply the log of one plus that square; None for a normal density."""
        return None if self.freedom is None else (self.freedom + 1) / 2

    @property
    def power(self) -> Floats:
        """That factor, of a Student t."""
        assert self.power_or_none is not None
        return self.power_or_none

    def compute(self) -> None:
        """Compute what kernels take, of all densities at once: `at` passes it on to each."""
        for name in _COMPUTED:
            getattr(self, name)

    def at(self, index: int | tuple[slice, int]) -> Self:
        """Return the density with each array indexed, and with those that are already computed."""
        part = super().at(index)
        part.__dict__.update({name: self.__dict__[name][index] for name in _COMPUTED if name in self.__dict__})
        return part

    @cached_property
    def rest_or_none(self) -> Floats | None:
        """The rest, if any column has one: kernels are faster without."""
        return self.rest if self.rest.any() else None

    def variance(self, x: Floats) -> Floats:
        """Return the variance of the log-density at x, over the posterior of location and scale.

        Notes
        -----
        With precision τ ~ Gamma(k/2, S/2) and location ~ Normal(m, 1/kτ), k the weight and z² = (x − m)² k/S, the
        variance of ½ log τ − ½ τ (x − location)² is ψ₁(k/2)/4 + 1/(2k²) + z⁴/(2k); no approximation is made. S/k must
        be `scale2`, which holds under the rule "map" with ddof 0.
        """
        k = self.weight
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z2 = np.minimum(((x - self.location) - self.rest) ** 2 / self.scale2, np.sqrt(LARGEST))
            return np.where(k > 0, trigamma(k / 2) / 4 + 0.5 / k**2 + z2**2 / (2 * k), np.inf)

    def grid(self, most: float = LARGEST) -> Sequence[float]:
        """Return values from 4 scales below the lowest location to 4 above the highest."""
        reach, middle = 4 * np.sqrt(self.scale2), np.clip(self.location, -most, most)
        low, high = np.clip([(middle - reach).min(), (middle + reach).max()], -most, most)
        values: list[float] = np.linspace(low, high, _GRID).tolist()
        return values

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw values of each column."""
        shape = (n, len(self.location))
        drawn = rng.standard_normal(shape) if self.freedom is None else rng.standard_t(self.freedom, shape)
        return finite(self.location + np.sqrt(self.scale2) * drawn)

    def to_plain(self) -> NamedDensity:
        """Return a normal density, or a Student t."""
        parameters = {"constant": self.constant, "location": self.location, "scale": self.scale}
        rest = {"rest": self.rest} if self.rest.any() else {}
        if self.freedom is None:
            return NamedDensity("normal", parameters | rest)
        return NamedDensity("student", parameters | {"power": self.power} | rest)

    def summary(self) -> dict[str, Floats]:
        """Return mean and standard deviation, or location and scale of a Student t."""
        names = ("mean", "sd") if self.freedom is None else ("location", "scale")
        return dict(zip(names, (self.location, np.sqrt(self.scale2)), strict=True))


def coefficients(n: Floats, alpha: Floats | float, options: EstimateOptions) -> kernels.Coefficients:
    """Return the coefficients that make a density from moments of weight n: see `kernels.Coefficients`."""
    weight = n + alpha
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = np.where(weight > 0, alpha / weight, 1.0)
        divisor = weight if options.rule == "bayes" else weight - options.ddof
        enough = divisor > 0  # else the class has no variance of its own: use the column's
        share = (1 + 1 / weight) / weight if options.rule == "bayes" else 1 / divisor
        share = np.where(enough, share, 0.0)
    freedom = np.where(weight > 0, weight, 1.0) if options.rule == "bayes" else np.ones_like(weight)
    constant = _constant(freedom if options.rule == "bayes" else None)
    whole = np.where(enough, alpha * share, 1.0)
    return kernels.Coefficients(pull, n * pull, share, whole, freedom, np.zeros_like(weight) + constant)


def estimate_normal(own: Moments, whole: Moments, options: EstimateOptions, alpha: Floats | float) -> Normal:
    """Return the density, given each class's moments and those of the column over all classes."""
    k, own = coefficients(own.n, alpha, options), filled(own, whole)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        variance = np.where(whole.n > 0, np.minimum(whole.m2, LARGEST) / whole.n, 0.0)
        least = options.floor * np.where(variance > 0, variance, np.clip(whole.mean**2, 1.0, LARGEST))
        apart = (own.mean - whole.mean) + (own.rest - whole.rest)
        between = k.between * np.minimum(apart**2, LARGEST)
        scale2 = k.share * (np.minimum(own.m2, LARGEST) + between) + k.whole * variance
        scale2 = np.clip(scale2, np.maximum(least, _SMALLEST), LARGEST)
        moved = own.rest - k.pull * apart
        location = own.mean + moved
        # the rounding error of that sum, by Knuth's two-sum
        added = location - own.mean
        error = (own.mean - (location - added)) + (moved - added)
        far = (np.abs(location) > FAR_FROM_ZERO * np.sqrt(scale2)) & np.isfinite(error)
        rest = np.where(far, error, 0.0)
    freedom = k.freedom if options.rule == "bayes" else None
    return Normal(location, scale2, freedom, own.n + alpha, rest)


def filled(own: Moments, whole: Moments) -> Moments:
    """Return the moments of classes, with the column's mean for those without rows."""
    none = own.n == 0
    if not none.any():
        return own
    return own._replace(mean=np.where(none, whole.mean, own.mean), rest=np.where(none, whole.rest, own.rest))


@dataclass(frozen=True, eq=False)
class NormalLikelihood(DensityLikelihood):
    """The likelihood of columns that are normal, or Student t, in each class."""

    density: Normal

    def add_log_prob(self, data: Dense, out: Floats) -> None:
        """Add the log-density of each value."""
        self._add(data, self.density.constant, self.density.scale, self.density.power_or_none, out)

    def add_weighted(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Add the log-density of each value times the weight of its column.

        The weight of a normal one is not below 0.
        """
        scale, constant, power = self._weighted(weights)
        self._add(data, constant, scale, power, out)

    def add_weighted_terms(self, data: Dense, weights: Floats, factors: Floats, out: Floats) -> None:
        """Add the same column by column, each class times its factor (n, C)."""
        normal = self.density
        parts = self._weighted(weights)
        kernels.terms_dense(data.columns, normal.location, *parts, factors, out, rest=normal.rest_or_none)

    def _weighted(self, weights: Floats) -> tuple[Floats, Floats, Floats | None]:
        """Return scale, constant and power of log-densities times the weights of their columns."""
        normal, constant, power = self.density, weights * self.density.constant, self.density.power_or_none
        if power is None:
            return np.sqrt(weights) * normal.scale, constant, None
        return normal.scale, constant, weights * power

    def _add(self, data: Dense, constant: Floats, scale: Floats, power: Floats | None, out: Floats) -> None:
        location, rest = self.density.location, self.density.rest_or_none
        if power is None:
            kernels.score_gaussian(data.columns, location, scale, constant, out, rest=rest)
        else:
            kernels.score_student(data.columns, location, scale, constant, power, out, rest=rest)

    def add_terms(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Add the log-density of each value, weighted, column by column."""
        normal = self.density
        parts = normal.location, normal.scale, normal.constant, normal.power_or_none
        kernels.terms_dense(data.columns, *parts, weights, out, rest=normal.rest_or_none)

    @cached_property
    def _posterior(self) -> DensityLikelihood:
        """The likelihood whose scale is that of the posterior: the same under every rule."""
        options = replace(self.options, rule="map", ddof=0)
        normal = estimate_normal(by_class(self.statistic), over_all(self.statistic), options, options.alpha)
        return DensityLikelihood(self.statistic, options, normal)

    def add_variance(self, data: Dense, out: Floats) -> None:
        """Add the variance of each value's log-density."""
        self._posterior.add_variance(data, out)

    def scaled(self, weights: Floats, additions: Mapping[int, Floats]) -> ScaledNormal:
        """Return the likelihood with each column's log-density times its weight; a density has no cells to add to."""
        return ScaledNormal(self.statistic, self.options, self, weights)

    def pixels(self) -> Pixels:
        """Return the mean; dark and lit are one standard deviation of the column below and above its mean."""
        middle, deviation = centre(over_all(self.statistic))
        dark, lit = (self.density.log_density(middle + side * deviation) for side in (-1, 1))
        return Pixels("mean", self.density.location, dark, lit)


@dataclass(frozen=True, eq=False)
class ScaledNormal(ScaledLikelihood[Dense]):
    """Normal or Student t columns that are multiplied by a weight each, scored as fast as without."""

    inner: NormalLikelihood

    def add_log_prob(self, data: Dense, out: Floats) -> None:
        """Add each value's log-density times its column's weight."""
        if self._is_plain:
            self.inner.add_weighted(data, self.weights, out)
        else:
            super().add_log_prob(data, out)

    def add_terms(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Add the same column by column."""
        if self._is_plain:
            self.inner.add_weighted_terms(data, self.weights, weights, out)
        else:
            super().add_terms(data, weights, out)

    @property
    def _is_plain(self) -> bool:
        """Whether log-densities times the weights are those of other parameters."""
        return self.inner.density.freedom is not None or bool((self.weights >= 0).all())


def by_class(statistic: Statistic) -> Moments:  # of (C, F)
    """Return the moments of each class and column."""
    sums = statistic.sums
    parts = statistic.present(), sums["first"], sums["second"]
    return Moments(*kernels.exact_moments(*(part.to_limbs() for part in parts)))


def over_all(statistic: Statistic) -> Moments:  # of (F,)
    """Return the moments of each column over all classes."""
    sums = statistic.sums
    parts = (part.sum(axis=0) for part in (statistic.present(), sums["first"], sums["second"]))
    return Moments(*kernels.exact_moments(*(part.to_limbs() for part in parts)))


def centre(moments: Moments) -> tuple[Floats, Floats]:
    """Return mean and standard deviation; 0 and 0 where nothing was counted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        some = moments.n > 0
        return np.where(some, moments.mean, 0.0), np.where(some, np.sqrt(moments.m2 / moments.n), 0.0)


def _constant(freedom: Floats | None) -> Floats:
    """Return the log of the density of scale 1 at its centre."""
    if freedom is None:
        return np.asarray(_LOG_AT_CENTRE)
    return np.asarray(_LOG_AT_CENTRE + _half_step(np.asarray(freedom, np.float64) / 2))


def _half_step(z: Floats) -> Floats:
    """Return log Γ(z + ½) − log Γ(z) − ½ log z.

    Stirling's series serves from 16 on, where its next term is below 2e-16; smaller z are raised to that range by
    Γ(z + 1) = zΓ(z). The difference of two log Γ would cancel the digits that large values share, and importing
    ``scipy.special`` takes longer than fitting a small file.

    Examples
    --------
    >>> _half_step(np.array([0.5, 1.0, 1e9])).round(6)      # log √(2/π); log √(π/4); −1/8z
    array([-0.225791, -0.120782, -0.      ])
    """
    low = z < _SERIES
    big = np.where(low, z + _SERIES, z)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = 1 / big**2
        series = np.asarray(-(1 / 8 - r * (1 / 192 - r * (1 / 640 - r * (17 / 14336 - r * 31 / 18432)))) / big)
        if low.any():
            small = z[low]
            above, below = small.copy(), small + 0.5
            for k in range(1, _SERIES):  # products of at most 32^16
                above *= small + k
                below *= small + (k + 0.5)
            series[low] += kernels.log(above / below) + 0.5 * kernels.log1p(_SERIES / small)
    return series
