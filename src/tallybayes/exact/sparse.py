"""Exact numbers, mostly zeros: only those that are not are kept.

Of a million words most occur in one class or two. Kept whole, the counts of a million words in twenty classes would be
160 MB, and every merge would read and write all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tallybayes.exact.array import Exact, Floats, _Digits
from tallybayes.kernels.sparse_pattern import find_places, join_places

__all__ = ["SparseExact", "SparsityPattern"]

Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SparsityPattern:
    """Where in an array (R, V) something stands: column by column, and within a column by row.

    Attributes
    ----------
    starts : int64 ndarray, shape (V + 1,)
        Where the entries of each column begin.
    rows : int32 ndarray, shape (entries,)
        The row of each entry.
    height : int
        R.
    """

    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    height: int

    @property
    def width(self) -> int:
        """V."""
        return len(self.starts) - 1

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:  # (V,)
        """How many entries each column has."""
        return np.diff(self.starts)

    def columns(self) -> npt.NDArray[np.int32]:  # (entries,)
        """The column of each entry."""
        return np.repeat(np.arange(self.width, dtype=np.int32), self.lengths)

    def equals(self, other: SparsityPattern) -> bool:
        """Whether the same places are meant."""
        return self is other or (
            self.height == other.height
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.rows, other.rows)
        )

    def find(self, rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The entry of each cell, −1 where none stands."""
        cells = (np.ascontiguousarray(part, np.int64) for part in (rows, columns))
        return find_places(self.starts, self.rows, *cells)

    def join(self, other: SparsityPattern) -> tuple[SparsityPattern, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The places of both, and where among them those of each are."""
        starts, rows, mine, theirs = join_places(self.starts, self.rows, other.starts, other.rows)
        return SparsityPattern(starts, rows, self.height), mine, theirs

    def some(self, kept: Mask) -> SparsityPattern:
        """The places of some of the entries."""
        ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        return SparsityPattern(ends[self.starts], self.rows[kept], self.height)

    def of_columns(self, index: Index) -> tuple[SparsityPattern, Index]:
        """The places in some columns, in the given order, and which entries these are."""
        lengths = self.lengths[index]
        starts = _starts(lengths)
        entries = np.arange(starts[-1]) + np.repeat(self.starts[index] - starts[:-1], lengths)
        return SparsityPattern(starts, self.rows[entries], self.height), entries

    def of_rows(self, index: Index) -> tuple[SparsityPattern, Index]:
        """The places in some rows, in the given order (some more than once), and which entries these are."""
        order = np.argsort(index, kind="stable")
        times = np.bincount(index, minlength=self.height)
        each = times[self.rows]
        entries = np.repeat(np.arange(len(self.rows)), each)
        nth = np.arange(len(entries)) - np.repeat(np.cumsum(each) - each, each)
        rows = order[_starts(times)[self.rows[entries]] + nth].astype(np.int32)
        starts = _starts(each)[self.starts]
        if len(index) > 1 and not (np.diff(index) > 0).all():  # rows have changed their order, or were repeated
            columns = np.repeat(np.arange(self.width), np.diff(starts))
            sort = np.lexsort((rows, columns))
            rows, entries = rows[sort], entries[sort]
        return SparsityPattern(starts, rows, len(index)), entries


class SparseExact(Exact):
    """An immutable array (R, V) of exact numbers, of which only those that are not zero take memory.

    What is not written here goes the way of `Exact`, on the whole array.

    Parameters
    ----------
    places : SparsityPattern
        Where numbers stand.
    values : Exact, shape (entries,)
        The numbers, none of them zero.

    Examples
    --------
    >>> a = SparseExact.from_whole(Exact.of([[0, 3], [0, 0]])); b = SparseExact.from_whole(Exact.of([[1, 0], [0, 4]]))
    >>> (a + b).to_float()
    array([[1., 3.],
           [0., 4.]])
    >>> (a + b) - b == a, len(a.values.to_float())
    (True, 1)
    """

    __slots__ = ("places", "values")

    def __init__(self, places: SparsityPattern, values: Exact) -> None:
        self.places, self.values, self._float = places, values, None

    def __reduce__(self) -> tuple[type[SparseExact], tuple[SparsityPattern, Exact]]:
        return SparseExact, (self.places, self.values)  # the whole is not stored, neither here nor in a pickle

    @classmethod
    def from_whole(cls, whole: Exact) -> Self:
        """The same numbers, scattered."""
        rows, width = whole.shape[0], whole.shape[1]
        columns, at = np.nonzero(whole.nonzero().T)
        starts = _starts(np.bincount(columns, minlength=width))
        flat = whole.reshape((rows * width,)).take(at * width + columns)
        return cls(SparsityPattern(starts, at.astype(np.int32), rows), flat)

    @classmethod
    def side_by_side(cls, parts: Sequence[SparseExact]) -> SparseExact:
        """Arrays of as many rows as one, one after the other."""
        if len(parts) == 1:
            return parts[0]
        starts = _starts(np.concatenate([part.places.lengths for part in parts]))
        rows = np.concatenate([part.places.rows for part in parts])
        joined, first = Exact.zeros((len(rows),)), 0
        for part in parts:
            count = len(part.places.rows)
            joined = joined + part.values.spread(np.arange(first, first + count), len(rows))
            first += count
        return cls(SparsityPattern(starts, rows, parts[0].places.height), joined)

    def whole(self) -> Exact:
        """The same numbers with all the zeros."""
        digits = self.values._digits
        if self._is_plainly_zero():
            return Exact.zeros(self.shape)
        limbs = np.zeros((*self.shape, digits.limbs.shape[-1]), np.int64)
        limbs[self.places.rows, self.places.columns()] = digits.limbs
        return Exact(limbs, digits.base, bits=digits.bits)

    @property
    def _digits(self) -> _Digits:  # type: ignore[override]
        return self.whole()._digits

    def _settle(self) -> _Digits:
        return self.whole()._settle()

    def _is_plainly_zero(self) -> bool:
        return self.values._is_plainly_zero()

    @property
    def base(self) -> int:
        """The grid position of the first digit of the canonical form."""
        return self.values.base  # zeros do not change the form of the others

    @property
    def is_zero(self) -> bool:
        """Whether all values are zero."""
        return self.values.is_zero

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.places.height, self.places.width

    def settle(self) -> Self:
        """The same, its carries settled now."""
        self.values.settle()
        return self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SparseExact):
            return self.places.equals(other.places) and self.values == other.values
        return super().__eq__(other)

    __hash__ = None

    def _combine(self, other: Exact, operation: np.ufunc) -> Exact:
        if not isinstance(other, SparseExact):
            return super()._combine(other, operation)
        if self.places.equals(other.places):
            return SparseExact(self.places, self.values._combine(other.values, operation))._without_zeros()
        both, mine, theirs = self.places.join(other.places)
        left, right, low, high = self.values._on_one_grid(other.values)
        limbs = np.zeros((len(both.rows), high - low), np.int64)
        for k in range(left.limbs.shape[-1]):  # in place: there may be little room for more than the result
            limbs[mine, left.base - low + k] = left.limbs[:, k]
        for k in range(right.limbs.shape[-1]):
            digit = limbs[:, right.base - low + k]
            digit[theirs] = operation(digit[theirs], right.limbs[:, k])
        return SparseExact(both, Exact(limbs, low, bits=max(left.bits, right.bits) + 1))._without_zeros()

    def _without_zeros(self) -> SparseExact:
        kept = self.values.nonzero()
        return self if kept.all() else SparseExact(self.places.some(kept), self.values.take(kept))

    def take(self, index: npt.NDArray[np.integer] | Mask, axis: int = 0) -> Exact:
        """The rows or columns at the given positions."""
        at = np.flatnonzero(index) if index.dtype == bool else np.asarray(index, np.intp)
        if axis == 1:
            return self.columns(at)
        if len(at) == self.shape[0] and np.array_equal(at, np.arange(len(at))):
            return self
        places, entries = self.places.of_rows(at)
        return SparseExact(places, self.values.take(entries))

    def columns(self, index: Index) -> SparseExact:
        """The columns at the given positions."""
        if len(index) == self.shape[1] and np.array_equal(index, np.arange(len(index))):
            return self
        places, entries = self.places.of_columns(index)
        return SparseExact(places, self.values.take(entries))

    def spread(self, index: Index, size: int, axis: int = 0) -> Exact:
        """The inverse of `take`, for positions that rise."""
        if not (np.diff(index) > 0).all():
            return SparseExact.from_whole(super().spread(index, size, axis))
        if axis == 0:
            places = SparsityPattern(self.places.starts, index.astype(np.int32)[self.places.rows], size)
            return SparseExact(places, self.values)
        lengths = np.zeros(size, np.int64)
        lengths[index] = self.places.lengths
        return SparseExact(SparsityPattern(_starts(lengths), self.places.rows, self.places.height), self.values)

    def sum(self, axis: int = 0) -> Exact:
        """The exact sum over one axis."""
        digits, more = self._summable(axis)
        sums = np.zeros((self.shape[1 - axis], digits.limbs.shape[-1]), np.int64)
        for total, limbs in zip(sums.T, digits.limbs.T, strict=True):
            if axis == 1:
                np.add.at(total, self.places.rows, limbs)
            else:  # sums so far may wrap; their differences are right
                total[:] = np.diff(_starts(limbs)[self.places.starts])
        return Exact(sums, digits.base, bits=digits.bits + more)

    def _summable(self, axis: int) -> tuple[_Digits, int]:
        more = int(self.shape[axis]).bit_length()
        return self.values._summable_by(more), more

    def at(self, rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Exact:  # (n,)
        """The numbers in the given cells."""
        entries = self.places.find(rows, columns)
        here = np.flatnonzero(entries >= 0)
        return self.values.take(entries[here]).spread(here, len(entries))

    def less(self, index: tuple[npt.NDArray[Any], ...], *factors: Floats) -> Floats:
        """Entries less a product of doubles each, as if subtracted exactly."""
        entries = self.places.find(*index)
        if len(self.places.rows) and (entries >= 0).all():
            return self.values.less((entries,), *factors)
        return self.at(*index).less((np.arange(len(index[0])),), *factors)

    def used(self) -> Mask:  # (V,)
        """The columns that are not all zero."""
        return self.places.lengths > 0

    def nonzero(self) -> Mask:
        """Where the value is not zero."""
        return self._filled(np.ones(len(self.places.rows), bool))

    def negative(self) -> Mask:
        """Where the value is below zero."""
        return self._filled(self.values.negative())

    def has_negative(self) -> bool:
        """Whether any value is below zero."""
        return self.values.has_negative()

    def to_float(self) -> Floats:
        """The nearest doubles, with all the zeros."""
        return self._filled(self.values.to_float())

    def _filled(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        filled = np.zeros(self.shape, values.dtype)
        filled[self.places.rows, self.places.columns()] = values
        return filled


def _starts(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Where each of some runs begins, and the last ends."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
