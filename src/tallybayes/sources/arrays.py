"""Arrays in memory: NumPy arrays of numbers, text or records, scipy.sparse matrices, lists of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.array_columns import check_names, matrix_field
from tallybayes.sources.source import Source, of_table
from tallybayes.sources.to_arrow import matrix_column, sparse_column, storable, table_of

Array = npt.NDArray[Any]

# Bytes of a strided array that are copied at a time: several times a CPU cache, far less than main memory.
COPY_BYTES = 8 << 20


def of_array(array: Array, names: Sequence[str] | None = None, name: str = "the array") -> Source:
    """Return a source of a NumPy array.

    Numbers become one matrix column "x". Text and records become one column for each column or field.

    A row-major array of numbers is not copied; any other is copied a slice at a time.
    """
    if array.dtype.names is not None:
        return _of_records(array, name)
    if array.ndim == 1 and len(array) and isinstance(array[0], str):
        return of_table(table_of({"text": array}, name), name)
    if array.ndim != 2:
        raise BadData(wanted(name, "two dimensions, rows and columns", *_how_to_reshape(array)))
    if not array.shape[1]:
        raise BadData(wanted(name, "at least one column", f"none (shape {array.shape})"))
    if array.dtype.kind not in "biuf":
        check_names(names, array.shape[1])
        named = names if names is not None else [f"x{i}" for i in range(array.shape[1])]
        return of_table(table_of({column: array[:, i] for i, column in enumerate(named)}, name), name)
    return _of_numbers(array, names, name)


def _how_to_reshape(array: Array) -> tuple[str, str]:
    got = f"{array.ndim} (shape {array.shape})"
    if array.ndim == 1:
        return got, "Pass x.reshape(-1, 1) for one column of many rows, or x.reshape(1, -1) for one row"
    return got, "Pass x.reshape(len(x), -1)" if array.ndim > 2 else "Pass [[x]] for a single number"


def _of_numbers(array: Array, names: Sequence[str] | None, name: str) -> Source:
    masked = np.ma.isMaskedArray(array)
    dtype = np.dtype(np.float64) if masked else storable(array.dtype)
    boolean = array.dtype.kind == "b" and not masked
    field = matrix_field("x", pa.from_numpy_dtype(dtype), array.shape[1], names, was_bool=boolean)
    schema = pa.schema([field])
    in_place = array.flags.c_contiguous and not masked and array.dtype.kind in ("b", dtype.kind)
    whole = in_place and array.dtype.itemsize == dtype.itemsize and array.dtype.isnative
    step = max(1, len(array) if whole else COPY_BYTES // (array.shape[1] * dtype.itemsize))

    def start() -> Iterator[pa.RecordBatch]:
        for at in range(0, len(array), step):
            rows = array[at : at + step]
            rows = np.ma.filled(rows.astype(np.float64), np.nan) if masked else rows
            yield pa.RecordBatch.from_arrays([matrix_column(rows, field)], schema=schema)

    return Source(schema, len(array), True, name, start)


def _of_records(array: Array, name: str) -> Source:
    """Return a column per field of a structured array, copied slice by slice (interleaved)."""
    if array.ndim != 1:
        raise BadData(wanted(name, "one dimension of records", f"{array.ndim} (shape {array.shape})", "Pass x.ravel()"))
    fields = array.dtype.names or ()

    def table(rows: Array) -> pa.Table:
        return table_of({field: rows[field] for field in fields}, name)

    if array.dtype.hasobject:  # the types of objects are known only after all records
        return of_table(table(array), name)
    step = max(1, COPY_BYTES // max(1, array.dtype.itemsize))

    def start() -> Iterator[pa.RecordBatch]:
        for at in range(0, len(array), step):
            yield from table(array[at : at + step]).to_batches()

    return Source(table(array[:0]).schema, len(array), True, name, start)


def of_rows(rows: Sequence[Any], names: Sequence[str] | None = None) -> Source:
    """Return a source of a list of lists: a numeric matrix, or separate columns."""
    width = len(rows[0])
    for at, row in enumerate(rows, 1):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) != width:
            got = str(len(row)) if isinstance(row, list | tuple | np.ndarray) else f"the value {row!r}"
            raise BadData(wanted("the list", f"{width} values in every row, as in the first", f"{got} in row {at}"))
    try:
        array = np.asarray(rows)
    except ValueError:  # rows that contain lists of different lengths
        array = np.empty((len(rows), width), dtype=object)
        array[:] = rows
    if array.ndim == 2 and array.dtype.kind not in "biuf":  # NumPy turns numbers beside text into text
        array = np.array(rows, dtype=object)
    return of_array(array, names, "the list")


def of_sparse(matrix: Any, names: Sequence[str] | None = None) -> Source:
    """Return a source of a scipy.sparse matrix: one column "x" that views its arrays."""
    field, column = sparse_column("x", matrix, names)
    return of_table(pa.Table.from_arrays([column], schema=pa.schema([field])), "the sparse matrix")
