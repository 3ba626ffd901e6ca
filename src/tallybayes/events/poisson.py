"""Poisson: a column counts how often something happened, at a rate λ in each class.

Counted: n and Σx. Estimated: λ = Σx / n (mle), (Σx + αm) / (n + α) (map), or a negative binomial, which averages over
the Gamma posterior of λ (bayes). The prior is α rows at the column's overall rate m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.families.gamma_rates import GammaRate, RateEvent, Rates
from tallybayes.events.families.normal import LARGEST
from tallybayes.events.families.sampling import counted
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import EstimateOptions, Pixels
from tallybayes.events.plain_terms import NamedDensity

__all__ = ["Poisson"]


@dataclass(frozen=True, eq=False)
class NegativeBinomial(GammaRate):
    """The probability of counts at a rate: negative binomial if averaged over the rate, otherwise Poisson."""

    kind: ClassVar[Literal["numbers", "counts"]] = "counts"

    def log_density(self, x: Floats) -> Floats:
        """Return the log-probability of x events."""
        if not self.averaged:
            rate = self.a / self.b
            with np.errstate(invalid="ignore"):  # 0 · log 0 is 0
                return np.where(x > 0, x * kernels.log(rate), 0.0) - rate - kernels.log_gamma(x + 1.0)
        with np.errstate(invalid="ignore"):
            ways = kernels.log_gamma(x + self.a) - kernels.log_gamma(self.a) - kernels.log_gamma(x + 1.0)
        # a = 0: no event was ever seen and none is expected.
        ways = np.where(self.a > 0, ways, np.where(x > 0, -np.inf, 0.0))
        return ways - self.a * kernels.log1p(1 / self.b) - x * kernels.log1p(self.b)

    def to_plain(self) -> NamedDensity:
        """Return a negative binomial, or the line that is left of a Poisson without log x!, which classes share."""
        with np.errstate(divide="ignore"):
            if not self.averaged:
                rate = self.a / self.b
                return NamedDensity("linear", {"constant": -rate, "slope": kernels.log(rate)}, "not negative")
            constant = -self.a * kernels.log1p(1 / self.b)
        parameters = {"constant": constant, "slope": -kernels.log1p(self.b), "size": self.a}
        return NamedDensity("negative binomial", parameters, "not negative")

    def variance(self, x: Floats) -> Floats:
        """Return the variance of x log λ − λ."""
        return self.rate_variance(times=x, time=np.ones_like(x))

    def grid(self) -> Sequence[float]:
        """Return counts from 0 to four standard deviations above the highest rate."""
        rate = np.minimum(self.a / self.b, LARGEST)
        most = int(np.ceil((rate + 4 * np.sqrt(rate * (1 + 1 / self.b)) + 3).max()))
        return range(0, most + 1, 1 + most // 120)

    def draw(self, n: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draw counts at each column's rate."""
        return counted(self.rates(n, rng), rng)

    def pixels(self, whole: Rates) -> Pixels:
        """Return the rate; dark and lit are one standard deviation, √m, below and above the overall rate m."""
        middle = _overall(whole)
        dark, lit = (self.log_density(np.maximum(middle + side * np.sqrt(middle), 0.0)) for side in (-1, 1))
        return Pixels("rate", self.a / self.b, dark, lit)


@dataclass(frozen=True)
class Poisson(RateEvent):
    """How often something happened, at a rate of its own in each class.

    Examples
    --------
    >>> import tallybayes as tb
    >>> calls = {"calls": [0, 2, 5, 7], "day": ["sun", "sun", "mon", "mon"]}
    >>> tb.fit(calls, "day", events={"calls": "poisson"}, estimate="mle").table("calls").values
    array([[6., 1.],
           [2., 2.]])
    """

    name: ClassVar[str] = "poisson"
    discrete: ClassVar[bool] = True

    def estimate_cells(
        self, own: Rates, whole: Rates, options: EstimateOptions, alpha: Floats | float
    ) -> NegativeBinomial:
        """Return the probability of counts, given the sums."""
        rate = _overall(whole)
        a, b = own.total + alpha * rate, own.n + alpha
        return NegativeBinomial(np.where(b > 0, a, rate), np.where(b > 0, b, 1.0), options.rule == "bayes")


def _overall(whole: Rates) -> Floats:
    # Half an event in one row more keeps the overall rate of a column of zeros above zero.
    return (whole.total + 0.5) / (whole.n + 1)
