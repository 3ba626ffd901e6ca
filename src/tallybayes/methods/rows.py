"""Rows of a model: opened with its columns and types, labelled or to be scored; counted and sampled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.evidence.count import count, sample
from tallybayes.evidence.evidence import Evidence, class_codes, count_few, row_weights
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.schema.schema import Schema

if TYPE_CHECKING:
    from tallybayes.model import Model

__all__ = ["count_rows", "labelled", "labelled_batches", "rows_to_score", "sample_rows", "types_of"]

LabelledBatch: TypeAlias = tuple[pa.RecordBatch, RowBatch, ClassCodes, Weights]


def labelled(
    model: Model, rows: Any, label: Any, weights: Any, types: open_rows.Types | None
) -> tuple[engines.Partitioned, Schema]:
    """Return labelled rows, and the model's schema with their names of label and weights."""
    return open_rows.as_in(model.schema, rows, label, weights, types_of(model, rows, types))


def types_of(model: Model, rows: Any, types: open_rows.Types | None) -> open_rows.Types | None:
    """Return the types to read rows with: given ones, and the model's texts."""
    return {**dict.fromkeys(model.text_columns, pa.string()), **(types or {})} if sources.is_path(rows) else types


def rows_to_score(model: Model, rows: Any, types: open_rows.Types | None) -> engines.Partitioned:
    """Return rows to score, with the columns of a model."""
    return open_rows.to_score(rows, model.schema, types_of(model, rows, types))


def labelled_batches(model: Model, rows: Any, label: Any, weights: Any) -> Iterator[LabelledBatch]:
    """Yield labelled rows batch by batch: Arrow, encoded rows, class codes (-1: unknown) and weights."""
    source, schema = labelled(model, rows, label, weights, None)
    first = 0
    for batch in source:
        part = RowBatch(batch, first, schema.missing)
        codes, found = class_codes(part, schema.label)
        place = model.evidence.classes.find(found.array, where=f"label {schema.label!r}").astype(np.int32)
        yield batch, part, place[codes], row_weights(part, schema.weight)
        first += len(part)


def count_rows(model: Model, rows: Any, label: Any, weights: Any, threads: int | None) -> Evidence:
    """Return the evidence of labelled rows, counted as a model counts."""
    few = count_few(model.schema, rows, model.evidence.classes) if label is None and weights is None else None
    if few is not None:
        return few

    def counted(types: open_rows.Types | None) -> Evidence:
        source, schema = labelled(model, rows, label, weights, types)
        return count(schema, source, engines.default_threads(threads)).evidence

    return replace(open_rows.reading(counted), schema=model.schema)


def sample_rows(
    model: Model, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None
) -> BottomKSample:
    """Return a bottom-k sample of labelled rows for calibration: at most 50,000."""

    def work(types: open_rows.Types | None) -> BottomKSample:
        source, schema = labelled(model, rows, label, weights, types)
        return sample(schema, source, engines.default_threads(threads))

    return open_rows.reading(work)
