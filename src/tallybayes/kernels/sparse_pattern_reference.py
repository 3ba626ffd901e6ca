"""The specification of ``sparse_pattern``, in plain Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .sparse_pattern import Rows, Starts


def cells(starts: Starts, rows: Rows) -> list[tuple[int, int]]:
    """Return column and row of each entry, in order."""
    return [(v, int(row)) for v in range(len(starts) - 1) for row in rows[starts[v] : starts[v + 1]]]


def join_places(
    starts: Starts, rows: Rows, other_starts: Starts, other_rows: Rows
) -> tuple[Starts, Rows, NDArray[np.int64], NDArray[np.int64]]:
    """Do as ``sparse_pattern.join_places``."""
    left, right = cells(starts, rows), cells(other_starts, other_rows)
    union = sorted({*left, *right})
    place = {cell: k for k, cell in enumerate(union)}
    ends = np.cumsum([0, *(sum(v == column for v, _ in union) for column in range(len(starts) - 1))])
    from_left, from_right = (np.array([place[cell] for cell in side], np.int64) for side in (left, right))
    return ends.astype(np.int64), np.array([row for _, row in union], np.int32), from_left, from_right


def find_places(
    starts: Starts, rows: Rows, of_rows: NDArray[np.int64], of_columns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Do as ``sparse_pattern.find_places``."""
    place = {cell: k for k, cell in enumerate(cells(starts, rows))}
    wanted = zip(of_columns.tolist(), of_rows.tolist(), strict=True)
    return np.array([place.get(cell, -1) for cell in wanted], np.int64)
