"""The cells of numeric columns: runs of buckets, and the nodes of a tree that is cut at pooled medians.

A cell is looked up by its edges, midway between neighbours. Cells depend on all classes together, never on one.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.buckets import Buckets
from tallybayes.cached_property import cached_property
from tallybayes.events.inputs import Dense, Floats
from tallybayes.events.statistic import Statistic

__all__ = ["Cells", "Split", "choose_cells"]

# A code has 8 bits, and one stands for missing.
_MOST = 254
# Points in the gaps between buckets, so that a smooth density is drawn well. The rest is for the buckets themselves.
_BETWEEN = 64
_LEAVES = 16  # of a tree; the heaviest is cut first, so that half of the rows at 0 leave 15 to the others
_DEPTH = 6  # levels: four cut even columns into 16
_LEAST = 4  # rows on either side of a cut, on average: fewer say nothing

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Split:
    """One level of the tree: each cell's node (−1 where its parent was not cut), and each parent's column.

    The nodes of parent p are 2p and 2p + 1.
    """

    node: Places  # (ΣK,)
    column: Places  # (P,)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of all columns of a block, one column after the other.

    Attributes
    ----------
    sizes : ndarray, shape (F,)
        The number of cells of each column, at least 1.
    low, value, high : ndarray, shape (ΣK,)
        The lowest value of each cell, the one that stands for it, and the highest.
    pooled : ndarray, shape (ΣK,)
        The weight of each cell over all classes; 0 for a cell in a gap.
    """

    sizes: npt.NDArray[np.int64]
    low: Floats
    value: Floats
    high: Floats
    pooled: Floats

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:  # (F,)
        """The first cell of each column."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def column(self) -> Places:  # (ΣK,)
        """The column of each cell."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def edges(self) -> Floats:  # (Σ(K − 1),)
        """The edges between the cells of each column, midway between neighbours."""
        inner = np.flatnonzero(np.diff(self.column) == 0)
        return _between(self.high[inner], self.low[inner + 1])

    @cached_property
    def widths(self) -> Floats:  # (ΣK,)
        """The width of each cell; outer cells reach as far out as in, and a lone value has width 1."""
        low, high = self.low.copy(), self.high.copy()
        inner = np.flatnonzero(np.diff(self.column) == 0)
        high[inner] = low[inner + 1] = self.edges
        first, last = self.starts, self.starts + self.sizes - 1
        with np.errstate(over="ignore"):
            low[first] -= high[first] - self.high[first]
            high[last] += self.low[last] - low[last]
        with np.errstate(over="ignore"):
            width = np.minimum(high - low, np.finfo(np.float64).max)
        return np.where(width > 0, width, 1.0)

    def find(self, data: Dense) -> npt.NDArray[np.uint8]:  # (F, n)
        """Return the cell of each value, counted from the first of its column; 255 for missing."""
        return kernels.find_cells(data.columns, self.edges, self.sizes - 1)

    def of_values(self, f: int, values: Floats) -> Places:
        """Return the cells of some values of one column, among all cells."""
        start = int(self.starts[f])
        edges = self.edges[start - f : start - f + int(self.sizes[f]) - 1]
        return start + np.searchsorted(edges, values, side="right")

    def count(self, statistic: Statistic) -> Floats:  # (ΣK, C)
        """Return the weight of each cell in each class."""
        counts = statistic.sums["counts"].to_float().T
        out = np.zeros((len(self.value), counts.shape[1]))
        if len(counts):
            at = np.concatenate([self.of_values(f, one.middle) for f, one in enumerate(statistic.labels)])
            first = np.flatnonzero(np.diff(at, prepend=-1))
            out[at[first]] = np.add.reduceat(counts, first, axis=0)
        return out

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The levels of the trees: nodes are cut where the pooled weight on both sides is most equal."""
        some = np.flatnonzero(self.pooled)
        ends = np.searchsorted(self.column[some], np.arange(len(self.sizes) + 1)).tolist()
        trees = [_tree(np.cumsum(self.pooled[some[a:b]]).tolist()) for a, b in itertools.pairwise(ends)]
        splits: list[Split] = []
        for level in zip(*trees, strict=True):
            nodes = [int(one.max(initial=-1)) + 1 for one in level]
            starts = itertools.accumulate(nodes, initial=0)
            node = np.concatenate(
                [np.where(one < 0, -1, one + start) for one, start in zip(level, starts, strict=False)]
            )
            column = np.repeat(np.arange(len(nodes)), np.array(nodes, np.intp) // 2)
            splits.append(Split(node[self._nearest] if len(node) else np.full(len(self.value), -1), column))
        return tuple(split for split in splits if len(split.column))

    @cached_property
    def _nearest(self) -> Places:  # (ΣK,)
        """The occupied cell, among those, that each cell goes with: itself, or the nearer neighbour."""
        occupied = self.pooled > 0
        after = np.minimum(np.cumsum(occupied) - occupied, occupied.sum() - 1)  # of a cell that is occupied: itself
        before = np.maximum(after - 1, 0)
        some = np.flatnonzero(occupied)
        nearer = self.value - self.high[some[before]] <= self.low[some[after]] - self.value
        return np.asarray(np.where(occupied | ~nearer, after, before))


def _tree(cumulative: list[float]) -> Sequence[Places]:  # (n,) for each level
    """Return the nodes of a column's occupied cells: two for each parent that is cut; −1 below others."""
    cumulative = [0.0, *cumulative]
    cuts, whole = _cuts(cumulative), (0, len(cumulative) - 1)
    levels, parents = np.full((_DEPTH, len(cumulative) - 1), -1, np.intp), [whole]
    for node in levels:
        children: list[tuple[int, int]] = []
        for a, b in parents:
            c = cuts.get((a, b))
            if c is not None:
                node[a:c], node[c:b] = len(children), len(children) + 1
                children += [(a, c), (c, b)]
        parents = children
    return list(levels)


