"""Parquet files that need not go through Java: where a DataFrame is nothing but columns of theirs, workers open them.

Spark hands rows to Python one cell at a time, which takes several times as long as reading and counting them. A frame
that is a plain scan of files on a file system that all workers see is read by them instead. Whatever is not as it seems
(a file without a column, or with another type) a worker declines, and Spark reads all of it in its own way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from tallybayes.batches import Source
from tallybayes.engines.partitions import Declined

__all__ = ["Files", "files_of"]

_FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
# What makes Spark read other rows of a file than those that it has.
_LENIENT = ("spark.sql.parquet.mergeSchema", "spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")
_BATCH_ROWS = 1 << 16


class Split(NamedTuple):
    """A part of a file: the row groups that begin in it."""

    path: str
    start: int
    stop: int


@dataclass(frozen=True)
class Files:
    """Columns of parquet files, in parts for as many workers.

    Attributes
    ----------
    columns : tuple of str
        What the columns are called in the files.
    tasks : tuple of tuples of Split
        The parts that each worker reads.
    """

    columns: tuple[str, ...]
    tasks: tuple[tuple[Split, ...], ...]

    def source(self, task: int, schema: pa.Schema) -> Source:
        """The rows of one of the parts, with the names that the schema has for the columns."""
        return Source(schema, None, False, "", lambda: self._rows(task, schema))

    def label(self, task: int) -> str:
        """What messages call a part."""
        paths = dict.fromkeys(split.path for split in self.tasks[task])
        return f"{task} ({next(iter(paths))}{', ...' if len(paths) > 1 else ''})"

    def _rows(self, task: int, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        try:
            for split in self.tasks[task]:
                for batch in _read(split, self.columns, schema):
                    yield pa.RecordBatch.from_arrays(batch.columns, names=schema.names)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise Declined(str(error)) from error


def files_of(frame: Any, schema: pa.Schema) -> Files | None:
    """The files that a DataFrame's columns are read from; None if there is more to it than that.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows, with the columns of the schema in its order.
    schema : pyarrow.Schema
        What the columns are called here, and their types.
    """
    if not hasattr(frame, "_jdf") or not all(_is_plain(kind) for kind in schema.types):
        return None
    session = frame.sparkSession
    if any(session.conf.get(name) != "false" for name in _LENIENT):
        return None
    columns, relation = _scanned(frame._jdf.queryExecution().optimizedPlan())
    if relation is None or relation.fileFormat().getClass().getName() != _FORMAT:
        return None
    inside = {relation.dataSchema().apply(i).name() for i in range(relation.dataSchema().size())}
    keys = {relation.partitionSchema().apply(i).name() for i in range(relation.partitionSchema().size())}
    files = [str(one) for one in relation.location().inputFiles()]
    strange = relation.options().contains("mergeSchema") or not set(columns) <= inside - keys
    if strange or not files or not all(file.startswith("file:/") for file in files):
        return None
    paths = ["/" + unquote(file.removeprefix("file:")).lstrip("/") for file in files]
    conf = session._jsparkSession.sessionState().conf()
    most, least = int(conf.filesMaxPartitionBytes()), int(conf.filesOpenCostInBytes())
    try:
        return Files(tuple(columns), _tasks(paths, most, least, session.sparkContext.defaultParallelism))
    except OSError:
        return None


def _scanned(plan: Any) -> tuple[list[str], Any]:
    """The columns of the relation that a plan consists of, in the plan's order, and it; None if a plan does more."""
    chosen: list[int] | None = None  # the attributes that are handed on, by their numbers
    while plan.getClass().getSimpleName() == "Project":
        given: dict[int, int] = {}
        for one in _each(plan.projectList()):
            inner = one.child() if one.getClass().getSimpleName() == "Alias" else one
            if inner.getClass().getSimpleName() != "AttributeReference":
                return [], None
            given[one.exprId().id()] = inner.exprId().id()
        chosen = list(given.values()) if chosen is None else [given[one] for one in chosen]
        plan = plan.child()
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return [], None
    relation = plan.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return [], None
    names = {one.exprId().id(): one.name() for one in _each(plan.output())}
    return [names[one] for one in (names if chosen is None else chosen)], relation


def _each(things: Any) -> Iterator[Any]:
    return (things.apply(i) for i in range(things.size()))


def _is_plain(kind: pa.DataType) -> bool:
    """Whether a type is understood alike by Spark and Arrow, whatever wrote the file; dates need not be."""
    is_ = pa.types
    return bool(is_.is_integer(kind) or is_.is_floating(kind) or is_.is_boolean(kind) or is_.is_string(kind))


def _tasks(paths: Sequence[str], most: int, least: int, cores: int) -> tuple[tuple[Split, ...], ...]:
    """Files in parts of about one size, as Spark cuts them: small files together, large ones apart."""
    sizes = [os.stat(path).st_size for path in paths]
    size = max(1, min(most, max(least, sum(one + least for one in sizes) // max(1, cores))))
    tasks: list[list[Split]] = [[]]
    room = size
    for path, total in zip(paths, sizes, strict=True):
        for start in range(0, max(1, total), size):
            stop = min(start + size, total)
            if room < stop - start and tasks[-1]:
                tasks.append([])
                room = size
            tasks[-1].append(Split(path, start, stop))
            room -= stop - start + least
    return tuple(map(tuple, tasks))


def _read(split: Split, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from pyarrow import parquet

    with parquet.ParquetFile(split.path) as file:
        there = file.schema_arrow
        for name, kind in zip(columns, schema.types, strict=True):
            at = there.get_all_field_indices(name)
            if len(at) != 1 or there.field(at[0]).type != kind:
                raise Declined(f"{split.path} is unlike the others in {name!r}")
        groups = [g for g in range(file.num_row_groups) if split.start <= _begin(file.metadata, g) < split.stop]
        for batch in file.iter_batches(_BATCH_ROWS, row_groups=groups, columns=list(columns), use_threads=False):
            yield batch.select(list(columns))


def _begin(metadata: Any, group: int) -> int:
    """The byte at which a row group begins."""
    first = metadata.row_group(group).column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)
