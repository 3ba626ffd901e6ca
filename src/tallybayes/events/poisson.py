"""Poisson: a column counts how often something happened, at a rate λ in each class.

Remembered: n and Σx. Believed: λ = Σx / n (mle), (Σx + αm) / (n + α) (map), or the negative binomial that is left when
λ is averaged over its Gamma posterior (bayes). The prior is α rows at the column's overall rate m.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tallybayes.events.event import add_by_column
from tallybayes.events.families.gamma_rates import RateEvent, Rates, draw_rates, of_column, totals
from tallybayes.events.families.normal import LARGEST
from tallybayes.events.families.sampling import counted
from tallybayes.events.families.variance import GammaRates
from tallybayes.events.inputs import Dense, Floats
from tallybayes.events.likelihood import Drawn, EstimateOptions, Pixels, Profile
from tallybayes.events.statistic import Statistic

__all__ = ["Poisson"]


class NegativeBinomial(NamedTuple):
    """Events seen (a) in a time (b); `averaged` over what the rate may be, or taken at a / b."""

    a: Floats
    b: Floats
    averaged: bool

    def log_density(self, x: Floats) -> Floats:
        """The log-probability of x events."""
        from scipy.special import gammaln, xlogy  # slow to import, and not every model needs it

        if not self.averaged:
            rate = self.a / self.b
            return np.asarray(xlogy(x, rate) - rate - gammaln(x + 1))
        with np.errstate(invalid="ignore"):
            chosen = gammaln(x + self.a) - gammaln(self.a) - gammaln(x + 1)
        # a = 0: nothing was ever seen to happen and nothing is expected to.
        chosen = np.where(self.a > 0, chosen, np.where(x > 0, -np.inf, 0.0))
        return chosen - self.a * np.log1p(1 / self.b) - x * np.log1p(self.b)


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

    def believe(self, own: Rates, whole: Rates, options: EstimateOptions, alpha: Floats | float) -> NegativeBinomial:
        """The rate of a class, or the weight of evidence for it."""
        rate = _overall(whole)
        a, b = own.total + alpha * rate, own.n + alpha
        return NegativeBinomial(np.where(b > 0, a, rate), np.where(b > 0, b, 1.0), options.rule == "bayes")

    def profile(self, parameters: NegativeBinomial, f: int, at: Sequence[Any] | None = None) -> Profile:
        """The same at some values: unless told at which, from 0 to beyond what any class expects."""
        b, rate = parameters.b[:, f], np.minimum(parameters.a[:, f] / parameters.b[:, f], LARGEST)
        # to beyond what any class expects: its rate, and four times the spread of a count about it
        most = int(np.ceil((rate + 4 * np.sqrt(rate * (1 + 1 / b)) + 3).max()))
        values = range(0, most + 1, 1 + most // 120) if at is None else tuple(at)
        density = of_column(parameters, f)
        return Profile("counts", values, density.log_density(np.array(values, np.float64)[:, None]))

    def add_variance(self, doubts: GammaRates, data: Dense, out: Floats) -> None:
        """Add the variance of x log λ − λ."""

        def of_column(f: int) -> Callable[[Floats], Floats]:
            rates = GammaRates(doubts.a[:, f], doubts.b[:, f])
            return lambda x: rates.variance(times=x, time=np.ones_like(x))

        add_by_column(of_column, data, out)

    def sample(
        self, statistic: Statistic, parameters: NegativeBinomial, c: int, size: int, rng: np.random.Generator
    ) -> Drawn:
        """Counts drawn at each column's rate."""
        rates = draw_rates(parameters, c, size, rng)
        return list(counted(rates, rng).T)

    def pixels(self, statistic: Statistic, parameters: NegativeBinomial) -> Pixels:
        """The rate; dark and lit are a standard deviation, √m, below and above the column's overall rate m."""
        middle = _overall(totals(statistic)[1])
        dark, lit = (parameters.log_density(np.maximum(middle + side * np.sqrt(middle), 0.0)) for side in (-1, 1))
        return Pixels("rate", parameters.a / parameters.b, dark, lit)


def _overall(whole: Rates) -> Floats:
    # Half an event in one row more keeps the overall rate of a column of zeros above zero.
    return (whole.total + 0.5) / (whole.n + 1)
