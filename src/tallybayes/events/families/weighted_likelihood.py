"""Likelihoods with weighted columns, for event models that have no quicker way of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.events.inputs import Data, Floats, Value, real_columns
from tallybayes.events.likelihood import Drawn, Likelihood, Pixels, Profile, Table

__all__ = ["ScaledLikelihood", "WeightedLikelihood", "times"]


@dataclass(frozen=True, eq=False)
class _Wrapped(Likelihood[Data]):
    """A likelihood that answers as another one does, but for its terms."""

    inner: Likelihood[Data]

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw as the inner likelihood does."""
        return self.inner.sample(c, n, rng)

    def table(self, f: int) -> Table:
        """Return the inner likelihood's table."""
        return self.inner.table(f)

    def support(self, data: Data) -> Floats:
        """Return the weight behind each term."""
        return self.inner.support(data)

    def pixels(self) -> Pixels | None:
        """Return the inner likelihood's picture."""
        return self.inner.pixels()

    def cells(self, f: int) -> Categories | Floats | None:
        """Return the cells of a column."""
        return self.inner.cells(f)

    def place(self, f: int, value: Value) -> int:
        """Return the position of a value."""
        return self.inner.place(f, value)

    @property
    def n_values(self) -> tuple[int, ...] | None:
        """The number of values of each column."""
        return self.inner.n_values

    @property
    def categories(self) -> tuple[Categories, ...]:
        """The values of each column."""
        return self.inner.categories


@dataclass(frozen=True, eq=False)
class ScaledLikelihood(_Wrapped[Data]):
    """A likelihood whose columns are multiplied by a weight each."""

    weights: Floats  # (F,)

    def add_log_prob(self, data: Data, out: Floats) -> None:
        """Add each column's log-probabilities times its weight."""
        for f, column in enumerate(real_columns(data)):
            present = np.flatnonzero(~np.isnan(column))
            out[present] += times(self.weights[f], self.inner.profile(f, column[present].tolist()).log)

    def add_terms(self, data: Data, weights: Floats, out: Floats) -> None:
        """Add the inner terms, each times its column's weight."""
        part = np.zeros_like(out)
        self.inner.add_terms(data, weights, part)
        out += times(self.weights, part)

    def add_variance(self, data: Data, out: Floats) -> None:
        """Add the variances as if every column had the largest weight: never too small."""
        part = np.zeros_like(out)
        self.inner.add_variance(data, part)
        out += float(np.square(self.weights).max(initial=0.0)) * part

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the inner profile, times the column's weight."""
        found = self.inner.profile(f, at)
        return replace(found, log=times(self.weights[f], found.log))

    def contrasted(self) -> Likelihood[Data]:
        """Return the weighted contrast of the inner likelihood."""
        return replace(self, inner=self.inner.contrasted())


@dataclass(frozen=True, eq=False)
class WeightedLikelihood(_Wrapped[Data]):
    """A likelihood in which a missing value has a term of its own."""

    missing_terms: Floats  # (F, C)

    def missing_term(self, f: int) -> Floats:
        """Return the term of a missing value."""
        return np.asarray(self.missing_terms[f])

    def add_log_prob(self, data: Data, out: Floats) -> Floats | None:
        """Add the inner log-probabilities, and the terms of missing values."""
        length = self.inner.add_log_prob(data, out)
        absent = data.absent()
        if absent is not None:
            kernels.add_product(absent, self.missing_terms, out)
        return length

    def add_terms(self, data: Data, weights: Floats, out: Floats) -> None:
        """Add the inner terms, and those of missing values."""
        self.inner.add_terms(data, weights, out)
        absent = data.absent()
        if absent is not None:
            out += absent * (weights @ self.missing_terms.T)

    def add_variance(self, data: Data, out: Floats) -> None:
        """Add the inner variances."""
        self.inner.add_variance(data, out)

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the inner profile."""
        return self.inner.profile(f, at)

    def contrasted(self) -> Likelihood[Data]:
        """Return the contrast of the inner likelihood, with the same terms of missing values."""
        return replace(self, inner=self.inner.contrasted())


def times(weight: Floats | float, log: Floats) -> Floats:
    """Return logarithms times a weight; what is impossible stays so, and has no weight below 0."""
    impossible = np.isneginf(log)
    if not impossible.any():
        return np.asarray(weight * log)
    return np.where(impossible, -np.inf, weight * np.where(impossible, 0.0, log))
