"""The common part of poisson and exponential, which count only the rows and the sum of their values.

A subclass of `RateEvent` adds the density that follows from these sums.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import ClassCodes, Counted, Event, LeftOut, Weights, chunks, negative_or_infinite
from tallybayes.events.families.density import Density, DensityLikelihood
from tallybayes.events.families.variance import trigamma
from tallybayes.events.inputs import Dense, Floats, Numbers
from tallybayes.events.likelihood import EstimateOptions, Pixels
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["GammaRate", "RateEvent", "Rates", "totals"]


class Rates(NamedTuple):
    """The weight of the rows and the sum of their values."""

    n: Floats
    total: Floats


@dataclass(frozen=True, eq=False)
class GammaRate(Density):
    """A density of values at a rate whose posterior is Gamma: a events in a time b.

    It is averaged over that posterior (`averaged`), or taken at the rate a / b.
    """

    a: Floats
    b: Floats
    averaged: bool

    def rates(self, n: int, rng: np.random.Generator) -> Floats:  # (n, F)
        """Draw a rate for each row and column from the posterior, or repeat the one rate."""
        shape = (n, len(self.a))
        return rng.gamma(self.a, 1 / self.b, shape) if self.averaged else np.tile(self.a / self.b, (n, 1))

    def rate_variance(self, times: Floats, time: Floats) -> Floats:
        """Return the variance of times · log λ − λ · time.

        Notes
        -----
        Var(log λ) = ψ₁(a), Var(λ) = a/b², Cov(log λ, λ) = 1/b.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            of_log = np.where(times > 0, times**2 * trigamma(self.a), 0.0)
            total = of_log - 2 * times * time / self.b + time**2 * self.a / self.b**2
        return np.maximum(total, 0.0)  # cancellation can leave a rounding below 0

    def summary(self) -> dict[str, Floats]:
        """Return the rate."""
        return {"rate": self.a / self.b}

    @abstractmethod
    def pixels(self, whole: Rates) -> Pixels:
        """Return the columns as pixels, given their sums over all classes."""


@dataclass(frozen=True, eq=False)
class RateLikelihood(DensityLikelihood):
    """The likelihood of columns with a rate of their own in each class."""

    density: GammaRate

    def pixels(self) -> Pixels:
        """Return the average of each column, and its log-density below and above the overall average."""
        return self.density.pixels(totals(self.statistic)[1])


class RateEvent(Event[Dense]):
    """Something that happens at a rate of its own in each class."""

    domain: ClassVar[str] = "finite numbers not below 0"
    sums: ClassVar[dict[str, Sum]] = {"missing": Sum("column"), "first": Sum("column")}

    @abstractmethod
    def estimate_cells(self, own: Rates, whole: Rates, options: EstimateOptions, alpha: Floats | float) -> Density:
        """Return the density, given the sums of each class and those of the column over all classes."""

    def invalid(self, values: Numbers) -> npt.NDArray[np.bool_] | None:
        """Return a mask of negative or infinite values."""
        return negative_or_infinite(values)

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count n and the exact Σx of each class and column."""
        sums = kernels.power_sums(data.columns, classes, n_classes, order=1, weights=weights)
        return {"present": Exact.from_limbs(sums.weight), "first": Exact.from_limbs(sums.first)}, ()

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> DensityLikelihood:
        """Return the density of each class and column."""
        density = self.estimate_cells(*totals(statistic), options, options.alpha)
        if isinstance(density, GammaRate):
            return RateLikelihood(statistic, options, density)
        return DensityLikelihood(statistic, options, density)

    def without_rows(self, statistic: Statistic, data: Dense, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its class and from the column as a whole."""
        n, first = statistic.present(), statistic.sums["first"]
        n_all, first_all = n.sum(axis=0), first.sum(axis=0)
        by_class = totals(statistic)[0]

        def add(options: EstimateOptions, out: Floats) -> None:
            for f in range(data.width):
                column = data.column(f)
                for rows in chunks(len(data)):
                    x = column[rows].astype(np.float64)
                    present = np.flatnonzero(~np.isnan(x))
                    own, x, at = classes[rows][present], x[present], np.full(len(present), f)
                    w = np.ones(len(present)) if weights is None else weights[rows][present]
                    mine = n.less((own, at), w), first.less((own, at), w, x)
                    whole = Rates(n_all.less((at,), w)[:, None], first_all.less((at,), w, x)[:, None])
                    each = Rates(*(np.tile(part[:, f], (len(present), 1)) for part in by_class))
                    for part, replacement in zip(each, mine, strict=True):
                        part[np.arange(len(present)), own] = replacement
                    density = self.estimate_cells(each, whole, options, options.alpha[f])
                    out[rows.start + present] += density.log_density(x[:, None])

        return LeftOut(add, lambda: self.length(data))


def totals(statistic: Statistic) -> tuple[Rates, Rates]:
    """Return the sums by class (C, F), and over all classes (F,)."""
    n, first = statistic.present(), statistic.sums["first"]
    return Rates(n.to_float(), first.to_float()), Rates(n.sum(axis=0).to_float(), first.sum(axis=0).to_float())
