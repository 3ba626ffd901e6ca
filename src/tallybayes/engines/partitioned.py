"""Rows in partitions, wherever they are: the one interface by which rows are counted, scored and predicted.

A task is run on each partition where its rows are. On this machine there is one partition, threads share the work and
results are handed over as objects. The workers of a cluster are sent the task, and send back its results as bytes.
Results merge in any order and in any tree, so a partition may be empty, and may be counted twice if its worker is lost.
"""

from __future__ import annotations

import json
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import pyarrow as pa

from tallybayes import errors, sources
from tallybayes.errors import BadData, BadOption, TallyError, did_you_mean, wanted
from tallybayes.sources import Source
from tallybayes.sources.position import Trail

__all__ = [
    "FAN_IN",
    "Columns",
    "Declined",
    "PartitionInfo",
    "Partitioned",
    "Reading",
    "Remote",
    "Task",
    "answer_of",
    "attempted",
    "joined",
    "packed",
]

T = TypeVar("T")
# So many answers are merged at a time: each worker that merges holds one sum and one answer.
FAN_IN = 16
# As many rows are looked at to find what a column of text is.
LOOKED_AT = 1000
_DONE, _REFUSED = b"+", b"-"


class Declined(TallyError):
    """Rows are not what they seemed, and have to be read in another way; never shown to a user."""


class PartitionInfo(NamedTuple):
    """A partition's number from 0, what is meant for it alone, and how many threads may work on it."""

    partition: int
    own: Any = None
    threads: int = 1


class Task(ABC, Generic[T]):
    """Work on the rows of each partition. It is pickled on its way to a cluster.

    Attributes
    ----------
    columns : sequence of str
        The columns that it reads.
    free : bool
        Whether rows may be cut into other parts than the partitions, where that is faster.
    """

    columns: Sequence[str]

    @property
    def free(self) -> bool:
        """Whether rows may be cut into other parts than the partitions."""
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

    def zero(self) -> T:
        """Return the result for no rows: the identity of `merge`."""
        raise NotImplementedError

    def merge(self, one: T, other: T) -> T:
        """Return the result for the rows of both; the order must not matter."""
        raise NotImplementedError


