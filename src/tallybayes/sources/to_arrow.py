"""One column's values as an Arrow array: from lists, arrays, series or matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.arguments import shown
from tallybayes.errors import BadData, wanted
from tallybayes.sources.array_columns import SPARSE, check_indices, matrix_field, sparse_field
from tallybayes.sources.source import check_distinct, check_exportable
from tallybayes.sources.steps import BROKEN, in_words

Array = npt.NDArray[Any]
_NESTED = (list, tuple, set, frozenset, Mapping)
_PLAIN = {str, bytes, bool, int, float, type(None)}  # neither nested nor of NumPy
_MOST_LEVELS = 32  # no format that we read nests its values this deep
_MOST_NESTED = 1 << 16  # lists looked into on each level: a list of itself twice doubles on each


def table_of(columns: Mapping[str, Any], name: str) -> pa.Table:
    """Return a table of named columns; raise BadData if their lengths differ."""
    check_distinct([str(column) for column in columns], name)
    pairs = [column_of(str(column), values, name) for column, values in columns.items()]
    for field, values in pairs[1:]:
        if len(values) != len(pairs[0][1]):
            first, other = pairs[0][0].name, field.name
            got = f"{len(values)} in '{other}'"
            raise BadData(wanted(name, f"{len(pairs[0][1])} values in every column, as in '{first}'", got))
    return pa.Table.from_arrays([values for _, values in pairs], schema=pa.schema([field for field, _ in pairs]))


def column_of(name: str, values: Any, where: str, kinds: Set[type] | None = None) -> tuple[pa.Field, pa.Array]:
    """Return the field and the values (pyarrow.Array or ChunkedArray) of one column; of these kinds, if known."""
    if _has_surrogate(name):
        raise BadData(wanted(where, "column names that are Unicode", f"{name!a}", "Rename it"))
    if not isinstance(values, list) and is_scipy_sparse(values):
        return sparse_column(name, values)
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biuf":
        field = matrix_field(
            name, pa.from_numpy_dtype(storable(values.dtype)), values.shape[1], was_bool=values.dtype.kind == "b"
        )
        return field, matrix_column(values, field)
    array = _arrow(values, f"{where}, column '{name}'", kinds)
    if array.type == pa.string_view():  # pyarrow can neither take nor filter string views, which polars uses
        array = array.cast(pa.large_string())
    return pa.field(name, array.type), array


def _arrow(values: Any, where: str, kinds: Set[type] | None = None) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, str | bytes | Mapping) or not (hasattr(values, "__len__") and hasattr(values, "__iter__")):
        raise BadData(wanted(where, "a list or an array of values", shown(values)))
    try:
        if hasattr(values, "__arrow_c_stream__"):
            check_exportable([str(getattr(values, "name", ""))], where)
            check_objects(values, where)
            return pa.chunked_array(values)
        if hasattr(values, "__arrow_c_array__"):
            return pa.array(values)
        if isinstance(values, np.ndarray):
            if values.ndim != 1:
                raise BadData(wanted(where, "one value a row", f"shape {values.shape}", "Pass x.ravel()"))
            values = values.astype(values.dtype.newbyteorder("="), copy=False)
        # Among objects, NaN is how pandas and NumPy write a missing string. Among floats it stays NaN, without a copy.
        objects = not isinstance(values, np.ndarray) or values.dtype.kind == "O"
        # Looking at a million strings takes as long as counting their words: once is enough.
        if objects and not (set(map(type, values)) if kinds is None else kinds) <= _PLAIN:
            check_depth(values, where)
            check_times(values, where)
        try:
            return pa.array(values, from_pandas=objects)
        except pa.ArrowCapacityError:  # one text of two gigabytes or more
            return pa.array(values, pa.large_string(), from_pandas=objects)
    except UnicodeEncodeError as error:
        wrong = (at for at, value in enumerate(values, 1) if isinstance(value, str) and _has_surrogate(value))
        row = next((f" (row {at})" for at in wrong), "")  # none if it is inside of a list
        got = f"a lone surrogate, {error.object[error.start]!a}{row}"
        raise BadData(wanted(where, "text that is Unicode", got, "Decode it with errors='replace'")) from None
    except (*BROKEN, OverflowError, TypeError) as error:
        empty = next((v for v in values if isinstance(v, Decimal) and not v.is_finite()), None)
        got = f"values that cannot be converted ({in_words(error) if empty is None else repr(empty)})"
        raise BadData(wanted(where, "values of one type", got)) from None


def check_depth(values: Any, where: str) -> None:
    """Raise BadData if a value is nested deeper than any data is: Arrow would overflow the stack and crash."""
    nested = tuple(kind for kind in set(map(type, values)) if issubclass(kind, _NESTED))
    level = [value for value in values if isinstance(value, nested)] if nested else []
    for _ in range(_MOST_LEVELS):
        if not level:
            return
        inner = (one.values() if isinstance(one, Mapping) else one for one in level)
        level = [value for one in inner for value in one if isinstance(value, _NESTED)][:_MOST_NESTED]
    raise BadData(wanted(where, f"values nested at most {_MOST_LEVELS} deep", "values nested deeper"))


def check_times(values: Any, where: str) -> None:
    """Raise BadData for NumPy's dates among its other values: Arrow would read beyond its memory and crash."""
    level = list(values)
    while level:
        kinds = set(map(type, level))
        others = [kind for kind in kinds if issubclass(kind, np.generic) and kind is not np.datetime64]
        if np.datetime64 in kinds and others:
            got = f"numpy.datetime64 and numpy.{min(kind.__name__ for kind in others)}"
            raise BadData(wanted(where, "values of one type", got))
        nested = tuple(kind for kind in kinds if issubclass(kind, _NESTED))
        inner = (one.values() if isinstance(one, Mapping) else one for one in level if isinstance(one, nested))
        level = [value for one in inner for value in one][:_MOST_NESTED] if nested else []


