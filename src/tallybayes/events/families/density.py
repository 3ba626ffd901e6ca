"""The likelihood of columns that each have a density of their own in each class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal, Self

import numpy as np

from tallybayes.events.event import chunks
from tallybayes.events.inputs import Dense, Floats, Numbers, Value
from tallybayes.events.likelihood import Drawn, Likelihood, Profile, Table, add_terms_of, no_plain_form
from tallybayes.events.plain_terms import NamedDensity

__all__ = ["Density", "DensityLikelihood", "add_by_column"]


@dataclass(frozen=True, eq=False)
class Density(ABC):
    """A density, or a probability of counts, for each class and column: fields that are arrays are (C, F)."""

    kind: ClassVar[Literal["numbers", "counts"]] = "numbers"

    @abstractmethod
    def log_density(self, x: Floats) -> Floats:
        """Return the log of the density at x."""

    @abstractmethod
    def variance(self, x: Floats) -> Floats:
        """Return the variance of the log-density at x, over the posterior of the parameters."""

    @abstractmethod
    def grid(self) -> Sequence[float]:
        """Return the values at which to plot the densities of one column (C,)."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Numbers:  # (n, F)
        """Draw n values of each column from the densities of one class (F,)."""

    @abstractmethod
    def summary(self) -> dict[str, Floats]:
        """Return the parameters that a table shows, by name."""

    def to_plain(self) -> NamedDensity:
        """Return the densities of one column (C,) as a form with a name, less what all classes share."""
        raise no_plain_form(self)

    def at(self, index: int | tuple[slice, int]) -> Self:
        """Return the density with each array indexed: ``at(c)`` of a class, ``at((slice(None), f))`` of a column."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{k: v[index] for k, v in values.items() if isinstance(v, np.ndarray)})


@dataclass(frozen=True, eq=False)
class DensityLikelihood(Likelihood[Dense]):
    """The likelihood of columns that each have a density of their own in each class."""

    density: Density  # of (C, F)

    def add_log_prob(self, data: Dense, out: Floats) -> None:
        """Add the log-density of each value."""
        add_by_column(lambda f: self._column(f).log_density, data, out)

    def add_terms(self, data: Dense, weights: Floats, out: Floats) -> None:
        """Add the log-density of each value, weighted, column by column."""
        add_terms_of(self.density.log_density, data, weights, out)

    def add_variance(self, data: Dense, out: Floats) -> None:
        """Add the variance of each value's log-density; ∞ without rows and without a prior."""
        informed = self.statistic.present().to_float() + self.options.alpha > 0

        def of_column(f: int) -> Callable[[Floats], Floats]:
            density = self._column(f)
            return lambda x: np.where(informed[:, f], density.variance(x), np.inf)

        add_by_column(of_column, data, out)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the log-density at the given values, or from below the lowest class to above the highest."""
        density = self._column(f)
        values = density.grid() if at is None else tuple(at)
        return Profile(density.kind, values, density.log_density(np.array(values, np.float64)[:, None]))

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw from each column's density."""
        return list(self.density.at(c).draw(n, rng).T)

    def table(self, f: int) -> Table:
        """Return the parameters, and the weight of the rows."""
        summary = self._column(f).summary()
        n = self.statistic.present().to_float()[:, f]
        return (*summary, "n"), None, np.stack([*summary.values(), n])

    def to_plain(self) -> tuple[NamedDensity, ...]:
        """Return the form and the parameters of each column's density."""
        return tuple(self._column(f).to_plain() for f in range(len(self.options.alpha)))

    def _column(self, f: int) -> Density:
        return self.density.at((slice(None), f))


def add_by_column(of_column: Callable[[int], Callable[[Floats], Floats]], data: Dense, out: Floats) -> None:
    """Add to `out` (n, C) each column's function of its values (n, 1), skipping missing ones."""
    for f in range(data.width):
        terms, column = of_column(f), data.column(f)
        for rows in chunks(len(data)):
            x = column[rows].astype(np.float64)
            present = ~np.isnan(x)
            out[rows][present] += terms(x[present, None])
