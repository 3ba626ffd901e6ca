"""Where a pass over files is, so that a later one can begin there and need not read what came before.

The readers of files hand out each batch with the place where it begins. Between a reader and whoever takes the rows
lie only steps that take a batch when they are asked for one, so the place of the batch handed out last is that of the
rows taken last, whatever the steps have made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from tallybayes.sources.locations import Place
from tallybayes.sources.source import Source, of_table

__all__ = ["Spot", "Trail", "by_rows", "without_first"]


class Spot(NamedTuple):
    """A place in files that are read one after the other.

    Attributes
    ----------
    file : int
        Which of the files, from 0.
    at : int
        How far into it, as its reader has it: bytes of text behind the header, or rows; 0 is its beginning.
    rows : int
        How many of its rows come before, for messages.
    lines, skipped : int
        How many lines of text come before, where they are counted, and how many of them were passed over.
    """

    file: int = 0
    at: int = 0
    rows: int = 0
    lines: int = 0
    skipped: int = 0


class Trail:
    """The places of a pass over files.

    Attributes
    ----------
    files : sequence of Place
        They, in the order in which they are read.
    types : mapping of str to pyarrow.DataType
        The types that were known when they were opened.
    how : mapping
        What else decides which rows they give, as plain values under the names of options.
    begin : Spot
        Where the next pass begins.
    before : int
        How many rows of all files come before that.
    spot : Spot
        Where the batch begins that was handed out last.
    """

    def __init__(self, files: Sequence[Place], types: Mapping[str, pa.DataType], how: Mapping[str, Any]) -> None:
        self.files, self.types, self.how = files, types, how
        self.begin = self.spot = Spot()
        self.before = 0

    def file(self, k: int, source: Source) -> Source:
        """The rows of one of the files; none, and nothing is opened, if a pass begins behind it."""

        def start() -> Iterator[pa.RecordBatch]:
            if k < self.begin.file:
                return
            self.spot = self.begin if k == self.begin.file else Spot(k)
            yield from source
            self.spot = Spot(k + 1)

        return replace(source, start=start)

    def whole(self, table: pa.Table, path: str) -> Source:
        """The rows of a file that was small enough to be read when it was opened."""
        source = of_table(table.combine_chunks(), path)
        return replace(source, start=lambda: without_first(source.start(), self.spot.rows))

    def track(self, placed: Iterable[tuple[Spot, pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        """The batches, each leaving its place behind when it is taken."""
        for self.spot, batch in placed:
            yield batch


def by_rows(batches: Iterable[pa.RecordBatch], spot: Spot) -> Iterator[tuple[Spot, pa.RecordBatch]]:
    """Batches with their places, by the number of rows before, the first being at the place given."""
    for batch in batches:
        yield spot, batch
        rows = spot.rows + batch.num_rows
        spot = Spot(spot.file, rows, rows)


def without_first(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The batches without so many of the first rows.

    Examples
    --------
    >>> batches = pa.table({"x": [1, 2, 3, 4]}).to_batches(max_chunksize=2)
    >>> [batch.column(0).to_pylist() for batch in without_first(batches, 3)]
    [[4]]
    """
    for batch in batches:
        if rows < batch.num_rows:
            yield batch.slice(rows) if rows else batch
        rows = max(0, rows - batch.num_rows)