def check_objects(frame: Any, where: str) -> None:
    """Raise BadData for objects in a frame or series of pandas on which Arrow would crash."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return
    kinds = [frame.dtype] if hasattr(frame, "dtype") else frame.dtypes.tolist()
    for k in [k for k, kind in enumerate(kinds) if getattr(kind, "kind", "") == "O"]:
        column = frame if hasattr(frame, "dtype") else frame.iloc[:, k]
        values, place = column.to_numpy(), where if column is frame else f"{where}, column {column.name!r}"
        if any(issubclass(kind, (*_NESTED, np.generic)) for kind in set(map(type, values))):
            check_depth(values, place)
            check_times(values, place)


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def storable(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the nearest number type that Arrow stores unchanged and the kernels read."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return np.dtype(np.float32 if dtype.itemsize == 2 else np.float64)
    return dtype.newbyteorder("=")


def matrix_column(array: Array, field: pa.Field) -> pa.Array:
    """Return numbers (n, F) as a matrix column: a view if possible, otherwise a copy."""
    if array.dtype.kind == "b" and array.flags.c_contiguous:
        array = array.view(np.uint8)
    kind = field.type
    value = kind.value_type
    flat = np.ascontiguousarray(array, value.to_pandas_dtype()).reshape(-1)
    values = pa.Array.from_buffers(value, len(flat), [None, pa.py_buffer(flat)])
    return pa.Array.from_buffers(kind, len(array), [None], children=[values])


def is_scipy_sparse(values: Any) -> bool:
    """Return whether this is a scipy.sparse matrix or array, without importing scipy."""
    return type(values).__module__.startswith("scipy.sparse") and hasattr(values, "tocsr")


def sparse_column(name: str, matrix: Any, names: Sequence[str] | None = None) -> tuple[pa.Field, pa.Array]:
    """Return a scipy.sparse matrix as a column: a view if canonical CSR, otherwise a copy."""
    if matrix.ndim != 2:
        raise BadData(wanted(SPARSE, "two dimensions, rows and columns", f"{matrix.ndim} (shape {matrix.shape})"))
    if matrix.dtype.kind not in "biuf":
        raise BadData(wanted(SPARSE, "numbers", str(matrix.dtype)))
    if matrix.format == "csc":
        rows, width = matrix.shape[::-1]
        check_pointers(matrix, rows)  # scipy converts it without looking
        check_indices(matrix.indices[: matrix.indptr[-1]], width)
    csr = matrix if matrix.format == "csr" else matrix.tocsr()
    check_pointers(csr)
    if not csr.has_canonical_format:
        csr = csr.copy()  # sum_duplicates works in place and must not change the caller's matrix
        csr.sum_duplicates()
    stored = int(csr.indptr[-1])
    data = csr.data[:stored]
    data = data.view(np.uint8) if data.dtype.kind == "b" else data
    indices, entries = view_of(csr.indices[:stored]), view_of(data.astype(storable(data.dtype), copy=False))
    large = csr.indptr.dtype.itemsize == 8
    was_bool = csr.dtype.kind == "b"
    field = sparse_field(name, indices.type, entries.type, csr.shape[1], names, large=large, was_bool=was_bool)
    cells = pa.StructArray.from_arrays([indices, entries], fields=list(field.type.value_type))
    pointers = pa.py_buffer(np.ascontiguousarray(csr.indptr))
    return field, pa.Array.from_buffers(field.type, csr.shape[0], [None, pointers], children=[cells])


def check_pointers(matrix: Any, rows: int | None = None) -> None:
    """Raise BadData if pointers leave the arrays: later code does not check them."""
    rows = matrix.shape[0] if rows is None else rows
    pointers, stored = matrix.indptr, min(len(matrix.indices), len(matrix.data))
    sound = len(pointers) == rows + 1 and pointers[0] == 0 and pointers[-1] <= stored
    if not sound or (np.diff(pointers) < 0).any():
        raise BadData(wanted(SPARSE, "row pointers that rise from 0 to the number of entries", "pointers that do not"))


def view_of(array: Array) -> pa.Array:
    """Return numbers as an Arrow array of the same memory; `pyarrow.array` imports `numpy.ma` for that.

    Examples
    --------
    >>> view_of(np.array([1.0, np.nan])).to_pylist()
    [1.0, nan]
    """
    array = np.ascontiguousarray(array)
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [None, pa.py_buffer(array)])
