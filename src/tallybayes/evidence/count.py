"""One pass over all rows, wherever they are: their evidence, a calibration sample, and some columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import engines, sources
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.evidence.carried import Carried
from tallybayes.evidence.evidence import Evidence, count_rows
from tallybayes.evidence.partial import KeptColumns, PartialEvidence, open_partial
from tallybayes.evidence.row_hash import RowHashes
from tallybayes.evidence.row_sample import MOST_ROWS, BottomKSample, room_for
from tallybayes.schema.schema import Schema

__all__ = ["Count", "Summing", "count", "needed", "sample", "share_of"]

# Bytes. Sparse rows are counted in one slice: each slice has sums as wide as the columns, and costs a merge of them.
_WHOLE = 1 << 62
# Bytes of a slice of a matrix, which is not copied: each slice has several sums for each column to find and to merge.
_MATRIX = 256 << 20
# Rows of a slice of a matrix: the fewest, however wide it is, and those that one thread counts sooner than two threads
# and a merge; and the bytes of such a slice.
_LEAST_ROWS, _ENOUGH_ROWS, _ENOUGH = 256, 1 << 14, 4 << 20
# Rows of a first batch from which on counts may be carried to the next; with fewer, it is likely to be the only one.
_MANY_ROWS = 1 << 14
# Bytes. A merge of vocabularies costs their length, however few the rows, so small batches of text are joined.
_TOGETHER = 32 << 20


def count(
    schema: Schema,
    rows: engines.Partitioned,
    threads: int,
    *,
    sampled: bool = False,
    rows_needed: Callable[[int], int] | None = None,
    keep: Sequence[str] = (),
) -> PartialEvidence:
    """Count all rows.

    Parameters
    ----------
    schema : Schema
        The type of each column.
    rows : Partitioned
        The rows.
    threads : int
        The number of threads, for rows on this machine.
    sampled : bool
        Whether to take the sample that calibrates a model.
    rows_needed : callable, optional
        Takes the number of classes of some of the rows, and returns how many sampled rows are enough.
    keep : sequence of str
        Columns to return as they are, partition by partition.
    """
    return _run(Count(schema, sampled=sampled, rows_needed=rows_needed, keep=tuple(keep)), rows, threads)


def sample(schema: Schema, rows: engines.Partitioned, threads: int) -> BottomKSample:
    """Return the sample of all rows that calibrates a model."""
    found = _run(Count(schema, counted=False, sampled=True), rows, threads).chosen
    assert found is not None
    return found


def _run(task: Count, rows: engines.Partitioned, threads: int) -> PartialEvidence:
    """Run a task; a second pass samples more rows of each partition if the first took too few."""
    share = 1.0 if rows.count is None else share_of(rows.count)
    found = rows.fold(replace(task, share=share), threads=threads)
    if found.chosen is not None and not found.chosen.complete:
        found = rows.fold(replace(task, share=1.0), threads=threads)
    return found


def needed(schema: Schema) -> list[str]:
    """Return the columns that are read: features, label and weight."""
    also = [schema.label] if schema.weight is None else [schema.label, schema.weight]
    return list(dict.fromkeys([*schema.columns, *also]))


def share_of(partitions: int) -> float:
    """Return the fraction of the sample each of n partitions sends: twice its expected share plus a margin."""
    expected = MOST_ROWS / max(1, partitions)
    return float(min(1.0, (2 * expected + 10 * expected**0.5 + 10) / MOST_ROWS))


class Summing(engines.MergeTask[PartialEvidence]):
    """A task whose results are partial evidence."""

    schema: Schema

    def merge(self, one: PartialEvidence, other: PartialEvidence) -> PartialEvidence:
        """Return the sum."""
        return one + other

    def pack(self, result: PartialEvidence) -> bytes:
        """Return a result as bytes."""
        return result.pack()

    def unpack(self, content: bytes) -> PartialEvidence:
        """Return the result that was packed."""
        return open_partial(content, self.schema)


@dataclass(frozen=True)
class Count(Summing):
    """A pass that counts rows, samples them and keeps columns.

    Attributes
    ----------
    schema : Schema
        The type of each column.
    counted, sampled : bool
        Whether to count the rows, and to sample them.
    share : float
        The fraction of the sample that each partition sends.
    rows_needed : callable, optional
        Takes the number of classes of some of the rows, and returns how many sampled rows are enough.
    keep : tuple of str
        Columns to return as they are.
    """

    schema: Schema
    counted: bool = True
    sampled: bool = False
    share: float = 1.0
    rows_needed: Callable[[int], int] | None = None
    keep: tuple[str, ...] = ()

    @property
    def free(self) -> bool:
        """Whether other parts than the partitions will do; kept columns belong to partitions read again later."""
        return not self.keep

    @property
    def columns(self) -> Sequence[str]:  # type: ignore[override]
        """The columns that it reads."""
        return list(dict.fromkeys([*needed(self.schema), *self.keep]))

    def zero(self) -> PartialEvidence:
        """Return the result for no rows."""
        return PartialEvidence(Evidence.empty(self.schema), BottomKSample(self.schema) if self.sampled else None)

    def run(self, rows: sources.Source, info: engines.PartitionInfo) -> PartialEvidence:
        """Count the rows of one partition."""
        found = self.over(rows, info.threads)
        if self.keep:
            kept = [one.batch() for one in found.kept] or [self._kept(pa.RecordBatch.from_pylist([], rows.schema))]
            found = replace(found, kept=(KeptColumns.of(kept, info.partition),))
        if found.chosen is not None and self.share < 1:
            found = replace(found, chosen=found.chosen.few(self.share))
        return found

    def over(
        self,
        rows: sources.Source,
        threads: int,
        earlier: PartialEvidence | None = None,
        before: int = 0,
        progress: Callable[[PartialEvidence, int], None] | None = None,
    ) -> PartialEvidence:
        """Count rows on threads.

        Parameters
        ----------
        rows : Source
            The rows.
        threads : int
            The number of threads.
        earlier : PartialEvidence, optional
            The result for the rows before these, to be added to.
        before : int
            The number of rows before these.
        progress : callable, optional
            Called now and then with the result so far and the number of rows in it.
        """
        # What is saved on the way has to be complete; and counters have no weights.
        carried = Carried(self.schema) if self.counted and progress is None and self.schema.weight is None else None
        found = engines.fold(
            _join_small(rows, self.schema) if self.counted else rows,
            partial(self._count, carried=carried),
            operator.add,
            self.zero() if earlier is None else earlier,
            threads=threads,
            before=before,
            progress=progress,
            **_sizes(self.schema, rows),
        )
        return found if carried is None else replace(found, evidence=carried.complete(found.evidence, threads))

    def _count(self, batch: pa.RecordBatch, first: int, carried: Carried | None = None) -> PartialEvidence:
        rows = RowBatch(batch, first, self.schema.missing)
        hashes = RowHashes(rows, self.schema) if self.sampled else None
        carried = carried if first > 0 or len(rows) >= _MANY_ROWS else None
        evidence = count_rows(self.schema, rows, hashes, carried) if self.counted else Evidence.empty(self.schema)
        return PartialEvidence(
            evidence,
            None if hashes is None else BottomKSample.of(rows, self.schema, self._room(evidence), hashes=hashes),
            (KeptColumns(0, self._kept(batch)),) if self.keep else (),
        )

    def _room(self, evidence: Evidence) -> float:
        """Return the size of the sample, as a fraction of the usual, that is enough for these rows and any others."""
        if self.rows_needed is None or not self.counted or self.share < 1:  # shares are of the usual size
            return 1.0
        return room_for(self.rows_needed(len(evidence.classes)))

    def _kept(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns to keep; texts as codes, since classes and groups repeat."""
        rows = RowBatch(batch)
        columns = {name: rows.column(name) for name in self.keep}
        for name, column in columns.items():
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                columns[name] = pc.dictionary_encode(column)
        return pa.record_batch(columns)


