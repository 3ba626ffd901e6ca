"""Parquet and Arrow files and streams: the file holds the schema; unneeded columns stay unread."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.locations import Place
from tallybayes.sources.position import Spot, Trail, by_rows, without_first
from tallybayes.sources.source import Source
from tallybayes.sources.steps import check_batches, columns_to_read, project, read_ahead, reword_errors

# Measured with a table of 50 doubles. Batches below 32 MB (64 k rows) take up to twice the time to read. At that size
# a pass takes no longer than pyarrow.parquet.read_table. More rows leave fewer sums to merge, so twice as many bytes
# are read at once where that makes this many rows.
BATCH_BYTES, BATCH_ROWS = 32 << 20, 1 << 17
# Writers end a page at this many rows, as pyarrow does. Pyarrow's reader makes room for the rows of a batch, rounded up
# to a power of two, and decodes a page's last rows with them even if they belong to the next batch. Where they do not
# fit, it copies each column twice: that was a fourth of the time of reading.
PAGE_ROWS = 20_000
BUFFER_BYTES = 64 << 10
SLICE_BYTES = 64 << 20


def of_parquet(
    place: Place,
    columns: Sequence[str] | None,
    batch_rows: int | None,
    errors: str,
    trail: Trail,
    among: Callable[[pa.Schema], Any] | None = None,
) -> Source:
    """Return a source of a parquet file.

    `among` returns a filter expression for its schema, or None. Row groups without a matching row are not read.

    Notes
    -----
    ``ParquetFile.iter_batches`` with small buffers decodes the columns of a batch in parallel, whatever the size of the
    row groups. The dataset scanner is even faster when nothing else runs, but it holds one or two whole row groups:
    800 MB for files with pyarrow's default settings. ``pre_buffer`` keeps every byte it has read.
    """
    from pyarrow import parquet

    path = place.name
    with parquet.ParquetFile(place.random_access()) as file:
        metadata, schema = file.metadata, file.schema_arrow
    names = columns_to_read(schema, columns, path)
    width = max(8 * len(schema), _bytes_per_row(metadata)) * len(names) // max(1, len(schema))
    rows = _rows_at_once(width, metadata.num_rows)
    rows = min(rows, batch_rows or rows)

    expression = None if among is None else among(schema)
    groups = list(range(metadata.num_row_groups)) if expression is None else _groups(place, schema, expression)
    sizes = [metadata.row_group(group).num_rows for group in groups]

    def decoded(left: list[int]) -> Iterator[pa.RecordBatch]:
        # Fetch remote files a row group at a time: each of many small requests would take as long.
        remote = place.store is not None
        options = {"buffer_size": BUFFER_BYTES, "pre_buffer": remote, "metadata": metadata}
        for some in [[group] for group in left] if remote else [left]:
            with parquet.ParquetFile(place.random_access(), **options) as file:
                yield from file.iter_batches(rows, row_groups=some, columns=names)

    def placed(spot: Spot) -> Iterator[tuple[Spot, pa.RecordBatch]]:
        done, inside = _groups_before(sizes, spot.at)
        yield from by_rows(check_batches(without_first(decoded(groups[done:]), inside), path, errors, spot.rows), spot)

    def start() -> Iterator[pa.RecordBatch]:
        return trail.track(read_ahead(reword_errors(placed(trail.spot), path, "a readable parquet file")))

    read = pa.schema([field for field in schema if field.name in set(names)], schema.metadata)
    return project(Source(read, sum(sizes), True, path, start), names)


def _groups(place: Place, schema: pa.Schema, expression: Any) -> list[int]:
    """Return the row groups that may contain matching rows, by their stored minima and maxima."""
    from pyarrow import dataset, fs

    file = dataset.ParquetFileFormat().make_fragment(place.path, place.store or fs.LocalFileSystem())
    return [group.id for part in file.split_by_row_group(expression, schema) for group in part.row_groups]


def _rows_at_once(width: int, n: int) -> int:
    """Return how many rows of some bytes each make a batch, so that n rows are batches of one size."""
    many = BATCH_ROWS * width <= 2 * BATCH_BYTES
    most = whole_pages(BATCH_ROWS if many else max(1 << 10, BATCH_BYTES // max(1, width)))
    batches = max(1, -(-n // most))
    alike = max(1, -(-n // batches))
    return alike if whole_pages(alike) == alike else most


def whole_pages(rows: int) -> int:
    """Return a number of rows for which pyarrow makes enough room to decode the rest of a page with them.

    Examples
    --------
    >>> whole_pages(1 << 17)                                                                       # 2**17 - 20,000
    111072
    >>> whole_pages(1000)                                                          # a batch is smaller than a page
    1000
    """
    room = 1 << max(0, rows - 1).bit_length()
    if rows + PAGE_ROWS <= room or room - PAGE_ROWS <= room // 2:
        return rows
    return room - PAGE_ROWS


def _bytes_per_row(metadata: Any) -> int:
    groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return int(sum(groups)) // max(1, int(metadata.num_rows))


def _groups_before(sizes: Sequence[int], row: int) -> tuple[int, int]:
    """Return the number of groups before a row's own, and of earlier rows in that."""
    for group, n in enumerate(sizes):
        if row < n:
            return group, row
        row -= n
    return len(sizes), 0


def of_arrow_file(place: Place, columns: Sequence[str] | None, errors: str, trail: Trail) -> Source:
    """Return a source of an Arrow file or stored stream, told apart by first bytes."""
    path = place.name
    with place.stream() as file:
        magic = bytes(file.read(6))
    if not magic:
        raise BadData(wanted(path, "an Arrow file", "an empty file"))
    batches_of = _streamed if magic != b"ARROW1" else _mapped if place.store is None else _fetched
    schema = next(batches_of(place))

    def start() -> Iterator[pa.RecordBatch]:
        batches = batches_of(place)
        next(batches)
        spot = trail.spot
        checked = check_batches(without_first(batches, spot.at), path, errors, spot.rows)
        return trail.track(by_rows(reword_errors(checked, path, "a readable Arrow file"), spot))

    return project(Source(schema, None, True, path, start), columns_to_read(schema, columns, path))


def _mapped(place: Place) -> Iterator[Any]:
    """Yield the schema, then the batches as views of the memory-mapped file.

    So even a file of one huge batch is not loaded at once.

    Unneeded columns are never touched. (If pyarrow were given a list of columns, it would copy those.)
    """
    with open(place.path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    # No threads, because Python owns the mapping: see text_chunks.arrow_owned.
    reader = pa.ipc.open_file(pa.py_buffer(mapped), options=pa.ipc.IpcReadOptions(use_threads=False))
    yield reader.schema
    for i in range(reader.num_record_batches):
        batch = reader.get_batch(i)
        step = max(1, batch.num_rows * SLICE_BYTES // max(1, batch.nbytes))
        for at in range(0, batch.num_rows, step):
            yield batch.slice(at, step)
            if hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)  # a page still in use is read again from the file when touched


def _fetched(place: Place) -> Iterator[Any]:
    """Yield the same for a remote file, one batch at a time."""
    with place.random_access() as file, pa.ipc.open_file(file) as reader:
        yield reader.schema
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)


def _streamed(place: Place) -> Iterator[Any]:
    with place.stream() as file, pa.ipc.open_stream(file) as reader:
        yield reader.schema
        yield from reader
