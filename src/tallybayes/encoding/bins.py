"""What a column is counted as when two columns are counted together: one of a few slots.

Values are their own slots, the most frequent of them, and all others share one. Numbers fall into bins of about equal
weight, whose edges are taken from a first look at the rows. Slots are settled before anything is counted, so that
counts made by the same slots add, whatever rows they are of.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import sources
from tallybayes.categories import Categories, encode
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.bernoulli import Bernoulli
from tallybayes.events.inputs import Codes, Dense, Sparse
from tallybayes.schema.schema import Block, Schema

__all__ = ["Bins", "Slots", "Values", "code", "look"]

# So many rows, spread over the first batch, are looked at: enough to place ten edges to a fraction of a percent.
_LOOKED_AT = 1 << 16
# A table of fewer rows for each of its cells shows little but noise (Cochran 1954).
_ROWS_A_CELL = 5
# Codes are bytes or pairs of bytes: there are always few slots.
_Code = npt.NDArray[np.int16]


class Cells:
    """The cells of some rows, column by column."""

    def __init__(self, rows: RowBatch) -> None:
        self._rows = rows
        self._dense: dict[int, Dense] = {}

    def values(self, block: Block, f: int) -> tuple[npt.NDArray[np.int32], Categories]:
        """A column's codes, and what they stand for."""
        data = self._rows.encode(block)
        assert isinstance(data, Codes)
        if data.settle is not None:  # the whole numbers of a matrix, whose span was only guessed
            return encode(self._rows.column(block.columns[f]))
        return np.asarray(data.columns[f]), data.labels[f]

    def numbers(self, block: Block, f: int) -> npt.NDArray[Any]:
        """A column of numbers, NaN where they are missing."""
        data = self._rows.encode(block)
        if isinstance(data, Sparse):  # so few columns that all pairs can be counted have room for their zeros
            if id(block) not in self._dense:
                self._dense[id(block)] = data.dense()
            data = self._dense[id(block)]
        assert isinstance(data, Dense)
        return data.column(f)


class Slots(ABC):
    """The slots of one column."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many there are."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each holds, in words."""

    @abstractmethod
    def code(self, cells: Cells, block: Block, f: int) -> _Code:  # (n,)
        """The slot of each row, −1 where the value is missing; `f` is the column's place in its block."""


@dataclass(frozen=True, eq=False)
class Values(Slots):
    """A slot for each of some values, and one more for all others.

    Examples
    --------
    >>> Values(Categories.of(["red", "blue"])).names()
    ('blue', 'red', 'other')
    """

    values: Categories

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and self.values == other.values

    __hash__ = None  # type: ignore[assignment]

    @property
    def size(self) -> int:
        """The values, and all others."""
        return len(self.values) + 1

    def names(self) -> tuple[str, ...]:
        """The values as text."""
        return (*map(str, self.values.values), "other")

    def code(self, cells: Cells, block: Block, f: int) -> _Code:
        """Each value's place; what is not among the values is behind the last."""
        codes, found = cells.values(block, f)
        place = np.full(len(found) + 1, -1, np.int16)  # the last entry is where a missing value's −1 looks
        place[:-1] = self.values.find(found.array, where=f"column {block.columns[f]!r}")
        place[:-1][place[:-1] < 0] = len(self.values)
        return place[codes]


@dataclass(frozen=True)
class Bins(Slots):
    """Numbers up to each edge and above the one before it; the last bin is above all.

    Examples
    --------
    >>> Bins((1.0, 2.5)).names()
    ('up to 1', 'up to 2.5', 'above 2.5')
    """

    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        """One more than there are edges."""
        return len(self.edges) + 1

    def names(self) -> tuple[str, ...]:
        """Up to which edge."""
        if not self.edges:
            return ("any",)
        return (*(f"up to {edge:g}" for edge in self.edges), f"above {self.edges[-1]:g}")

    def code(self, cells: Cells, block: Block, f: int) -> _Code:
        """How many edges lie below each number."""
        values = cells.numbers(block, f)
        codes = np.searchsorted(np.asarray(self.edges, values.dtype), values).astype(np.int16)
        codes[np.isnan(values)] = -1
        return codes


def look(schema: Schema, columns: Sequence[str], first: pa.RecordBatch | None, bins: int, values: int) -> list[Slots]:
    """The slots of some columns, after a look at rows spread over the first batch.

    Parameters
    ----------
    schema : Schema
        What each column is.
    columns : sequence of str
        Those wanted.
    first : RecordBatch or None
        The first rows; None if there are none.
    bins, values : int
        The most bins of a column of numbers, and the most slots of a column of values.

    Notes
    -----
    Numbers that have more values than bins are put into √(n / 5C) bins if that is less, n rows of C classes having been
    looked at: so there are five rows for each cell of a table, below which nothing is seen for all the noise.
    """
    if first is None:
        return [_slots_of(*_at(schema, name), None, bins, bins, values) for name in columns]
    rows = RowBatch(_spread(first), 0, schema.missing)
    classes = len(encode(rows.column(schema.label))[1])
    fair = max(2, min(bins, math.isqrt(len(rows) // (_ROWS_A_CELL * max(classes, 1)))))
    cells = Cells(rows)
    return [_slots_of(*_at(schema, name), cells, bins, fair, values) for name in columns]


def code(schema: Schema, columns: Sequence[str], slots: Sequence[Slots], rows: RowBatch) -> list[_Code]:
    """The slot of each row in each of the columns."""
    cells = Cells(rows)
    return [slot.code(cells, *_at(schema, name)) for name, slot in zip(columns, slots, strict=True)]


def _at(schema: Schema, column: str) -> tuple[Block, int]:
    b, f = schema.place(column)
    return schema.blocks[b], f


def _slots_of(block: Block, f: int, cells: Cells | None, bins: int, fair: int, values: int) -> Slots:
    event = block.event
    if event.input == "codes":
        return Values(Categories.of([])) if cells is None else _most_frequent(*cells.values(block, f), values - 1)
    if isinstance(event, Bernoulli):
        return Bins((0.5 if event.threshold is None else float(event.threshold),))
    return Bins(() if cells is None else _edges(cells.numbers(block, f), bins, fair))


def _most_frequent(codes: npt.NDArray[np.int32], found: Categories, most: int) -> Values:
    if len(found) <= most:
        return Values(found)
    count = np.bincount(codes[codes >= 0], minlength=len(found))
    kept = np.argsort(-count, kind="stable")[:most]  # of equally frequent values the first in order
    return Values(found.take(np.sort(kept)))


def _edges(values: npt.NDArray[Any], bins: int, fair: int) -> tuple[float, ...]:
    """Numbers as they are if they are few, else the quantiles that part them into bins of about equal weight."""
    known = np.sort(values[~np.isnan(values)]).astype(np.float64)
    distinct = np.unique(known)
    if len(distinct) > bins:
        # values that were seen, never between two of them: ties stay together
        distinct = np.unique([*np.quantile(known, np.arange(1, fair) / fair, method="inverted_cdf"), known[-1]])
    return tuple(distinct[:-1].tolist())


def _spread(batch: pa.RecordBatch) -> pa.RecordBatch:
    if batch.num_rows <= _LOOKED_AT:
        return batch
    return sources.take(batch, np.linspace(0, batch.num_rows - 1, _LOOKED_AT).astype(np.intp))
