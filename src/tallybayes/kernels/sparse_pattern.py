"""Entries of a matrix that is mostly zeros: where they stand, the door to those kernels.

Places are given column by column: those of column v are the entries ``starts[v]`` to ``starts[v + 1]``, of which
``rows`` says the row, rising. ``reference`` has the same functions in plain Python.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _native

__all__ = ["find_places", "join_places"]

Starts = NDArray[np.int64]
Rows = NDArray[np.int32]


def join_places(
    starts: Starts, rows: Rows, other_starts: Starts, other_rows: Rows
) -> tuple[Starts, Rows, NDArray[np.int64], NDArray[np.int64]]:
    """The places of both, and where among them the entries of each are.

    Parameters
    ----------
    starts, other_starts : int64 ndarray, shape (V + 1,)
    rows, other_rows : int32 ndarray, shape (entries,)

    Returns
    -------
    starts, rows : ndarray
        The union.
    from_left, from_right : int64 ndarray
        Where in it each entry of either is.

    Examples
    --------
    >>> one, other = np.array([0, 2]), np.array([0, 1])      # a single column
    >>> union = join_places(one, np.array([0, 3], np.int32), other, np.array([1], np.int32))
    >>> [part.tolist() for part in union]
    [[0, 3], [0, 1, 3], [0, 2], [1]]
    """
    return _native.join_places(starts, rows, other_starts, other_rows)


def find_places(
    starts: Starts, rows: Rows, of_rows: NDArray[np.int64], of_columns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The entry of each of some cells; -1 where none stands.

    Parameters
    ----------
    starts : int64 ndarray, shape (V + 1,)
    rows : int32 ndarray, shape (entries,)
    of_rows, of_columns : int64 ndarray, shape (n,)

    Examples
    --------
    >>> find_places(np.array([0, 2]), np.array([0, 3], np.int32), np.array([3, 1]), np.array([0, 0])).tolist()
    [1, -1]
    """
    return _native.find_places(starts, rows, of_rows, of_columns)
