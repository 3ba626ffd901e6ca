"""Columns that hold many features each, and zero-copy views of them as arrays.

A dense array is one column of ``fixed_size_list``; a sparse array is one column of lists of (column, value). The
field's metadata records the kind, so it survives Arrow files and streams.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.source import check_distinct

KIND, WIDTH, NAMES = b"tallybayes.kind", b"tallybayes.width", b"tallybayes.names"
BOOL = b"tallybayes.bool"
SPARSE = "the sparse matrix"  # its name in messages

# Types by number: every field is asked for its kind several times, and `pa.types` would take four times as long.
_FIXED_SIZE_LIST = pa.list_(pa.int8(), 1).id
_LISTS = frozenset({pa.list_(pa.int8()).id, pa.large_list(pa.int8()).id})
_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
_NUMBERS = frozenset(type_.id for type_ in (*_INTEGERS, pa.float16(), pa.float32(), pa.float64()))

Array = npt.NDArray[Any]


def matrix_field(
    name: str, value: pa.DataType, width: int, names: Sequence[str] | None = None, *, was_bool: bool = False
) -> pa.Field:
    """Return the field of a dense array; `was_bool` if its bytes are booleans."""
    return _matrix_field(name, value, width, None if names is None else tuple(names), was_bool)


@lru_cache(maxsize=64)  # building metadata would dominate the scoring of one row
def _matrix_field(name: str, value: pa.DataType, width: int, names: tuple[str, ...] | None, was_bool: bool) -> pa.Field:
    marks = {KIND: b"matrix"} | _named(names, width) | ({BOOL: b"true"} if was_bool else {})
    return pa.field(name, pa.list_(pa.field("item", value), width), metadata=marks)


def sparse_field(
    name: str,
    column: pa.DataType,
    value: pa.DataType,
    width: int,
    names: Sequence[str] | None = None,
    *,
    large: bool,
    was_bool: bool = False,
) -> pa.Field:
    """Return the field of a sparse array of `width` features.

    Set `large` if its offsets have 64 bits, `was_bool` if its values stand for true and false.
    """
    cell = pa.struct([pa.field("column", column, nullable=False), pa.field("value", value, nullable=False)])
    item = pa.field("item", cell, nullable=False)
    marks = {KIND: b"sparse", WIDTH: str(width).encode()} | _named(names, width) | ({BOOL: b"true"} if was_bool else {})
    return pa.field(name, pa.large_list(item) if large else pa.list_(item), metadata=marks)


def _named(names: Sequence[str] | None, width: int) -> dict[bytes, bytes]:
    check_names(names, width)
    return {} if names is None else {NAMES: json.dumps([str(name) for name in names]).encode()}


def check_names(names: Sequence[str] | None, width: int) -> None:
    """Raise BadData unless there is one distinct name for each column."""
    if names is not None and len(names) != width:
        raise BadData(wanted("names", f"{width}, one for each column", str(len(names))))
    check_distinct([] if names is None else names, "names")


def kind_of(field: pa.Field) -> Literal["matrix", "sparse", "column"]:
    """Return what a field holds: many features ("matrix" or "sparse") or one ("column").

    Any ``fixed_size_list`` of numbers is a matrix, with or without our metadata: other libraries store embeddings this
    way.

    Examples
    --------
    >>> import pyarrow as pa
    >>> kind_of(pa.field("x", pa.list_(pa.float32(), 3))), kind_of(pa.field("age", pa.int64()))
    ('matrix', 'column')
    """
    kind = field.type
    number = kind.id
    if number == _FIXED_SIZE_LIST:
        return "matrix" if kind.value_type.id in _NUMBERS else "column"
    # Metadata is not enough: a file may carry it on a column of another shape.
    if number in _LISTS and (field.metadata or {}).get(KIND) == b"sparse":
        cell = kind.value_type
        if pa.types.is_struct(cell) and [part.name for part in cell] == ["column", "value"]:
            return "sparse"
    return "column"


def prose_field(name: str, type_: pa.DataType) -> pa.Field:
    """Return the field of a text column that is prose, whatever its values look like.

    Examples
    --------
    >>> is_prose(prose_field("note", pa.string())), is_prose(pa.field("name", pa.string()))
    (True, False)
    """
    return pa.field(name, type_, metadata={KIND: b"text"})


def is_prose(field: pa.Field) -> bool:
    """Return whether a field came from a bare list of strings, and so is prose.

    Other text columns may hold names of categories.

    Examples
    --------
    >>> from tallybayes.sources import read
    >>> is_prose(read(["buy now", "see you"]).schema.field("text"))
    True
    """
    return (field.metadata or {}).get(KIND) == b"text"


def was_bool(field: pa.Field) -> bool:
    """Return whether a field was made from booleans, now stored as bytes 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tallybayes.sources import read
    >>> was_bool(read(np.eye(2, dtype=bool)).schema.field("x"))
    True
    """
    return (field.metadata or {}).get(BOOL) == b"true"


def width_of(field: pa.Field) -> int:
    """Return the number of features in a field.

    Examples
    --------
    >>> import pyarrow as pa
    >>> width_of(pa.field("x", pa.list_(pa.float32(), 3))), width_of(pa.field("age", pa.int64()))
    (3, 1)
    """
    kind = kind_of(field)
    if kind == "matrix":
        return int(field.type.list_size)
    return int(field.metadata[WIDTH]) if kind == "sparse" else 1


def names_of(field: pa.Field) -> list[str] | None:
    """Return the names of the features in a field; None if it has none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> names_of(matrix_field("x", pa.float64(), 2, ["age", "height"]))
    ['age', 'height']
    """
    stored = (field.metadata or {}).get(NAMES)
    return None if stored is None else [str(name) for name in json.loads(stored)]


def matrix_of(column: pa.Array) -> Array:
    """Return the values of a matrix column, (n, F), as a view.

    NumPy arrays cannot hold nulls: if there are any, the result is a float64 copy with NaN in their place.

    Examples
    --------
    >>> import pyarrow as pa
    >>> matrix_of(pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int8(), 2))[1:])
    array([[3, 4],
           [5, 6]], dtype=int8)
    """
    n, width = len(column), column.type.list_size
    values = column.values.slice(column.offset * width, n * width)
    if not column.null_count and not values.null_count:
        return np.asarray(values.to_numpy(zero_copy_only=True)).reshape(n, width)
    filled = np.array(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)).reshape(n, width)
    filled[column.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return filled


def check_indices(indices: Array, width: int) -> None:
    """Raise BadData if indices leave the matrix, for code that does not check them: kernels do.

    Examples
    --------
    >>> check_indices(np.array([0, 2]), 2)
    Traceback (most recent call last):
    tallybayes.errors.BadData: the sparse matrix: wanted indices from 0 to 1, got 2.
    """
    if len(indices) and int(indices.view(f"u{indices.itemsize}").max()) >= width:  # below 0 is large if unsigned
        raise index_outside(int(indices[(indices < 0) | (indices >= width)][0]), width)


def index_outside(index: int, width: int) -> BadData:
    """Return the error of an index that leaves the matrix."""
    return BadData(wanted(SPARSE, f"indices from 0 to {width - 1}", f"{index}"))


def sparse_of(column: pa.Array, field: pa.Field) -> tuple[Array, Array, Array, int]:
    """Return the parts of a sparse column as views, and its width.

    These are indptr (n + 1,), indices (nnz,), data (nnz,) and the number of features.

    In a slice, indptr need not begin at 0 or end at nnz: it points into the indices and data of the whole column.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from tallybayes.sources import read
    >>> batch = next(iter(read(sp.csr_array([[0, 5], [6, 7]]))))
    >>> indptr, indices, data, width = sparse_of(batch.column("x")[1:], batch.schema.field("x"))
    >>> indptr.tolist(), indices.tolist(), data.tolist(), width
    ([1, 3], [1, 0, 1], [5, 6, 7], 2)
    """
    cells = column.values
    indices, data = (cells.field(i).to_numpy(zero_copy_only=False) for i in (0, 1))
    return np.asarray(column.offsets.to_numpy(zero_copy_only=False)), indices, data, width_of(field)
