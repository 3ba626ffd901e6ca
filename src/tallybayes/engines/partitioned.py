"""Rows in partitions, wherever they are: the one interface to count, score and predict them.

A task runs on each partition where its rows are. On this machine there is one partition, threads share the work and
results are objects. The workers of a cluster receive the task and send back its results as bytes. Results merge in any
order and in any tree, so a partition may be empty, and may be counted again if its worker is lost.
"""

from __future__ import annotations

import json
import pickle
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

import pyarrow as pa

from tallybayes import errors, sources
from tallybayes.errors import BadData, BadOption, TallyError, did_you_mean, wanted
from tallybayes.sources import Source
from tallybayes.sources.column_readings import warn_of_left_out
from tallybayes.sources.position import Trail

T = TypeVar("T")
# Answers merged at a time; a worker that merges holds one sum and one answer.
FAN_IN = 16
# Rows read to infer the type of a text column.
HEAD_ROWS = 1000
_DONE, _REFUSED = b"+", b"-"
_LEFT_OUT = struct.Struct("<qq")  # between "+" and the result: the rows without a class, and all rows


class Declined(TallyError):
    """Files differ from their collection's schema and must be read by the engine; never shown to a user."""


class PartitionInfo(NamedTuple):
    """A partition's number from 0, its own data, and the number of threads that may work on it."""

    partition: int
    own: Any = None
    threads: int = 1


class Task(ABC, Generic[T]):
    """Work on the rows of each partition; pickled for a cluster."""

    columns: Sequence[str]  # the columns that it reads

    @property
    def free(self) -> bool:
        """Whether rows may be split into other parts than the partitions, where that is faster."""
        return False

    @abstractmethod
    def run(self, rows: Source, info: PartitionInfo) -> T:
        """Return the result for the rows of one partition."""

    @abstractmethod
    def pack(self, result: T) -> bytes:
        """Return a result as bytes."""

    @abstractmethod
    def unpack(self, content: bytes) -> T:
        """Return the result that was packed."""


class MergeTask(Task[T]):
    """A task whose results merge into one."""

    @abstractmethod
    def zero(self) -> T:
        """Return the result for no rows: the identity of `merge`."""

    @abstractmethod
    def merge(self, one: T, other: T) -> T:
        """Return the result for the rows of both; the order must not matter."""


