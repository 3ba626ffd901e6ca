"""Arrays of exact numbers: integers on a fixed exponent grid, so that a sum never depends on its order.

A value is ``Σ_k limbs[..., k] · 2^(32·(base + k))``. The kernels hand over limbs of any size; here they are brought
into the one canonical form (every limb but the last in [0, 2^32), the last signed, no needless limb at either end),
so that equal values are equal bits. Everything that a model remembers is made of these.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.kernels import Limbs

__all__ = ["Exact", "nearest"]

_LIMB = 32
_MASK = (1 << _LIMB) - 1
_HALF = 1 << (_LIMB - 1)

# Below this share of what it was, a difference of doubles has lost digits that matter: take the exact one instead.
_CANCELLED = 1e-4
_REMEMBERED = 1 << 18

Floats = npt.NDArray[np.float64]


class Exact:
    """An immutable array of exact dyadic numbers with ``+`` and ``−``.

    Parameters
    ----------
    limbs : ndarray of int64, shape (..., L)
        Digits in base 2^32, least significant first; need not be canonical.
    base : int
        The grid position of the first digit: it counts 2^(32·base).

    Examples
    --------
    >>> a = Exact.of([0.1, 1e300]); b = Exact.of([0.2, 1.0])
    >>> (a + b) - b == a
    True
    >>> Exact.of([3, 4]).to_float()
    array([3., 4.])
    """

    __slots__ = ("_float", "base", "is_zero", "limbs")

    base: int
    limbs: npt.NDArray[np.int64]
    is_zero: bool
    _float: Floats | None

    def __init__(self, limbs: npt.NDArray[np.int64], base: int = 0) -> None:
        self._float = None
        # Seen as unsigned a negative number is large, so that counts, which mostly are small, are looked at once.
        largest = int(limbs.view(np.uint64).max()) if limbs.size else 0
        self.is_zero = largest == 0
        if self.is_zero:
            self.limbs, self.base = _no_limbs(limbs.shape[:-1]), 0
        elif limbs.shape[-1] == 1 and largest < _HALF:  # canonical as it is
            self.limbs, self.base = np.ascontiguousarray(limbs), base
        else:
            self.limbs, self.base = _canonical(limbs, base)

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> Self:
        """All zeros; they take no memory however large the shape, since most sums of missing values are zero."""
        return cls(_no_limbs(shape))

    @classmethod
    def from_limbs(cls, limbs: Limbs) -> Self:
        """The canonical form of what a kernel summed."""
        return cls(limbs.limbs, limbs.base)

    @classmethod
    def from_counts(cls, counts: npt.ArrayLike) -> Self:
        """Whole numbers below 2^62 in size."""
        return cls(np.asarray(counts, np.int64)[..., None])

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Self:
        """The exact values of the given floats or integers (small arrays; sums of columns are the kernels' work)."""
        given = np.asarray(values)
        if given.dtype.kind in "iub":
            return cls.from_counts(given)
        flat = given.astype(np.float64).reshape(1, -1)
        sums = kernels.power_sums(flat, np.zeros(1, np.int32), 1, order=1)
        return cls.from_limbs(sums.first).reshape(given.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape without the axis of limbs."""
        return self.limbs.shape[:-1]

    def __add__(self, other: Self) -> Self:
        return self._combine(other, np.add)

    def __sub__(self, other: Self) -> Self:
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

    def _combine(self, other: Self, operation: np.ufunc) -> Self:
        if other.is_zero and self.shape == other.shape:
            return self
        low = min(self.base, other.base)
        high = max(self.base + self.limbs.shape[-1], other.base + other.limbs.shape[-1])
        return type(self)(operation(_widen(self, low, high), _widen(other, low, high)), low)

    def take(self, index: npt.NDArray[np.intp] | npt.NDArray[np.bool_], axis: int = 0) -> Self:
        """The entries at the given positions of one axis."""
        return type(self)(self.limbs[(slice(None),) * axis + (index,)], self.base)

    def spread(self, index: npt.NDArray[np.intp], size: int, axis: int = 0) -> Self:
        """The inverse of `take`: an axis of the given size, zero but at `index`, where these values stand."""
        if size == self.shape[axis] and np.array_equal(index, np.arange(size)):
            return self
        shape = (*self.shape[:axis], size, *self.shape[axis + 1 :])
        if self.is_zero:
            return type(self).zeros(shape)
        limbs = np.zeros((*shape, self.limbs.shape[-1]), np.int64)
        if axis == 1 and limbs.shape[-1] == 1:  # row by row, as memory is laid out; at once, NumPy goes by columns
            for new, old in zip(limbs[..., 0], self.limbs[..., 0], strict=True):
                new[index] = old
        else:
            limbs[(slice(None),) * axis + (index,)] = self.limbs
        return type(self)(limbs, self.base)

    def sum(self, axis: int = 0) -> Self:
        """The exact sum over one axis."""
        return type(self)(self.limbs.sum(axis=axis, dtype=np.int64), self.base)

    def others(self) -> Self:
        """For each position of the first axis, the exact sum of all the others.

        Examples
        --------
        >>> Exact.of([1, 2, 3]).others().to_float()
        array([5., 4., 3.])
        """
        whole = self.sum(axis=0)
        return type(self)(np.broadcast_to(whole.limbs, (*self.shape, whole.limbs.shape[-1])), whole.base) - self

    def group(self, starts: npt.NDArray[np.intp], axis: int = -1) -> Self:
        """The exact sums of consecutive groups along an axis, each beginning at one of `starts` (none empty)."""
        axis = axis if axis >= 0 else axis - 1
        return type(self)(np.add.reduceat(self.limbs, starts, axis=axis), self.base)

    def reshape(self, shape: tuple[int, ...]) -> Self:
        """The same values in another shape."""
        return type(self)(self.limbs.reshape(*shape, self.limbs.shape[-1]), self.base)

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Where the value is not zero."""
        return np.asarray(self.limbs.any(axis=-1))

    def negative(self) -> npt.NDArray[np.bool_]:
        """Where the value is below zero."""
        return np.asarray(self.limbs[..., -1] < 0)

    def to_limbs(self) -> Limbs:
        """What a kernel takes."""
        return Limbs(self.limbs, self.base)

    def to_float(self) -> Floats:
        """The nearest doubles; remembered for small arrays, which leave-one-out asks for again and again."""
        if self._float is not None:
            return self._float
        values = kernels.to_float(self.to_limbs())
        if values.size <= _REMEMBERED:
            values.flags.writeable = False
            self._float = values
        return values

    def less(self, index: tuple[npt.NDArray[Any], ...], *factors: Floats) -> Floats:
        """Entries less a product of doubles each, as if subtracted exactly.

        Parameters
        ----------
        index : tuple of ndarrays, shape (n,)
            Which entries.
        factors : ndarrays, shape (n,)
            Their product is what is taken away, such as a weight and a value.

        Examples
        --------
        >>> Exact.of([0.3]).less((np.array([0]),), np.array([0.3]))
        array([0.])
        """
        whole = self.to_float()[index]
        left = np.asarray(whole - np.prod(factors, axis=0))
        if self.base == 0 and self.limbs.shape[-1] == 1 and all((f == np.rint(f)).all() for f in factors):
            return left
        for i in np.flatnonzero(np.abs(left) <= _CANCELLED * np.abs(whole)):
            term = Fraction(1)
            for factor in factors:
                term *= Fraction(float(factor[i]))
            left[i] = nearest(self.fraction(*(int(part[i]) for part in index)) - term)
        return left

    def fraction(self, *index: int) -> Fraction:
        """One entry as an exact fraction.

        Examples
        --------
        >>> Exact.of([0.5, 0.75]).fraction(1)
        Fraction(3, 4)
        """
        digits = self.limbs[index]
        whole = sum(int(digit) << (_LIMB * k) for k, digit in enumerate(digits))
        return Fraction(whole) * Fraction(2) ** (_LIMB * self.base)


def nearest(value: Fraction) -> float:
    """The nearest double; beyond the largest, infinity.

    Examples
    --------
    >>> nearest(Fraction(1, 4)), nearest(Fraction(10) ** 400)
    (0.25, inf)
    """
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _widen(value: Exact, low: int, high: int) -> npt.NDArray[np.int64]:
    """The limbs on the grid positions low..high."""
    count = value.limbs.shape[-1]
    if value.base == low and low + count == high:
        return value.limbs
    wide = np.zeros((*value.shape, high - low), np.int64)
    wide[..., value.base - low : value.base - low + count] = value.limbs
    return wide


def _no_limbs(shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Zeros of any shape in the memory of one."""
    return np.broadcast_to(np.zeros((), np.int64), (*shape, 1))


def _canonical(limbs: npt.NDArray[np.int64], base: int) -> tuple[npt.NDArray[np.int64], int]:
    """Carried, then trimmed at the top and at the bottom; not all are zero."""
    limbs = _carry(limbs)
    while limbs.shape[-1] > 1 and _top_is_sign_only(limbs):
        limbs = limbs[..., :-1]
        limbs[..., -1] -= (limbs[..., -1] >= _HALF).astype(np.int64) << _LIMB
    drop = 0
    while not limbs[..., drop].any():
        drop += 1
    return np.ascontiguousarray(limbs[..., drop:]), base + drop


def _carry(limbs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A new array in which every limb but the last lies in [0, 2^32) and the last fits 32 signed bits."""
    count = limbs.shape[-1]
    carried = np.zeros((*limbs.shape[:-1], count + 2), np.int64)  # two more limbs hold any int64 at the top
    carried[..., :count] = limbs
    for k in range(count + 1):
        carried[..., k + 1] += carried[..., k] >> _LIMB
        carried[..., k] &= _MASK
    return carried


def _top_is_sign_only(limbs: npt.NDArray[np.int64]) -> bool:
    """Whether the last limb only repeats the sign of the one below it."""
    sign = -(limbs[..., -2] >= _HALF).astype(np.int64)
    return bool(np.array_equal(limbs[..., -1], sign))
