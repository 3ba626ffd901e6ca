"""What is made of rows on this machine's threads in one pass: their evidence, the rows to calibrate by, or both."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.evidence.evidence import Evidence, count_rows
from tallybayes.evidence.partial import PartialEvidence
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.schema.schema import Schema

__all__ = ["choose", "known", "nothing"]

# Sparse rows are counted where they lie, into sums as wide as their columns: each slice more would be a merge more.
_WHOLE = 1 << 62
# A merge of vocabularies costs as much as they are long, however few the rows: small batches of text are joined.
_TOGETHER = 32 << 20

T = TypeVar("T")


def known(
    schema: Schema,
    rows: sources.Source,
    threads: int,
    *,
    choose: bool,
    earlier: PartialEvidence | None = None,
    before: int = 0,
    tell: Callable[[PartialEvidence, int], None] | None = None,
) -> PartialEvidence:
    """The evidence of all rows, and of them those by which a model is calibrated, if these are to be chosen.

    Parameters
    ----------
    schema : Schema
        What each column is.
    rows : Source
        The rows.
    threads : int
        How many threads count.
    choose : bool
        Whether rows are chosen.
    earlier : PartialEvidence, optional
        What is known of rows that come before these, to be added to.
    before : int
        How many rows these are.
    tell : callable, optional
        Is told now and then what is known so far, and of how many rows.
    """

    def work(batch: pa.RecordBatch, first: int) -> PartialEvidence:
        rows = RowBatch(batch, first, schema.missing)
        return PartialEvidence(count_rows(schema, rows), BottomKSample.of(rows, schema) if choose else None)

    zero = nothing(schema, choose=choose) if earlier is None else earlier
    return _folded(rows, _gathered(rows, schema), work, zero, threads, before, tell)


def nothing(schema: Schema, *, choose: bool) -> PartialEvidence:
    """What is known of no rows."""
    return PartialEvidence(Evidence.empty(schema), BottomKSample(schema) if choose else None)


def choose(schema: Schema, rows: sources.Source, threads: int) -> BottomKSample:
    """Of all rows those by which a model is calibrated."""

    def work(batch: pa.RecordBatch, first: int) -> BottomKSample:
        return BottomKSample.of(RowBatch(batch, first, schema.missing), schema)

    return _folded(rows, rows, work, BottomKSample(schema), threads)


def _gathered(rows: Iterable[pa.RecordBatch], schema: Schema) -> Iterator[pa.RecordBatch]:
    """The same rows in the same order, small batches joined if there is text among them."""
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


def _folded(
    rows: sources.Source,
    pieces: Iterable[pa.RecordBatch],
    work: Callable[[pa.RecordBatch, int], T],
    zero: T,
    threads: int,
    before: int = 0,
    tell: Callable[[T, int], None] | None = None,
) -> T:
    return engines.fold(
        pieces,
        work,
        operator.add,
        zero,
        threads=threads,
        slice_bytes=_WHOLE if any(sources.kind_of(field) == "sparse" for field in rows.schema) else engines.SLICE_BYTES,
        before=before,
        tell=tell,
    )
