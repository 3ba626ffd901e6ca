"""Duplicate rows: rows that repeat others, and rows that contradict others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.evidence.evidence import class_codes
from tallybayes.evidence.row_hash import row_hashes
from tallybayes.schema.schema import Schema

MOST_ROWS = 5_000_000  # 80 MB of hashes; in longer tables the first rows are compared


@dataclass(frozen=True)
class Duplicates:
    """Rows that are equal in all columns of the model.

    Attributes
    ----------
    rows : int
        The number of rows that were compared.
    repeated : int
        The number of rows that repeat an earlier row, with its class.
    contradicted : int
        The number of rows that have the same columns as a row of another class.
    ceiling : float
        The best accuracy on these rows of any model that sees only these columns.
    """

    rows: int
    repeated: int
    contradicted: int
    ceiling: float


def duplicates(batches: Iterable[pa.RecordBatch], schema: Schema, *, labelled: bool = True) -> Duplicates:
    """Count rows that repeat or contradict others, by a hash of each row.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = pa.record_batch({"x": list("aaab"), "y": ["no", "no", "yes", "yes"]})
    >>> duplicates([rows], tb.fit(rows, "y").schema)
    Duplicates(rows=4, repeated=1, contradicted=3, ceiling=0.75)
    """
    plain = replace(schema, weight=None)
    classes: dict[object, int] = {}
    hashes, codes, count = [], [], 0
    for batch in batches:
        batch = batch.slice(0, MOST_ROWS - count)
        rows = RowBatch(batch, 0, schema.missing)
        same = RowBatch(_without_class(batch, schema.label), 0, schema.missing)
        hashes.append(row_hashes(same, plain))
        if labelled:
            own, names = class_codes(rows, schema.label)
            places = np.array([classes.setdefault(name, len(classes)) for name in names.values], np.intp)
            codes.append(places[own])
        count += batch.num_rows
        if count >= MOST_ROWS:
            break
    if not count:
        return Duplicates(0, 0, 0, 1.0)
    _, group = np.unique(np.concatenate(hashes), return_inverse=True)
    code = np.concatenate(codes) if labelled else np.zeros(count, np.intp)
    cells, sizes = np.unique(np.stack([group, code]), axis=1, return_counts=True)
    most = np.zeros(int(group.max()) + 1, np.intp)
    np.maximum.at(most, cells[0], sizes)
    mixed = np.bincount(cells[0]) > 1
    return Duplicates(
        rows=count,
        repeated=count - cells.shape[1],
        contradicted=int(mixed[group].sum()),
        ceiling=float(most.sum() / count),
    )


def _without_class(batch: pa.RecordBatch, label: str) -> pa.RecordBatch:
    """Return the rows with one class for all, so that only their columns differ."""
    at, same = batch.schema.get_field_index(label), pa.array(np.zeros(batch.num_rows, np.int8))
    if at < 0:
        return batch.append_column(label, same)
    return batch.set_column(at, label, same)
