"""Spark: a DataFrame, classic or Connect, counted by its executors.

Executors receive functions of this module by name, so they only need this package. Columns are renamed to numbers,
since Spark parses names: a dot is a field of a struct, and case may not matter.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa

from tallybayes import sources
from tallybayes.cached_property import cached_property
from tallybayes.engines.parquet_splits import Files
from tallybayes.engines.partitioned import (
    FAN_IN,
    HEAD_ROWS,
    Columns,
    Declined,
    MergeTask,
    PartitionInfo,
    Reading,
    Remote,
    Task,
    attempted,
    joined,
    packed,
)
from tallybayes.engines.spark.errors import in_words
from tallybayes.engines.spark.parquet import files_of
from tallybayes.engines.spark.progress import watched
from tallybayes.errors import BadData, TallyError, wanted

T = TypeVar("T")
_USUAL = sources.Markers()
_ANSWER = "partition int, answer binary"
_ROWS = "rows binary"
# pyarrow's name for the unnamed index of a pandas frame; Spark treats it as a column.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def of_spark(frame: Any, markers: sources.Markers = _USUAL) -> SparkPartitions:
    """Return the partitions of a Spark DataFrame, or of a pandas-on-Spark frame."""
    kind = f"{type(frame).__module__.removeprefix('pyspark.')}.{type(frame).__name__}"
    if kind.startswith("pandas."):
        frame = frame.to_spark()
    if not hasattr(type(frame), "mapInArrow"):
        raise BadData(wanted("the Spark object", "a DataFrame", f"a {kind}", "Make a DataFrame of it"))
    name = "the Spark DataFrame"
    if frame.isStreaming:
        do = "Learn from each batch of it: writeStream.foreachBatch(lambda rows, _: ...)"
        raise BadData(wanted(name, "a finite number of rows", "a stream", do))
    with _in_one_sentence(name):
        schema = frame.limit(0).toArrow().schema
    names = tuple(schema.names)
    fields = [field.remove_metadata() for field in schema if not _PANDAS_INDEX.fullmatch(field.name)]
    numbered = frame.toDF(*map(_number, range(len(names))))
    return SparkPartitions(numbered, names, Reading(pa.schema(fields), markers, name))


@dataclass(frozen=True)
class SparkPartitions(Remote):
    """The partitions of a Spark DataFrame."""

    frame: Any  # the rows, with numbered column names
    names: tuple[str, ...]  # the user's column names
    reading: Reading  # how to interpret the rows, wherever they are read
    # the rows with all columns, if these are a selection: the number of partitions is the same
    whole: SparkPartitions | None = None

    @property
    def count(self) -> int | None:
        """The number of partitions; None where only computing them would tell."""
        return self._count if self.whole is None else self.whole.count

    @cached_property
    def _count(self) -> int | None:
        with redirect_stdout(io.StringIO()) as plan, _in_one_sentence(self.name):
            self.frame.explain()
            if "Exchange" in plan.getvalue():  # to count partitions behind a shuffle would run it
                return None
            if not _is_connect(self.frame):
                return int(self.frame.rdd.getNumPartitions())
            numbers = self.frame.selectExpr("spark_partition_id() AS number")  # reads no column
            [[last]] = numbers.agg({"number": "max"}).collect()
            return 0 if last is None else int(last) + 1

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows to this machine, one partition after the other."""
        packed = self._narrow.mapInArrow(_packed, _ROWS)
        counted: list[tuple[int, int]] = []
        with _in_one_sentence(self.name):
            for row in packed.toLocalIterator():
                yield from self._source([sources.from_stream(row[0])], lambda *last: counted.append(last))
        self.reading.warn(sum(left for left, _ in counted), sum(rows for _, rows in counted))

    def head(self, rows: int = HEAD_ROWS) -> pa.RecordBatch | None:
        """Return the first rows; None if there are none."""
        with _in_one_sentence(self.name):
            first, label = self._narrow, self.reading.label
            if label is not None:  # rows without a class may come first
                first = first.where(f"{_number(self.names.index(label))} IS NOT NULL")
            first = first.limit(rows)
            if not _is_connect(self.frame):
                # `collect` reads one partition after the other until it has enough; `toArrow` would run all.
                first = self.frame.sparkSession.createDataFrame(first.collect(), first.schema)
            found = list(self._source(first.toArrow().to_batches()))
        some = any(batch.num_rows for batch in found)
        return pa.Table.from_batches(found).combine_chunks().to_batches()[0] if some else None

    def select(self, columns: Sequence[str]) -> SparkPartitions:
        """Return the same rows with some of the columns, so that no others are read."""
        return replace(self, reading=self.reading.select(columns), whole=self.whole or self)

    def fold(self, task: MergeTask[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> T:
        """Run a task on each partition and merge the results in a tree."""
        read = self.select(task.columns)
        files = files_of(read._narrow, read.reading.schema) if task.free and own is None else None
        if files is not None:
            try:
                return read._merge(read._answers_of(files, task), len(files.tasks), task)
            except Declined:
                pass  # only Spark knows how it reads such files
        return read._merge(read._answers(task, packed(own)), self.count, task)

    def _merge(self, answers: Any, count: int | None, task: MergeTask[T]) -> T:
        """Return the merged result of `count` answers."""
        for partitions in _levels(count):
            answers = answers.repartition(partitions).mapInArrow(partial(_merge_answers, task), _ANSWER)
        found = self._collect(answers)
        return self.results(task, [found[0] if len(found) == 1 else joined(task, found)])[0]

    def each(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> list[T]:
        """Run a task on each partition; return the results in the order of the partitions."""
        read = self.select(task.columns)
        return read.results(task, read._collect(read._answers(task, packed(own))))

    def with_columns(self, columns: Columns) -> Any:
        """Return a DataFrame with columns added; nothing is computed yet."""
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructField, StructType

        new = [
            StructField(field.name, from_arrow_type(field.type, prefer_timestamp_ntz=True)) for field in columns.fields
        ]
        replaced = {field.name for field in columns.fields}
        kept = [k for k, name in enumerate(self.names) if name not in replaced]
        old = [
            StructField(self.names[k], field.dataType, field.nullable, field.metadata)
            for k, field in enumerate(self.frame.schema)
            if k in kept
        ]
        reading = self.select(columns.reads).reading
        ask = partial(_add_columns, columns.of, reading, self.names, tuple(kept), tuple(columns.fields))
        return self.frame.mapInArrow(ask, StructType(old + new))

    @property
    def _narrow(self) -> Any:
        """The columns of the schema, in its order."""
        return self.frame.select(*(_number(self.names.index(name)) for name in self.reading.schema.names))

    def _source(
        self, rows: Iterable[pa.RecordBatch], tell: Callable[[int, int], None] = lambda *_: None
    ) -> sources.Source:
        """Return rows that were brought to this machine as a source."""
        return self.reading.source(_named(iter(rows), self.reading.schema), "any", tell)

    def _answers(self, task: Task[Any], own: Sequence[bytes] | None) -> Any:
        """Return the answer of each partition as a lazy DataFrame."""
        ask = partial(_run_partition, task, self.reading, None if own is None else tuple(own))
        return self._narrow.mapInArrow(ask, _ANSWER)

    def _answers_of(self, files: Files, task: Task[Any]) -> Any:
        """Return the same for files that workers open themselves."""
        numbers = self.frame.sparkSession.range(0, len(files.tasks), 1, len(files.tasks))
        return numbers.mapInArrow(partial(_run_files, task, self.reading, files), _ANSWER)

    def _collect(self, answers: Any) -> list[bytes]:
        """Return the answers, in the order of the partitions."""
        with watched(self.frame, self.name, self.count), _in_one_sentence(self.name):
            table = answers.toArrow()
        order = table.column("partition").combine_chunks().sort()
        found = dict(zip(table.column("partition").to_pylist(), table.column("answer").to_pylist(), strict=True))
        return [found[k] for k in order.to_pylist()]


def _levels(count: int | None) -> Iterator[int]:
    """Yield the number of partitions at each level of the merge tree; the driver merges the last."""
    if count is None:  # each answer may be as large as the sum, so the driver should get only one
        yield from (FAN_IN, 1)
        return
    while count > FAN_IN:
        count = -(-count // FAN_IN)
        yield count


def _run_partition(
    task: Task[Any], reading: Reading, own: tuple[bytes, ...] | None, stream: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the answer of one partition; runs on the executor that holds it."""
    k = _partition()
    info = PartitionInfo(k) if own is None else PartitionInfo(k, own[k])
    yield _answer(k, attempted(task, reading, _named(stream, reading.schema), k, info))


def _run_files(
    task: Task[Any], reading: Reading, files: Files, stream: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the answer of one task of files; runs on an executor, which opens them."""
    for k in (number.as_py() for batch in stream for number in batch.column(0)):
        rows = files.source(k, reading.schema)
        yield _answer(k, attempted(task, reading, rows, files.label(k), PartitionInfo(k)))


def _merge_answers(task: MergeTask[Any], stream: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the merged answer of those in one partition; nothing if there are none."""
    answers = (one.as_py() for batch in stream for one in batch.column(1))
    first = next(answers, None)
    if first is not None:
        yield _answer(_partition(), joined(task, chain([first], answers)))


def _add_columns(
    work: Callable[[pa.RecordBatch], pa.RecordBatch],
    reading: Reading,
    names: Sequence[str],
    kept: Sequence[int],
    fields: Sequence[pa.Field],
    stream: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a partition with columns added."""
    k = _partition()
    for batch in stream:
        columns = [batch.column(at) for at in kept]
        rows = pa.RecordBatch.from_arrays(batch.columns, names=list(names))
        parts = [work(part) for part in reading.source(rows, k)]
        new = [pa.chunked_array([one.column(f) for one in parts], field.type) for f, field in enumerate(fields)]
        all_names = [names[at] for at in kept] + [field.name for field in fields]
        yield pa.RecordBatch.from_arrays(columns + [column.combine_chunks() for column in new], names=all_names)


def _packed(stream: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield each batch as one row of bytes.

    So rows are neither converted to Python nor all held at once.
    """
    for batch in stream:
        packed = sources.as_stream(batch).to_pybytes()
        yield pa.RecordBatch.from_arrays([pa.array([packed], pa.binary())], names=["rows"])


def _named(stream: Iterator[pa.RecordBatch], schema: pa.Schema) -> Any:
    """Return the batches of a partition, perhaps none, with their column names."""
    first = next(stream, None)
    if first is None:
        return schema.empty_table()

    def start() -> Iterator[pa.RecordBatch]:
        for batch in chain([first], stream):
            yield pa.RecordBatch.from_arrays(batch.columns, names=schema.names)

    found = pa.schema([pa.field(name, kind) for name, kind in zip(schema.names, first.schema.types, strict=True)])
    return sources.Source(found, None, False, "", start)


def _answer(partition: int, answer: bytes) -> pa.RecordBatch:
    columns = [pa.array([partition], pa.int32()), pa.array([answer], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["partition", "answer"])


def _partition() -> int:
    """Return the number of the current partition."""
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    return int(task.partitionId())


def _number(k: int) -> str:
    return f"c{k}"


def _is_connect(frame: Any) -> bool:
    return type(frame).__module__.startswith("pyspark.sql.connect.")


@contextmanager
def _in_one_sentence(name: str) -> Iterator[None]:
    """Turn any error of Spark into one sentence."""
    try:
        yield
    except (TallyError, ImportError):
        raise
    except Exception as error:  # pyspark does not wrap all Java exceptions in its own
        raise BadData(in_words(name, str(error))) from error