class Columns(ABC):
    """Columns to add to rows; pickled for a cluster."""

    fields: Sequence[pa.Field]  # the new columns
    reads: Sequence[str]  # the columns that they are computed from

    @abstractmethod
    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the new columns for a batch of rows."""


class Partitioned(ABC):
    """Rows in partitions; iteration brings them to this machine batch by batch."""

    @property
    def trail(self) -> Trail | None:
        """The reading position, for files; None for rows that can only be read from the start."""
        return None

    @property
    @abstractmethod
    def missing_values(self) -> sources.MissingValues:
        """The texts that stand for a missing value."""

    @property
    @abstractmethod
    def readings(self) -> sources.ColumnReadings | None:
        """How the columns were read; None if they are as they came."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the rows in messages."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The fields that all partitions have."""

    @property
    @abstractmethod
    def count(self) -> int | None:
        """The number of partitions; None where only reading them would tell."""

    @property
    def may_lack_columns(self) -> bool:
        """Whether rows without some columns of a model are scored, not refused."""
        return False

    @abstractmethod
    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows to this machine, one partition after the other."""

    @abstractmethod
    def head(self, rows: int = HEAD_ROWS) -> pa.RecordBatch | None:
        """Return the first rows, or the whole first batch; None if there are none."""

    @abstractmethod
    def here(self) -> Source:
        """Return the rows as a source, which brings them to this machine as it is read."""

    @abstractmethod
    def read_as(self, readings: sources.ColumnReadings) -> Partitioned:
        """Return the same rows with their columns read, and without rows that have no class."""

    @abstractmethod
    def attach(self, name: str, values: Any) -> tuple[Partitioned, str]:
        """Return the rows with one more column, under a free name like `name`, and that name."""

    @abstractmethod
    def buffered(self) -> Partitioned:
        """Return the same rows in a form that can be read several times."""

    @abstractmethod
    def fold(self, task: MergeTask[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> T:
        """Run a task on each partition and merge the results.

        `own` holds data for each partition alone, by its number. An error about the rows names the partition.
        """

    @abstractmethod
    def each(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> list[T]:
        """Run a task on each partition; return the results in the order of the partitions."""

    @abstractmethod
    def map(self, here: Callable[[Source], T], columns: Callable[[], Columns]) -> T:
        """Return the result of `here` for local rows; for others, the collection with columns added."""


@dataclass(frozen=True)
class Reading:
    """How to interpret the rows of a partition, wherever they are read."""

    schema: pa.Schema  # the types that all partitions have in common, before they are read
    markers: sources.Markers  # texts that stand for a missing value
    name: str  # the name of the rows in messages
    cast: bool = True  # whether to cast a partition of other types to these, rather than take it as it is
    readings: sources.ColumnReadings | None = None  # how columns are read
    said: list[str] = field(default_factory=list, compare=False, repr=False)  # on this machine, of rows left out

    def source(self, rows: Any, partition: object, tell: Callable[[int, int], None] = lambda *_: None) -> Source:
        """Return the rows of one partition, with the common columns; `tell` gets the rows left out, and all."""
        marked = self.markers
        options = sources.ReadOptions(marked.missing)
        source = sources.open_source(rows, options, label=marked.label, documents=marked.documents)
        source = replace(source, name=self.place(partition))
        source = sources.conform(source, {field.name: field.type for field in self.schema}, cast=self.cast)
        return source if self.readings is None else self.readings.read(source, tell)

    @property
    def label(self) -> str | None:
        """The column of classes, if rows without one are left out."""
        return None if self.readings is None else self.readings.label

    def warn(self, left: int, rows: int) -> None:
        """Say how many rows were left out for want of a class, once."""
        warn_of_left_out(self.label, left, rows, self.said)

    @property
    def fields(self) -> pa.Schema:
        """The types that all partitions have when they are read."""
        return self.schema if self.readings is None else self.readings.fields(self.schema)

    def select(self, columns: Sequence[str]) -> Reading:
        """Return the reading of some columns, which may be parts of those that are stored.

        A label by which rows are left out is read with them, so that all passes are over the same rows.
        """
        columns = columns if self.label is None else list(dict.fromkeys([*columns, self.label]))
        inputs = columns if self.readings is None else self.readings.inputs(columns)
        return replace(self, schema=pa.schema([self.schema.field(name) for name in inputs]))

    def place(self, partition: object) -> str:
        """Return the name of one partition in messages."""
        return f"{self.name}, partition {partition}"


class Remote(Partitioned):
    """Rows on the workers of a cluster."""

    reading: Reading

    @property
    def name(self) -> str:
        """The name of the rows in messages."""
        return self.reading.name

    @property
    def schema(self) -> pa.Schema:
        """The fields that all partitions have."""
        return self.reading.fields

    @property
    def missing_values(self) -> sources.MissingValues:
        """The texts that stand for a missing value."""
        return self.reading.markers.missing

    @property
    def readings(self) -> sources.ColumnReadings | None:
        """How the columns are read by the workers."""
        return self.reading.readings

    def read_as(self, readings: sources.ColumnReadings) -> Remote:
        """Return the same rows with their columns read, and without rows that have no class."""
        return replace(self, reading=replace(self.reading, readings=readings))  # type: ignore[type-var]

    def results(self, task: Task[T], answers: Sequence[bytes]) -> list[T]:
        """Return the results in answers; say how many rows had no class, and raise if rows were refused."""
        found = [answer_of(task, one) for one in answers]
        self.reading.warn(sum(one.left_out for one in found), sum(one.rows for one in found))
        return [one.result for one in found]

    @abstractmethod
    def select(self, columns: Sequence[str]) -> Remote:
        """Return the same rows with some of the columns, so that no others are read."""

    @abstractmethod
    def with_columns(self, columns: Columns) -> Any:
        """Return the same kind of collection with columns added; nothing is computed yet."""

    def here(self) -> Source:
        """Return the rows as a source, which brings them to this machine as it is read."""
        return Source(self.schema, None, True, self.name, self.__iter__)

    def attach(self, name: str, values: Any) -> tuple[Partitioned, str]:
        """Refuse a column given as values."""
        got, do = f"a {type(values).__name__}", "Add it to the collection first: its rows have no fixed order"
        raise BadOption(wanted(name, "the name of a column", got, do))

    def buffered(self) -> Remote:
        """Return the same rows: what a cluster keeps in memory is the user's decision."""
        return self

    def map(self, here: Callable[[Source], T], columns: Callable[[], Columns]) -> T:
        """Return the same collection with columns added."""
        added, have = columns(), self.schema.names
        for name in added.reads:
            if name not in have:
                got, do = "none of that name", did_you_mean(name, have)
                raise BadData(wanted(self.name, f"a column {name!r} as in training", got, do))
        for new in added.fields:
            if new.name in have:
                want = f"no column {new.name!r}, the name of a result"
                raise BadOption(wanted(self.name, want, "one", "Rename it first"))
        whole = self if self.readings is None else self.read_as(replace(self.readings, label=None))
        return whole.with_columns(added)  # type: ignore[no-any-return]


def attempted(task: Task[T], reading: Reading, rows: Any, partition: object, info: PartitionInfo) -> bytes:
    """Return the packed result of one partition, or the reason why its rows are refused.

    `partition` is its name in messages. Invalid rows are an answer and not a failure, which the engine would retry.
    """
    try:
        info = info._replace(own=None if info.own is None else pickle.loads(info.own))
        counted = [(0, 0)]
        source = reading.source(rows, partition, lambda *last: counted.__setitem__(0, last))
        result = task.run(source, info)
        return _DONE + _LEFT_OUT.pack(*counted[0]) + task.pack(result)
    except TallyError as error:
        sentence = str(error)
        if not sentence.startswith(reading.name):
            sentence = f"{reading.place(partition)}, {sentence}"
        return _REFUSED + json.dumps([type(error).__name__, sentence]).encode()


def packed(own: Sequence[Any] | None) -> list[bytes] | None:
    """Return each partition's own data as bytes, as `attempted` takes it."""
    return None if own is None else [pickle.dumps(one) for one in own]


def joined(task: MergeTask[T], answers: Iterable[bytes]) -> bytes:
    """Return the one answer for several: merged, or the first reason to refuse."""
    total, left, rows = task.zero(), 0, 0
    for answer in answers:
        if answer.startswith(_REFUSED):
            return answer
        one = answer_of(task, answer)
        total, left, rows = task.merge(total, one.result), left + one.left_out, rows + one.rows
    return _DONE + _LEFT_OUT.pack(left, rows) + task.pack(total)


class PartitionResult(NamedTuple, Generic[T]):
    """The result of a task, the rows left out for want of a class, and all rows where they were counted."""

    result: T
    left_out: int
    rows: int


def answer_of(task: Task[T], answer: bytes) -> PartitionResult[T]:
    """Return what is in an answer; raise if the rows were refused."""
    if answer.startswith(_DONE):
        counted = _LEFT_OUT.unpack_from(answer, 1)
        return PartitionResult(task.unpack(answer[1 + _LEFT_OUT.size :]), *counted)
    kind, sentence = json.loads(answer[1:])
    known = Declined if kind == Declined.__name__ else getattr(errors, kind, errors.BadData)
    raise known(sentence)
