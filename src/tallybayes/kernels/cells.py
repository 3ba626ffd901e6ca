"""Wrappers of the kernels that make cells of buckets, cut and count them, and look up terms by them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Codes, Floats, Sizes

__all__ = [
    "ChosenCells",
    "bin_codes",
    "choose_cells",
    "code_terms",
    "count_cells",
    "cut_cells",
    "cut_runs",
    "pair_codes",
    "pair_rows",
    "pair_terms",
    "shift_rows",
]

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


def cut_runs(
    value: Floats, weights: Floats, sizes: Sizes, bins: int
) -> tuple[NDArray[np.int32], Floats, NDArray[np.int64]]:
    """Return the run of each cell where those of a column make at most `bins` runs of about equal weight.

    Parameters
    ----------
    value, weights : float64 ndarray, shape (sum(sizes),)
        The value of each cell, rising in each column, and its weight.
    sizes : sequence of int, length F
    bins : int

    Returns
    -------
    places : int32 ndarray, shape (sum(sizes),)
        The run of each cell.
    cuts : float64 ndarray, shape (sum(counts),)
        The values at which runs but the first of a column begin.
    counts : int64 ndarray, shape (F,)
        The number of cuts of each column.

    Examples
    --------
    >>> places, cuts, counts = cut_runs(np.array([1.0, 2.0, 3.0]), np.array([1.0, 6.0, 1.0]), [3], 16)
    >>> places.tolist(), cuts.tolist(), counts.tolist()
    ([0, 1, 2], [2.0, 3.0], [2])
    """
    return _native.cut_runs(value, weights, sizes, bins)


def pair_codes(
    columns: Codes,
    sizes: Sizes,
    classes: NDArray[np.int32],
    n_classes: int,
    *,
    low: int = 0,
    last: bool = False,
) -> NDArray[np.int32]:
    """Return the pair of code and class of each row, ``(code - low) * C + class``; (F, n).

    Parameters
    ----------
    columns : integer ndarray, shape (n, F), or sequence of F integer arrays of shape (n,)
    sizes : sequence of int, length F
    classes : int32 ndarray, shape (n,)
    n_classes : int
    low : int
        The least code.
    last : bool
        Whether a code outside its column's range is the last one; otherwise its pair is ``size * C``.

    Examples
    --------
    >>> pair_codes(np.array([[0], [1], [-1]]), [2], np.array([0, 1, 1], np.int32), 2).tolist()
    [[0, 3, 4]]
    """
    return _native.pair_codes(columns, sizes, classes, n_classes, low, last)


def bin_codes(columns: Codes, places: NDArray[np.int32], sizes: Sizes, missing: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return ``places[start + code]`` of each code, or `missing` of its column where it is outside; (F, n).

    Parameters
    ----------
    columns : integer ndarray, shape (n, F), or sequence of F integer arrays of shape (n,)
    places : int32 ndarray, shape (sum(sizes),)
    sizes : sequence of int, length F
    missing : int32 ndarray, shape (F,)

    Examples
    --------
    >>> bin_codes(np.array([[0], [1], [255]]), np.array([5, 6], np.int32), [2], np.array([7], np.int32)).tolist()
    [[5, 6, 7]]
    """
    return _native.bin_codes(columns, places, sizes, missing)


def code_terms(columns: Codes, values: Floats, sizes: Sizes) -> Floats:
    """Return ``values[start + code]`` of each code, or 0 where it is outside its column; (F, D, n).

    Parameters
    ----------
    columns : integer ndarray, shape (n, F), or sequence of F integer arrays of shape (n,)
    values : float64 ndarray, shape (sum(sizes), D)
    sizes : sequence of int, length F

    Examples
    --------
    >>> code_terms(np.array([[1], [0], [2]]), np.array([[1.0, 10.0], [2.0, 20.0]]), [2]).tolist()
    [[[2.0, 1.0, 0.0], [20.0, 10.0, 0.0]]]
    """
    return _native.code_terms(columns, values, sizes)


def pair_terms(
    pairs: NDArray[np.int32], values: Floats, sizes: Sizes, places: NDArray[np.int32] | None, out: NDArray[np.float32]
) -> NDArray[np.int32] | None:
    """Write the terms of rows by their pairs; return their bins, (F, n).

    Parameters
    ----------
    pairs : int32 ndarray, shape (F, n)
        The pair of each row in each column; one outside its column's range is the last one.
    values : float64 ndarray, shape (sum(sizes), D)
        The term of each pair.
    sizes : sequence of int, length F
    places : int32 ndarray, shape (sum(sizes),), or None
        The bin of each pair; without them no bins are returned.
    out : float32 ndarray, shape (F, D, n)

    Examples
    --------
    >>> out, places = np.zeros((1, 1, 3), np.float32), np.array([7, 8, 9], np.int32)
    >>> pairs, values = np.array([[1, 0, 2]], np.int32), np.array([[1.0], [2.0], [0.0]])
    >>> pair_terms(pairs, values, [3], places, out).tolist(), out.tolist()
    ([[8, 7, 9]], [[[2.0, 1.0, 0.0]]])
    """
    return _native.pair_terms(pairs, values, sizes, places, out)


def pair_rows(by_pair: Floats, sizes: Sizes, *, least: float) -> tuple[Floats, bool]:
    """Return terms of pairs as rows less the largest of each, with zeros after each column; and whether none is NaN.

    Parameters
    ----------
    by_pair : float64 ndarray, shape (C, sum(sizes))
    sizes : sequence of int, length F
    least : float
        What terms are not to be below.

    Returns
    -------
    rows : float64 ndarray, shape (sum(sizes) + F, C)
    known : bool

    Examples
    --------
    >>> pair_rows(np.array([[1.0, 2.0], [-9.0, 5.0]]), [1, 1], least=-4.0)[0].tolist()
    [[0.0, -4.0], [0.0, 0.0], [-3.0, 0.0], [0.0, 0.0]]
    """
    rows, known = _native.pair_rows(by_pair, sizes, least)
    return rows, known


def shift_rows(rows: Floats, out: Floats, *, least: float) -> bool:
    """Write rows of terms as columns, less the largest of each; return whether none is NaN.

    A largest that is infinite is not taken away.

    Parameters
    ----------
    rows : float64 ndarray, shape (n, C), or (F, n, C) of several columns
    out : float64 ndarray, shape (C, n), or (F, C, n)
    least : float
        What terms are not to be below.

    Examples
    --------
    >>> out = np.empty((2, 1))
    >>> shift_rows(np.array([[1.0, -9.0]]), out, least=-4.0), out.tolist()
    (True, [[0.0], [-4.0]])
    """
    if len(rows) == 1 and rows.ndim == 3:
        rows, out = rows[0], out[0]
    if rows.ndim == 2 and rows.flags.f_contiguous:
        return _native.shift_rows(rows.T, True, least, out)
    return _native.shift_rows(np.ascontiguousarray(rows), False, least, out)
