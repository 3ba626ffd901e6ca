"""Rows that are read several times: few are kept in memory, many are read again from where they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from tallybayes.sources.source import Source

# Rows of no more bytes are kept. A stream is kept whatever its size, since it cannot be read again.
KEPT_BYTES = 256 << 20


def buffered(source: Source) -> Source:
    """Return the same rows, kept in memory from the first pass on if they are few.

    Rows that were kept come as one batch from the second pass on.

    Examples
    --------
    >>> from tallybayes.sources import read
    >>> rows = buffered(read(pa.table({"x": [1, 2]}).to_reader()))  # a stream, which can be read once
    >>> [batch.num_rows for batch in rows], [batch.num_rows for batch in rows]
    ([2], [2])
    """
    return replace(source, again=True, start=_Buffer(source).start)


class _Buffer:
    def __init__(self, source: Source) -> None:
        self._source, self._unread = source, iter(source)
        self._kept: list[pa.RecordBatch] | None = []
        self._bytes, self._complete = 0, False

    def start(self) -> Iterator[pa.RecordBatch]:
        """Hand out what is kept, and then go on reading where the last pass stopped."""
        if self._kept is None:
            yield from self._source
            return
        yield from tuple(self._kept)
        if self._complete:
            return
        for batch in self._unread:
            self._keep(batch)
            yield batch
        if self._kept is not None:
            self._kept, self._complete = self._joined(self._kept), True

    def _keep(self, batch: pa.RecordBatch) -> None:
        if self._kept is None:
            return
        self._kept.append(batch)
        self._bytes += batch.nbytes
        if self._bytes > KEPT_BYTES and self._source.again:
            self._kept = None

    def _joined(self, kept: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        if len(kept) < 2 or self._bytes > KEPT_BYTES:
            return kept
        return list(pa.Table.from_batches(kept).unify_dictionaries().combine_chunks().to_batches())
