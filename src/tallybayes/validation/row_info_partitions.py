"""Rows that lie elsewhere, noted there as they are counted: their classes, weights, groups and order travel beside.

Partitions are gone through again for each pass, where they lie. What was noted of a partition the first time seals it:
one that has other rows the next time, or the same in another order, is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.categories import Categories
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.engines import Partitioned, PartitionInfo
from tallybayes.engines.partitioned import Merge, Reading, Work
from tallybayes.errors import BadData, wanted
from tallybayes.evidence.evidence import class_codes, row_weights
from tallybayes.schema.schema import Schema
from tallybayes.sources import Source
from tallybayes.validation.row_info import LocalRows, Notes, RecordingSource, RowInfo, check_named, hidden_of
from tallybayes.validation.split import IntCodes

__all__ = ["Arrived", "PartitionedRows", "RecordingPartitions", "again"]

_SEAL_BYTES = 16
_ANSWER = -1


@dataclass
class _Heard:
    """What was noted of each partition when all were last counted, and which columns of them were read."""

    partitions: Partitioned | None = None
    notes: dict[int, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class _Noting(Partitioned):
    """Partitions of which, whenever they are folded, some columns are noted beside."""

    partitions: Partitioned
    reading: Reading
    noted: tuple[str, ...]
    heard: _Heard

    @property
    def count(self) -> int | None:
        """How many partitions there are, where that is known."""
        return self.partitions.count

    def __call__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows here, one partition after the other."""
        return self.partitions.select(self.schema.names)()

    def head(self, rows: int) -> pa.RecordBatch | None:
        """The first rows; None if there are none."""
        return self.partitions.select(self.schema.names).head(rows)

    def select(self, columns: Sequence[str]) -> _Noting:
        """The same rows with some of the columns, besides those that are noted."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        return replace(self, reading=replace(self.reading, schema=schema))

    def fold(self, work: Work, merge: Merge, own: Sequence[bytes] | None = None, *, free: bool = False) -> bytes:
        """Do work on each partition, note its rows, and merge the answers in a tree."""
        # What is read again has to be read by the same columns: of fewer, an engine may make larger partitions.
        read = self.partitions.select(list(dict.fromkeys([*self.schema.names, *self.noted])))
        there = partial(_noted_there, work, tuple(self.schema.names), self.noted)
        answer, notes = _opened(read.fold(there, partial(_merged_there, merge), own))
        self.heard.partitions, self.heard.notes = read, notes
        return answer

    def each(self, work: Work, own: Sequence[bytes] | None = None) -> list[bytes]:
        """Do work on each partition; nothing is noted."""
        return self.partitions.select(self.schema.names).each(work, own)

    def map(
        self, work: Callable[[pa.RecordBatch], pa.RecordBatch], fields: Sequence[pa.Field], columns: Sequence[str]
    ) -> Any:
        """The same kind of collection, with these fields added."""
        return self.partitions.map(work, fields, columns)


class RecordingPartitions:
    """Partitions whose rows are noted as they are counted.

    Parameters
    ----------
    partitions : Partitioned
        The rows.
    label, weight : str
        The columns of classes and of weights.
    beside : mapping of str to str
        The columns of groups, folds or order, by what they are.
    aside : bool
        Whether those are no features: they are then not handed on.
    """

    def __init__(
        self, partitions: Partitioned, label: str, weight: str | None, beside: Mapping[str, str], *, aside: bool
    ) -> None:
        check_named(partitions.source(), beside)
        self._label, self._weight, self._beside, self._heard = label, weight, dict(beside), _Heard()
        named = [label, *([] if weight is None else [weight]), *beside.values()]
        noted = tuple(dict.fromkeys(name for name in named if name in partitions.schema.names))
        hidden = hidden_of(label, weight, beside, aside=aside)
        shown = pa.schema([field for field in partitions.schema if field.name not in hidden])
        self.source = _Noting(partitions, replace(partitions.reading, schema=shown), noted, self._heard).source()

    def kept(self, classes: Categories) -> PartitionedRows:
        """What was noted, once all rows have been counted; `classes` are those that the evidence knows."""
        partitions, notes = self._heard.partitions, self._heard.notes
        assert partitions is not None, "counted"
        each = [sources.plain(sources.from_stream(notes[k])) for k in range(len(notes))]
        known = Notes(self._label, self._weight, self._beside)
        for batch in pa.concat_tables(map(_table, each), promote_options="permissive").to_batches():
            if batch.num_rows:
                known.add(batch)
        return PartitionedRows(
            **known.known(classes),
            partitions=partitions,
            sizes=tuple(batch.num_rows for batch in each),
            seals=tuple(_seal_of(batch, self._label, self._weight) for batch in each),
        )


@dataclass(frozen=True)
class PartitionedRows(RowInfo):
    """Rows that can be gone through again where they lie.

    Attributes
    ----------
    partitions : Partitioned
        The rows.
    sizes : tuple of int
        How many rows each partition has.
    seals : tuple of bytes
        By what each partition is known to be the same when it is read again.
    """

    partitions: Partitioned
    sizes: tuple[int, ...]
    seals: tuple[bytes, ...]

    def slices(self) -> list[slice]:
        """Where the rows of each partition stand among all."""
        ends = np.cumsum(self.sizes).tolist()
        return [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]

    def own(self, place: IntCodes | None = None) -> list[bytes]:
        """What each partition is told: its seal, how many rows come before it, and the folds of its rows, (R, n)."""
        place = np.zeros((0, len(self)), np.int32) if place is None else place
        # In as few bytes as will do: these are the only ones that grow with the rows.
        narrow = place.astype(np.min_scalar_type(-1 - int(place.max(initial=0))).newbyteorder("<"))
        return [
            seal + np.array([at.start, len(place), narrow.itemsize], "<i8").tobytes() + narrow[:, at].tobytes()
            for seal, at in zip(self.seals, self.slices(), strict=True)
        ]


class Arrived(NamedTuple):
    """The rows of a partition, gone through again where they lie.

    Attributes
    ----------
    kept : LocalRows
        The rows.
    first : int
        How many rows come before them, in other partitions.
    place : ndarray of int32, shape (R, n)
        The fold of each in each repeat.
    """

    kept: LocalRows
    first: int
    place: IntCodes


def again(rows: Source, told: PartitionInfo, schema: Schema, classes: Categories | None = None) -> Arrived | None:
    """The rows of a partition, if they are those that were counted; None if there are none. Run where they lie.

    Parameters
    ----------
    rows : Source
        The partition.
    told : PartitionInfo
        What it was told by `PartitionedRows.own`.
    schema : Schema
        Which columns are label and weight.
    classes : Categories, optional
        The classes that the evidence knows, where it matters.
    """
    table = pa.Table.from_batches(list(rows), rows.schema)
    named = [name for name in (schema.label, schema.weight) if name is not None]
    if _seal_of(_one(table.select(named)), schema.label, schema.weight) != told.own[:_SEAL_BYTES]:
        do = "Persist the collection before it is validated, or read it in an order that stays"
        raise BadData(wanted(rows.name, "the same rows in the same order for each pass", "others", do))
    if not table.num_rows:
        return None
    watched = RecordingSource(
        replace(rows, rows=table.num_rows, again=True, start=table.to_batches),
        schema.label,
        schema.weight,
        {},
        aside=False,
    )
    for _ in watched.source:
        pass
    first, repeats, width = np.frombuffer(told.own, "<i8", 3, _SEAL_BYTES).tolist()
    place = (
        np.frombuffer(told.own, f"<i{width}", offset=_SEAL_BYTES + 24).reshape(repeats, table.num_rows).astype(np.int32)
    )
    return Arrived(watched.kept(Categories.of([]) if classes is None else classes), first, place)


def _seal_of(batch: pa.RecordBatch, label: str, weight: str | None) -> bytes:
    """A digest of the rows' classes and weights, and so of their number and, as far as these tell, of their order."""
    digest = hashlib.blake2b(digest_size=_SEAL_BYTES)
    if batch.num_rows:
        rows = RowBatch(batch)
        codes, labels = class_codes(rows, label)
        digest.update(repr(labels.values).encode("utf-8", "surrogatepass"))
        digest.update(codes.astype("<i4").tobytes())
        weights = row_weights(rows, weight)
        digest.update(b"" if weights is None else weights.astype("<f8").tobytes())
    return digest.digest()