def _cuts(cumulative: list[float]) -> dict[tuple[int, int], int]:
    """Return where nodes are cut, heaviest first, each where the weight on both sides is most equal.

    Examples
    --------
    >>> _cuts([0.0, 92.0, 96.0, 100.0])      # cells of weight 92, 4 and 4
    {(0, 3): 1, (1, 3): 2}
    """
    cuts: dict[tuple[int, int], int] = {}
    waiting = [(-cumulative[-1], 0, len(cumulative) - 1, 0)]
    while waiting and len(cuts) < _LEAVES - 1:
        weight, a, b, depth = heapq.heappop(waiting)
        if b - a < 2 or -weight < 2 * _LEAST or depth == _DEPTH:
            continue
        half = (cumulative[a] + cumulative[b]) / 2
        c = bisect.bisect_left(cumulative, half, a + 1, b - 1)
        if c > a + 1 and half - cumulative[c - 1] <= cumulative[c] - half:
            c -= 1
        cuts[a, b] = c
        for low, high in ((a, c), (c, b)):
            heapq.heappush(waiting, (cumulative[low] - cumulative[high], low, high, depth + 1))
    return cuts


def choose_cells(statistic: Statistic) -> Cells:
    """Return cells for the buckets of each column.

    Each bucket has one if they are few, and some are in the gaps between them.
    """
    pooled = np.split(statistic.sums["counts"].to_float().sum(axis=0), np.cumsum(statistic.sizes)[:-1])
    columns = [_of_column(labels, counts) for labels, counts in zip(statistic.labels, pooled, strict=True)]
    sizes = np.array([len(one[0]) for one in columns], np.int64)
    return Cells(sizes, *(np.concatenate(part) for part in zip(*columns, strict=True)))


def _of_column(buckets: Buckets, counts: Floats) -> Sequence[Floats]:
    """Return low, value, high and pooled weight of the cells of one column."""
    if not len(buckets):
        nothing = np.zeros(1)
        return nothing, nothing, nothing, nothing
    low, value, high = buckets.low, buckets.middle, buckets.high
    if len(buckets) > _MOST - _BETWEEN:  # runs of about equal weight
        middle = np.cumsum(counts) - counts / 2
        run = np.floor(middle / counts.sum() * (_MOST - _BETWEEN))
        first = np.flatnonzero(np.diff(run, prepend=-1))
        low, high = low[first], high[np.append(first[1:], len(buckets)) - 1]
        share = counts / counts.sum()  # so that no sum exceeds the largest value
        value = np.clip(np.add.reduceat(value * share, first) / np.add.reduceat(share, first), low, high)
        counts = np.add.reduceat(counts, first)
    steps = (np.arange(_BETWEEN) + 0.5) / _BETWEEN
    points = low[0] * (1 - steps) + high[-1] * steps
    after = np.minimum(np.searchsorted(low, points), len(low) - 1)
    reach = (high[-1] / 2 - low[0] / 2) / _BETWEEN  # half of the distance between points
    alone = (points - high[after - 1] > reach) & (low[after] - points > reach)
    parts = [np.concatenate([mine, points[alone]]) for mine in (low, value, high)]
    order = np.argsort(parts[1], kind="stable")
    weight = np.concatenate([counts, np.zeros(int(alone.sum()))])
    return *(part[order] for part in parts), weight[order]


def _between(left: Floats, right: Floats) -> Floats:
    """Return numbers midway, above the left and at most the right."""
    middle = left / 2 + right / 2
    return np.where(middle > left, middle, right)
