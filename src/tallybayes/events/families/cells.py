"""The cells of numeric columns: runs of buckets, and the nodes of a tree that is cut at pooled medians.

A cell is looked up by its edges, midway between neighbours. Cells depend on all classes together, never on one.
"""

from __future__ import annotations

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
_LEAVES = (
    32  # of a tree: 16 are enough for even columns; the heaviest is cut first, so spikes leave as many to the rest
)
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
    def of_column(self) -> list[slice]:  # F of them
        """The cells of each column."""
        ends = np.cumsum(self.sizes).tolist()
        return [slice(first, end) for first, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def column(self) -> Places:  # (ΣK,)
        """The column of each cell."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def edge_counts(self) -> npt.NDArray[np.int64]:  # (F,)
        """The number of edges of each column."""
        return self.sizes - 1

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
        if id(self) not in data.cells:  # kept with its cells, so that no others get their id
            data.cells[id(self)] = self, kernels.find_cells(data.columns, self.edges, self.edge_counts)
        return data.cells[id(self)][1]

    def of_values(self, f: int, values: Floats) -> Places:
        """Return the cells of some values of one column, among all cells."""
        start = int(self.starts[f])
        edges = self.edges[start - f : start - f + int(self.sizes[f]) - 1]
        return start + np.searchsorted(edges, values, side="right")

    def count(self, statistic: Statistic) -> Floats:  # (ΣK, C)
        """Return the weight of each cell in each class."""
        counts = statistic.sums["counts"].to_float()
        return kernels.count_cells(*Buckets.arrays(statistic.labels), counts, self.edges, self.sizes)

    @cached_property
    def nodes(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:  # (L, ΣK) and (L, F)
        """The node of each cell in each level of its column's tree, and the number of nodes of each column."""
        cells = self.sizes, self.low, self.value, self.high, self.pooled
        nodes, counts = kernels.cut_cells(*cells, leaves=_LEAVES, depth=_DEPTH, least=_LEAST)
        levels = int(counts.any(axis=1).sum())  # below a level without nodes there are none
        return nodes[:levels], counts[:levels]

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The levels of the trees: nodes are cut where the pooled weight on both sides is most equal."""
        columns = np.arange(len(self.sizes))
        each = zip(*self.nodes, strict=True)
        return tuple(Split(node.astype(np.intp), np.repeat(columns, counts // 2)) for node, counts in each)


def choose_cells(statistic: Statistic) -> Cells:
    """Return cells for the buckets of each column.

    Each bucket has one if they are few, and some are in the gaps between them.
    """
    pooled = statistic.sums["counts"].to_float().sum(axis=0)
    found = kernels.choose_cells(*Buckets.arrays(statistic.labels), pooled, most=_MOST - _BETWEEN, between=_BETWEEN)
    return Cells(*found)


def _between(left: Floats, right: Floats) -> Floats:
    """Return numbers midway, above the left and at most the right."""
    middle = left / 2 + right / 2
    return np.where(middle > left, middle, right)
