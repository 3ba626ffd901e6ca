"""Gaussian: a real column, bell-shaped in each class.

Remembered: Σw, Σwx and Σwx², exactly. Believed: a normal density (mle, map), or what is left of it when the mean and
variance are averaged over: a Student t (bayes). The prior is α rows that look like the column over all classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tallybayes import kernels
from tallybayes.events.event import Adapter, ClassCodes, Counted, Event, Weights, add_by_column
from tallybayes.events.families.leave_one_out import leave_bells_out
from tallybayes.events.families.normal import (
    BellDoubt,
    Moments,
    Normal,
    believe,
    by_class,
    centre,
    no_variance_below_zero,
    over_all,
)
from tallybayes.events.families.sampling import finite
from tallybayes.events.inputs import Dense, Floats
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Pixels, Profile
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["Gaussian"]


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
    sums: ClassVar[dict[str, Sum]] = {
        "missing": Sum("column"),
        "first": Sum("column", signed=True),
        "second": Sum("column"),
    }

    def count(self, data: Dense, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """The exact Σx and Σx² of each class, and the weight of what is missing."""
        sums = kernels.power_sums(data.columns, classes, n_classes, order=2, weights=weights)
        assert sums.second is not None
        present = Exact.from_limbs(sums.weight)
        first, second = Exact.from_limbs(sums.first), Exact.from_limbs(sums.second)
        return {"present": present, "first": first, "second": second}, ()

    def consistent(self, statistic: Statistic) -> bool:
        """Whether no variance is below zero."""
        return no_variance_below_zero(statistic)

    def parameters(self, statistic: Statistic, options: EstimateOptions) -> Normal:  # of (C, F)
        """The bell of each class and column."""
        return believe(by_class(statistic), over_all(statistic), options, options.alpha)

    def estimate_each(self, statistic: Statistic, options: EstimateOptions, groups: int) -> list[Likelihood]:
        """The bells of each group of classes: many calls would cost more than what they compute."""
        own, whole = by_class(statistic), _over_each(statistic, groups)
        shape = (groups, -1, own.n.shape[1])
        bells = believe(Moments(*(part.reshape(shape) for part in own)), whole, options, options.alpha)
        freedom = [None] * groups if bells.freedom is None else list(bells.freedom)
        return [
            Adapter(statistic, options, self, Normal(*parts))
            for parts in zip(bells.location, bells.scale2, freedom, strict=True)
        ]

    def score(self, parameters: Normal, data: Dense, out: Floats) -> None:
        """Add the log-density of each value."""
        at, scale, constant = parameters.location, parameters.scale, parameters.constant
        if parameters.freedom is None:
            kernels.score_gaussian(data.columns, at, scale, constant, out)
        else:
            kernels.score_student(data.columns, at, scale, constant, parameters.power, out)

    def terms(self, parameters: Normal, data: Dense, asked: Floats, out: Floats) -> None:
        """The log-density of each value, column by column."""
        at, scale, constant = parameters.location, parameters.scale, parameters.constant
        power = None if parameters.freedom is None else parameters.power
        kernels.terms_dense(data.columns, at, scale, constant, power, asked, out)

    def profile(self, parameters: Normal, f: int, at: Sequence[Any] | None = None) -> Profile:
        """The log-density, unless told where from well below the lowest class to well above the highest."""
        bell = parameters.of_column(f)
        x = bell.grid() if at is None else np.asarray(at, np.float64)
        return Profile("numbers", x.tolist(), bell.log_density(x[:, None]))

    def leave_one_out(
        self,
        statistic: Statistic,
        options: EstimateOptions,
        data: Dense,
        classes: ClassCodes,
        weights: Weights,
        out: Floats,
    ) -> None:
        """As `score`, with the row taken from its class and from the column as a whole, whence the prior comes."""
        leave_bells_out(statistic, options, data, classes, weights, out)

    def variance(self, statistic: Statistic, options: EstimateOptions) -> BellDoubt:  # of (C, F)
        """What is not known of location and scale: of the same under every rule."""
        bell = self.parameters(statistic, replace(options, rule="map", ddof=0))
        return BellDoubt(bell.location, bell.scale2, statistic.present().to_float() + options.alpha)

    def add_variance(self, doubts: BellDoubt, data: Dense, out: Floats) -> None:
        """Add the variance of each value's log-density."""
        add_by_column(lambda f: doubts.of_column(f).of_log_density, data, out)

    def sample(self, statistic: Statistic, parameters: Normal, c: int, size: int, rng: np.random.Generator) -> Drawn:
        """Values drawn from each column's bell."""
        location, scale = parameters.location[c], np.sqrt(parameters.scale2[c])
        shape = (size, len(location))
        drawn = (
            rng.standard_normal(shape) if parameters.freedom is None else rng.standard_t(parameters.freedom[c], shape)
        )
        return list(finite(location + scale * drawn).T)

    def pixels(self, statistic: Statistic, parameters: Normal) -> Pixels:
        """The mean; dark and lit are one standard deviation of the column below and above its mean over all rows."""
        middle, deviation = centre(over_all(statistic))
        dark, lit = (parameters.log_density(middle + side * deviation) for side in (-1, 1))
        return Pixels("mean", parameters.location, dark, lit)

    def table(self, statistic: Statistic, parameters: Normal, f: int) -> tuple[tuple[Any, ...], Floats | None, Floats]:
        """Mean, standard deviation and weight; under "bayes" the location and scale of the Student t."""
        n = statistic.present().to_float()[:, f]
        rows = ("mean", "sd", "n") if parameters.freedom is None else ("location", "scale", "n")
        return rows, None, np.stack([parameters.location[:, f], np.sqrt(parameters.scale2[:, f]), n])


def _over_each(statistic: Statistic, groups: int) -> Moments:  # of (groups, 1, F)
    """The moments of each column over all classes of each group of as many consecutive ones."""
    shape = (groups, statistic.rows.shape[0] // groups, -1)
    parts = (statistic.present(), statistic.sums["first"], statistic.sums["second"])
    sums = (part.reshape(shape).sum(axis=1).to_limbs() for part in parts)
    return Moments(*(part[:, None] for part in kernels.exact_moments(*sums)))
