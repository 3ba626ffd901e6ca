"""Wrappers of the kernels that turn numbers into codes: of buckets found in the data, or of cells between edges.

A bucket is a run of doubles whose order-preserving integers (see `ordered`) agree in all but the `shift` lowest bits.
The shift of a column is the least with which it has at most `MOST_BUCKETS` buckets, so it depends on the values alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from .types import Columns, Floats, Limbs, PowerSums, Sizes, Words

__all__ = [
    "MOST_BUCKETS",
    "BucketCodes",
    "BucketCounts",
    "JoinedBuckets",
    "NumberCounter",
    "count_numbers",
    "find_buckets",
    "find_cells",
    "join_buckets",
    "ordered",
    "unordered",
]

MOST_BUCKETS = 1024  # of a column: 10 bits; charts and quantiles do not show more

Keys = NDArray[np.int64]


class BucketCodes(NamedTuple):
    """The buckets of some columns.

    Attributes
    ----------
    codes : int16 ndarray, shape (F, n)
        The bucket of each value, by order of first appearance; -1 for NaN.
    keys : int64 ndarray, shape (sum(sizes),)
        The ordered bits of each bucket's lowest value, in the order of the codes.
    sizes, shifts : int64 ndarray, shape (F,)
        The number of buckets of each column, and of the bits that they leave out.
    """

    codes: NDArray[np.int16]
    keys: Keys
    sizes: Keys
    shifts: Keys


class BucketCounts(NamedTuple):
    """The buckets of some columns, rising in each, and the rows of each class in them.

    Attributes
    ----------
    counts : int64 ndarray, shape (C, sum(sizes))
        The number of rows of each class in each bucket.
    keys : int64 ndarray, shape (sum(sizes),)
        The ordered bits of each bucket's lowest value.
    sizes, shifts : int64 ndarray, shape (F,)
        The number of buckets of each column, and of the bits that they leave out.
    """

    counts: NDArray[np.int64]
    keys: Keys
    sizes: Keys
    shifts: Keys


class JoinedBuckets(NamedTuple):
    """The buckets of two sets of rows together; `mine` and `theirs` are the places of each side's buckets."""

    keys: Keys
    sizes: Keys
    shifts: Keys
    mine: Keys
    theirs: Keys


def find_buckets(columns: Columns) -> BucketCodes:
    """Return the bucket of each value, and the buckets of each column.

    Parameters
    ----------
    columns : float64 or float32 ndarray, shape (n, F), or sequence of F such arrays of shape (n,)

    Examples
    --------
    >>> found = find_buckets(np.array([[2.0], [-1.0], [np.nan], [2.0]]))
    >>> found.codes.tolist(), unordered(found.keys).tolist(), found.shifts.tolist()
    ([[0, 1, -1, 0]], [2.0, -1.0], [0])
    """
    return BucketCodes(*_native.find_buckets(columns))


def count_numbers(
    columns: Columns,
    classes: NDArray[np.int32],
    n_classes: int,
    *,
    seeds: Words | None = None,
    out: Words | None = None,
) -> tuple[PowerSums, BucketCounts]:
    """Return the sums of `power_sums`, and the buckets of each column with the rows of each class in them.

    With seeds (F,), the hashes of the rows are added to ``out`` (n,) in the same pass, as `hash_dense` adds them. It
    takes memory for 1,026 buckets per column and class, so it is meant for few classes.

    Parameters
    ----------
    columns : float64 or float32 ndarray, shape (n, F), or sequence of F such arrays of shape (n,)
    classes : int32 ndarray, shape (n,)
    n_classes : int
    seeds, out : int64 ndarrays, shapes (F,) and (n,), optional

    Examples
    --------
    >>> sums, found = count_numbers(np.array([[2.0], [-1.0], [np.nan], [2.0]]), np.array([0, 1, 0, 0], np.int32), 2)
    >>> sums.first.limbs[..., 0].tolist()
    [[4], [-1]]
    >>> found.counts.tolist(), unordered(found.keys).tolist(), found.shifts.tolist()
    ([[0, 2], [1, 0]], [-1.0, 2.0], [0])
    """
    return _counted(_native.count_numbers(columns, classes, n_classes, seeds, out))


