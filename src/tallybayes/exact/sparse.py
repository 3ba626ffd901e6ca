"""Sparse arrays of exact numbers: only nonzero entries are stored.

Of a million words most occur in one or two classes. A dense table of a million words in twenty classes would take
160 MB, and every merge would read and write all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tallybayes.cached_property import cached_property
from tallybayes.exact.array import Exact, Floats, _Digits
from tallybayes.kernels.sparse_pattern import find_places, join_places

__all__ = ["SparseExact", "SparsityPattern"]

_AT_A_TIME = 1 << 16  # entries that are added at a time: copies of them stay in cache

Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SparsityPattern:
    """The positions of the entries of an array (R, V), sorted by column, then row.

    Attributes
    ----------
    starts : int64 ndarray, shape (V + 1,)
        Where the entries of each column begin.
    rows : int32 ndarray, shape (entries,)
        The row of each entry.
    height : int
        R, the number of rows.
    """

    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    height: int

    @property
    def width(self) -> int:
        """V, the number of columns."""
        return len(self.starts) - 1

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:  # (V,)
        """The number of entries of each column."""
        return np.diff(self.starts)

    def columns(self) -> npt.NDArray[np.int32]:  # (entries,)
        """Return the column of each entry."""
        return np.repeat(np.arange(self.width, dtype=np.int32), self.lengths)

    def equals(self, other: SparsityPattern) -> bool:
        """Return whether both patterns have the same positions."""
        return self is other or (
            self.height == other.height
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.rows, other.rows)
        )

    def find(self, rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the index of each cell's entry, −1 if there is none."""
        cells = (np.ascontiguousarray(part, np.int64) for part in (rows, columns))
        return find_places(self.starts, self.rows, *cells)

    def join(self, other: SparsityPattern) -> tuple[SparsityPattern, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the union of two patterns, and the index in it of each side's entries."""
        starts, rows, mine, theirs = join_places(self.starts, self.rows, other.starts, other.rows)
        return SparsityPattern(starts, rows, self.height), mine, theirs

    def some(self, kept: Mask) -> SparsityPattern:
        """Return the pattern of the entries that the mask keeps."""
        ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        return SparsityPattern(ends[self.starts], self.rows[kept], self.height)

    def of_columns(self, index: Index) -> tuple[SparsityPattern, Index]:
        """Return the pattern of some columns, in the given order, and the entries in them."""
        lengths = self.lengths[index]
        starts = _starts(lengths)
        entries = np.arange(starts[-1]) + np.repeat(self.starts[index] - starts[:-1], lengths)
        return SparsityPattern(starts, self.rows[entries], self.height), entries

    def of_rows(self, index: Index) -> tuple[SparsityPattern, Index]:
        """Return the pattern of some rows, in order and perhaps repeated, and the entries in them."""
        order = np.argsort(index, kind="stable")
        times = np.bincount(index, minlength=self.height)
        each = times[self.rows]
        entries = np.repeat(np.arange(len(self.rows)), each)
        nth = np.arange(len(entries)) - np.repeat(np.cumsum(each) - each, each)
        rows = order[_starts(times)[self.rows[entries]] + nth].astype(np.int32)
        starts = _starts(each)[self.starts]
        if len(index) > 1 and not (np.diff(index) > 0).all():  # rows were reordered or repeated
            columns = np.repeat(np.arange(self.width), np.diff(starts))
            sort = np.lexsort((rows, columns))
            rows, entries = rows[sort], entries[sort]
        return SparsityPattern(starts, rows, len(index)), entries


Joined = tuple[SparsityPattern, npt.NDArray[np.integer], npt.NDArray[np.integer]]


class _Moved(NamedTuple):
    """The union of two patterns after their columns were moved."""

    places: SparsityPattern
    places_of_other: SparsityPattern
    joined: Joined


class SparseExact(Exact):
    """An immutable sparse array (R, V) of exact numbers.

    Methods that are not overridden here work on the dense array, as in `Exact`.

    Parameters
    ----------
    places : SparsityPattern
        The positions of the nonzero numbers.
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
        return SparseExact, (self.places, self.values)  # the dense array is never stored, also not in a pickle

    @classmethod
    def from_whole(cls, whole: Exact) -> Self:
        """Return a sparse copy of a dense array."""
        rows, width = whole.shape[0], whole.shape[1]
        columns, at = np.nonzero(whole.nonzero().T)
        starts = _starts(np.bincount(columns, minlength=width))
        flat = whole.reshape((rows * width,)).take(at * width + columns)
        return cls(SparsityPattern(starts, at.astype(np.int32), rows), flat)

    @classmethod
    def side_by_side(cls, parts: Sequence[SparseExact]) -> SparseExact:
        """Concatenate arrays of the same height along the columns."""
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
        """Return the dense array."""
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
        return self.values.base  # zeros do not change the base of the other numbers

    @property
    def is_zero(self) -> bool:
        """Whether all values are zero."""
        return self.values.is_zero

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""
        return self.places.height, self.places.width

    def settle(self) -> Self:
        """Settle the carries now, and return the array itself."""
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
        return self._combine_in(self.places.join(other.places), other, operation)

    def _combine_in(self, joined: Joined, other: SparseExact, operation: np.ufunc) -> SparseExact:
        """Combine both arrays, given the union of their patterns."""
        both, mine, theirs = joined
        left, right, low, high = self.values._on_one_grid(other.values)
        limbs = np.zeros((len(both.rows), high - low), np.int64)
        for k in range(left.limbs.shape[-1]):  # in place, because memory may not suffice for more than the result
            digit, own = limbs[:, left.base - low + k], left.limbs[:, k]
            for some in _pieces(len(mine)):
                digit[mine[some]] = own[some]
        for k in range(right.limbs.shape[-1]):
            digit, more = limbs[:, right.base - low + k], right.limbs[:, k]
            for some in _pieces(len(theirs)):
                digit[theirs[some]] = operation(digit[theirs[some]], more[some])
        return SparseExact(both, Exact(limbs, low, bits=max(left.bits, right.bits) + 1))._without_zeros()

    def add_moved(
        self, index: Index, other: SparseExact, index_of_other: Index, size: int, like: _Moved | None = None
    ) -> tuple[SparseExact, _Moved]:
        """Return the sum after column v of either becomes column ``index[v]`` of `size`, and how they were moved.

        Sums that share their positions, as the tokens and the documents of texts do, are moved and joined once: pass
        on how the first ones were.
        """
        if like is None or like.places is not self.places or like.places_of_other is not other.places:
            moved = (one.spread(at, size, axis=1) for one, at in ((self, index), (other, index_of_other)))
            left, right = (one.places for one in moved if isinstance(one, SparseExact))
            both, *places = left.join(right)
            narrow: type[np.signedinteger[Any]] = (
                np.int32 if len(both.rows) < 2**31 else np.int64
            )  # kept while all sums are added
            mine, theirs = (one.astype(narrow, copy=False) for one in places)
            like = _Moved(self.places, other.places, (both, mine, theirs))
        return self._combine_in(like.joined, other, np.add), like

    def _without_zeros(self) -> SparseExact:
        kept = self.values.nonzero()
        return self if kept.all() else SparseExact(self.places.some(kept), self.values.take(kept))

    def take(self, index: npt.NDArray[np.integer] | Mask, axis: int = 0) -> Exact:
        """Return the rows or columns at the given positions."""
        at = np.flatnonzero(index) if index.dtype == bool else np.asarray(index, np.intp)
        if axis == 1:
            return self.columns(at)
        if len(at) == self.shape[0] and np.array_equal(at, np.arange(len(at))):
            return self
        places, entries = self.places.of_rows(at)
        return SparseExact(places, self.values.take(entries))

    def columns(self, index: Index) -> SparseExact:
        """Return the columns at the given positions."""
        if len(index) == self.shape[1] and np.array_equal(index, np.arange(len(index))):
            return self
        places, entries = self.places.of_columns(index)
        return SparseExact(places, self.values.take(entries))

    def spread(self, index: Index, size: int, axis: int = 0) -> Exact:
        """Invert `take`: put rows or columns at the given positions of a larger array."""
        if not (np.diff(index) > 0).all():
            return SparseExact.from_whole(super().spread(index, size, axis))
        if axis == 0:
            places = SparsityPattern(self.places.starts, index.astype(np.int32)[self.places.rows], size)
            return SparseExact(places, self.values)
        lengths = np.zeros(size, np.int64)
        lengths[index] = self.places.lengths
        return SparseExact(SparsityPattern(_starts(lengths), self.places.rows, self.places.height), self.values)

    def sum(self, axis: int = 0) -> Exact:
        """Return the exact sum over one axis."""
        digits, more = self._summable(axis)
        sums = np.zeros((digits.limbs.shape[-1], self.shape[1 - axis]), np.int64)
        for total, limbs in zip(sums, digits.limbs.T, strict=True):
            if axis == 1:  # contiguous arrays are added twenty times as fast
                np.add.at(total, self.places.rows, np.ascontiguousarray(limbs))
            else:  # running sums may wrap around; their differences are right
                total[:] = np.diff(_starts(limbs)[self.places.starts])
        return Exact(np.ascontiguousarray(sums.T), digits.base, bits=digits.bits + more)

    def _summable(self, axis: int) -> tuple[_Digits, int]:
        more = int(self.shape[axis]).bit_length()
        return self.values._summable_by(more), more

    def at(self, rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Exact:  # (n,)
        """Return the numbers in the given cells."""
        entries = self.places.find(rows, columns)
        found = np.flatnonzero(entries >= 0)
        return self.values.take(entries[found]).spread(found, len(entries))

    def less(self, index: tuple[npt.NDArray[Any], ...], *factors: Floats) -> Floats:
        """Return entries minus products of doubles, subtracted exactly and rounded once."""
        entries = self.places.find(*index)
        if len(self.places.rows) and (entries >= 0).all():
            return self.values.less((entries,), *factors)
        return self.at(*index).less((np.arange(len(index[0])),), *factors)

    def used(self) -> Mask:  # (V,)
        """Return which columns are not all zero."""
        return self.places.lengths > 0

    def nonzero(self) -> Mask:
        """Return which values are not zero."""
        return self._filled(np.ones(len(self.places.rows), bool))

    def negative(self) -> Mask:
        """Return which values are below zero."""
        return self._filled(self.values.negative())

    def has_negative(self) -> bool:
        """Return whether any value is below zero."""
        return self.values.has_negative()

    def to_float(self) -> Floats:
        """Return the nearest doubles as a dense array."""
        return self._filled(self.values.to_float())

    def _filled(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        filled = np.zeros(self.shape, values.dtype)
        filled[self.places.rows, self.places.columns()] = values
        return filled


def _pieces(n: int) -> Iterator[slice]:
    """Yield slices of n entries, of a few at a time."""
    return (slice(start, start + _AT_A_TIME) for start in range(0, n, _AT_A_TIME))


def _starts(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return where each run begins, and where the last ends."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
