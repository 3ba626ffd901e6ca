"""Whole numbers of a matrix as their own codes: a table leads from each number to the model's row for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.categories import Categories, encode
from tallybayes.encoding.same import Same
from tallybayes.events.inputs import Codes

__all__ = ["DIRECT_SPAN", "direct_codes", "guess_codes", "signed"]

# Whole numbers spanning less than this are their own codes; a table with this many rows per column stays small.
DIRECT_SPAN = 4096
_GUESS_ROWS = 256  # from which the span of a matrix of whole numbers is guessed


def direct_codes(matrix: npt.NDArray[Any], slots: Sequence[Categories]) -> Codes | None:
    """Return whole numbers as their own codes into a model's slots, if these are whole numbers of a small span."""
    table = _table(Same(slots))
    if table is None:
        return None
    return Codes(matrix, table.sizes, tuple(slots), table.low, outside="last", rows=table.rows)


class _Table(NamedTuple):
    """Where each number from `low` on is among the rows of a model's table, column by column."""

    low: int
    sizes: npt.NDArray[np.int64]  # (F,)
    rows: npt.NDArray[np.intp]  # (Σ sizes,)


@lru_cache(maxsize=8)  # models in use at a time
def _table(same: Same[Sequence[Categories]]) -> _Table | None:
    slots = same.one
    if not all(len(slot) and slot.array.type == pa.int64() and slot.array.null_count == 0 for slot in slots):
        return None
    sizes = np.array([len(slot) for slot in slots])
    values = np.concatenate([slot.array.to_numpy() for slot in slots])  # rising in each column
    low, high = int(values.min()), int(values.max())
    if high - low >= DIRECT_SPAN:
        return None
    unseen = np.cumsum(sizes + 1) - 1  # each column's row for a value never seen
    rows, column = np.repeat(unseen[:, None], high - low + 2, axis=1), np.repeat(np.arange(len(slots)), sizes)
    rows[column, values - low] = np.arange(len(values)) + column  # every column before has a row more than values
    return _Table(low, np.full(len(slots), high - low + 2, np.int64), rows.ravel())


def signed(matrix: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return whole numbers in a type that kernels take as codes; None if some are beyond int64."""
    if matrix.dtype.kind == "i" or matrix.dtype == np.uint8:
        return matrix
    return None if (matrix >= 1 << 63).any() else matrix.astype(np.int64)


def guess_codes(matrix: npt.NDArray[Any]) -> Codes | None:
    """Return whole numbers as their own codes, with a span guessed from the first rows; `settle` makes it exact."""
    first = matrix[:_GUESS_ROWS]
    return _own_codes(matrix, int(first.min()), int(first.max()), lambda: _certain(matrix)) if first.size else None


def _certain(matrix: npt.NDArray[Any]) -> Codes:
    direct = _own_codes(matrix, int(matrix.min()), int(matrix.max()), None)
    if direct is not None:
        return direct
    coded = [encode(pa.array(matrix[:, f])) for f in range(matrix.shape[1])]
    labels = tuple(found for _, found in coded)
    return Codes(tuple(codes for codes, _ in coded), np.array([len(found) for found in labels], np.int64), labels)


def _own_codes(matrix: npt.NDArray[Any], low: int, high: int, settle: Callable[[], Codes] | None) -> Codes | None:
    if high - low >= DIRECT_SPAN:
        return None
    width = matrix.shape[1]
    labels = Categories(pa.array(np.arange(low, high + 1)))
    return Codes(matrix, np.full(width, high - low + 1, np.int64), (labels,) * width, low, settle=settle)
