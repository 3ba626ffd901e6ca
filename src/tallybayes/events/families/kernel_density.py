"""A kernel density on the cells of numbers: rows nearby count too, the less the farther away they are.

How far is measured in normal scores z, the normal quantiles of pooled ranks. With S_c = Σ k((z − z_i) / h) over the
rows of class c, S their sum over all classes, and N_c of N rows in the class,

    p(x | c) / p(x) = Σ_hα w_hα (N · S_c / S + α) / (N_c + α),      k(u) = (1 − u²)³

Each w_hα is proportional to the probability of all rows' classes under h and α, each row left out. A row counts once at
its own place, k(0) = 1, so leaving it out is a subtraction. Places depend on all classes together, never on one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

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
_NEGLIGIBLE = 1e-12  # an h and α with less of the weight is left out
_MOST_KEPT = 1 << 17  # ratios of a kind, of which there are twelve: 12 MB
_SPAN = 2 * (_FARTHEST + _WIDTHS[-1]) + 1  # places of a column, with room for k at both ends


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
        prior, less = self.rows + _PRIOR_ROWS, left(self.rows, 1.0) + _PRIOR_ROWS
        log = np.empty((len(_WIDTHS) * len(_MASSES), len(self.cells.sizes)))
        for e, (_, other, own) in enumerate(self._each()):
            other, own = prior * other, less * own
            p = own / (other.sum(axis=1, keepdims=True) - other + own)
            log[e] = np.add.reduceat((self.counts * kernels.log(p)).sum(axis=1), self.cells.starts)
        weights = kernels.exp(log - log.max(axis=0))
        weights /= weights.sum(axis=0)
        weights[weights < _NEGLIGIBLE] = 0.0
        return np.asarray(weights)

    def log_terms(self) -> Floats:  # (3, ΣK, C)
        """Return the log-ratios of all cells: from all rows; and without a row of another class, and of the same."""
        out = np.zeros((3, *self.counts.shape))
        for weight, ratios in zip(self.weights, self._each(), strict=True):
            if weight.any():
                out += weight[self.cells.column, None] * ratios
        return kernels.log(out)

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

    def _each(self) -> Iterable[Floats]:
        """Return the ratios under each h and α; they are kept unless that would take too much memory."""
        return self._kept if self.counts.size <= _MOST_KEPT else self._ratios()

    @cached_property
    def _kept(self) -> list[Floats]:
        return list(self._ratios())

    def _ratios(self) -> Iterator[Floats]:  # (3, ΣK, C)
        """Yield the ratios under each h and α: from all rows, and without a row of another class or the same."""
        totals = self._totals[self.cells.column]
        many = totals.sum(axis=1, keepdims=True)
        rows, all_rows = np.stack([totals, totals, left(totals, 1.0)]), np.stack([many, *2 * [left(many, 1.0)]])
        for sums in self._sums:
            whole = sums.sum(axis=1, keepdims=True)
            near, near_all = np.stack([sums, sums, left(sums, 1.0)]), np.stack([whole, *2 * [left(whole, 1.0)]])
            scaled = _scaled(near, near_all, rows, all_rows)
            for alpha in _MASSES:
                yield (scaled + alpha) / (rows + alpha)

    @cached_property
    def _totals(self) -> Floats:  # (F, C)
        return np.add.reduceat(self.counts, self.cells.starts, axis=0)

    @cached_property
    def _sums(self) -> Floats:  # (h, ΣK, C)
        """The rows of each class near each cell, by their distance."""
        C, F, room = self.counts.shape[1], len(self.cells.sizes), _WIDTHS[-1]
        place = self.cells.column * _SPAN + self._places + room
        flat = (place[:, None] * C + np.arange(C)).ravel()
        grid = np.bincount(flat, self.counts.ravel(), F * _SPAN * C).reshape(F * _SPAN, C)
        inner = slice(room, len(grid) - room)
        near = np.stack([grid[inner]] * len(_WIDTHS))
        for step in range(1, room):
            beside = grid[room - step : -room - step] + grid[room + step : len(grid) - room + step]
            for out, width in zip(near, _WIDTHS, strict=True):
                if step < width:
                    out += (1.0 - (step / width) ** 2) ** 3 * beside
        return np.asarray(near[:, place - room], np.float64)

    @cached_property
    def _places(self) -> Places:  # (ΣK,)
        """The normal score of each cell in steps, from 0 on; that of the nearest where no row is."""
        pooled, starts = self.cells.pooled, self.cells.starts
        some = np.flatnonzero(pooled)
        if not len(some):
            return np.zeros(len(pooled), np.intp)
        before = np.cumsum(pooled) - pooled
        whole = np.add.reduceat(pooled, starts)[self.cells.column[some]]
        rank = (before[some] - before[starts][self.cells.column[some]] + pooled[some] / 2) / whole
        steps = np.clip(np.rint(_STEPS * _normal_quantiles(rank)), -_FARTHEST, _FARTHEST)
        return (steps.astype(np.intp) + _FARTHEST)[self._nearest(some)]

    def _nearest(self, some: Places) -> Places:  # (ΣK,)
        """Return, among some cells, the nearest to each cell in its column: itself, or one of its neighbours."""
        cells, column = self.cells, self.cells.column
        after = np.searchsorted(some, np.arange(len(column)))
        before, after = np.maximum(after - 1, 0), np.minimum(after, len(some) - 1)
        low, high = cells.low[some[after]], cells.high[some[before]]
        nearer = (cells.value - high <= low - cells.value) | (some[after] < np.arange(len(column)))
        is_mine = column[some[before]] == column
        take_before = is_mine & (nearer | (column[some[after]] != column)) & ~(cells.pooled > 0)
        return np.asarray(np.where(take_before, before, after), np.intp)


def _scaled(sums: Floats, whole: Floats, totals: Floats, many: Floats) -> Floats:
    """Return N · S_c / S, what the class would have of all rows; its share where no row is near."""
    return np.where(whole > 0, sums * many / np.where(whole > 0, whole, 1.0), totals)


def _normal_quantiles(share: Floats) -> Floats:
    """Return the normal quantiles of shares between 0 and 1, to 0.0005 (Abramowitz and Stegun 26.2.23).

    Unlike SciPy's they have the same bits on every processor.

    Examples
    --------
    >>> _normal_quantiles(np.array([0.025, 0.5, 0.975])).round(2) + 0.0
    array([-1.96,  0.  ,  1.96])
    """
    t = np.sqrt(-2.0 * kernels.log(np.clip(np.minimum(share, 1.0 - share), np.finfo(float).tiny, 0.5)))
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    return np.asarray(np.where(share < 0.5, above / below - t, t - above / below))