class Columns(ABC):
    """Columns to be added to rows. It is pickled on its way to a cluster.

    Attributes
    ----------
    fields : sequence of Field
        What the new columns are.
    reads : sequence of str
        The columns that they are made of.
    """

    fields: Sequence[pa.Field]
    reads: Sequence[str]

    @abstractmethod
    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the new columns for a batch of rows."""


class Partitioned(ABC):
    """Rows in partitions; iterated, they come here batch by batch."""

    @property
    def trail(self) -> Trail | None:
        """Of files, where a pass over them is; None for what cannot be read from a place in its midst."""
        return None

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages call the rows."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The fields that all partitions have."""

    @property
    @abstractmethod
    def count(self) -> int | None:
        """How many partitions there are; None where only reading them would tell."""

    @abstractmethod
    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows here, one partition after the other."""

    @abstractmethod
    def head(self, rows: int = LOOKED_AT) -> pa.RecordBatch | None:
        """Return the first rows, or the whole first batch; None if there are none."""

    @abstractmethod
    def here(self) -> Source:
        """Return the rows as a source, which brings them here as it is read."""

    @abstractmethod
    def attach(self, name: str, values: Any) -> tuple[Partitioned, str]:
        """Return the rows with one more column, under a free name like `name`, and that name."""

    @abstractmethod
    def buffered(self) -> Partitioned:
        """Return the same rows, to be read several times."""

    @abstractmethod
    def fold(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> T:
        """Run a task on each partition and merge the results.

        Parameters
        ----------
        task : Task
            What to do; it must have `zero` and `merge`.
        own : sequence, optional
            What each partition alone is given, by its number.
        threads : int
            How many threads work, of rows that are here.

        Raises
        ------
        TallyError
            What is wrong with the rows, the partition named.
        """

    @abstractmethod
    def each(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> list[T]:
        """Run a task on each partition; the results in the order of the partitions."""

    @abstractmethod
    def map(self, here: Callable[[Source], T], columns: Callable[[], Columns]) -> T:
        """Return what `here` makes of rows on this machine; of others, the same collection with columns added."""


@dataclass(frozen=True)
class Reading:
    """How the rows of a partition are to be understood, wherever they are read.

    Attributes
    ----------
    schema : pyarrow.Schema
        The types that all partitions have in common.
    missing : sequence of str
        Texts that stand for a missing value.
    name : str
        What messages call all of the rows.
    cast : bool
        Whether a partition that has other types is brought into these, rather than taken as it is.
    """

    schema: pa.Schema
    missing: Sequence[str]
    name: str
    cast: bool = True

    def source(self, rows: Any, partition: object) -> Source:
        """The rows of one partition, with the columns that all have."""
        source = replace(sources.read(rows, missing=self.missing), name=self.place(partition))
        return sources.conform(source, {field.name: field.type for field in self.schema}, cast=self.cast)

    def place(self, partition: object) -> str:
        """What messages call one partition."""
        return f"{self.name}, partition {partition}"


class Remote(Partitioned):
    """Rows on the workers of a cluster."""

    reading: Reading

    @property
    def name(self) -> str:
        """What messages call the rows."""
        return self.reading.name

    @property
    def schema(self) -> pa.Schema:
        """The fields that all partitions have."""
        return self.reading.schema

    @abstractmethod
    def select(self, columns: Sequence[str]) -> Remote:
        """Return the same rows with some of the columns, so that no others are read."""

    @abstractmethod
    def with_columns(self, columns: Columns) -> Any:
        """Return the same kind of collection with columns added; nothing is computed yet."""

    def here(self) -> Source:
        """Return the rows as a source, which brings them here as it is read."""
        return Source(self.schema, None, True, self.name, self.__iter__)

    def attach(self, name: str, values: Any) -> tuple[Partitioned, str]:
        """Refuse a column given as values."""
        got, do = f"a {type(values).__name__}", "Put it among the columns first: rows elsewhere have no order to go by"
        raise BadOption(wanted(name, "the name of a column", got, do))

    def buffered(self) -> Remote:
        """Return the same rows: a cluster keeps what it was asked to."""
        return self

    def map(self, here: Callable[[Source], T], columns: Callable[[], Columns]) -> T:
        """Return the same collection with columns added."""
        added, have = columns(), self.schema.names
        for name in added.reads:
            if name not in have:
                got, do = "none of that name", did_you_mean(name, have)
                raise BadData(wanted(self.name, f"a column {name!r} as in training", got, do))
        for field in added.fields:
            if field.name in have:
                want = f"no column {field.name!r}, which is what the answers are called"
                raise BadOption(wanted(self.name, want, "one", "Rename it first"))
        return self.with_columns(added)  # type: ignore[no-any-return]


def attempted(task: Task[T], reading: Reading, rows: Any, partition: object, info: PartitionInfo) -> bytes:
    """Return the packed result of one partition, which messages call so, or why it is refused.

    An error of the rows is an answer, not a failure: an engine would try again what cannot succeed.
    """
    try:
        info = info._replace(own=None if info.own is None else pickle.loads(info.own))
        return _DONE + task.pack(task.run(reading.source(rows, partition), info))
    except TallyError as error:
        sentence = str(error)
        if not sentence.startswith(reading.name):
            sentence = f"{reading.place(partition)}, {sentence}"
        return _REFUSED + json.dumps([type(error).__name__, sentence]).encode()


def packed(own: Sequence[Any] | None) -> list[bytes] | None:
    """Return what each partition alone is given as bytes, as `attempted` takes it."""
    return None if own is None else [pickle.dumps(one) for one in own]


def joined(task: Task[T], answers: Iterable[bytes]) -> bytes:
    """Return the one answer for several: merged, or the first reason to refuse."""
    total = task.zero()
    for answer in answers:
        if answer.startswith(_REFUSED):
            return answer
        total = task.merge(total, task.unpack(answer[1:]))
    return _DONE + task.pack(total)


def answer_of(task: Task[T], answer: bytes) -> T:
    """Return the result in an answer; raise where the rows were refused."""
    if answer.startswith(_DONE):
        return task.unpack(answer[1:])
    kind, sentence = json.loads(answer[1:])
    known = Declined if kind == Declined.__name__ else getattr(errors, kind, errors.BadData)
    raise known(sentence)
