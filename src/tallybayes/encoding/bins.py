"""Columns discretised into a few slots, so that two columns can be counted together.

The most frequent values have a slot each, and all others share one. Numbers are put into bins of about equal weight,
with edges taken from a first sample of the rows. Slots are fixed before counting, so counts of different rows add.
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

# Rows sampled evenly from the first batch: enough to place ten edges to a fraction of a percent.
_SAMPLE_ROWS = 1 << 16
# A table with fewer rows per cell shows little but noise (Cochran 1954).
_ROWS_A_CELL = 5
# There are always few slots, so two bytes are enough.
_Code = npt.NDArray[np.int16]


class Cells:
    """The cells of some rows, column by column."""

    def __init__(self, rows: RowBatch) -> None:
        self._rows = rows
        self._dense: dict[int, Dense] = {}

    def values(self, block: Block, f: int) -> tuple[npt.NDArray[np.int32], Categories]:
        """Return a column's codes, and the values they stand for."""
        data = self._rows.encode(block)
        assert isinstance(data, Codes)
        if data.settle is not None:  # whole numbers of a matrix, whose span was only guessed
            return encode(self._rows.column(block.columns[f]))
        return np.asarray(data.columns[f]), data.labels[f]

    def numbers(self, block: Block, f: int) -> npt.NDArray[Any]:
        """Return a column of numbers, NaN where they are missing."""
        data = self._rows.encode(block)
        if isinstance(data, Sparse):  # columns few enough to count all pairs are few enough to store dense
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
        """The number of slots."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Return the content of each slot, in words."""

    @abstractmethod
    def code(self, cells: Cells, block: Block, f: int) -> _Code:  # (n,)
        """Return the slot of each row, −1 where missing; `f` is the column's position in its block."""


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
        """The number of values, and one for all others."""
        return len(self.values) + 1

    def names(self) -> tuple[str, ...]:
        """Return the values as text."""
        return (*map(str, self.values.values), "other")

    def code(self, cells: Cells, block: Block, f: int) -> _Code:
        """Return each value's slot; the last slot for other values."""
        codes, found = cells.values(block, f)
        place = np.full(len(found) + 1, -1, np.int16)  # code −1, a missing value, indexes the last entry
        place[:-1] = self.values.find(found.array, where=f"column {block.columns[f]!r}")
        place[:-1][place[:-1] < 0] = len(self.values)
        return place[codes]


@dataclass(frozen=True)
class Bins(Slots):
    """Bins of numbers: up to each edge and above the one before it; the last bin is above all.

    Examples
    --------
    >>> Bins((1.0, 2.5)).names()
    ('up to 1', 'up to 2.5', 'above 2.5')
    """

    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        """One more than the number of edges."""
        return len(self.edges) + 1

    def names(self) -> tuple[str, ...]:
        """Return the edges of each bin in words."""
        if not self.edges:
            return ("any",)
        return (*(f"up to {edge:g}" for edge in self.edges), f"above {self.edges[-1]:g}")

    def code(self, cells: Cells, block: Block, f: int) -> _Code:
        """Return the number of edges below each number."""
        values = cells.numbers(block, f)
        codes = np.searchsorted(np.asarray(self.edges, values.dtype), values).astype(np.int16)
        codes[np.isnan(values)] = -1
        return codes


def look(
    schema: Schema, columns: Sequence[str], first: pa.RecordBatch | None, bins: int, values: int, *, fair: bool = True
) -> list[Slots]:
    """Choose the slots of some columns from rows spread over the first batch.

    Parameters
    ----------
    schema : Schema
        The type of each column.
    columns : sequence of str
        The columns to discretise.
    first : RecordBatch or None
        The first rows; None if there are none.
    bins, values : int
        The largest number of bins of a number column, and of slots of a categorical column.
    fair : bool
        Whether few rows have fewer bins.

    Notes
    -----
    Numbers with more values than bins are put into √(n / 5C) bins if that is fewer, for n sampled rows of C classes. So
    each cell of a table of two columns has five rows on average; with fewer, noise hides everything.
    """
    if first is None:
        return [_slots_of(*_at(schema, name), None, bins, bins, values) for name in columns]
    rows = RowBatch(_spread(first), 0, schema.missing)
    classes = len(encode(rows.column(schema.label))[1])
    few = max(2, min(bins, math.isqrt(len(rows) // (_ROWS_A_CELL * max(classes, 1)))))
    cells = Cells(rows)
    return [_slots_of(*_at(schema, name), cells, bins, few if fair else bins, values) for name in columns]


def code(schema: Schema, columns: Sequence[str], slots: Sequence[Slots], rows: RowBatch) -> list[_Code]:
    """Return the slot of each row in each of the columns."""
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
    kept = np.argsort(-count, kind="stable")[:most]  # ties are broken by the order of the values
    return Values(found.take(np.sort(kept)))


def _edges(values: npt.NDArray[Any], bins: int, fair: int) -> tuple[float, ...]:
    """Return the distinct numbers as edges if they are few, else quantiles for bins of about equal weight."""
    present = np.sort(values[~np.isnan(values)]).astype(np.float64)
    distinct = np.unique(present)
    if len(distinct) > bins:
        # Edges are observed values, never between two of them: ties stay together.
        distinct = np.unique([*np.quantile(present, np.arange(1, fair) / fair, method="inverted_cdf"), present[-1]])
    return tuple(distinct[:-1].tolist())


def _spread(batch: pa.RecordBatch) -> pa.RecordBatch:
    if batch.num_rows <= _SAMPLE_ROWS:
        return batch
    return sources.take(batch, np.linspace(0, batch.num_rows - 1, _SAMPLE_ROWS).astype(np.intp))
