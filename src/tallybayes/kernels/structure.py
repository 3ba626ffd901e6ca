"""Wrappers of the kernels of what columns say together: cells of several columns, and distances from a mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Codes, Columns, Floats, Sizes

__all__ = ["Interpolated", "distances", "interpolate", "score_cells"]


class Interpolated(NamedTuple):
    """Whole numbers (F, n), and whether one of them is missing (NaN)."""

    heights: Floats
    missing: bool


def score_cells(
    columns: Codes,
    lows: NDArray[np.int64],
    sizes: Sizes,
    members: NDArray[np.int32],
    lengths: Sizes,
    table: Floats,
    out: Floats,
) -> None:
    """Add the rows of the table that combinations of codes point to.

    A combination with a code outside its column's range, ``low`` to ``low + size - 1``, adds nothing.

    Parameters
    ----------
    columns : sequence of P integer ndarrays, shape (n,)
    lows : int64 ndarray, shape (P,)
    sizes : sequence of int, length P
    members : int32 ndarray, shape (sum(lengths),)
        The columns of each combination, one combination after the other.
    lengths : sequence of int
        The number of columns of each combination, at least 1.
    table : float64 ndarray, shape (cells, C)
        What to add: a part for each combination, in which the code of its last column changes fastest.
    out : float64 ndarray, shape (n, C)

    Examples
    --------
    >>> out, table = np.zeros((2, 1)), np.arange(6.0)[:, None]
    >>> lows, pair = np.array([0, 5]), np.array([0, 1], np.int32)
    >>> score_cells((np.array([1, 1]), np.array([7, 4])), lows, [2, 3], pair, [2], table, out)
    >>> out.tolist()
    [[5.0], [0.0]]
    """
    _native.score_cells(columns, lows, sizes, members, lengths, table, out)


def interpolate(columns: Columns, knots: Floats, heights: Floats, sizes: Sizes) -> Interpolated:
    """Return the height at each number, rounded to a whole number; NaN stays NaN.

    Parameters
    ----------
    columns : float64 or float32 ndarray, shape (n, F), or sequence of F such arrays of shape (n,)
    knots, heights : float64 ndarray, shape (sum(sizes),)
        Points of each column, their places rising; between two of them heights rise in a straight line, and beyond the
        last they stay.
    sizes : sequence of int, length F
        The number of points of each column, from 2 to 256.

    Examples
    --------
    >>> interpolate(np.array([[0.0], [1.3], [9.0]]), np.array([1.0, 2.0]), np.array([-10.0, 10.0]), [2])
    Interpolated(heights=array([[-10.,  -4.,  10.]]), missing=False)
    """
    return Interpolated(*_native.interpolate(columns, knots, heights, sizes))


def distances(columns: Columns, mean: Floats, root: Floats, out: Floats) -> None:
    """Write the squared length of ``root.T @ (x - mean)``, given each class's upper triangular root.

    Parameters
    ----------
    columns : float64 or float32 ndarray, shape (n, d), or sequence of d such arrays of shape (n,)
        At most 64 columns.
    mean : float64 ndarray, shape (C, d)
    root : float64 ndarray, shape (C, d, d)
        Its lower triangle is not read.
    out : float64 ndarray, shape (n, C)
        OUT: NaN for a row in which a number is missing.

    Examples
    --------
    >>> out = np.empty((1, 1))
    >>> distances(np.array([[3.0, 4.0]]), np.zeros((1, 2)), np.eye(2)[None], out)
    >>> out.item()
    25.0
    """
    _native.distances(columns, mean, root, out)
