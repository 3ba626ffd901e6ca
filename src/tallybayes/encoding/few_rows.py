"""A few rows encoded without Arrow, so that scoring one row takes microseconds.

This covers a small array for a model of one block, and a few dicts of plain values. For anything else, and anything
that may need an error message, `encode` returns None and the rows take the ordinary path, with the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.categories import Categories
from tallybayes.events import Event, Likelihood
from tallybayes.events.inputs import Codes, Dense, Encoded, Sparse, Texts
from tallybayes.schema.column_names import NumberedNames
from tallybayes.schema.schema import Block, Schema
from tallybayes.sources.array_columns import check_indices
from tallybayes.sources.missing import further_markers, markers_of_names
from tallybayes.sources.to_arrow import check_pointers

__all__ = [
    "MOST_ROWS",
    "encode",
    "encode_among",
    "encode_sparse",
    "encode_to_count",
    "encode_values",
    "takes_plain_rows",
]

# Rows; with more, Arrow's fixed costs no longer matter.
MOST_ROWS = 64
_MOST_SPARSE_ROWS = 1024  # they need several Arrow arrays
_MOST_ARRAY_ROWS = 1024  # an array of floats is taken as it is
_FEW_CLASSES = 16  # rows are counted in all of them: with more, it is quicker to count in their own and move the sums
_PLAIN = {"text": str, "whole numbers": int, "booleans": bool}
_TYPES = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}
_NUMBERS = (float, int, bool, type(None))
_SPARSE = tuple(map(np.dtype, (np.float64, np.float32, np.int64, np.int32)))


def encode(rows: Any, schema: Schema, likelihoods: Sequence[Likelihood], unseen: str) -> list[Encoded] | None:
    """Return the rows as each block's event takes them, or None if they are not plain enough.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> encode([{"x": "q"}, {"x": "never"}], model.schema, model.belief.likelihoods, "smooth")[0].columns.tolist()
    [[1], [2]]
    """
    most = _MOST_ARRAY_ROWS if isinstance(rows, np.ndarray) else MOST_ROWS
    if schema.missing != "skip" or not 0 < len(rows) <= most or schema.products or not takes_plain_rows(schema):
        return None
    if isinstance(rows, np.ndarray):
        data = _array(rows, schema, likelihoods, unseen)
        return None if data is None else [data]
    if not isinstance(rows, list) or not all(type(row) is dict for row in rows):
        return None
    missing = markers_of_names(schema.missing_values)
    encoded: list[Encoded] = []
    for block, likelihood in zip(schema.blocks, likelihoods, strict=True):
        found = _to_score(rows, block, likelihood.categories, unseen, missing)
        if found is None:
            return None
        encoded.append(found)
    any_column = any(name in row for row in rows for block in schema.blocks for name in block.columns)
    return encoded if any_column or not any(rows) else None  # a row of unknown names alone is a mistake


def _to_score(
    rows: list[Mapping[str, Any]], block: Block, slots: Sequence[Categories], unseen: str, missing: Sequence[str]
) -> Encoded | None:
    if block.event.input == "text":
        return _texts(rows, block)
    return _codes(rows, block, slots, unseen, missing) if slots else _dense(rows, block)


def encode_to_count(rows: Any, schema: Schema) -> list[Encoded] | None:
    """Return a few whole dicts as each block's event counts them; None unless plain.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> encode_to_count([{"x": "never"}], model.schema)[0].labels
    (Categories('never'),)
    """
    if schema.missing != "skip" or schema.products or not takes_plain_rows(schema):
        return None
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_ROWS:
        return None
    if not all(type(row) is dict and all(name in row for name in schema.columns) for row in rows):
        return None
    missing = markers_of_names(schema.missing_values)
    encoded: list[Encoded] = []
    for block in schema.blocks:
        data = _to_count(rows, block, missing)
        if data is None:
            return None
        encoded.append(data)
    return encoded


def encode_sparse(rows: Any, schema: Schema) -> list[Encoded] | None:
    """Return a few sparse rows as they are; None if they must be read first.

    Examples
    --------
    >>> import tallybayes as tb
    >>> from scipy.sparse import csr_array
    >>> rows = csr_array([[1, 0], [0, 2]])
    >>> encode_sparse(rows, tb.fit(rows, [0, 1], events="multinomial").schema)[0].data.tolist()
    [1, 2]
    """
    if len(schema.blocks) != 1 or schema.products or schema.readings or schema.missing != "skip":
        return None
    block = schema.blocks[0]
    plain = rows.format == "csr" and rows.dtype in _SPARSE and rows.shape == (rows.shape[0], len(block.columns))
    if not plain or block.event.input != "bag" or not isinstance(block.columns, NumberedNames):
        return None
    if not 0 < rows.shape[0] <= _MOST_SPARSE_ROWS:
        return None
    check_pointers(rows)
    check_indices(rows.indices[: rows.indptr[-1]], rows.shape[1])
    return [Sparse(rows.indptr, rows.indices, rows.data, rows.shape[1])] if rows.has_canonical_format else None


def _texts(rows: Sequence[Mapping[str, Any]], block: Block) -> Texts | None:
    columns = [[row.get(name) for row in rows] for name in block.columns]
    if getattr(block.event, "tokenizer", None) is not None:  # what is wrong with its answer is worded elsewhere
        return None
    if any(type(cell) not in (str, type(None)) for column in columns for cell in column):
        return None
    try:
        return Texts(tuple(pa.array(column, pa.string()) for column in columns))
    except UnicodeEncodeError:  # half of a pair
        return None


def takes_plain_rows(schema: Schema) -> bool:
    """Return whether values are taken as they are: no column has a reading, no document stands for a missing one."""
    texts = any(block.event.input == "text" for block in schema.blocks)
    return not schema.readings and not (texts and further_markers(schema.missing_values))


def _to_count(rows: Sequence[Mapping[str, Any]], block: Block, missing: Sequence[str]) -> Encoded | None:
    if block.event.input == "text":
        return _texts(rows, block)
    if block.event.input != "codes":
        dense = _dense(rows, block)
        return None if dense is None or dense.infinite() is not None else dense
    cells = ([row[name] for row in rows] for name in block.columns)
    found = [
        encode_values([None if type(cell) is str and cell in missing else cell for cell in column]) for column in cells
    ]
    if any(one is None for one in found):
        return None
    codes, labels = zip(*found, strict=True)
    return Codes(tuple(codes), np.array([len(one) for one in labels], np.int64), tuple(labels))


def encode_among(values: list[Any], known: Categories) -> tuple[npt.NDArray[np.int32], Categories] | None:
    """Return the codes of values among a few known ones; None where one is not among them.

    Examples
    --------
    >>> known = Categories.of([0, 1])
    >>> encode_among([1, 1], known)[0], encode_among([True], known), encode_among([2], known)
    (array([1, 1], dtype=int32), None, None)
    """
    if not 0 < len(known) <= _FEW_CLASSES:
        return None
    kind = type(known.values[0])
    if kind not in _TYPES or any(type(value) is not kind for value in values):  # True equals 1
        return None
    codes = [known.positions.get(value, -1) for value in values]
    return None if min(codes) < 0 else (np.array(codes, np.int32), known)


def encode_values(values: list[Any]) -> tuple[npt.NDArray[np.int32], Categories] | None:
    """Return the codes of values among those that occur, −1 where missing; None unless all are of one plain type."""
    kinds = {type(value) for value in values} - {type(None)}
    kind = _TYPES.get(kinds.pop()) if len(kinds) == 1 else None
    if kind is None:
        return None
    distinct = sorted({value for value in values if value is not None})
    try:
        labels = Categories(pa.array(distinct, kind))
    except (pa.ArrowInvalid, UnicodeEncodeError, OverflowError):  # beyond 64 bits, or half of a pair
        return None
    places = {value: place for place, value in enumerate(distinct)}
    return np.array([-1 if value is None else places[value] for value in values], np.int32), labels


def _array(
    rows: np.ndarray[Any, Any], schema: Schema, likelihoods: Sequence[Likelihood], unseen: str
) -> Encoded | None:
    if rows.ndim != 2 or len(schema.blocks) != 1 or rows.shape[1] != len(schema.blocks[0].columns):
        return None
    block = schema.blocks[0]
    if block.event.input == "codes":
        few = rows.dtype.kind in "iu" and len(rows) <= MOST_ROWS
        return _whole_numbers(rows, likelihoods[0].categories, unseen) if few else None
    plain = type(rows) is np.ndarray and rows.dtype in (np.float64, np.float32) and rows.flags.c_contiguous
    if not plain or block.event.input == "text":
        return None
    return _fit(block.event, Dense(rows))


def _whole_numbers(rows: np.ndarray[Any, Any], slots: Sequence[Categories], unseen: str) -> Codes | None:
    if any(slot.kind != "whole numbers" for slot in slots):
        return None
    places = [slot.positions for slot in slots]
    lengths = np.array(list(map(len, places)))
    codes = np.array(
        [[place.get(value, -1) for place, value in zip(places, row, strict=True)] for row in rows.tolist()], np.int32
    )
    new = codes < 0
    if new.any() and unseen == "error":
        return None
    codes = np.where(new, lengths, codes).astype(np.int32)
    return Codes(codes, lengths + 1, tuple(slots))


def _dense(rows: Sequence[Mapping[str, Any]], block: Block) -> Dense | None:
    cells = [[row.get(name) for name in block.columns] for row in rows]
    if any(type(cell) not in _NUMBERS for row in cells for cell in row):
        return None
    try:
        return _fit(block.event, Dense(np.array(cells, np.float64)))
    except OverflowError:
        return None


def _fit(event: Event, data: Dense) -> Dense | None:
    unfit = event.invalid(np.asarray(data.columns))
    return None if unfit is not None and unfit.any() else data


def _codes(
    rows: list[Mapping[str, Any]], block: Block, slots: Sequence[Categories], unseen: str, missing: Sequence[str]
) -> Codes | None:
    codes = np.empty((len(rows), len(block.columns)), np.int32)
    for f, (name, slot) in enumerate(zip(block.columns, slots, strict=True)):
        plain = _PLAIN.get(slot.kind)
        for i, row in enumerate(rows):
            value = row.get(name)
            if value is None or (type(value) is str and value in missing):
                codes[i, f] = -1
                continue
            if type(value) is not plain:
                return None
            place = slot.positions.get(value, len(slot))
            if place == len(slot) and unseen == "error":
                return None
            codes[i, f] = place
    return Codes(codes, np.array([len(slot) + 1 for slot in slots], np.int64), tuple(slots))
