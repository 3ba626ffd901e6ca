"""Wrappers of the sparsity-pattern kernels: the positions of a sparse matrix's entries, and copies of its rows.

Positions are stored column by column: column v has the entries ``starts[v]`` to ``starts[v + 1]``, and ``rows`` holds
the row of each, rising. ``tests/kernels/reference.py`` has the same in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native

Starts = NDArray[np.int64]
Rows = NDArray[np.int32]


def join_places(
    starts: Starts, rows: Rows, other_starts: Starts, other_rows: Rows
) -> tuple[Starts, Rows, NDArray[np.int64], NDArray[np.int64]]:
    """Return the union of two patterns, and the index in it of each side's entries.

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
    """Return the index of the entry at each given cell, -1 if there is none.

    Examples
    --------
    >>> find_places(np.array([0, 2]), np.array([0, 3], np.int32), np.array([3, 1]), np.array([0, 0])).tolist()
    [1, -1]
    """
    return _native.find_places(starts, rows, of_rows, of_columns)


def copy_ranges(values: NDArray[Any], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Return the ranges of an array that begin at `starts`, one after the other: the entries of some sparse rows.

    Examples
    --------
    >>> copy_ranges(np.array([5.0, 6.0, 7.0]), np.array([1, 0]), np.array([2, 1])).tolist()
    [6.0, 7.0, 5.0]
    """
    out = np.empty(int(lengths.sum()), values.dtype)
    word = f"i{values.itemsize}"  # the kernel copies bytes
    _native.copy_ranges(np.ascontiguousarray(values).view(word), starts, lengths, out.view(word))
    return out
