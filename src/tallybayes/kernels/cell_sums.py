"""Wrapper of the kernel that sums the terms of sparse rows by the cell of their columns.

``tests/kernels/reference.py`` has the same in Python.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Floats

Index = NDArray[np.int64]


def sum_cells(
    starts: Index, columns: Index, times: Floats, table: Floats, cells: Index, at: Index, out: NDArray[np.float32]
) -> None:
    """Write to ``out[g, at[i]]`` the entries of row i in columns of cell g, times their rows of the table.

    Parameters
    ----------
    starts : int64 ndarray, shape (n + 1,)
        Where the entries of each row begin.
    columns, times : int64 and float64 ndarray, shape (entries,)
        Their columns and values.
    table : float64 ndarray, shape (F, C)
        The terms of each column.
    cells : int64 ndarray, shape (F,)
        The cell of each column.
    at : int64 ndarray, shape (n,)
        Where each row goes.
    out : float32 ndarray, shape (G, N, C)
        OUT: the sums. Where a row has no entry of a cell, nothing is written: begin with zeros.

    Examples
    --------
    >>> out = np.zeros((2, 1, 1), np.float32)
    >>> entries = np.array([0, 2]), np.array([0, 1]), np.array([2.0, 3.0])
    >>> sum_cells(*entries, np.array([[1.0], [10.0]]), np.array([1, 0]), np.array([0]), out)
    >>> out.tolist()
    [[[30.0]], [[2.0]]]
    """
    _native.sum_cells(starts, columns, times, table, cells, at, out)
