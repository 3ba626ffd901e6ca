"""What is made of all rows in one pass, on all cores: their evidence, the choice of rows to calibrate by, or both."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from tallybayes import batches, engines
from tallybayes.chosen import Chosen
from tallybayes.encode import Rows
from tallybayes.evidence import Evidence, count, count_rows
from tallybayes.schema import Schema

__all__ = ["choose_all", "count_all", "count_and_choose"]

# Sparse rows are counted where they lie, into sums as wide as their columns: each slice more would be a merge more.
_WHOLE = 1 << 62

T = TypeVar("T")


def count_all(schema: Schema, rows: batches.Source, threads: int) -> Evidence:
    """The evidence of all rows."""
    return _folded(rows, lambda batch, first: count(schema, batch, first), Evidence.empty(schema), threads)


def choose_all(schema: Schema, rows: batches.Source, threads: int) -> Chosen:
    """Of all rows those by which a model is calibrated."""

    def work(batch: pa.RecordBatch, first: int) -> Chosen:
        return Chosen.of(Rows(batch, first, schema.missing), schema)

    return _folded(rows, work, Chosen(schema), threads)


def count_and_choose(schema: Schema, rows: batches.Source, threads: int) -> tuple[Evidence, Chosen]:
    """Both in one pass."""

    def work(batch: pa.RecordBatch, first: int) -> _Both:
        rows = Rows(batch, first, schema.missing)
        return _Both(count_rows(schema, rows), Chosen.of(rows, schema))

    both = _folded(rows, work, _Both(Evidence.empty(schema), Chosen(schema)), threads)
    return both.evidence, both.chosen


@dataclass(frozen=True)
class _Both:
    evidence: Evidence
    chosen: Chosen

    def __add__(self, other: _Both) -> _Both:
        return _Both(self.evidence + other.evidence, self.chosen + other.chosen)


def _folded(rows: batches.Source, work: Callable[[pa.RecordBatch, int], T], zero: T, threads: int) -> T:
    return engines.fold(
        rows,
        work,
        operator.add,
        zero,
        threads=threads,
        slice_bytes=_WHOLE if any(batches.kind_of(field) == "sparse" for field in rows.schema) else engines.SLICE_BYTES,
    )
