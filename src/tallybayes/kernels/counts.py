"""Wrappers of the counting kernels: exact sums and counts per class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Codes, Columns, Floats, Integers, Limbs, PowerSums, Sizes, Words


def count_classes(classes: Integers, n_classes: int) -> NDArray[np.int64]:  # (C,)
    """Return the number of rows of each class.

    Examples
    --------
    >>> count_classes(np.array([0, 2, 2], np.int32), 3).tolist()
    [1, 0, 2]
    """
    counts = np.empty(n_classes, np.int64)
    _native.count_classes(classes, counts)
    return counts


def power_sums(
    columns: Columns,
    classes: NDArray[np.int32],
    n_classes: int,
    *,
    order: int = 2,
    weights: Floats | None = None,
    seeds: Words | None = None,
    out: Words | None = None,
) -> PowerSums:
    """Return exact sums of w, w·x and w·x² per class and column, each (C, F).

    Raise `NotFinite` at an infinite value.

    NaN is a missing value and is left out. Order 1 leaves out the squares. With seeds (F,), the hashes of the rows are
    added to ``out`` (n,) in the same pass, as `hash_dense` adds them.

    Examples
    --------
    >>> x = np.array([[1e16], [1.0], [-1e16], [np.nan]])
    >>> sums = power_sums(x, np.zeros(4, np.int32), 1)
    >>> from tallybayes.kernels import to_float
    >>> to_float(sums.weight).item(), to_float(sums.first).item(), to_float(sums.second).item()
    (3.0, 1.0, 2e+32)
    """
    weight, first, second = _native.power_sums(columns, classes, n_classes, order, weights, seeds, out)
    return PowerSums(Limbs(*weight), Limbs(*first), None if second is None else Limbs(*second))


def count_codes(
    columns: Codes,
    classes: NDArray[np.int32],
    n_classes: int,
    sizes: Sizes,
    *,
    low: int = 0,
    weights: Floats | None = None,
    hashes: Words | None = None,
    out: Words | None = None,
) -> tuple[Limbs, NDArray[np.int64]]:
    """Return the exact weight of each code per class, and the number of codes outside per column.

    The weights are (C, sum(sizes)), columns concatenated. A code outside ``sizes`` is skipped and counted as outside.
    With hashes (sum(sizes),), those of the rows are added to ``out`` (n,) in the same pass, as `hash_codes` adds them.

    Examples
    --------
    >>> counts, outside = count_codes(np.array([[0, 1], [2, 1], [-1, 0]]), np.array([0, 1, 1], np.int32), 2, [3, 2])
    >>> counts.limbs[..., 0].tolist(), outside.tolist()
    ([[1, 0, 0, 0, 1], [0, 0, 1, 1, 1]], [1, 0])
    """
    counts, outside = _native.count_codes(columns, classes, n_classes, sizes, low, weights, hashes, out)
    return Limbs(*counts), outside


def count_pairs(
    columns: Codes, classes: NDArray[np.int32], n_classes: int, sizes: Sizes, *, weights: Floats | None = None
) -> Limbs:
    """Return the exact weight of each pair of codes per class and column pair.

    The tables of the pairs (0, 1), (0, 2), ..., (1, 2), ... are concatenated, each in row-major order:
    (C, sum over f < g of sizes[f] * sizes[g]). A row with a code outside is left out of the pairs of that column.

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
    seeds: Words | None = None,
    out: Words | None = None,
) -> Limbs:
    """Return exact sums (C, n_columns) of a sparse matrix; raise `BadEntry` at a negative or non-finite entry.

    `binary` counts an entry above 0 as 1. An index repeated in a row is counted each time. With one seed (1,), the
    hashes of the rows are added to ``out`` (n,) in the same pass, as `hash_sparse` adds them.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> x = csr_array(np.array([[2, 0, 1], [0, 0, 3], [1, 0, 0]]))
    >>> count_sparse(x.indptr, x.indices, x.data, 3, np.array([0, 0, 1], np.int32), 2).limbs[..., 0].tolist()
    [[2, 0, 4], [1, 0, 0]]
    """
    rows = indptr, indices, data, n_columns
    return Limbs(*_native.count_sparse(*rows, classes, n_classes, weights, binary, seeds, out))


def add_columns(values: NDArray[np.int64], places: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """Add whole numbers (R, V) to `out` (R, S): column v to column ``places[v]``, modulo 2^64.

    Examples
    --------
    >>> out = np.zeros((1, 3), np.int64)
    >>> add_columns(np.array([[5, 6, 7]]), np.array([0, 2, 2]), out)
    >>> out.tolist()
    [[5, 0, 13]]
    """
    _native.add_columns(values, places, out)


def look_up_counts(counts: NDArray[np.int64], values: Floats, out: Floats, first: int = 0) -> int:
    """Write what counts (C, F) stand for into `out` (R, C): ``values[k]`` for a count of k.

    These are the counts of R columns from the first on. Return how many counts have no value; these become NaN.

    Examples
    --------
    >>> out = np.zeros((3, 1))
    >>> look_up_counts(np.array([[1, 0, 2]]), np.array([0.5, 0.25]), out), out.tolist()
    (1, [[0.25], [0.5], [nan]])
    """
    return _native.look_up_counts(counts, values, out, first)
