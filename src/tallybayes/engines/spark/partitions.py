"""Spark: a DataFrame, classic or Connect, counted by its executors. The only door to pyspark.

Executors are sent functions of this module by name, so they need this package and nothing else. Columns travel under
numbers, since Spark reads more into a name than we do: a dot is a field of a struct, and case may not matter.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa

from tallybayes import sources
from tallybayes.engines.parquet_splits import Files
from tallybayes.engines.partitioned import (
    FAN_IN,
    LOOKED_AT,
    Columns,
    Declined,
    PartitionInfo,
    Reading,
    Remote,
    Task,
    answer_of,
    attempted,
    joined,
    packed,
)
from tallybayes.engines.spark.errors import in_words
from tallybayes.engines.spark.parquet import files_of
from tallybayes.engines.spark.progress import watched
from tallybayes.errors import BadData, TallyError, wanted

__all__ = ["SparkPartitions", "of_spark"]

T = TypeVar("T")
_ANSWER = "partition int, answer binary"
_ROWS = "rows binary"
# What pyarrow calls the index of a pandas frame that has no name; Spark takes it for a column as any other.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def of_spark(frame: Any, missing: Sequence[str] = ()) -> SparkPartitions:
    """The partitions of a Spark DataFrame, or of a frame of pandas on Spark."""
    kind = f"{type(frame).__module__.removeprefix('pyspark.')}.{type(frame).__name__}"
    if kind.startswith("pandas."):
        frame = frame.to_spark()
    if not hasattr(type(frame), "mapInArrow"):
        raise BadData(wanted("the Spark object", "a DataFrame", f"a {kind}", "Make a DataFrame of it"))
    name = "the Spark DataFrame"
    if frame.isStreaming:
        do = "Learn from each batch of it: writeStream.foreachBatch(lambda rows, _: ...)"
        raise BadData(wanted(name, "rows that have an end", "a stream", do))
    with _in_one_sentence(name):
        schema = frame.limit(0).toArrow().schema
    names = tuple(schema.names)
    fields = [field.remove_metadata() for field in schema if not _PANDAS_INDEX.fullmatch(field.name)]
    numbered = frame.toDF(*map(_number, range(len(names))))
    return SparkPartitions(numbered, names, Reading(pa.schema(fields), missing, name))


@dataclass(frozen=True)
class SparkPartitions(Remote):
    """The partitions of a Spark DataFrame.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        The rows, with numbers for names of columns.
    names : tuple of str
        What the columns are called.
    reading : Reading
        How they are to be understood, wherever they are read.
    whole : SparkPartitions or None
        What these columns were selected from: it has as many partitions.
    """

    frame: Any
    names: tuple[str, ...]
    reading: Reading
    whole: SparkPartitions | None = None

    @property
    def count(self) -> int | None:
        """How many partitions there are; None where only computing them would tell."""
        return self._count if self.whole is None else self.whole.count

    @cached_property
    def _count(self) -> int | None:
        with redirect_stdout(io.StringIO()) as plan, _in_one_sentence(self.name):
            self.frame.explain()
            if "Exchange" in plan.getvalue():  # what is behind a shuffle would be computed for this alone
                return None
            if not _is_connect(self.frame):
                return int(self.frame.rdd.getNumPartitions())
            numbers = self.frame.selectExpr("spark_partition_id() AS number")  # reads no column
            [[last]] = numbers.agg({"number": "max"}).collect()
            return 0 if last is None else int(last) + 1

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows here, one partition after the other."""
        packed = self._narrow.mapInArrow(_packed, _ROWS)
        with _in_one_sentence(self.name):
            for row in packed.toLocalIterator():
                yield from self._understood([sources.from_stream(row[0])])

    def head(self, rows: int = LOOKED_AT) -> pa.RecordBatch | None:
        """The first rows; None if there are none."""
        with _in_one_sentence(self.name):
            first = self._narrow.limit(rows)
            if not _is_connect(self.frame):
                # As Python objects they are looked for in one partition after the other; as Arrow, in all at once.
                first = self.frame.sparkSession.createDataFrame(first.collect(), first.schema)
            found = list(self._understood(first.toArrow().to_batches()))
        return pa.Table.from_batches(found).combine_chunks().to_batches()[0] if found else None

    def select(self, columns: Sequence[str]) -> SparkPartitions:
        """The same rows with some of the columns, so that no others are read."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        return replace(self, reading=replace(self.reading, schema=schema), whole=self.whole or self)

    def fold(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> T:
        """Run a task on each partition and merge the results in a tree."""
        read = self.select(task.columns)
        files = files_of(read._narrow, read.schema) if task.free and own is None else None
        if files is not None:
            try:
                return read._folded(read._answers_of(files, task), len(files.tasks), task)
            except Declined:
                pass  # what Spark makes of such files only Spark knows
        return read._folded(read._answers(task, packed(own)), self.count, task)

    def _folded(self, answers: Any, count: int | None, task: Task[T]) -> T:
        """The sum of answers that come from so many places."""
        for places in _levels(count):
            answers = answers.repartition(places).mapInArrow(partial(_merged, task), _ANSWER)
        found = self._collected(answers)
        return answer_of(task, found[0] if len(found) == 1 else joined(task, found))

    def each(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> list[T]:
        """Run a task on each partition; the results in the order of the partitions."""
        read = self.select(task.columns)
        return [answer_of(task, one) for one in read._collected(read._answers(task, packed(own)))]

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
        ask = partial(_answered, columns.of, reading, self.names, tuple(kept), tuple(columns.fields))
        return self.frame.mapInArrow(ask, StructType(old + new))

    @property
    def _narrow(self) -> Any:
        """The columns of the schema, in its order."""
        return self.frame.select(*(_number(self.names.index(name)) for name in self.schema.names))

    def _understood(self, rows: Iterable[pa.RecordBatch]) -> sources.Source:
        """Rows that came here, as they are to be read."""
        return self.reading.source(_named(iter(rows), self.schema), "any")

    def _answers(self, task: Task[Any], own: Sequence[bytes] | None) -> Any:
        """What each partition is to answer, as a DataFrame that has not been computed."""
        ask = partial(_asked, task, self.reading, None if own is None else tuple(own))
        return self._narrow.mapInArrow(ask, _ANSWER)

    def _answers_of(self, files: Files, task: Task[Any]) -> Any:
        """The same of files that workers open themselves."""
        numbers = self.frame.sparkSession.range(0, len(files.tasks), 1, len(files.tasks))
        return numbers.mapInArrow(partial(_asked_of, task, self.reading, files), _ANSWER)

    def _collected(self, answers: Any) -> list[bytes]:
        """The answers, in the order of the partitions."""
        with watched(self.frame, self.name, self.count), _in_one_sentence(self.name):
            table = answers.toArrow()
        order = table.column("partition").combine_chunks().sort()
        found = dict(zip(table.column("partition").to_pylist(), table.column("answer").to_pylist(), strict=True))
        return [found[k] for k in order.to_pylist()]


def _levels(count: int | None) -> Iterator[int]:
    """In how many places answers are merged, one level of the tree after the other; the last are merged here."""
    if count is None:  # each may have sent as much as all will be, so that only one should come here
        yield from (FAN_IN, 1)
        return
    while count > FAN_IN:
        count = -(-count // FAN_IN)
        yield count


def _asked(
    task: Task[Any], reading: Reading, own: tuple[bytes, ...] | None, stream: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What one partition answers; run where it lies."""
    k = _partition()
    told = PartitionInfo(k) if own is None else PartitionInfo(k, own[k])
    yield _answer(k, attempted(task, reading, _named(stream, reading.schema), k, told))


