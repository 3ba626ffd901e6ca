"""What poisson and exponential have in common: both remember only how many rows there were and what they add up to.

`RateEvent` is the event model less what tells them apart: what is believed of the sums, and which density that makes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import ClassCodes, Counted, Event, Weights, add_by_column, chunks, negative_or_infinite
from tallybayes.events.families.variance import GammaRates
from tallybayes.events.inputs import Dense, Floats
from tallybayes.events.likelihood import EstimateOptions, add_terms_of
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["RateEvent", "Rates", "count_rates", "draw_rates", "leave_rates_out", "of_column", "score_rates", "totals"]


class Rates(NamedTuple):
    """The weight of the rows and the sum of their values."""

    n: Floats
    total: Floats


class Density(Protocol):
    """Something that gives a log-density."""

    def log_density(self, x: Floats) -> Floats:
        """The log-density at x."""
        ...


class Believed(Density, Protocol):
    """Events seen (a) in a time (b), each (C, F); `averaged` over what the rate may be, or taken at a / b."""

    @property
    def a(self) -> Floats: ...
    @property
    def b(self) -> Floats: ...
    @property
    def averaged(self) -> bool: ...


P = TypeVar("P", bound=Believed)
Believe = Callable[[Rates, Rates, EstimateOptions, Floats | float], Density]


class RateEvent(Event):
    """Something that happens at a rate of its own in each class."""

    domain: ClassVar[str] = "finite numbers not below 0"
    sums: ClassVar[dict[str, Sum]] = {"missing": Sum("column"), "first": Sum("column")}

    @abstractmethod
    def believe(self, own: Rates, whole: Rates, options: EstimateOptions, alpha: Floats | float) -> Any:
        """What is believed of a class, given its sums and those of the column over all classes."""

    def invalid(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
        """Negative or infinite values."""
        return negative_or_infinite(values)

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """n and Σx of each class."""
        return count_rates(data, classes, n_classes, weights)

    def parameters(self, statistic: Statistic, options: EstimateOptions) -> Any:  # of (C, F)
        """The rate of each class and column, or the weight of evidence for it."""
        return self.believe(*totals(statistic), options, options.alpha)

    def score(self, parameters: Believed, data: Dense, out: Floats) -> None:
        """Add the log-density of each value."""
        score_rates(lambda f: of_column(parameters, f), data, out)

    def terms(self, parameters: Believed, data: Dense, asked: Floats, out: Floats) -> None:
        """The same, column by column."""
        add_terms_of(parameters.log_density, data, asked, out)

    def leave_one_out(
        self,
        statistic: Statistic,
        options: EstimateOptions,
        data: Dense,
        classes: ClassCodes,
        weights: Weights,
        out: Floats,
    ) -> None:
        """As `score`, with the row taken from its class and from the column as a whole."""
        leave_rates_out(self.believe, statistic, options, data, classes, weights, out)

    def variance(self, statistic: Statistic, options: EstimateOptions) -> GammaRates:  # of (C, F)
        """What the rates may be; where neither row nor prior speaks, anything."""
        believed, known = self.parameters(statistic, options), statistic.present().to_float() + options.alpha > 0
        return GammaRates(believed.a, np.where(known, believed.b, 0.0))

    def table(
        self, statistic: Statistic, parameters: Believed, f: int
    ) -> tuple[tuple[Any, ...], Floats | None, Floats]:
        """Rate and weight."""
        n = statistic.present().to_float()[:, f]
        return ("rate", "n"), None, np.stack([parameters.a[:, f] / parameters.b[:, f], n])


def of_column(believed: P, f: int) -> P:
    """What is believed of one column, (C,)."""
    return type(believed)(believed.a[:, f], believed.b[:, f], believed.averaged)  # type: ignore[call-arg]


def count_rates(data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
    """n and the exact Σx of each class and column."""
    sums = kernels.power_sums(data.columns, classes, n_classes, order=1, weights=weights)
    return {"present": Exact.from_limbs(sums.weight), "first": Exact.from_limbs(sums.first)}, ()


def totals(statistic: Statistic) -> tuple[Rates, Rates]:
    """By class (C, F), and over all classes (F,)."""
    n, first = statistic.present(), statistic.sums["first"]
    return Rates(n.to_float(), first.to_float()), Rates(n.sum(axis=0).to_float(), first.sum(axis=0).to_float())


def score_rates(density: Callable[[int], Density], data: Dense, out: Floats) -> None:
    """Add each column's log-density where it is not missing."""
    add_by_column(lambda f: density(f).log_density, data, out)


def leave_rates_out(
    believe: Believe,
    statistic: Statistic,
    options: EstimateOptions,
    data: Dense,
    classes: ClassCodes,
    weights: Weights,
    out: Floats,
) -> None:
    """Add each column's log-density given the sums without the row."""
    own_all, _ = totals(statistic)
    n, first = statistic.present(), statistic.sums["first"]
    n_all, first_all = n.sum(axis=0), first.sum(axis=0)
    for f in range(data.width):
        column, at = data.column(f), np.full(len(data), f)
        for rows in chunks(len(data)):
            x = column[rows].astype(np.float64)
            here = np.flatnonzero(~np.isnan(x))
            own, x = classes[rows][here], x[here]
            w = np.ones(len(here)) if weights is None else weights[rows][here]
            column_of = at[: len(here)]
            mine = Rates(n.less((own, column_of), w), first.less((own, column_of), w, x))
            whole = Rates(n_all.less((column_of,), w), first_all.less((column_of,), w, x))
            each = Rates(*(np.tile(part[:, f], (len(here), 1)) for part in own_all))
            for part, replacement in zip(each, mine, strict=True):
                part[np.arange(len(here)), own] = replacement
            density = believe(each, Rates(*(part[:, None] for part in whole)), options, options.alpha[f])
            out[rows.start + here] += density.log_density(x[:, None])


def draw_rates(believed: Believed, c: int, size: int, rng: np.random.Generator) -> Floats:  # (size, F)
    """A rate for each row and column, given class c: drawn from what it may be, or the one believed in."""
    a, b = believed.a[c], believed.b[c]
    return rng.gamma(a, 1 / b, (size, len(a))) if believed.averaged else np.tile(a / b, (size, 1))
