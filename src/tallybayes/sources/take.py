"""Selected rows of one or several batches, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.kernels.sparse_pattern import copy_ranges
from tallybayes.sources.array_columns import kind_of, matrix_of, sparse_of
from tallybayes.sources.arrow_stream import as_stream, from_stream
from tallybayes.sources.to_arrow import view_of

# Bytes of the widest number that is read at once.
_WORD = 8

Index: TypeAlias = npt.NDArray[np.integer]


def take(batch: pa.RecordBatch, index: Index) -> pa.RecordBatch:
    """Return the rows of a batch at these positions.

    Rows of matrix and sparse columns are copied whole. Arrow copies single numbers and takes five times as long.

    Examples
    --------
    >>> batch = pa.record_batch({"x": pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)), "y": ["no", "yes"]})
    >>> take(batch, np.array([1, 0])).to_pylist()[0]
    {'x': [3, 4], 'y': 'yes'}
    """
    if _is_primitive(batch.schema):
        return batch.take(view_of(index))
    columns = [_rows_of(column, index, field) for field, column in zip(batch.schema, batch.columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _rows_of(column: pa.Array, index: Index, field: pa.Field) -> pa.Array:
    if _is_plain_matrix(field, column):
        return _rows_of_matrix(column, index)
    found = _gather_sparse([(column, index)], field) if _is_plain_sparse(field, column) else None
    return column.take(view_of(index)) if found is None else found


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
    schema = pieces[0][0].schema
    if len(order) and _is_primitive(schema):
        parts = pa.Table.from_batches([take(*piece) for piece in pieces], schema)
        return take(parts.combine_chunks().to_batches()[0], order)
    columns = []
    for k, field in enumerate(schema):
        each = [(batch.column(k), index) for batch, index in pieces]
        if all(_is_plain_matrix(field, column) for column, _ in each):
            columns.append(_gather_matrix(each, order))
            continue
        found = _gather_sparse(each, field, order) if _are_slices(field, [column for column, _ in each]) else None
        if found is None:
            found = _rows_of(pa.concat_arrays([_rows_of(*one, field) for one in each]), order, field)
        columns.append(found)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def rejoin(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Return slices of one matrix and its labels, in order, as one batch again; None for other batches.

    The matrix is not copied.

    Examples
    --------
    >>> from tallybayes.sources.array_columns import matrix_field
    >>> rows, field = pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int64(), 2)), matrix_field("x", pa.int64(), 2)
    >>> batch = pa.record_batch([rows, pa.array(["no", "yes", "no"])], schema=pa.schema([field, ("y", pa.string())]))
    >>> first, last = batch.slice(0, 1), batch.slice(1)
    >>> rejoin([first, last]).equals(batch), rejoin([last, first]) is None
    (True, True)
    """
    schema = batches[0].schema
    if len(batches) == 1 or not all(batch.schema.equals(schema, check_metadata=True) for batch in batches[1:]):
        return batches[0] if len(batches) == 1 else None
    columns = []
    for k, field in enumerate(schema):
        each = [batch.column(k) for batch in batches]
        if all(_is_plain_matrix(field, column) for column in each):
            columns.append(_rejoin_matrix(each))
        elif pa.types.is_primitive(field.type) or pa.types.is_string(field.type):
            columns.append(pa.concat_arrays(each))
        else:
            return None
    return None if any(column is None for column in columns) else pa.RecordBatch.from_arrays(columns, schema=schema)


def _rejoin_matrix(each: Sequence[pa.Array]) -> pa.Array | None:
    """Return slices of one column as one; None if they are not, or do not follow each other."""
    first, width = each[0], each[0].type.list_size
    values, end = first.values, first.offset
    for column in each:
        mine = column.values
        if mine.buffers()[1].address != values.buffers()[1].address or mine.offset != values.offset:
            return None
        if column.offset != end:
            return None
        end += len(column)
    numbers = values.slice(first.offset * width, (end - first.offset) * width)
    return pa.FixedSizeListArray.from_arrays(numbers, type=first.type)


def _is_primitive(schema: pa.Schema) -> bool:
    """Return whether all columns hold single numbers, of which one call takes all faster than one for each."""
    return all(pa.types.is_primitive(kind) for kind in schema.types)


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
    whole = _rejoin_matrix([column for column, _ in each])
    if whole is not None:  # slices of one matrix: each row is copied once
        firsts = np.cumsum([0, *(len(column) for column, _ in each)])
        places = np.concatenate([index + first for (_, index), first in zip(each, firsts, strict=False)])
        return _rows_of_matrix(whole, places[order])
    matrices = [matrix_of(column) for column, _ in each]
    out = np.empty((len(order), matrices[0].shape[1]), matrices[0].dtype)
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    for matrix, (_, index), to in zip(
        matrices, each, np.split(place, np.cumsum([len(index) for _, index in each])[:-1]), strict=True
    ):
        out[to] = np.take(matrix, index, axis=0)
    return _as_column(out, each[0][0].type)


def _is_plain_sparse(field: pa.Field, column: pa.Array) -> bool:
    if kind_of(field) != "sparse" or column.null_count:
        return False
    cells = column.values
    parts = cells.field(0), cells.field(1)
    numbers = all(pa.types.is_integer(part.type) or pa.types.is_floating(part.type) for part in parts)
    return numbers and not any(part.null_count for part in (cells, *parts))


def _are_slices(field: pa.Field, columns: Sequence[pa.Array]) -> bool:
    """Return whether columns are sparse rows that share the memory of their cells."""
    if not all(_is_plain_sparse(field, column) for column in columns):
        return False
    memory = {tuple(buffer and buffer.address for buffer in column.values.buffers()) for column in columns}
    return len(memory) == 1 and len({(column.values.offset, len(column.values)) for column in columns}) == 1


def _gather_sparse(
    each: Sequence[tuple[pa.Array, Index]], field: pa.Field, order: Index | None = None
) -> pa.Array | None:
    """Return sparse rows of columns that share the memory of their cells; None where they are too many cells."""
    pointers = [(sparse_of(column, field)[0], index) for column, index in each]
    starts = np.concatenate([pointer[index] for pointer, index in pointers]).astype(np.int64)
    lengths = np.concatenate([pointer[index + 1] for pointer, index in pointers]) - starts
    if order is not None:
        starts, lengths = starts[order], lengths[order]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    pointer_type = pointers[0][0].dtype
    if total > np.iinfo(pointer_type).max:
        return None
    _, indices, data, _ = sparse_of(each[0][0], field)
    kind = field.type
    parts = [pa.array(copy_ranges(values, starts, lengths)) for values in (indices, data)]
    cells = pa.StructArray.from_arrays(parts, fields=list(kind.value_type))
    offsets = np.concatenate([[0], ends]).astype(pointer_type)
    return pa.Array.from_buffers(kind, len(ends), [None, pa.py_buffer(offsets)], children=[cells])


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