class NumberCounter:
    """Counts several tables of numbers as `count_numbers` counts one.

    To begin and to end takes as long as to count 30,000 rows: this does both once. It is meant for few classes: see
    there. After an error it is of no more use.

    Parameters
    ----------
    n_columns, n_classes : int

    Examples
    --------
    >>> counter, classes = NumberCounter(1, 2), np.array([0, 1], np.int32)
    >>> counter.add(np.array([[2.0], [-1.0]]), classes)
    >>> counter.add(np.array([[np.nan], [2.0]]), classes)
    >>> sums, found = counter.finish()
    >>> sums.first.limbs[..., 0].tolist(), found.counts.tolist()
    ([[2], [1]], [[0, 1], [1, 1]])
    """

    def __init__(self, n_columns: int, n_classes: int) -> None:
        self._native = _native.NumberCounter(n_columns, n_classes)

    def add(
        self,
        columns: Columns,
        classes: NDArray[np.int32],
        *,
        seeds: Words | None = None,
        out: Words | None = None,
    ) -> None:
        """Count the rows of one table; parameters are those of `count_numbers`."""
        self._native.add(columns, classes, seeds, out)

    def finish(self) -> tuple[PowerSums, BucketCounts]:
        """Return the counts of all tables, at least one; once."""
        return _counted(self._native.finish())


def _counted(found: tuple[Any, ...]) -> tuple[PowerSums, BucketCounts]:
    weight, first, second, *buckets = found
    return PowerSums(Limbs(*weight), Limbs(*first), Limbs(*second)), BucketCounts(*buckets)


def find_cells(columns: Columns, edges: Floats, sizes: Sizes) -> NDArray[np.uint8]:  # (F, n)
    """Return how many of a column's edges are at most each value; 255 for NaN.

    Parameters
    ----------
    columns : float64 or float32 ndarray, shape (n, F), or sequence of F such arrays of shape (n,)
    edges : float64 ndarray, shape (sum(sizes),)
        Rising in each column, at most 254 of them.
    sizes : sequence of int, length F
        The number of edges of each column.

    Examples
    --------
    >>> find_cells(np.array([[0.5], [1.0], [9.0]]), np.array([1.0, 2.0]), [2]).tolist()
    [[0, 1, 2]]
    """
    return _native.find_cells(columns, edges, sizes)


def join_buckets(
    keys: Keys, sizes: Sizes, shifts: Keys, other_keys: Keys, other_sizes: Sizes, other_shifts: Keys
) -> JoinedBuckets:
    """Return the buckets that all rows would have, given those of two parts; keys rise in each column.

    Examples
    --------
    >>> one, shift = np.array([0, 4]), np.array([2])
    >>> joined = join_buckets(one, [2], shift, np.array([5, 9]), [2], np.array([0]))
    >>> joined.keys.tolist(), joined.mine.tolist(), joined.theirs.tolist()
    ([0, 4, 8], [0, 1], [1, 2])
    """
    return JoinedBuckets(*_native.join_buckets(keys, sizes, shifts, other_keys, other_sizes, other_shifts))


def ordered(values: ArrayLike) -> Keys:
    """Return integers in the order of the doubles; -0.0 is 0.0.

    Examples
    --------
    >>> ordered([-1.0, -0.0, 0.0, 5e-324]).tolist()
    [-4607182418800017409, 0, 0, 1]
    """
    bits = (np.asarray(values, np.float64) + 0.0).view(np.int64)
    return np.asarray(bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF)))


def unordered(keys: ArrayLike) -> Floats:
    """Invert `ordered`.

    Examples
    --------
    >>> unordered(ordered([-1.5, 0.0, 3.0])).tolist()
    [-1.5, 0.0, 3.0]
    """
    bits = np.asarray(keys, np.int64)
    return np.asarray(bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))).view(np.float64)
