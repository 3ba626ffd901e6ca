"""Buckets: the distinct values of a column of numbers, to a limited number of bits.

A bucket is a run of doubles whose order-preserving integers agree in all but the `shift` lowest bits. One shift serves
a whole column: the least with which all its rows have at most 1,024 buckets. So it depends on the values alone, not on
their order, batches or merges. Buckets of other rows never make it finer: subtracting keeps the shift.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property

__all__ = ["Buckets"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


class Buckets:
    """The occupied buckets of one column, in rising order.

    Parameters
    ----------
    keys : ndarray of int64, shape (V,)
        The ordered bits of the lowest value of each bucket, rising: see `kernels.ordered`.
    shift : int
        The number of low bits that a bucket leaves out; 0 without buckets.

    Examples
    --------
    >>> one, other = (Buckets(kernels.ordered(values)) for values in ([1.0, 2.0], [2.0, 8.0]))
    >>> [both], mine, theirs = Buckets.join_all([one], [other])
    >>> both.middle.tolist(), mine.tolist(), theirs.tolist()
    ([1.0, 2.0, 8.0], [0, 1], [1, 2])
    """

    def __init__(self, keys: npt.NDArray[np.int64], shift: int = 0) -> None:
        self.keys, self.shift = keys, shift if len(keys) else 0

    @classmethod
    def empty(cls) -> Buckets:
        """Return no buckets."""
        return cls(np.zeros(0, np.int64))

    @cached_property
    def low(self) -> Floats:  # (V,)
        """The lowest value of each bucket."""
        return kernels.unordered(self.keys)

    @cached_property
    def high(self) -> Floats:  # (V,)
        """The highest value of each bucket."""
        most = np.finfo(np.float64).max
        return np.clip(kernels.unordered(self.keys | ((1 << self.shift) - 1)), -most, most)

    @cached_property
    def middle(self) -> Floats:  # (V,)
        """The middle of each bucket; the value itself where no bits were dropped."""
        return self.low if self.shift == 0 else self.low / 2 + self.high / 2

    @staticmethod
    def split(
        keys: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], shifts: npt.NDArray[np.int64]
    ) -> tuple[Buckets, ...]:
        """Return the buckets of each column, given those of all, one column after the other."""
        ends = sizes.cumsum().tolist()
        starts = [0, *ends[:-1]]
        return tuple(Buckets(keys[a:b], shift) for a, b, shift in zip(starts, ends, shifts.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Buckets):
            return NotImplemented
        return self is other or (self.shift == other.shift and np.array_equal(self.keys, other.keys))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Buckets({', '.join(map(repr, self.low.tolist()))}; shift {self.shift})"

    def take(self, index: npt.NDArray[Any]) -> Buckets:
        """Return the buckets at the given (rising) positions, or where a mask is true."""
        return Buckets(self.keys[index], self.shift)

    @staticmethod
    def arrays(
        columns: Sequence[Buckets],
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the keys of all columns, one after the other, and each column's number of keys and shift."""
        keys = np.concatenate([one.keys for one in columns]) if columns else np.zeros(0, np.int64)
        sizes, shifts = [len(one.keys) for one in columns], [one.shift for one in columns]
        return keys, np.array(sizes, np.int64), np.array(shifts, np.int64)

    @staticmethod
    def join_all(mine: Sequence[Buckets], theirs: Sequence[Buckets]) -> tuple[tuple[Buckets, ...], Places, Places]:
        """Return the buckets of all rows, column by column, and the places among them of the buckets of each side.

        Two buckets of one side may have the same place: where one side is coarser, or both together are too many.
        """
        keys, sizes, shifts = Buckets.arrays(mine)
        joined = kernels.join_buckets(keys, sizes, shifts, *Buckets.arrays(theirs))
        if np.array_equal(joined.sizes, sizes) and np.array_equal(joined.shifts, shifts):  # no new one
            labels = tuple(mine)
        else:
            labels = Buckets.split(joined.keys, joined.sizes, joined.shifts)
        return labels, joined.mine.astype(np.intp, copy=False), joined.theirs.astype(np.intp, copy=False)