def _noted_there(work: Work, shown: Sequence[str], noted: Sequence[str], rows: Source, told: PartitionInfo) -> bytes:
    """What work makes of the rows of one partition, and beside it what is noted of them; run where they lie."""
    held: list[pa.RecordBatch] = []

    def start() -> Iterator[pa.RecordBatch]:
        held.clear()
        for batch in rows:
            held.append(batch.select(noted))
            yield batch.select(shown)

    fields = rows.schema
    answer = work(replace(rows, schema=pa.schema([fields.field(name) for name in shown]), start=start), told)
    table = pa.Table.from_batches(held, pa.schema([fields.field(name) for name in noted]))
    note = sources.as_stream(_short(_one(table)), "zstd").to_pybytes()
    return _packed(answer, {told.partition: note})


def _merged_there(merge: Merge, packed: Iterable[bytes]) -> bytes:
    notes: dict[int, bytes] = {}

    def answers() -> Iterator[bytes]:
        for one in packed:
            answer, some = _opened(one)
            notes.update(some)
            yield answer

    total = merge(answers())
    return _packed(total, notes)


def _packed(answer: bytes, notes: Mapping[int, bytes]) -> bytes:
    parts = pa.array([answer, *notes.values()], pa.large_binary())
    numbers = pa.array([_ANSWER, *notes], pa.int64())
    return bytes(sources.as_stream(pa.record_batch({"partition": numbers, "content": parts})))


def _opened(content: bytes) -> tuple[bytes, dict[int, bytes]]:
    batch = sources.from_stream(content)
    parts = dict(zip(batch.column("partition").to_pylist(), batch.column("content").to_pylist(), strict=True))
    return parts.pop(_ANSWER), parts


def _one(table: pa.Table) -> pa.RecordBatch:
    parts = table.unify_dictionaries().combine_chunks().to_batches()
    return parts[0] if parts else pa.RecordBatch.from_pylist([], table.schema)


def _short(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Each text once, as classes and groups repeat."""
    for k, one in enumerate(batch.schema):
        if pa.types.is_string(one.type) or pa.types.is_large_string(one.type):
            column = pc.dictionary_encode(batch.column(k))
            batch = batch.set_column(k, one.with_type(column.type), column)
    return batch


def _table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])
