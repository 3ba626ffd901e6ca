"""A kernel density on the cells of numbers: rows nearby count too, the less the farther away they are.

How far is measured in normal scores z, the normal quantiles of pooled ranks. With S_c = Σ k((z − z_i) / h) over the
rows of class c, S their sum over all classes, and N_c of N rows in the class,

    p(x | c) / p(x) = Σ_hα w_hα (N · S_c / S + α) / (N_c + α),      k(u) = (1 − u²)³

Each w_hα is proportional to the probability of all rows' classes under h and α, each row left out. A row counts once at
its own place, k(0) = 1, so leaving it out is a subtraction. Places depend on all classes together, never on one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.events.families.cells import Cells, Places
from tallybayes.events.families.tree import left
from tallybayes.events.inputs import Floats

__all__ = ["KernelDensity"]

_STEPS = 16  # to a standard deviation: places closer than that are one
_FARTHEST = 4 * _STEPS  # beyond are three rows of 100,000
# Half the width of k, in steps, as wide as normal densities of 0.2 and 0.4: the best for some 4,000 and some 130 rows
# of one normal density (Silverman 1986).
_WIDTHS = (10, 20)
_MASSES = (4.0, 32.0)  # α, rows that look like all classes together: a few, or as many as a table of few rows has
_PRIOR_ROWS = 0.5  # of each class, in the class prior by which h and α are weighed
_PLACES = 2 * _FARTHEST + 1
_ALPHAS = np.array(_MASSES)
_FALL = np.maximum(1.0 - np.square(np.arange(_WIDTHS[-1]) / np.array(_WIDTHS)[:, None]), 0.0)
_SHAPES = _FALL * _FALL * _FALL  # (h, steps): NumPy's power has other bits on other processors


@dataclass(frozen=True, eq=False)
class KernelDensity:
    """The kernel density of each class and column.

    Attributes
    ----------
    cells : Cells
        The cells.
    counts : ndarray, shape (ΣK, C)
        The weight of each class in each cell.
    rows : ndarray, shape (C,)
        The weight of each class.
    """

    cells: Cells
    counts: Floats
    rows: Floats

    def chosen(self, weights: Floats) -> KernelDensity:
        """Return the density with weights of h and α (h · α, F) that were found before."""
        self.__dict__["weights"] = weights
        return self

    @cached_property
    def weights(self) -> Floats:  # (h · α, F)
        """The weight of each h and α in each column."""
        return self._find(None, None)[1]

    def log_terms(self, out: Floats | None = None) -> Floats:  # (3, ΣK, C)
        """Return the log-ratios of all cells: from all rows; and without a row of another class, and of the same."""
        terms, weights = self._find(self.__dict__.get("weights"), out)
        self.__dict__["weights"] = weights
        return terms

    def _find(self, weights: Floats | None, out: Floats | None) -> tuple[Floats, Floats]:
        prior = np.array([self.rows, left(self.rows, 1.0)]) + _PRIOR_ROWS
        given = self.counts, self.cells.sizes, self._places, _SHAPES, _ALPHAS, prior
        return kernels.density_terms(*given, n_places=_PLACES, weights=weights, out=out)

    def log_terms_without(self, cell: Places, own: Places, weight: Floats) -> Floats:  # (k, C)
        """Return the log-ratios of rows left out."""
        column, rows = self.cells.column[cell], np.arange(len(cell))
        totals = self._totals[column]
        totals[rows, own] = left(totals[rows, own], weight)
        out = np.zeros(totals.shape)
        for sums, weights in zip(self._sums, self.weights.reshape(len(_WIDTHS), len(_MASSES), -1), strict=True):
            near = sums[cell]
            whole = left(near.sum(axis=1), weight)[:, None]
            near[rows, own] = left(near[rows, own], weight)
            scaled = _scaled(near, whole, totals, totals.sum(axis=1, keepdims=True))
            for alpha, each in zip(_MASSES, weights, strict=True):
                out += each[column, None] * (scaled + alpha) / (totals + alpha)
        return kernels.log(out)

    def variances(self) -> Floats:  # (ΣK, C)
        """Return the variance of each log-ratio, to first order and at most: rows nearby as if they were here."""
        totals = self._totals[self.cells.column]
        out = np.zeros_like(self.counts)
        for sums, weights in zip(self._sums, self.weights.reshape(len(_WIDTHS), len(_MASSES), -1), strict=True):
            whole, many = sums.sum(axis=1, keepdims=True), totals.sum(axis=1, keepdims=True)
            scale = np.divide(many, whole, out=np.zeros_like(whole), where=whole > 0)
            for alpha, each in zip(_MASSES, weights, strict=True):
                out += each[self.cells.column, None] * scale**2 * sums / (scale * sums + alpha) ** 2
        return out

    @cached_property
    def _totals(self) -> Floats:  # (F, C)
        return np.add.reduceat(self.counts, self.cells.starts, axis=0)

    @cached_property
    def _sums(self) -> Floats:  # (h, ΣK, C)
        """The rows of each class near each cell, by their distance."""
        return kernels.density_sums(self.counts, self.cells.sizes, self._places, _SHAPES, n_places=_PLACES)

    @cached_property
    def _places(self) -> npt.NDArray[np.int32]:  # (ΣK,)
        """The normal score of each cell in steps, from 0 on; that of the nearest where no row is."""
        one = self.cells
        given = one.sizes, one.low, one.value, one.high, one.pooled
        return kernels.density_places(*given, steps=_STEPS, farthest=_FARTHEST)


def _scaled(sums: Floats, whole: Floats, totals: Floats, many: Floats) -> Floats:
    """Return N · S_c / S, what the class would have of all rows; its share where no row is near."""
    return np.where(whole > 0, sums * many / np.where(whole > 0, whole, 1.0), totals)
