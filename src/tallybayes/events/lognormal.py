"""Lognormal: a positive column whose logarithm is normal in each class (incomes, sizes, durations).

Counted and estimated: the same as `gaussian` for log x. The density of x itself has a further factor 1/x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import ClassCodes, Counted, Event, LeftOut, Weights
from tallybayes.events.families.normal import NormalLikelihood
from tallybayes.events.families.sampling import LARGEST, finite
from tallybayes.events.gaussian import Gaussian
from tallybayes.events.inputs import Dense, Floats, Numbers, Value
from tallybayes.events.likelihood import Drawn, EstimateOptions, Pixels, Profile, Table
from tallybayes.events.plain_terms import NamedDensity
from tallybayes.events.statistic import Statistic, Sum

__all__ = ["Lognormal"]

_OF_LOG = Gaussian()
_LARGEST_LOG = 690.0  # exp overflows a double beyond 709


@dataclass(frozen=True, eq=False)
class LognormalLikelihood(NormalLikelihood):
    """The likelihood of columns whose logarithms are normal, or Student t, in each class."""

    def add_log_prob(self, data: Dense, out: Floats) -> None:
        """Add the log-density of each value."""
        self.add_weighted(data, np.ones(data.width), out)

    def add_weighted(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Add the log-density of log x, less log x, times the weight of the column."""
        logs = _log(data)
        super().add_weighted(logs, weights, out)
        out -= _total(logs, weights)

    def add_terms(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Add the log-density of each value, weighted, column by column."""
        self.add_weighted_terms(data, np.ones(data.width), weights, out)

    def add_weighted_terms(self, data: Dense, weights: Floats, factors: Floats, out: Floats) -> None:
        """Add the log-density of log x, less log x, times the weight of the column, each class times its factor."""
        logs = _log(data)
        super().add_weighted_terms(logs, weights, factors, out)
        total = factors.sum(axis=1)
        if total.any():  # factors that sum to 0, as in a contrast of classes, cancel log x
            for f, column in enumerate(logs.each()):
                out[:, f] -= np.where(np.isnan(column), 0.0, weights[f] * column) * total

    def add_variance(self, data: Dense, out: Floats) -> None:
        """Add the variance of the log-density of log x."""
        super().add_variance(_log(data), out)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the log-density at the given values, or from below the lowest class to above the highest."""
        normal = self.density.at((slice(None), f))
        logs = np.asarray(normal.grid(_LARGEST_LOG)) if at is None else np.log(np.asarray(at, np.float64))
        return Profile("numbers", np.exp(logs).tolist(), normal.log_density(logs[:, None]) - logs[:, None])

    def to_plain(self) -> tuple[NamedDensity, ...]:
        """Return the densities of log x; the factor 1/x is the same in all classes."""
        return tuple(replace(one, domain="positive", of_log=True) for one in super().to_plain())

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw values whose logarithms are normal, or Student t."""
        most = np.log(LARGEST)
        return [np.exp(np.clip(log, -most, most)) for log in super().sample(c, n, rng)]

    def pixels(self) -> Pixels:
        """Return the median; dark and lit are one standard deviation of the logarithm below and above its mean."""
        of_log = super().pixels()
        with np.errstate(over="ignore"):
            return Pixels("median", finite(np.exp(of_log.average)), of_log.dark, of_log.lit)

    def table(self, f: int) -> Table:
        """Return mean, standard deviation and weight of log x."""
        rows, counts, values = super().table(f)
        return tuple(f"{row} of log" if row != "n" else row for row in rows), counts, values


@dataclass(frozen=True)
class Lognormal(Event[Dense]):
    """A normal density of the logarithm in each class.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": [1.0, 1.0, 8.0, 2.0], "y": list("aabb")}, "y", events={"x": "lognormal"}, estimate="mle")
    >>> model.table("x").values[0].round(6)      # means of log x: log 1, (log 8 + log 2)/2 = log 4
    array([0.      , 1.386294])
    """

    name: ClassVar[str] = "lognormal"
    domain: ClassVar[str] = "finite numbers above 0"
    sums: ClassVar[dict[str, Sum]] = dict(Gaussian.sums)

    def invalid(self, values: Numbers) -> npt.NDArray[np.bool_] | None:
        """Return a mask of zero, negative or infinite values."""
        return np.asarray((values <= 0) | np.isinf(values))

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count the sums of log x and its square."""
        return _OF_LOG.count(_log(data), classes, n_classes, weights)

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether no variance of log x is below zero."""
        return _OF_LOG.consistent(statistic)

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> LognormalLikelihood:
        """Return the density of each class and column."""
        return LognormalLikelihood(statistic, options, _OF_LOG.estimate(statistic, options).density)

    def without_rows(self, statistic: Statistic, data: Dense, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, as `Gaussian` leaves out their logarithms."""
        logs = _log(data)
        of_log, total = _OF_LOG.without_rows(statistic, logs, classes, weights), _total(logs, np.ones(data.width))

        def add(options: EstimateOptions, out: Floats) -> None:
            of_log.add(options, out)
            out -= total

        return LeftOut(add, of_log.measure)


def _log(data: Dense) -> Dense:
    # float64 throughout, so that a float32 column and the same values as float64 leave the same sums
    return data.map(lambda values: kernels.log(values.astype(np.float64, copy=False)))


def _total(logs: Dense, weights: Floats) -> Floats:  # (n, 1)
    total = np.zeros(len(logs))
    for weight, column in zip(weights, logs.each(), strict=True):
        total += np.where(np.isnan(column), 0.0, weight * column)
    return total[:, None]