def _sizes(schema: Schema, rows: sources.Source) -> dict[str, int]:
    """Return the sizes of the slices that rows are counted in, where they are not the usual ones."""
    kinds = {sources.kind_of(field) for field in rows.schema}
    sizes = {"least_rows": _least_rows(schema)} if "matrix" in kinds else {}
    if "sparse" in kinds:
        return {**sizes, "slice_bytes": _WHOLE}
    return {**sizes, "slice_bytes": _MATRIX, "in_flight": _WHOLE} if "matrix" in kinds else sizes


def _least_rows(schema: Schema) -> int:
    """Return the fewest rows of a slice of a matrix."""
    return max(_LEAST_ROWS, min(_ENOUGH_ROWS, _ENOUGH // (8 * max(1, len(schema.columns)))))


def _join_small(rows: Iterable[pa.RecordBatch], schema: Schema) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in the same order, with small batches joined if there are text columns."""
    if not any(block.event.input == "text" for block in schema.blocks):
        yield from rows
        return
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in rows:
        if held and size + batch.nbytes > _TOGETHER:
            yield _joined(held)
            held, size = [], 0
        held.append(batch)
        size += batch.nbytes
    if held:
        yield _joined(held)


def _joined(held: list[pa.RecordBatch]) -> pa.RecordBatch:
    return held[0] if len(held) == 1 else pa.Table.from_batches(held).combine_chunks().to_batches()[0]
