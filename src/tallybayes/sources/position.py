"""The position of a pass over files, from which a later pass can resume.

File readers yield each batch together with the spot where it begins. The steps between a reader and its consumer pull
one batch at a time, on request. So the spot of the last batch yielded is also the spot of the last rows consumed,
whatever the steps did to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from tallybayes.sources.locations import Place
from tallybayes.sources.source import Source, of_table
from tallybayes.sources.steps import read_ahead, reword_errors


class Spot(NamedTuple):
    """A position in a sequence of files."""

    file: int = 0  # the index of the file, from 0
    # the position within it, in its reader's unit: bytes of text after the header, or rows. 0 is the beginning.
    at: int = 0
    rows: int = 0  # the number of its rows before the spot, for messages
    # lines, skipped: the number of lines of text before the spot, if they are counted, and how many of them were
    # skipped
    lines: int = 0
    skipped: int = 0


_Placed: TypeAlias = tuple[Spot, pa.RecordBatch]


class Trail:
    """The current position of a pass over files, and where the next pass begins.

    `types` were known when the files were opened; `how` has the other options that decide which rows the files give.
    The next pass begins at `begin`, after `before` rows of all files; the last batch yielded begins at `spot`.
    """

    def __init__(self, files: Sequence[Place], types: Mapping[str, pa.DataType], how: Mapping[str, Any]) -> None:
        self.files, self.types, self.how = files, types, how
        self.begin = self.spot = Spot()
        self.before = 0

    def file(self, k: int, source: Source) -> Source:
        """Return the rows of file `k`; do not open it if the pass begins later."""

        def start() -> Iterator[pa.RecordBatch]:
            if k < self.begin.file:
                return
            self.spot = self.begin if k == self.begin.file else Spot(k)
            yield from source
            self.spot = Spot(k + 1)

        return replace(source, start=start)

    def whole(self, table: pa.Table, path: str) -> Source:
        """Return the rows of a small file that was read completely when it was opened."""
        source = of_table(table.combine_chunks(), path)
        return replace(source, start=lambda: without_first(source.start(), self.spot.rows))

    def text(self, schema: pa.Schema, path: str, start: Callable[[Spot], Iterable[_Placed]]) -> Source:
        """Return the rows of a text file, parsed ahead from a spot on."""

        def read() -> Iterator[pa.RecordBatch]:
            return self.track(read_ahead(reword_errors(start(self.spot), path, "a readable file")))

        return Source(schema, None, True, path, read)

    def track(self, placed: Iterable[_Placed]) -> Iterator[pa.RecordBatch]:
        """Yield the batches, recording the spot of each as it is yielded."""
        for self.spot, batch in placed:
            yield batch


def by_rows(batches: Iterable[pa.RecordBatch], spot: Spot) -> Iterator[_Placed]:
    """Yield batches with their spots, counted in rows, the first at `spot`."""
    for batch in batches:
        yield spot, batch
        rows = spot.rows + batch.num_rows
        spot = Spot(spot.file, rows, rows)


def without_first(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches without the first `rows` rows.

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
