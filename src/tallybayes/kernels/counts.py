"""Wrappers of the counting kernels: exact sums and counts per class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Codes, Columns, Floats, Integers, Limbs, PowerSums, Sizes

__all__ = ["count_codes", "count_pairs", "count_sparse", "power_sums"]


def power_sums(
    columns: Columns, classes: NDArray[np.int32], n_classes: int, *, order: int = 2, weights: Floats | None = None
) -> PowerSums:
    """Return exact sums of w, w·x and w·x² per class and column.

    NaN is a missing value and is left out.

    Parameters
    ----------
    columns : float64 or float32 ndarray, shape (n, F), or sequence of F such arrays of shape (n,)
    classes : int32 ndarray, shape (n,)
        The class of each row, in [0, n_classes).
    n_classes : int
    order : {1, 2}
        1 leaves out the squares.
    weights : float64 ndarray, shape (n,), optional
        Finite and not below 0; by default 1.

    Returns
    -------
    PowerSums
        ``weight``, ``first`` and ``second`` (None for order 1), each ``Limbs`` of shape (C, F).

    Raises
    ------
    NotFinite
        At the first infinite value, in row order.

    Examples
    --------
    >>> x = np.array([[1e16], [1.0], [-1e16], [np.nan]])
    >>> sums = power_sums(x, np.zeros(4, np.int32), 1)
    >>> from tallybayes.kernels import to_float
    >>> to_float(sums.weight).item(), to_float(sums.first).item(), to_float(sums.second).item()
    (3.0, 1.0, 2e+32)
    """
    weight, first, second = _native.power_sums(columns, classes, n_classes, order, weights)
    return PowerSums(Limbs(*weight), Limbs(*first), None if second is None else Limbs(*second))


def count_codes(
    columns: Codes,
    classes: NDArray[np.int32],
    n_classes: int,
    sizes: Sizes,
    *,
    low: int = 0,
    weights: Floats | None = None,
) -> tuple[Limbs, NDArray[np.int64]]:
    """Return the exact weight of each code per class, and the codes outside.

    Parameters
    ----------
    columns : integer ndarray, shape (n, F), or sequence of F integer arrays of shape (n,)
    classes : int32 ndarray, shape (n,)
    n_classes : int
    sizes : sequence of int, length F
        Column f has the codes low, ..., low + sizes[f] - 1; others are skipped and counted as outside.
    low : int
    weights : float64 ndarray, shape (n,), optional

    Returns
    -------
    Limbs, shape (C, sum(sizes))
        The weights, columns concatenated.
    int64 ndarray, shape (F,)
        The number of codes outside, per column.

    Examples
    --------
    >>> counts, outside = count_codes(np.array([[0, 1], [2, 1], [-1, 0]]), np.array([0, 1, 1], np.int32), 2, [3, 2])
    >>> counts.limbs[..., 0].tolist(), outside.tolist()
    ([[1, 0, 0, 0, 1], [0, 0, 1, 1, 1]], [1, 0])
    """
    counts, outside = _native.count_codes(columns, classes, n_classes, sizes, low, weights)
    return Limbs(*counts), outside


def count_pairs(
    columns: Codes,
    classes: NDArray[np.int32],
    n_classes: int,
    sizes: Sizes,
    *,
    weights: Floats | None = None,
) -> Limbs:
    """Return the exact weight of each pair of codes per class and column pair.

    Parameters
    ----------
    columns : integer ndarray, shape (n, F), or sequence of F integer arrays of shape (n,)
    classes : int32 ndarray, shape (n,)
    n_classes : int
    sizes : sequence of int, length F
        Column f has the codes 0, ..., sizes[f] - 1; a row with another code is left out of the pairs of that column.
    weights : float64 ndarray, shape (n,), optional

    Returns
    -------
    Limbs, shape (C, sum over f < g of sizes[f] * sizes[g])
        The tables of the pairs (0, 1), (0, 2), ..., (1, 2), ... concatenated, each in row-major order.

    Examples
    --------
    >>> exclusive_or = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0], np.int32)
    >>> count_pairs(*exclusive_or, 2, [2, 2]).limbs[..., 0].tolist()
    [[1, 0, 0, 1], [0, 1, 1, 0]]
    """
    return Limbs(*_native.count_pairs(columns, classes, n_classes, sizes, weights))


def count_sparse(
    indptr: Integers,
    indices: Integers,
    data: NDArray[Any],
    n_columns: int,
    classes: NDArray[np.int32],
    n_classes: int,
    *,
    weights: Floats | None = None,
    binary: bool = False,
) -> Limbs:
    """Return exact sums of a compressed sparse row (CSR) matrix per class and column.

    Parameters
    ----------
    indptr : int32 or int64 ndarray, shape (n + 1,)
        Row i has the entries indptr[i], ..., indptr[i + 1] - 1. It need not start at 0, so slicing it slices rows.
    indices, data : ndarray, shape (entries,)
        Columns (int32 or int64) and values (float64, float32, int32 or int64) of the entries.
    n_columns : int
    classes : int32 ndarray, shape (n,)
    n_classes : int
    weights : float64 ndarray, shape (n,), optional
    binary : bool
        Count an entry above 0 as 1. An index repeated in a row is counted each time.

    Returns
    -------
    Limbs, shape (C, n_columns)

    Raises
    ------
    BadEntry
        At the first negative or non-finite entry, in row order.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> x = csr_array(np.array([[2, 0, 1], [0, 0, 3], [1, 0, 0]]))
    >>> count_sparse(x.indptr, x.indices, x.data, 3, np.array([0, 0, 1], np.int32), 2).limbs[..., 0].tolist()
    [[2, 0, 4], [1, 0, 0]]
    """
    return Limbs(*_native.count_sparse(indptr, indices, data, n_columns, classes, n_classes, weights, binary))
