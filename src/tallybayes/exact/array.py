"""Arrays of exact numbers: integers on a fixed exponent grid, so sums are order-independent.

A value is ``Σ_k limbs[..., k] · 2^(32·(base + k))``. The kernels return limbs of any size. This module brings them
into a canonical form (every limb but the last in [0, 2^32), the last signed, no superfluous limb at either end), so
that equal values have equal bits. All evidence is stored in such arrays.

Carries are propagated only when the canonical form is needed. Most sums are only added, subtracted and rounded, which
works without it, and propagating carries costs more than all of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.kernels import Limbs

__all__ = ["Exact", "nearest"]

_LIMB = 32
_MASK = (1 << _LIMB) - 1
_ZERO = np.zeros(1, np.int64)
_ZERO.setflags(write=False)
_HALF = 1 << (_LIMB - 1)

_CANCELLED = 1e-4  # a difference of doubles below this share of the minuend has lost digits: compute it exactly
_REMEMBERED = 1 << 18  # values; larger arrays of doubles are not cached
# Bits of a limb's magnitude: in canonical form, if nothing is known, and the most from which a sum stays below 2^63.
_SETTLED_BITS, _ANY_BITS, _MOST_BITS = _LIMB, 63, 62

Floats = npt.NDArray[np.float64]


class _Digits(NamedTuple):
    """Limbs and their properties, in one tuple so that threads see a consistent state."""

    limbs: npt.NDArray[np.int64]
    base: int
    bits: int  # every limb is below 2^bits in magnitude
    resolved: bool


class Exact:
    """An immutable array of exact dyadic numbers with ``+`` and ``−``.

    Parameters
    ----------
    limbs : ndarray of int64, shape (..., L)
        Digits in base 2^32, least significant first; need not be canonical.
    base : int
        The grid position of the first digit, which has the unit 2^(32·base).

    Examples
    --------
    >>> a = Exact.of([0.1, 1e300]); b = Exact.of([0.2, 1.0])
    >>> (a + b) - b == a
    True
    >>> Exact.of([3, 4]).to_float()
    array([3., 4.])
    """

    __slots__ = ("_digits", "_float")

    _digits: _Digits
    _float: Floats | None

    def __init__(self, limbs: npt.NDArray[np.int64], base: int = 0, *, bits: int = _ANY_BITS) -> None:
        self._float = None
        self._digits = _Digits(limbs, base, bits, resolved=False)

    def _settle(self) -> _Digits:
        """Return the canonical form, computed once."""
        digits = self._digits
        if not digits.resolved:
            if digits.bits < _LIMB and digits.limbs.shape[-1] == 1 and digits.limbs.any():  # measured before
                digits = digits._replace(limbs=np.ascontiguousarray(digits.limbs), resolved=True)
            else:
                digits = _settled(digits.limbs, digits.base)
            self._digits = digits
        return digits

    @property
    def limbs(self) -> npt.NDArray[np.int64]:  # (..., L)
        """The digits of the canonical form."""
        return self._settle().limbs

    @property
    def base(self) -> int:
        """The grid position of the first digit of the canonical form."""
        return self._settle().base

    @property
    def is_zero(self) -> bool:
        """Whether all values are zero; such an array takes no memory."""
        return self._settle().bits == 0

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers below 2^31 in magnitude, so that doubles hold them and their sums."""
        digits = self._settle()
        return digits.bits == 0 or (digits.base == 0 and digits.limbs.shape[-1] == 1)

    def settle(self) -> Self:
        """Propagate carries now and return self; worthwhile for values that are kept long."""
        self._settle()
        return self

    @staticmethod
    def zeros(shape: tuple[int, ...]) -> Exact:
        """Return zeros, which take no memory whatever the shape.

        Most sums over missing values are zero.
        """
        zeros = Exact(_no_limbs(shape), bits=0)
        zeros._digits = zeros._digits._replace(resolved=True)
        return zeros

    @staticmethod
    def from_limbs(limbs: Limbs) -> Exact:
        """Wrap the limbs that a kernel returned."""
        return Exact(limbs.limbs, limbs.base)

    @staticmethod
    def from_counts(counts: npt.ArrayLike) -> Exact:
        """Convert integers below 2^62 in magnitude."""
        return Exact(np.asarray(counts, np.int64)[..., None])

    @staticmethod
    def of(values: npt.ArrayLike) -> Exact:
        """Convert floats or integers exactly; for small arrays (kernels sum whole columns)."""
        array = np.asarray(values)
        if array.dtype.kind in "iub":
            return Exact.from_counts(array)
        flat = array.astype(np.float64).reshape(1, -1)
        sums = kernels.power_sums(flat, np.zeros(1, np.int32), 1, order=1)
        return Exact.from_limbs(sums.first).reshape(array.shape)

    @staticmethod
    def concatenate(parts: Sequence[Exact]) -> Exact:
        """Return the values of several arrays, one after the other along the first axis.

        Examples
        --------
        >>> Exact.concatenate([Exact.of([0.5]), Exact.zeros((1,)), Exact.of([3, 4])]).to_float()
        array([0.5, 0. , 3. , 4. ])
        """
        ends = np.cumsum([part.shape[0] for part in parts]).tolist()
        shape = (ends[-1], *parts[0].shape[1:])
        some = [(part._digits, end) for part, end in zip(parts, ends, strict=True) if part._digits.bits]
        if not some:
            return Exact.zeros(shape)
        low = min(digits.base for digits, _ in some)
        limbs = np.zeros((*shape, max(digits.base + digits.limbs.shape[-1] for digits, _ in some) - low), np.int64)
        for digits, end in some:
            first = digits.base - low
            limbs[end - len(digits.limbs) : end, ..., first : first + digits.limbs.shape[-1]] = digits.limbs
        return Exact(limbs, low, bits=max(digits.bits for digits, _ in some))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape without the axis of limbs."""
        return self._digits.limbs.shape[:-1]

    def __add__(self, other: Exact) -> Exact:
        return self._combine(other, np.add)

    def __sub__(self, other: Exact) -> Exact:
        return self._combine(other, np.subtract)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exact):
            return NotImplemented
        return (
            self.shape == other.shape
            and (self.base == other.base or self.limbs.size == 0)
            and self.limbs.shape == other.limbs.shape
            and bool(np.array_equal(self.limbs, other.limbs))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Exact({self.to_float()!r})"

    def _combine(self, other: Exact, operation: np.ufunc) -> Exact:
        large = self._add_large(other) if operation is np.add else None
        if large is not None:
            return large
        if other._is_plainly_zero() and self.shape == other.shape:
            return self
        left, right, low, high = self._on_one_grid(other)
        limbs = operation(_widen(left, low, high), _widen(right, low, high))
        return Exact(limbs, low, bits=max(left.bits, right.bits) + 1)

    def _add_large(self, other: Exact) -> Exact | None:
        """Add large arrays of unknown limbs in one pass, which measures them too; None for others, or on overflow."""
        left, right = self._digits, other._digits
        unknown = left.bits == right.bits == _ANY_BITS and left.base == right.base and left.limbs.size > _REMEMBERED
        if not unknown or left.limbs.shape != right.limbs.shape:
            return None
        if not (left.limbs.flags.c_contiguous and right.limbs.flags.c_contiguous):
            return None
        limbs = np.empty(left.limbs.shape, np.int64)
        before, after = kernels.add_limbs(left.limbs, right.limbs, limbs)
        return Exact(limbs, left.base, bits=after) if before <= _MOST_BITS else None

    def _on_one_grid(self, other: Exact) -> tuple[_Digits, _Digits, int, int]:
        """Return both sides' digits, small enough to add, and their joint grid range."""
        left, right = self._below(_MOST_BITS), other._below(_MOST_BITS)
        low = min(left.base, right.base)
        high = max(left.base + left.limbs.shape[-1], right.base + right.limbs.shape[-1])
        return left, right, low, high

    def _below(self, bits: int) -> _Digits:
        """Return the digits unchanged if below 2^bits in magnitude, else in canonical form."""
        digits = self._digits
        if digits.bits == _ANY_BITS and digits.limbs.size <= _REMEMBERED:  # measuring is cheaper than carrying
            most = max(int(digits.limbs.max(initial=0)), -int(digits.limbs.min(initial=0)))
            self._digits = digits = digits._replace(bits=most.bit_length())
        return digits if digits.bits < bits else self._settle()

    def _is_plainly_zero(self) -> bool:
        digits = self._digits
        return digits.bits == 0 or not (digits.resolved or digits.limbs.any())

    def _like(self, limbs: npt.NDArray[np.int64]) -> Exact:
        """Return a new array of some or all of these digits, rearranged."""
        return Exact(limbs, self._digits.base, bits=self._digits.bits)

    def take(self, index: npt.NDArray[np.integer] | npt.NDArray[np.bool_], axis: int = 0) -> Exact:
        """Return the entries at the given positions of one axis."""
        if self._digits.bits == 0:
            size = np.count_nonzero(index) if index.dtype == bool else len(index)
            return Exact.zeros((*self.shape[:axis], int(size), *self.shape[axis + 1 :]))
        return self._like(self._digits.limbs[(slice(None),) * axis + (index,)])

    def spread(self, index: npt.NDArray[np.intp], size: int, axis: int = 0) -> Exact:
        """Invert `take`: put the values at `index` of an axis otherwise zero."""
        if size == self.shape[axis] and (index == np.arange(size)).all():
            return self
        shape = (*self.shape[:axis], size, *self.shape[axis + 1 :])
        if self._is_plainly_zero():
            return Exact.zeros(shape)
        limbs = np.zeros((*shape, self._digits.limbs.shape[-1]), np.int64)
        if axis == 1 and limbs.shape[-1] == 1:  # row by row, in memory order; in one call NumPy goes by columns
            for new, old in zip(limbs[..., 0], self._digits.limbs[..., 0], strict=True):
                new[index] = old
        else:
            limbs[(slice(None),) * axis + (index,)] = self._digits.limbs
        return self._like(limbs)

    def sum(self, axis: int = 0) -> Exact:
        """Return the exact sum over one axis."""
        if self._digits.bits == 0:
            return Exact.zeros(self.shape[:axis] + self.shape[axis + 1 :])
        digits, more = self._summable(axis)
        return Exact(digits.limbs.sum(axis=axis, dtype=np.int64), digits.base, bits=digits.bits + more)

    def _summable(self, axis: int) -> tuple[_Digits, int]:
        """Return digits small enough to sum over an axis, and the bits gained."""
        more = int(self.shape[axis]).bit_length()
        return self._summable_by(more), more

    def _summable_by(self, more: int) -> _Digits:
        """Return digits small enough to sum 2^more of them."""
        return self._below(_MOST_BITS - more)

    def others(self) -> Exact:
        """Return, for each position of the first axis, the exact sum of all others.

        Examples
        --------
        >>> Exact.of([1, 2, 3]).others().to_float()
        array([5., 4., 3.])
        """
        whole = self.sum(axis=0)
        shape = (*self.shape, whole._digits.limbs.shape[-1])
        return whole._like(np.broadcast_to(whole._digits.limbs, shape)) - self

    def group(self, starts: npt.NDArray[np.intp], axis: int = -1) -> Exact:
        """Return exact sums of consecutive, non-empty groups along an axis; `starts` are their beginnings."""
        axis = axis if axis >= 0 else axis + len(self.shape)
        digits, more = self._summable(axis)
        return Exact(np.add.reduceat(digits.limbs, starts, axis=axis), digits.base, bits=digits.bits + more)

    def repeat(self, times: int) -> Exact:
        """Return the values of (C,) in each of several columns, (C, times).

        Examples
        --------
        >>> Exact.of([1, 2]).repeat(3).to_float()
        array([[1., 1., 1.],
               [2., 2., 2.]])
        """
        limbs = self.limbs  # contiguous, unless all are zero
        count, size = limbs.shape
        if self.is_zero:
            return Exact.zeros((count, times))
        return self._like(np.ndarray((count, times, size), np.int64, limbs, strides=(8 * size, 0, 8)))

    def reshape(self, shape: tuple[int, ...]) -> Exact:
        """Return the same values in another shape."""
        return self._like(self._digits.limbs.reshape(*shape, self._digits.limbs.shape[-1]))

    def used(self) -> npt.NDArray[np.bool_]:  # (V,)
        """Return which columns of an array (R, V) are not all zero."""
        return np.asarray(self.limbs.any(axis=(0, -1)))

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Return where the value is not zero."""
        return np.asarray(self.limbs.any(axis=-1))

    def negative(self) -> npt.NDArray[np.bool_]:
        """Return where the value is below zero."""
        return np.asarray(self.limbs[..., -1] < 0)

    def has_negative(self) -> bool:
        """Whether any value is below zero."""
        return bool(self.negative().any())

    def to_limbs(self) -> Limbs:
        """Return limbs for a kernel, in canonical form or not."""
        return Limbs(self._digits.limbs, self._digits.base)

    def to_float(self) -> Floats:
        """Return the nearest doubles, cached for small arrays: leave-one-out needs them repeatedly."""
        if self._float is not None:
            return self._float
        values = kernels.to_float(self.to_limbs())
        if values.size <= _REMEMBERED:
            values.flags.writeable = False
            self._float = values
        return values

    def less(self, index: tuple[npt.NDArray[Any], ...], *factors: Floats) -> Floats:
        """Subtract a product of doubles from each selected entry, without cancellation error.

        Parameters
        ----------
        index : tuple of ndarrays, shape (n,)
            The positions of the entries.
        factors : ndarrays, shape (n,)
            The factors of the product to subtract, such as a weight and a value.

        Examples
        --------
        >>> Exact.of([0.3]).less((np.array([0]),), np.array([0.3]))
        array([0.])
        """
        whole = self.to_float()[index]
        left = np.asarray(whole - reduce(np.multiply, factors))
        if self.is_whole and all((f == np.rint(f)).all() for f in factors):
            return left
        for i in np.flatnonzero(np.abs(left) <= _CANCELLED * np.abs(whole)):
            term = Fraction(1)
            for factor in factors:
                term *= Fraction(float(factor[i]))
            left[i] = nearest(self.fraction(*(int(part[i]) for part in index)) - term)
        return left

    def fraction(self, *index: int) -> Fraction:
        """Return one entry as an exact fraction.

        Examples
        --------
        >>> Exact.of([0.5, 0.75]).fraction(1)
        Fraction(3, 4)
        """
        digits = self._digits
        whole = sum(int(digit) << (_LIMB * k) for k, digit in enumerate(digits.limbs[index]))
        return Fraction(whole) * Fraction(2) ** (_LIMB * digits.base)


def nearest(value: Fraction) -> float:
    """Return the nearest double, or ±infinity beyond the largest.

    Examples
    --------
    >>> nearest(Fraction(1, 4)), nearest(Fraction(10) ** 400)
    (0.25, inf)
    """
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _settled(limbs: npt.NDArray[np.int64], base: int) -> _Digits:
    """Return the canonical form of any limbs."""
    # Viewed as unsigned, negative numbers are large, so small counts (the common case) need only one pass.
    largest = int(limbs.view(np.uint64).max()) if limbs.size else 0
    if largest and not (limbs.shape[-1] == 1 and largest < _HALF):  # else already canonical
        limbs, base = _canonical(limbs, base)
    if largest == 0 or limbs.shape[-1] == 0:
        return _Digits(_no_limbs(limbs.shape[:-1]), 0, 0, resolved=True)
    return _Digits(np.ascontiguousarray(limbs), base, _SETTLED_BITS, resolved=True)


def _widen(value: _Digits, low: int, high: int) -> npt.NDArray[np.int64]:
    """Return the limbs on the grid positions low..high."""
    count = value.limbs.shape[-1]
    if value.base == low and low + count == high:
        return value.limbs
    wide = np.zeros((*value.limbs.shape[:-1], high - low), np.int64)
    wide[..., value.base - low : value.base - low + count] = value.limbs
    return wide


def _no_limbs(shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return zeros of any shape that take the memory of one."""
    # As broadcast_to, which takes ten times as long.
    return np.ndarray((*shape, 1), np.int64, _ZERO, strides=(0,) * (len(shape) + 1))


