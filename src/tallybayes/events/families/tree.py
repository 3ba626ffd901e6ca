"""Counts of values below their parents, smoothed towards the pooled shares by an average over α.

With N_vc rows of class c at value v, N_pc at its parent p, and q = N_v / N_p over all classes, the share of v in class
c is averaged over α:

    p(v | p, c) = Σ_α ω_α (N_vc + α q) / (N_pc + α)

ω_α is proportional to the probability of the counts of the whole level under α (Dirichlet-multinomial). A category is
one level below a single parent; a number is a tree of such levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.events.inputs import Floats

__all__ = ["ALPHAS", "Level"]

# From half a row to no differences between classes at all; ω hardly changes between two neighbours.
ALPHAS = np.array([0.5, 1, 2, 4, 8, 16, 32, 64, 256, 1024, 1e5])
_NEGLIGIBLE = 1e-12  # an α with less of the probability is left out
# A difference below this share of the minuend is rounding: nothing is left.
_ROUNDING = 1e-12

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Level:
    """One level of counts: values, their parents, and the groups of parents that share ω.

    Attributes
    ----------
    counts : ndarray, shape (V, C)
        The weight of each value in each class.
    parent : ndarray, shape (V,)
        The parent of each value.
    totals : ndarray, shape (P, C)
        The weight of each parent's values in each class.
    group : ndarray, shape (P,)
        The group of each parent, from 0 on.

    Examples
    --------
    >>> counts, first = np.array([[8.0, 0.0], [2.0, 10.0]]), np.zeros(2, np.intp)
    >>> one = Level(counts, first, np.array([[10.0, 10.0]]), first[:1])
    >>> np.exp(one.log_shares()).round(3)      # between 8 / 10 and the pooled share .4, and so on
    array([[0.745, 0.055],
           [0.255, 0.945]])
    """

    counts: Floats
    parent: Places
    totals: Floats
    group: Places

    @cached_property
    def pooled(self) -> Floats:  # (V,)
        """The weight of each value over all classes."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def whole(self) -> Floats:  # (P,)
        """The weight of each parent over all classes."""
        return np.asarray(self.totals.sum(axis=1))

    @cached_property
    def shares(self) -> Floats:  # (V,)
        """The share q of each value among its parent's, over all classes."""
        return _share(self.pooled, self.whole[self.parent])

    @cached_property
    def omega(self) -> Floats:  # (A, G)
        """The posterior probability of each α in each group."""
        value, c = np.nonzero(self.counts)  # a count of zero adds nothing
        count, q = self.counts[value, c], self.shares[value]
        of_value, of_parent = self.group[self.parent[value]], self.group
        size, alphas = int(self.group.max(initial=-1)) + 1, ALPHAS[:, None]
        gains = kernels.log_gamma(count + alphas * q) - kernels.log_gamma(alphas * q)
        losses = (kernels.log_gamma(self.totals.T[:, None] + alphas) - kernels.log_gamma(alphas)).sum(axis=0)
        pairs = zip(gains, losses, strict=True)
        log = np.stack([np.bincount(of_value, gain, size) - np.bincount(of_parent, loss, size) for gain, loss in pairs])
        omega = kernels.exp(log - log.max(axis=0))
        omega /= omega.sum(axis=0)
        omega[omega < _NEGLIGIBLE] = 0.0
        return np.asarray(omega / omega.sum(axis=0))

    def planned_without(self, held: npt.NDArray[np.number]) -> Level:
        """Return the same level with the ω of what is left without some counts (V, C)."""
        totals = np.stack([np.bincount(self.parent, part, len(self.totals)) for part in held.T], axis=1)
        others = Level(left(self.counts, held), self.parent, left(self.totals, totals), self.group)
        planned = Level(self.counts, self.parent, self.totals, self.group)
        planned.__dict__["omega"] = others.omega
        return planned

    def log_ratios(self) -> Floats:  # (V, C)
        """Return the log of each value's share in each class over its pooled share."""
        return kernels.log(self._average(self.counts, self.totals[self.parent], self.shares, self.parent))

    def log_shares(self) -> Floats:  # (V, C)
        """Return the log of each value's share in each class."""
        return self._log_pooled(self.shares, self.whole[self.parent]) + self.log_ratios()

    def log_shares_unseen(self) -> Floats:  # (P, C)
        """Return the log-share, below each parent, of a value that was never counted."""
        parents, nothing = np.arange(len(self.totals)), np.zeros(len(self.totals))
        ratios = self._average(np.zeros_like(self.totals), self.totals, nothing, parents)
        return self._log_pooled(nothing, self.whole) + kernels.log(ratios)

    def log_ratios_without(
        self, value: Places, own: npt.NDArray[np.integer], weight: Floats | float
    ) -> Floats:  # (k, C)
        """Return the log-ratios of rows left out: row i has a value, its own class and a weight.

        The weight is taken from the pooled share and from the row's own class; ω stays.
        """
        count, total = self.counts[value], self.totals[self.parent[value]]
        rows = np.arange(len(value))
        count[rows, own] = left(count[rows, own], weight)
        total[rows, own] = left(total[rows, own], weight)
        return kernels.log(self._average(count, total, self._shares_without(value, weight), self.parent[value]))

    def log_pooled_without(self, value: Places, weight: Floats | float) -> Floats:  # (k, 1)
        """Return the log of the pooled shares without a row's weight."""
        return self._log_pooled(self._shares_without(value, weight), left(self.whole[self.parent[value]], weight))

    def log_ratios_without_one(self) -> tuple[Floats, Floats]:  # (V, C) each
        """Return the log-ratios of a row of weight 1 left out: in the other classes, and in its own."""
        total, shares = self.totals[self.parent], self._shares_without(np.arange(len(self.counts)), 1.0)
        other = self._average(self.counts, total, shares, self.parent)
        own = self._average(left(self.counts, 1.0), left(total, 1.0), shares, self.parent)
        return kernels.log(other), kernels.log(own)

    def variances(self) -> Floats:  # (V, C)
        """Return the variance of each value's log-share, to first order: that of the share over its square.

        The exact variance under one α, ψ₁(N_vc + αq) − ψ₁(N_pc + α), grows as 1/q² for a value that a class lacks.
        """
        q, total = self.shares[:, None], self.totals[self.parent]
        mean, square = np.zeros_like(self.counts), np.zeros_like(self.counts)
        for alpha, weight in self._terms(self.parent):
            p = (self.counts + alpha * q) / (total + alpha)
            mean += weight * p
            square += weight * (p**2 + p * (1 - p) / (total + alpha + 1))
        return np.divide(square, mean**2, out=np.ones_like(mean), where=mean > 0) - 1

    def _shares_without(self, value: Places, weight: Floats | float) -> Floats:  # (k,)
        return _share(left(self.pooled[value], weight), left(self.whole[self.parent[value]], weight))

    @staticmethod
    def _log_pooled(share: Floats, whole: Floats) -> Floats:  # (k, 1)
        """Return the log of the pooled shares; a value never counted has that of one row more."""
        return kernels.log(np.where(share > 0, share, 1 / (whole + 1)))[:, None]

    def _average(self, count: Floats, total: Floats, share: Floats, parent: Places) -> Floats:
        """Return Σ_α ω_α (count / share + α) / (total + α).

        A share of 0 has a count of 0.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.where(share[:, None] > 0, count / share[:, None], 0.0)
        out = np.zeros_like(scaled)
        for alpha, weight in self._terms(parent):
            out += weight * (scaled + alpha) / (total + alpha)
        return out

    def _terms(self, parent: Places) -> Iterator[tuple[float, Floats]]:
        """Yield each α that matters, and its weight for each row, (k, 1)."""
        group = self.group[parent]
        for alpha, omega in zip(ALPHAS, self.omega, strict=True):
            if omega.any():
                yield float(alpha), omega[group][:, None]


def left(count: Floats, weight: npt.NDArray[np.number] | float) -> Floats:
    """Return a count less a row's weight; 0 where only rounding is left.

    Examples
    --------
    >>> left(np.array([3.0, 0.3, 0.0]), np.array([1.0, 0.1 + 0.2, 1.0]))
    array([2., 0., 0.])
    """
    less = count - weight
    return np.where(less > _ROUNDING * count, less, 0.0)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
