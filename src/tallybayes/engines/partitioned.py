"""Rows that lie in partitions elsewhere: on the workers of a cluster, which count them where they are.

What a worker is asked to do is a plain function of this package with bytes for arguments, and what it answers is bytes.
Answers merge in any order and in any tree, so a partition may be empty, and may be counted twice if its worker is lost.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from tallybayes import errors, sources
from tallybayes.errors import TallyError
from tallybayes.sources import Source

__all__ = [
    "FAN_IN",
    "Declined",
    "Merge",
    "PartitionInfo",
    "Partitioned",
    "Reading",
    "Work",
    "answer_of",
    "attempted",
    "joined",
    "partitions_of",
]


class Declined(TallyError):
    """Rows are not what they seemed, and have to be read in another way; never shown to a user."""


class PartitionInfo(NamedTuple):
    """What work on a partition is told besides its rows: the partition's number, from 0, and what is meant for it."""

    partition: int
    own: bytes = b""


Work: TypeAlias = Callable[[Source, PartitionInfo], bytes]
Merge: TypeAlias = Callable[[Iterable[bytes]], bytes]

# So many answers are merged at a time: each worker that merges holds one sum and one answer.
FAN_IN = 16
_DONE, _REFUSED = b"+", b"-"


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


class Partitioned(ABC):
    """Rows in partitions elsewhere; called, they come here, batch by batch, as any other source does."""

    reading: Reading

    @property
    def name(self) -> str:
        """What messages call them."""
        return self.reading.name

    @property
    def schema(self) -> pa.Schema:
        """The fields that all partitions have."""
        return self.reading.schema

    @property
    @abstractmethod
    def count(self) -> int | None:
        """How many partitions there are, where that is known."""

    @abstractmethod
    def __call__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows here, one partition after the other."""

    @abstractmethod
    def head(self, rows: int) -> pa.RecordBatch | None:
        """The first rows; None if there are none."""

    @abstractmethod
    def select(self, columns: Sequence[str]) -> Partitioned:
        """The same rows with some of the columns, so that no others are read."""

    @abstractmethod
    def fold(self, work: Work, merge: Merge, own: Sequence[bytes] | None = None, *, free: bool = False) -> bytes:
        """Do work on each partition, where it lies, and merge the answers in a tree.

        Parameters
        ----------
        work : callable
            Takes the rows of a partition and what it is told.
        merge : callable
            Takes several answers; must not care for their order.
        own : sequence of bytes, optional
            What each partition alone is told, by its number.
        free : bool
            Whether rows may be cut into other parts than these partitions, where that is faster.

        Raises
        ------
        TallyError
            What a worker had to say against its rows.
        """

    @abstractmethod
    def each(self, work: Work, own: Sequence[bytes] | None = None) -> list[bytes]:
        """Do work on each partition, where it lies; the answers in the order of the partitions."""

    @abstractmethod
    def map(
        self, work: Callable[[pa.RecordBatch], pa.RecordBatch], fields: Sequence[pa.Field], columns: Sequence[str]
    ) -> Any:
        """The same kind of collection, with these fields added; nothing is computed yet.

        Parameters
        ----------
        work : callable
            Makes the new columns of a batch of rows.
        fields : sequence of Field
            What the new columns are.
        columns : sequence of str
            The columns that `work` is given.
        """

    def source(self) -> Source:
        """As any other source of rows."""
        return Source(self.schema, None, True, self.name, self)


def partitions_of(source: Source) -> Partitioned | None:
    """The partitions that a source consists of, if its rows lie elsewhere."""
    return source.start if isinstance(source.start, Partitioned) else None


def attempted(work: Work, reading: Reading, rows: Any, partition: object, told: PartitionInfo) -> bytes:
    """The answer of one partition, which messages call so: what work made of it, or why it is refused.

    An error of the rows is an answer, not a failure: an engine would try again what cannot succeed.
    """
    try:
        return _DONE + work(reading.source(rows, partition), told)
    except TallyError as error:
        sentence = str(error)
        if not sentence.startswith(reading.name):
            sentence = f"{reading.place(partition)}, {sentence}"
        return _REFUSED + json.dumps([type(error).__name__, sentence]).encode()


def joined(merge: Merge, answers: Iterable[bytes]) -> bytes:
    """Of several answers the one of all of them: merged, or the first reason to refuse."""
    refused: list[bytes] = []

    def fine() -> Iterator[bytes]:
        for one in answers:
            if one.startswith(_REFUSED):
                refused.append(one)
                return
            yield one[1:]

    total = merge(fine())
    return refused[0] if refused else _DONE + total


def answer_of(answer: bytes) -> bytes:
    """What was made of all rows; raises where something was refused."""
    if answer.startswith(_DONE):
        return answer[1:]
    kind, sentence = json.loads(answer[1:])
    known = Declined if kind == Declined.__name__ else getattr(errors, kind, errors.BadData)
    raise known(sentence)
