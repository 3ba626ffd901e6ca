"""Exponential: a column of waiting times, at a rate λ in each class.

Counted: n and Σx. Estimated: λ = n / Σx (mle), (n + α) / (Σx + αm) (map), or a Lomax density, which averages over the
Gamma posterior of λ (bayes). The prior is α waits of the column's overall mean m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tallybayes import kernels
from tallybayes.events.families.gamma_rates import GammaRate, RateEvent, Rates
from tallybayes.events.families.normal import LARGEST
from tallybayes.events.families.sampling import finite
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import EstimateOptions, Pixels
from tallybayes.events.plain_terms import NamedDensity

__all__ = ["Exponential"]


@dataclass(frozen=True, eq=False)
class Lomax(GammaRate):
    """The density of waits at a rate: Lomax if averaged over the rate, otherwise exponential."""

    def log_density(self, x: Floats) -> Floats:
        """Return the log-density of a wait x."""
        if not self.averaged:
            return kernels.log(self.a / self.b) - self.a / self.b * x
        return kernels.log(self.a / self.b) - (self.a + 1) * kernels.log1p(x / self.b)

    def to_plain(self) -> NamedDensity:
        """Return a Lomax density, or the line that is the log of an exponential one."""
        rate = self.a / self.b
        if not self.averaged:
            return NamedDensity("linear", {"constant": kernels.log(rate), "slope": -rate}, "not negative")
        parameters = {"constant": kernels.log(rate), "scale": 1 / self.b, "power": self.a + 1}
        return NamedDensity("lomax", parameters, "not negative")

    def variance(self, x: Floats) -> Floats:
        """Return the variance of log λ − λx."""
        return self.rate_variance(times=np.ones_like(x), time=x)

    def grid(self) -> Sequence[float]:
        """Return waits from 0 to five times the longest mean."""
        mean = np.minimum(self.b / self.a, LARGEST)
        waits: list[float] = np.linspace(0.0, 5 * mean.max(), 121).tolist()
        return waits

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw waits at each column's rate."""
        rates = self.rates(n, rng)
        with np.errstate(divide="ignore"):
            return finite(rng.standard_exponential(rates.shape) / rates)

    def pixels(self, whole: Rates) -> Pixels:
        """Return the mean wait; dark is no wait, lit is 2m: one standard deviation above the overall mean m."""
        mean = _overall(whole)
        dark, lit = (self.log_density(wait) for wait in (0.0 * mean, 2 * mean))
        return Pixels("mean", self.b / self.a, dark, lit)


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

    def estimate_cells(self, own: Rates, whole: Rates, options: EstimateOptions, alpha: Floats | float) -> Lomax:
        """Return the density of waits, given the sums."""
        mean = _overall(whole)
        a, b = own.n + alpha, own.total + alpha * mean
        counted = a > 0
        # A class of zeros would wait forever at an infinite rate: its waits are at least a tiny share of the mean.
        least = options.floor * mean * np.where(counted, a, 1.0)
        return Lomax(np.where(counted, a, 1.0), np.maximum(np.where(counted, b, mean), least), options.rule == "bayes")


def _overall(whole: Rates) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        # A column of zeros has no scale: take one, the same for every class.
        return np.where(whole.total > 0, whole.total / whole.n, 1.0)
