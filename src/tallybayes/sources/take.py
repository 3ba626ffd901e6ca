"""Selected rows of one or several batches, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.sources.array_columns import kind_of, matrix_of
from tallybayes.sources.arrow_stream import as_stream, from_stream

# Bytes of the widest number that is read at once.
_WORD = 8

Index: TypeAlias = npt.NDArray[np.integer]


def take(batch: pa.RecordBatch, index: Index) -> pa.RecordBatch:
    """Return the rows of a batch at these positions.

    Matrix columns are taken with NumPy, which copies whole rows. Arrow copies single numbers and takes five times as
    long.

    Examples
    --------
    >>> batch = pa.record_batch({"x": pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)), "y": ["no", "yes"]})
    >>> take(batch, np.array([1, 0])).to_pylist()[0]
    {'x': [3, 4], 'y': 'yes'}
    """
    places = pa.array(index)
    columns = [
        _rows_of_matrix(column, index) if _is_plain_matrix(field, column) else column.take(places)
        for field, column in zip(batch.schema, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows without dictionaries, which may differ from batch to batch."""
    for k, field in enumerate(batch.schema):
        if pa.types.is_dictionary(field.type):
            batch = batch.set_column(k, field.with_type(field.type.value_type), batch.column(k).dictionary_decode())
    return batch


def align(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows with aligned buffers, which network memory may not have."""
    buffers = (buffer for column in batch.columns for buffer in column.buffers() if buffer is not None)
    if not any(buffer.address % _WORD for buffer in buffers):
        return batch
    return from_stream(as_stream(batch))


def gather(pieces: Sequence[tuple[pa.RecordBatch, Index]], order: Index) -> pa.RecordBatch:
    """Return rows of several batches of one schema, in the given order.

    IN: the batches have no dictionaries. The rows that the pieces name are numbered from 0, one piece after another,
    and `order` lists these numbers. Each row of a matrix is copied straight to its final position: joining the pieces
    first and then taking rows would need twice the memory.

    Examples
    --------
    >>> a, b = (pa.record_batch({"x": [k, k + 1]}) for k in (10, 20))
    >>> gather([(a, np.array([1])), (b, np.array([0, 1]))], np.array([2, 0, 1])).column("x").to_pylist()
    [21, 11, 20]
    """
    if len(pieces) == 1:
        return take(pieces[0][0], pieces[0][1][order])
    columns = []
    for k, field in enumerate(pieces[0][0].schema):
        each = [(batch.column(k), index) for batch, index in pieces]
        if all(_is_plain_matrix(field, column) for column, _ in each):
            columns.append(_gather_matrix(each, order))
        else:
            columns.append(pa.concat_arrays([column.take(pa.array(index)) for column, index in each]).take(order))
    return pa.RecordBatch.from_arrays(columns, schema=pieces[0][0].schema)


def _is_plain_matrix(field: pa.Field, column: pa.Array) -> bool:
    if kind_of(field) != "matrix" or column.null_count:
        return False
    width = column.type.list_size
    kind = column.type.value_type
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return numbers and not column.values.slice(column.offset * width, len(column) * width).null_count


def _rows_of_matrix(column: pa.Array, index: Index) -> pa.Array:
    return _as_column(np.take(matrix_of(column), index, axis=0), column.type)


def _gather_matrix(each: Sequence[tuple[pa.Array, Index]], order: Index) -> pa.Array:
    matrices = [matrix_of(column) for column, _ in each]
    out = np.empty((len(order), matrices[0].shape[1]), matrices[0].dtype)
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    for matrix, (_, index), to in zip(
        matrices, each, np.split(place, np.cumsum([len(index) for _, index in each])[:-1]), strict=True
    ):
        out[to] = np.take(matrix, index, axis=0)
    return _as_column(out, each[0][0].type)


def _as_column(rows: npt.NDArray[np.number], kind: pa.DataType) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1), kind.value_type), type=kind)


def plain_value(scalar: pa.Scalar) -> Any:
    """Return a value of Python; text where Python has none, such as for the year 10000 or single nanoseconds.

    Examples
    --------
    >>> plain_value(pa.scalar(2.5)), plain_value(pa.scalar(1 << 40, pa.timestamp("s")))
    (2.5, '<value out of range: 1099511627776>')
    """
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return scalar.cast(pa.string()).as_py()


def plain_values(array: pa.Array) -> list[Any]:
    """Return the values of an array as those of Python, by `plain_value` where there is need."""
    try:
        return list(array.to_pylist())
    except (OverflowError, ValueError):
        return [plain_value(one) for one in array]
