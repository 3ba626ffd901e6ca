"""Some rows of a batch, in any order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.batches.kinds import kind_of, matrix_of

__all__ = ["take"]


def take(batch: pa.RecordBatch, index: npt.NDArray[np.integer]) -> pa.RecordBatch:
    """The rows of a batch at these places.

    Arrow takes the rows of a matrix number by number; NumPy, row by row, in a fifth of the time.

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


def _is_plain_matrix(field: pa.Field, column: pa.Array) -> bool:
    if kind_of(field) != "matrix" or column.null_count:
        return False
    width = column.type.list_size
    kind = column.type.value_type
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return numbers and not column.values.slice(column.offset * width, len(column) * width).null_count


def _rows_of_matrix(column: pa.Array, index: npt.NDArray[np.integer]) -> pa.Array:
    values = np.ascontiguousarray(matrix_of(column)[index]).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(values, column.type.value_type), type=column.type)
