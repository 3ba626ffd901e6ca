"""parquet, and Arrow files and streams: the schema is in the file, columns not asked for are not read."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from tallybayes.batches.source import Source
from tallybayes.batches.steps import ahead, chosen, guarded, project
from tallybayes.errors import BadData, wanted

__all__ = ["of_arrow_file", "of_parquet"]

# Sizes chosen by measuring a table of 50 doubles. Smaller batches than 32 MB (64 k rows) cost up to twice the time;
# at this size a pass takes no longer than pyarrow.parquet.read_table, and a 2 GB file is read in 320 MB.
BATCH_BYTES = 32 << 20
BUFFER_BYTES = 64 << 10
FORGET_BYTES = 64 << 20


def of_parquet(path: str, columns: Sequence[str] | None, batch_rows: int | None) -> Source:
    """A source of a parquet file.

    Notes
    -----
    ``ParquetFile.iter_batches`` with small buffers decodes a batch of all columns in parallel, whatever the size of the
    row groups. The dataset scanner is faster still when nothing else runs, but holds one or two whole row groups,
    800 MB for files as pyarrow writes them by default, and ``pre_buffer`` holds every byte it has read.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        metadata, schema = file.metadata, file.schema_arrow
    names = chosen(schema, columns, path)
    width = max(8 * len(schema), _bytes_per_row(metadata)) * len(names) // max(1, len(schema))
    rows = min(1 << 17, max(1 << 10, BATCH_BYTES // max(1, width)), batch_rows or 1 << 17)

    def decoded() -> Iterator[pa.RecordBatch]:
        options = {"buffer_size": BUFFER_BYTES, "pre_buffer": False, "metadata": metadata}
        with parquet.ParquetFile(path, **options) as file:
            yield from file.iter_batches(rows, columns=names)

    def start() -> Iterator[pa.RecordBatch]:
        return ahead(guarded(decoded(), path, "a readable parquet file"))

    read = pa.schema([field for field in schema if field.name in set(names)], schema.metadata)
    return project(Source(read, metadata.num_rows, True, path, start), names)


def _bytes_per_row(metadata: Any) -> int:
    groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return int(sum(groups)) // max(1, int(metadata.num_rows))


def of_arrow_file(path: str, columns: Sequence[str] | None) -> Source:
    """A source of an Arrow file (also called feather or ipc) or of a stream saved to a file; its bytes tell which."""
    with open(path, "rb") as file:
        magic = file.read(6)
    if not magic:
        raise BadData(wanted(path, "an Arrow file", "an empty file"))
    reader = _mapped if magic == b"ARROW1" else _streamed
    batches = reader(path, None)
    schema = next(batches)
    names = chosen(schema, columns, path)
    kept = [i for i, name in enumerate(schema.names) if name in set(names)]

    def start() -> Iterator[pa.RecordBatch]:
        batches = reader(path, kept)
        next(batches)
        return guarded(map(_valid, batches), path, "a readable Arrow file")

    read = pa.schema([schema.field(i) for i in kept], schema.metadata)
    return project(Source(read, None, True, path, start), names)


def _valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)  # an Arrow file is memory as it stands: a wrong offset in it would be followed anywhere
    return batch


def _mapped(path: str, kept: list[int] | None) -> Iterator[Any]:
    """The schema, then the batches, as views of the file: even a file of one huge batch is not loaded at once."""
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    reader = pa.ipc.open_file(pa.py_buffer(mapped), options=pa.ipc.IpcReadOptions(included_fields=kept))
    yield reader.schema
    used = 0
    for i in range(reader.num_record_batches):
        batch = reader.get_batch(i)
        yield batch
        used += batch.nbytes
        if used > FORGET_BYTES and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)  # pages still in use come back from the file when touched
            used = 0


def _streamed(path: str, kept: list[int] | None) -> Iterator[Any]:
    with (
        pa.OSFile(path) as file,
        pa.ipc.open_stream(file, options=pa.ipc.IpcReadOptions(included_fields=kept)) as reader,
    ):
        yield reader.schema
        yield from reader
