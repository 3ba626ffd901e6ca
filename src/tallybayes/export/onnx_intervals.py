"""Tables of intervals in an ONNX graph: all columns of numbers are looked up at once.

A few operators over a whole matrix of numbers cost less than a few over each column: the runtime spends microseconds
on an operator, and a search by halves or by trees takes ten times as long as a grid (`grid`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from tallybayes.events.inputs import Floats
from tallybayes.export.grid import Grid
from tallybayes.export.onnx_graph import DOUBLE, INT32, Graph

__all__ = ["IntervalTables"]

# The edges of a column (K,), and the amounts (K + 2, T) of its intervals and, in the last row, of a missing number.
Table: TypeAlias = tuple[Floats, Floats]

_PLACES = (256, 1024, 4096)  # of a grid: more places make a larger graph, fewer take more comparisons
_FEW = 1  # edges in a place that one comparison settles
_FARTHEST = 1e300  # beyond it, differences might overflow; a grid of such edges has one place


class IntervalTables:
    """Columns of numbers, and what tables of intervals have for them.

    Attributes
    ----------
    size : str
        The node (n, 1) that counts the numbers of each row that are not missing.
    """

    def __init__(self, graph: Graph, columns: Sequence[str]) -> None:
        self._g, self._columns = graph, columns
        self._x = graph.op("Concat", *columns, axis=1)  # (n, F)
        self._missing = graph.op("IsNaN", self._x)
        self._known = graph.op("Where", self._missing, graph.const(0.0), self._x)
        present = graph.op("Cast", graph.op("Not", self._missing), to=DOUBLE)
        self.size = graph.op("MatMul", present, self._ones)

    @property
    def _ones(self) -> str:
        return self._g.const(np.ones((len(self._columns), 1)))

    def outside(self, domains: Sequence[str]) -> list[str]:
        """Return conditions (n, 1) under which a number is outside of its column's domain."""
        g = self._g
        if set(domains) != {"finite"}:
            pairs = zip(self._columns, domains, strict=True)
            return [one for column, domain in pairs for one in g.outside(column, domain)]
        zeros = g.const(np.zeros((len(self._columns), 1)))
        return [g.op("IsNaN", g.op("MatMul", self._known, zeros))]  # infinity times 0

    def sums(self, tables: Sequence[Table]) -> str:  # (n, T)
        """Return the amounts of each row, summed over the columns."""
        g, n_edges = self._g, max(len(edges) for edges, _ in tables)
        cell = g.op("Where", self._missing, g.const(np.int32(n_edges + 1)), self._cell([edges for edges, _ in tables]))
        n_targets = tables[0][1].shape[1]
        amounts = np.zeros((n_edges + 2, len(tables), n_targets))
        for f, (edges, table) in enumerate(tables):
            amounts[: len(edges) + 1, f], amounts[-1, f] = table[:-1], table[-1]
        nothing = g.op("Mul", self.size, g.const(0.0))
        found = [self._sum(amounts[:, :, t], cell) if amounts[:, :, t].any() else nothing for t in range(n_targets)]
        return g.op("Concat", *found, axis=1)

    def _sum(self, amounts: Floats, cell: str) -> str:  # (n, 1)
        g = self._g
        return g.op("MatMul", g.op("GatherElements", g.const(amounts), cell, axis=0), self._ones)

    def _cell(self, edges: Sequence[Floats]) -> str:  # (n, F)
        """Return the interval of each number: its place in a grid, then halvings among the edges within that place."""
        g, grids = self._g, _grids(edges)
        near = g.op("Clip", self._known, g.const(-_FARTHEST), g.const(_FARTHEST))
        apart = g.op("Sub", near, g.const(np.array([[one.low for one in grids]])))
        scaled = g.op("Mul", apart, g.const(np.array([[one.scale for one in grids]])))
        n_places = len(grids[0].starts)
        place = g.op("Cast", g.op("Clip", scaled, g.const(0.0), g.const(n_places - 1.0)), to=INT32)
        starts = np.stack([one.starts for one in grids], axis=1).astype(np.int32)  # (places, F)
        cell = g.op("GatherElements", g.const(starts), place, axis=0)
        bits = max(one.most for one in grids).bit_length()
        padded = np.full((max(map(len, edges)) + (1 << bits), len(edges)), np.nan)  # no number is at least NaN
        for f, one in enumerate(edges):
            padded[: len(one), f] = one
        for bit in reversed(range(bits)):
            further = g.op("Add", cell, g.const(np.int32(1 << bit)))
            last = cell if bit == 0 else g.op("Sub", further, g.const(np.int32(1)))
            edge = g.op("GatherElements", g.const(padded), last, axis=0)
            cell = g.op("Where", g.op("GreaterOrEqual", self._known, edge), further, cell)
        return cell


def _grids(edges: Sequence[Floats]) -> list[Grid]:
    """Return a grid for each column, all of the smallest number of places that leaves few edges in one."""
    found: list[Grid] = []
    for places in _PLACES:
        found = [_grid(one, places) for one in edges]
        if max(grid.most for grid in found) <= _FEW:
            break
    return found


def _grid(edges: Floats, places: int) -> Grid:
    near = not len(edges) or float(np.abs(edges).max()) <= _FARTHEST
    grid = Grid.of(edges, places) if near else None
    if grid is not None:
        return grid
    starts = np.zeros(places, np.intp)
    starts[1:] = len(edges)
    return Grid(0.0, 0.0, starts, len(edges))