def _canonical(limbs: npt.NDArray[np.int64], base: int) -> tuple[npt.NDArray[np.int64], int]:
    """Propagate carries, then trim both ends; all zeros leave no limb."""
    limbs = _carry(limbs)
    while limbs.shape[-1] > 1 and _top_is_sign_only(limbs):
        limbs = limbs[..., :-1]
        limbs[..., -1] -= (limbs[..., -1] >= _HALF).astype(np.int64) << _LIMB
    drop = 0
    while drop < limbs.shape[-1] and not limbs[..., drop].any():
        drop += 1
    return limbs[..., drop:], base + drop


def _carry(limbs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return new limbs in [0, 2^32), the last in 32 signed bits."""
    count = limbs.shape[-1]
    carried = np.zeros((*limbs.shape[:-1], count + 2), np.int64)  # two more limbs hold any int64 at the top
    carried[..., :count] = limbs
    for k in range(count + 1):
        carried[..., k + 1] += carried[..., k] >> _LIMB
        carried[..., k] &= _MASK
    return carried


def _top_is_sign_only(limbs: npt.NDArray[np.int64]) -> bool:
    """Return whether the last limb only repeats the sign of the one below."""
    sign = -(limbs[..., -2] >= _HALF).astype(np.int64)
    return bool(np.array_equal(limbs[..., -1], sign))
