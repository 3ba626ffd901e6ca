"""Exponential: a column of waiting times, at a rate λ in each class.

Remembered: n and Σx. Believed: λ = n / Σx (mle), (n + α) / (Σx + αm) (map), or the Lomax density that is left when λ is
averaged over its Gamma posterior (bayes). The prior is α waits of the column's overall mean m.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tallybayes.events.event import add_by_column
from tallybayes.events.families.gamma_rates import RateEvent, Rates, draw_rates, of_column, totals
from tallybayes.events.families.normal import LARGEST
from tallybayes.events.families.sampling import finite
from tallybayes.events.families.variance import GammaRates
from tallybayes.events.inputs import Dense, Floats
from tallybayes.events.likelihood import Drawn, EstimateOptions, Pixels, Profile
from tallybayes.events.statistic import Statistic

__all__ = ["Exponential"]


class Lomax(NamedTuple):
    """Events seen (a) in a time (b); `averaged` over what the rate may be, or taken at a / b."""

    a: Floats
    b: Floats
    averaged: bool

    def log_density(self, x: Floats) -> Floats:
        """The log-density of a wait x."""
        if not self.averaged:
            return np.log(self.a / self.b) - self.a / self.b * x
        return np.log(self.a / self.b) - (self.a + 1) * np.log1p(x / self.b)


@dataclass(frozen=True)
class Exponential(RateEvent):
    """Waiting times, at a rate of its own in each class.

    Examples
    --------
    >>> import tallybayes as tb
    >>> waits = {"wait": [1.0, 3.0, 10.0], "kind": ["bus", "bus", "train"]}
    >>> tb.fit(waits, "kind", events={"wait": "exponential"}, estimate="mle").table("wait").values  # 2/4, 1/10
    array([[0.5, 0.1],
           [2. , 1. ]])
    """

    name: ClassVar[str] = "exponential"

    def believe(self, own: Rates, whole: Rates, options: EstimateOptions, alpha: Floats | float) -> Lomax:
        """The rate of a class, or the weight of evidence for it."""
        mean = _overall(whole)
        a, b = own.n + alpha, own.total + alpha * mean
        known = a > 0
        # A class of zeros would wait forever at an infinite rate: its waits are at least a tiny share of the mean.
        least = options.floor * mean * np.where(known, a, 1.0)
        return Lomax(np.where(known, a, 1.0), np.maximum(np.where(known, b, mean), least), options.rule == "bayes")

    def profile(self, parameters: Lomax, f: int, at: Sequence[Any] | None = None) -> Profile:
        """The same at some values: unless told at which, from 0 to beyond what any class expects."""
        mean = np.minimum(parameters.b[:, f] / parameters.a[:, f], LARGEST)
        values = np.linspace(0.0, 5 * mean.max(), 121).tolist() if at is None else tuple(at)
        density = of_column(parameters, f)
        return Profile("numbers", values, density.log_density(np.array(values, np.float64)[:, None]))

    def add_variance(self, doubts: GammaRates, data: Dense, out: Floats) -> None:
        """Add the variance of log λ − λx."""

        def of_column(f: int) -> Callable[[Floats], Floats]:
            rates = GammaRates(doubts.a[:, f], doubts.b[:, f])
            return lambda x: rates.variance(times=np.ones_like(x), time=x)

        add_by_column(of_column, data, out)

    def sample(self, statistic: Statistic, parameters: Lomax, c: int, size: int, rng: np.random.Generator) -> Drawn:
        """Waits drawn at each column's rate."""
        rates = draw_rates(parameters, c, size, rng)
        with np.errstate(divide="ignore"):
            return list(finite(rng.standard_exponential(rates.shape) / rates).T)

    def pixels(self, statistic: Statistic, parameters: Lomax) -> Pixels:
        """The mean wait; dark is no wait at all, lit a standard deviation above the column's mean m, which is 2m."""
        mean = _overall(totals(statistic)[1])
        dark, lit = (parameters.log_density(wait) for wait in (0.0 * mean, 2 * mean))
        return Pixels("mean", parameters.b / parameters.a, dark, lit)


def _overall(whole: Rates) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        # A column of zeros has no scale: take one, the same for every class.
        return np.where(whole.total > 0, whole.total / whole.n, 1.0)
