"""Parquet files that workers open themselves, instead of receiving their rows from an engine.

An engine serializes the rows or converts them to pandas first, which takes longer than to read and count them. Where a
collection is nothing but columns of files that all workers see, neither is needed. A worker declines a file that
differs from the schema (without a column, or with another type), and the engine then reads the files itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from tallybayes.engines.partitioned import Declined
from tallybayes.sources import Source
from tallybayes.sources.parquet import whole_pages

_BATCH_ROWS = whole_pages(1 << 16)


class Split(NamedTuple):
    """A part of a file: the row groups that begin in it."""

    path: str
    start: int
    stop: int


@dataclass(frozen=True)
class Files:
    """Columns of parquet files, split into tasks for workers."""

    columns: tuple[str, ...]  # the names of the columns in the files
    tasks: tuple[tuple[Split, ...], ...]  # the parts that each worker reads

    def source(self, task: int, schema: pa.Schema) -> Source:
        """Return the rows of one task, with columns named as in the schema."""
        return Source(schema, None, False, "", lambda: self._rows(task, schema))

    def label(self, task: int) -> str:
        """Return the name of a task in messages."""
        paths = dict.fromkeys(split.path for split in self.tasks[task])
        return f"{task} ({next(iter(paths))}{', ...' if len(paths) > 1 else ''})"

    def _rows(self, task: int, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        try:
            for split in self.tasks[task]:
                for batch in _read(split, self.columns, schema):
                    columns = [c.cast(kind) for c, kind in zip(batch.columns, schema.types, strict=True)]
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise Declined(str(error)) from error


def is_plain(kind: pa.DataType) -> bool:
    """Return whether engines and Arrow read a type alike, whatever wrote the file; dates may differ."""
    is_ = pa.types
    return bool(
        is_.is_integer(kind)
        or is_.is_floating(kind)
        or is_.is_boolean(kind)
        or is_.is_string(kind)
        or is_.is_large_string(kind)
    )


def _read(split: Split, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from pyarrow import parquet

    with parquet.ParquetFile(split.path) as file:
        stored = file.schema_arrow
        for name, kind in zip(columns, schema.types, strict=True):
            at = stored.get_all_field_indices(name)
            if len(at) != 1 or not _same(stored.field(at[0]).type, kind):
                raise Declined(f"{split.path} is unlike the others in {name!r}")
        groups = [g for g in range(file.num_row_groups) if split.start <= _begin(file.metadata, g) < split.stop]
        for batch in file.iter_batches(_BATCH_ROWS, row_groups=groups, columns=list(columns), use_threads=False):
            yield batch.select(list(columns))


def _begin(metadata: Any, group: int) -> int:
    """Return the byte at which a row group begins."""
    first = metadata.row_group(group).column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


def _same(one: pa.DataType, other: pa.DataType) -> bool:
    """Return whether two types are equal, apart from string and large string."""
    texts = (pa.string(), pa.large_string())
    return bool(one == other or (one in texts and other in texts))