def _asked_of(
    task: Task[Any], reading: Reading, files: Files, stream: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What one part of files answers; run by a worker, which opens it."""
    for k in (number.as_py() for batch in stream for number in batch.column(0)):
        rows = files.source(k, reading.schema)
        yield _answer(k, attempted(task, reading, rows, files.label(k), PartitionInfo(k)))


def _merged(task: Task[Any], stream: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Of the answers that came to one place the one of all of them; none if none came."""
    answers = (one.as_py() for batch in stream for one in batch.column(1))
    first = next(answers, None)
    if first is not None:
        yield _answer(_partition(), joined(task, chain([first], answers)))


def _answered(
    work: Callable[[pa.RecordBatch], pa.RecordBatch],
    reading: Reading,
    names: Sequence[str],
    kept: Sequence[int],
    fields: Sequence[pa.Field],
    stream: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """The batches of a partition with answers beside them."""
    k = _partition()
    for batch in stream:
        columns = [batch.column(at) for at in kept]
        rows = pa.RecordBatch.from_arrays(batch.columns, names=list(names))
        told = [work(part) for part in reading.source(rows, k)]
        new = [pa.chunked_array([one.column(f) for one in told], field.type) for f, field in enumerate(fields)]
        all_names = [names[at] for at in kept] + [field.name for field in fields]
        yield pa.RecordBatch.from_arrays(columns + [column.combine_chunks() for column in new], names=all_names)


def _packed(stream: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as a row, so that rows are neither taken apart nor all held at once on their way."""
    for batch in stream:
        packed = sources.as_stream(batch).to_pybytes()
        yield pa.RecordBatch.from_arrays([pa.array([packed], pa.binary())], names=["rows"])


def _named(stream: Iterator[pa.RecordBatch], schema: pa.Schema) -> Any:
    """The batches of a partition, perhaps none, under the names of their columns."""
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
    """The number of the partition that is being worked on."""
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
    """Put what Spark has to say into one sentence."""
    try:
        yield
    except (TallyError, ImportError):
        raise
    except Exception as error:  # not all of what Java throws is made one of pyspark's errors
        raise BadData(in_words(name, str(error))) from error
