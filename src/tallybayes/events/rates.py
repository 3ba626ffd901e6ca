"""What poisson and exponential have in common: both remember only how many rows there were and what they add up to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from tallybayes import kernels
from tallybayes.encoded import Dense, Floats
from tallybayes.events.base import ClassCodes, Counted, How, Weights, add_by_column, chunks
from tallybayes.events.doubts import GammaRates
from tallybayes.exact import Exact
from tallybayes.statistic import Statistic

__all__ = [
    "Rates",
    "count_rates",
    "draw_rates",
    "gamma_rates",
    "leave_rates_out",
    "rate_table",
    "score_rates",
    "totals",
]


class Rates(NamedTuple):
    """The weight of the rows and the sum of their values."""

    n: Floats
    total: Floats


class Density(Protocol):
    """Something that gives a log-density."""

    def log_density(self, x: Floats) -> Floats:
        """The log-density at x."""
        ...


class Believed(Protocol):
    """Events seen (a) in a time (b), each (C, F); `averaged` over what the rate may be, or taken at a / b."""

    @property
    def a(self) -> Floats: ...
    @property
    def b(self) -> Floats: ...
    @property
    def averaged(self) -> bool: ...


Believe = Callable[[Rates, Rates, How, Floats | float], Density]


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


def gamma_rates(statistic: Statistic, how: How, a: Floats, b: Floats) -> GammaRates:
    """What rates may be, a events having been seen in a time b; where neither row nor prior speaks, anything."""
    return GammaRates(a, np.where(statistic.present().to_float() + how.alpha > 0, b, 0.0))


def leave_rates_out(
    believe: Believe,
    statistic: Statistic,
    how: How,
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
            density = believe(each, Rates(*(part[:, None] for part in whole)), how, how.alpha[f])
            out[rows.start + here] += density.log_density(x[:, None])


def draw_rates(believed: Believed, c: int, size: int, rng: np.random.Generator) -> Floats:  # (size, F)
    """A rate for each row and column, given class c: drawn from what it may be, or the one believed in."""
    a, b = believed.a[c], believed.b[c]
    return rng.gamma(a, 1 / b, (size, len(a))) if believed.averaged else np.tile(a / b, (size, 1))


def rate_table(statistic: Statistic, believed: Believed, f: int) -> tuple[tuple[str, ...], None, Floats]:
    """Rate and weight of one column, by class."""
    n = statistic.present().to_float()[:, f]
    return ("rate", "n"), None, np.stack([believed.a[:, f] / believed.b[:, f], n])
