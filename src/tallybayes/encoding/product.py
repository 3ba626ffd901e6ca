"""Product columns: the slots of several columns of a row, encoded as one cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.categories import Categories, encode
from tallybayes.events.inputs import Codes
from tallybayes.events.interaction import BINS, Interaction, Part
from tallybayes.events.one_dependence import OneDependence
from tallybayes.events.product_codes import joined_cells
from tallybayes.plain_values import plain_types

__all__ = [
    "above",
    "beside",
    "cells_of",
    "code_numbers",
    "code_values",
    "is_coded",
    "join",
    "part_of_bins",
    "part_of_values",
    "values_of",
]

_Slot = npt.NDArray[np.int32]
_MISSING = 255  # the cell of a missing number
_LISTED = 4096  # cells: more are listed by those that rows have, since each batch has a sum for each of them
_STORED = {pa.date32(): pa.int32(), pa.timestamp("us"): pa.int64()}


def part_of_bins(column: str, edges: Sequence[float], names: tuple[str, ...]) -> Part:
    """Return a column of numbers as a part of an interaction."""
    return Part(column, BINS, tuple(map(float, edges)), names)


def part_of_values(column: str, values: Categories, names: tuple[str, ...]) -> Part:
    """Return a column of values as a part of an interaction."""
    array = values.array
    return Part(column, values.kind, tuple(array.cast(_STORED.get(array.type, array.type)).to_pylist()), names)


def code_numbers(part: Part, numbers: npt.NDArray[Any]) -> _Slot:  # (n,)
    """Return the bin of each number; −1 where it is missing."""
    edges = above(part)
    [found] = kernels.find_cells((np.ascontiguousarray(numbers, np.float64),), edges, [len(edges)])
    codes: _Slot = found.astype(np.int32)
    codes[found == _MISSING] = -1
    return codes


def code_values(part: Part, column: pa.Array, *, null_is_label: bool) -> _Slot:  # (n,)
    """Return the slot of each value.

    Other values have the slot after the last, if there is one, and else −1.
    """
    codes, found = encode(column, null_is_label=null_is_label)
    known = values_of(part)
    place = np.full(len(found) + 1, -1, np.int32)  # code −1, a missing value, indexes the last entry
    place[:-1] = known.find(found.array, where=f"column {part.column!r}")
    if len(part.names) > len(known):
        place[:-1][place[:-1] < 0] = len(known)
    return place[codes]


def beside(event: OneDependence, slots: Sequence[_Slot]) -> Codes:
    """Return the slots of each row, a column for each part."""
    return Codes(tuple(slots), event.shape, ())


def join(event: Interaction, slots: Sequence[_Slot], *, counted: bool) -> Codes:
    """Return the cell of each row; −1 where a part is missing.

    Parameters
    ----------
    event : Interaction
        The parts.
    slots : sequence of ndarray, shape (n,)
        The slot of each row in each part.
    counted : bool
        Whether rows are counted, so that cells that none of them has need not be listed.
    """
    cells = joined_cells(slots, event.shape)
    if counted and event.size > _LISTED:
        missing = cells < 0
        seen = np.unique(cells[~missing])
        labels, cells = Categories(pa.array(seen, pa.int64())), np.searchsorted(seen, cells).astype(np.int32)
        cells[missing] = -1
        return Codes((cells,), np.array([len(seen)], np.int64), (labels,))
    return Codes((cells,), np.array([event.size], np.int64), (cells_of(event.size),))


@lru_cache(4096)
def above(part: Part) -> npt.NDArray[np.float64]:
    """Return the least number above each edge of a part's bins."""
    return np.nextafter(np.asarray(part.values, np.float64), np.inf)


@lru_cache(256)
def cells_of(size: int) -> Categories:
    """Return the numbers of all cells of an interaction."""
    return Categories(pa.array(np.arange(size)))


def is_coded(part: Part) -> bool:
    """Return whether a part's values can be coded: edges of bins in order, or distinct values of its kind."""
    if part.kind != BINS:
        return len(values_of(part)) == len(part.values)
    edges = np.asarray(part.values, np.float64)
    return bool((edges[1:] > edges[:-1]).all() and not np.isnan(edges).any())


@lru_cache(4096)
def values_of(part: Part) -> Categories:
    """Return the values that have a slot each, for a part that has no bins."""
    type_ = plain_types()[part.kind]
    return Categories(pa.array(part.values, _STORED.get(type_, type_)).cast(type_))
