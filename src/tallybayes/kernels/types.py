"""Types of the kernels: exact numbers as limbs, and errors that name a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
Columns: TypeAlias = NDArray[np.floating] | Sequence[NDArray[np.floating]]
Codes: TypeAlias = NDArray[np.integer] | Sequence[NDArray[np.integer]]
Sizes: TypeAlias = Sequence[int] | Integers
Words: TypeAlias = NDArray[np.int64]  # numbers modulo 2**64


class Limbs(NamedTuple):
    """Exact numbers: ``sum_k limbs[..., k] * 2**(32 * (base + k))``.

    Limbs (..., L) may be any int64: carries need not be propagated, so limbs of equal base add and subtract as arrays.
    """

    limbs: NDArray[np.int64]
    base: int


class PowerSums(NamedTuple):
    """Exact sums of w, w·x and (order 2) w·x² per class, each (C, F)."""

    weight: Limbs
    first: Limbs
    second: Limbs | None


class _CellError(ValueError):
    """A value that cannot be counted, with its row and column."""

    wanted = "a number"

    def __init__(self, row: int, column: int, value: float) -> None:
        super().__init__(f"row {row}, column {column}: wanted {self.wanted}, got {value}")
        self.row, self.column, self.value = row, column, value

    def __reduce__(self) -> tuple[type[_CellError], tuple[int, int, float]]:
        return type(self), (self.row, self.column, self.value)


class NotFinite(_CellError):
    """An infinite value among numbers to be summed."""

    wanted = "a finite number"


class BadEntry(_CellError):
    """A negative or non-finite entry in a matrix of counts."""

    wanted = "a finite number not below 0"


class BadIndex(ValueError):
    """An index that is no column of a sparse matrix, with its row."""

    def __init__(self, row: int, index: int) -> None:
        super().__init__(f"indices: wanted numbers from 0 to n_columns - 1, got {index}, row {row}")
        self.row, self.index = row, index

    def __reduce__(self) -> tuple[type[BadIndex], tuple[int, int]]:
        return type(self), (self.row, self.index)
