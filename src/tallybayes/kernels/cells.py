"""Wrappers of the kernels that make cells of buckets, cut them into trees, and count them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Floats, Sizes

__all__ = ["ChosenCells", "choose_cells", "count_cells", "cut_cells"]

Keys = NDArray[np.int64]


class ChosenCells(NamedTuple):
    """The cells of some columns, one column after the other.

    Attributes
    ----------
    sizes : int64 ndarray, shape (F,)
        The number of cells of each column, at least 1.
    low, value, high : float64 ndarray, shape (sum(sizes),)
        The lowest value of each cell, the one that stands for it, and the highest.
    weights : float64 ndarray, shape (sum(sizes),)
        The weight of each cell; 0 for a cell in a gap.
    """

    sizes: Keys
    low: Floats
    value: Floats
    high: Floats
    weights: Floats


def choose_cells(keys: Keys, sizes: Sizes, shifts: Keys, weights: Floats, *, most: int, between: int) -> ChosenCells:
    """Return cells for the buckets of each column.

    Parameters
    ----------
    keys : int64 ndarray, shape (sum(sizes),)
        The buckets, rising in each column: see `find_buckets`.
    sizes, shifts : int64 ndarray, shape (F,)
    weights : float64 ndarray, shape (sum(sizes),)
        The weight of each bucket, above 0.
    most : int
        The number of buckets that have a cell each; if there are more, runs of about equal weight have one.
    between : int
        The number of points, evenly over the range, that are cells too where no bucket is near.

    Examples
    --------
    >>> from tallybayes.kernels import ordered
    >>> found = choose_cells(ordered([0.0, 1.0, 8.0]), [3], np.array([0]), np.ones(3), most=190, between=4)
    >>> found.value.tolist(), found.weights.tolist()
    ([0.0, 1.0, 3.0, 5.0, 8.0], [1.0, 1.0, 0.0, 0.0, 1.0])
    """
    return ChosenCells(*_native.choose_cells(keys, sizes, shifts, weights, most, between))


def cut_cells(
    sizes: Sizes, low: Floats, value: Floats, high: Floats, weights: Floats, *, leaves: int, depth: int, least: float
) -> tuple[NDArray[np.int32], Keys]:
    """Return the node of each cell in each level of its column's tree, and the number of nodes.

    Nodes are cut heaviest first, each where the weight on both sides is most equal. A cell without weight goes with the
    nearer neighbour that has some.

    Parameters
    ----------
    sizes, low, value, high, weights
        The cells: see `ChosenCells`.
    leaves, depth : int
        The most leaves and levels of a tree.
    least : float
        The weight that either side of a cut has on average, at least.

    Returns
    -------
    nodes : int32 ndarray, shape (depth, sum(sizes))
        Nodes, numbered through all columns of a level; those of parent p are 2p and 2p + 1. -1 where it was not cut.
    counts : int64 ndarray, shape (depth, F)
        The number of nodes of each level and column.

    Examples
    --------
    >>> at, weights = np.arange(3.0), np.array([92.0, 4.0, 4.0])
    >>> nodes, counts = cut_cells([3], at, at, at, weights, leaves=16, depth=3, least=4)
    >>> nodes.tolist(), counts.tolist()
    ([[0, 1, 1], [-1, 0, 1], [-1, -1, -1]], [[2], [2], [0]])
    """
    nodes, counts = _native.cut_cells(sizes, low, value, high, weights, leaves, depth, least)
    return nodes, counts


def count_cells(
    keys: Keys, sizes: Sizes, shifts: Keys, weights: Floats, edges: Floats, cells: Sizes
) -> Floats:  # (K, C)
    """Return the weight of each class in each cell.

    Parameters
    ----------
    keys : int64 ndarray, shape (sum(sizes),)
        The buckets, rising in each column: see `find_buckets`.
    sizes, shifts : int64 ndarray, shape (F,)
    weights : float64 ndarray, shape (C, sum(sizes))
        The weight of each class in each bucket.
    edges : float64 ndarray, shape (sum(cells) - F,)
        The edges between the cells of each column, rising; an edge belongs to the cell above it.
    cells : sequence of int, length F
        The number of cells of each column, at least 1.

    Examples
    --------
    >>> from tallybayes.kernels import ordered
    >>> weights = np.array([[1.0, 2.0, 4.0]])
    >>> count_cells(ordered([0.0, 1.0, 8.0]), [3], np.array([0]), weights, np.array([4.0]), [2]).tolist()
    [[3.0], [4.0]]
    """
    return _native.count_cells(keys, sizes, shifts, weights, edges, cells)
