"""Labelled rows in requests, as a journal keeps them: tables with the columns of the model, in few types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tallybayes import sources
from tallybayes.errors import BadData, TallyError, did_you_mean, wanted
from tallybayes.model import Model
from tallybayes.schema.schema import Schema
from tallybayes.server.rows import BODY, Rows, convert, names_of, parse_json, renamed, table_of
from tallybayes.sources.missing import Markers

__all__ = ["labelled_table", "no_class", "parse_labelled", "plain_table", "table_of_rows", "types_of"]

_EXACT = 1 << 53  # beyond it a double does not hold every whole number
_ARROW_TYPES = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}
_NUMBERS = frozenset((float, int, bool))
Types = Mapping[str, pa.DataType]


def types_of(model: Model) -> dict[str, pa.DataType]:
    """Return the type of each column in a journal: as in the evidence, and doubles for all kinds of numbers.

    Examples
    --------
    >>> import tallybayes as tb
    >>> types_of(tb.fit({"x": ["p", "q"], "z": [1, 2], "y": ["no", "yes"]}, "y", events={"z": "gaussian"}))
    {'x': DataType(string), 'z': DataType(double)}
    """
    found: dict[str, pa.DataType] = dict.fromkeys(model.schema.inputs, pa.string())
    for block, statistic in zip(model.schema.blocks, model.evidence.statistics, strict=True):
        for f, name in enumerate(block.columns):
            if name not in found or name in model.schema.readings:
                continue
            if block.event.input == "codes":
                found[name] = statistic.labels[f].array.type if statistic.labels else pa.null()
            elif block.event.input != "text":
                found[name] = pa.float64()
    return found


def no_class(schema: Schema) -> tuple[str, ...]:
    """Return the texts that stand for a missing class."""
    return Markers(schema.missing_values, schema.label).of(schema.label)


def parse_labelled(body: bytes, numbers: Types, model: Model) -> Rows:
    """Return the rows of a JSON body; raise if a class is missing."""
    rows, label = parse_json(body, names_of(model)), model.schema.label
    if not rows:
        raise BadData(wanted(BODY, "at least one row", "none"))
    convert(rows, numbers, model)
    absent = (None, *no_class(model.schema))
    for i, row in enumerate(rows):
        value = row.get(label)
        if value in absent:
            raise _missing(label, i + 1)
        if type(value) is float and abs(value) > _EXACT:
            got = f"{value!r} (row {i + 1})"
            raise BadData(wanted(f"label {label!r}", "classes that JSON numbers hold exactly", got))
    if not any(name in row for row in rows for name in model.schema.inputs):
        raise _no_columns()
    return rows


def plain_table(rows: Rows, schema: Schema, types: Types) -> pa.Table | None:
    """Return rows as a table if every value has the type of its column or is missing; else None.

    Types then depend on the model alone, so the rows of several requests may be given together.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "z": [1.5, 2], "y": ["no", "yes"]}, "y")
    >>> rows = [{"x": "p", "z": 1, "y": "no"}, {"z": 2.5, "y": "yes"}]
    >>> plain_table(rows, model.schema, types_of(model)).to_pylist()
    [{'x': 'p', 'z': 1.0, 'y': 'no'}, {'x': None, 'z': 2.5, 'y': 'yes'}]
    """
    columns: dict[str, pa.Array] = {}
    for name, kind in types.items():
        columns[name] = _plain_column([row.get(name) for row in rows], kind)
        if columns[name] is None:
            return None
    for name in _own(schema):
        columns[name] = _own_column([row.get(name) for row in rows])
        if columns[name] is None:
            return None
    return pa.table(columns)


def _plain_column(values: list[Any], kind: pa.DataType) -> pa.Array | None:
    kinds = {type(value) for value in values} - {type(None)}
    if kind == _ARROW_TYPES[float] and kinds <= _NUMBERS:
        return pa.array([None if value is None else float(value) for value in values], kind)
    if len(kinds) > 1 or any(_ARROW_TYPES[one] != kind for one in kinds):
        return None
    return _array(values, kind)


def _own_column(values: list[Any]) -> pa.Array | None:
    """Return labels or weights, which are in every row."""
    kinds = {type(value) for value in values}
    return _array(values, _ARROW_TYPES.get(kinds.pop())) if len(kinds) == 1 else None


def _array(values: list[Any], kind: pa.DataType | None) -> pa.Array | None:
    try:
        return None if kind is None else pa.array(values, kind)
    except (pa.ArrowException, OverflowError):  # beyond 64 bits
        return None


def table_of_rows(rows: Rows, model: Model, types: Types) -> pa.Table:
    """Return rows of `parse_labelled` as a table with the columns of the model, its label and its weight."""
    plain = plain_table(rows, model.schema, types)
    if plain is not None:
        return plain
    for name in {name for row in rows for name in row}:
        _same_kind(rows, name)
    # As they are: learning blanks what stands for a missing value, but not for a class.
    try:
        source = sources.open_source(rows, sources.PLAIN_OPTIONS)
        table = pa.Table.from_batches(list(source), source.schema)
    except TallyError as error:
        raise renamed(error, "the list") from None
    return _completed(table, model.schema, types)


def _same_kind(rows: Rows, name: str) -> None:
    """Make doubles of a column's numbers if they are of several kinds, such as 1 beside 2.5."""
    kinds = {type(row[name]) for row in rows if row.get(name) is not None}
    if len(kinds) > 1 and kinds <= _NUMBERS:
        for row in rows:
            if row.get(name) is not None:
                row[name] = float(row[name])


def labelled_table(body: bytes, form: str, model: Model, types: Types) -> pa.Table:
    """Return the rows of a body of CSV or Arrow in the same way; raise if a class is missing."""
    return _completed(table_of(body, form, model), model.schema, types)


def _completed(table: pa.Table, schema: Schema, types: Types) -> pa.Table:
    """Return a table with all columns of the model and no others; raise if a class is missing."""
    if schema.label not in table.column_names:
        do = did_you_mean(schema.label, table.column_names)
        raise BadData(wanted(f"label {schema.label!r}", "a class in every row", "no such column", do))
    labels = table.column(schema.label)
    if labels.null_count:
        raise _missing(schema.label, labels.is_null().index(True).as_py() + 1)
    if schema.weight is not None and schema.weight not in table.column_names:
        raise BadData(wanted(f"weight {schema.weight!r}", "a weight in every row", "no such column"))
    if not any(name in types for name in table.column_names):
        raise _no_columns()
    columns = {name: _typed(table, name, kind) for name, kind in types.items()}
    columns |= {name: _typed(table, name, pa.null()) for name in _own(schema)}
    return pa.table(columns)


def _typed(table: pa.Table, name: str, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """Return a column so that rows of many requests have the same types; the model judges what is neither."""
    if name not in table.column_names:
        return pa.nulls(table.num_rows, kind)  # missing in every row
    column, is_ = table.column(name), pa.types
    number = is_.is_integer(column.type) or is_.is_floating(column.type) or is_.is_boolean(column.type)
    if is_.is_null(column.type) or (number and kind == pa.float64()):
        return column.cast(pa.float64() if number else kind, safe=False)  # whole numbers beyond 2^53 are rounded
    return column


def _own(schema: Schema) -> tuple[str, ...]:
    return (schema.label,) if schema.weight is None else (schema.label, schema.weight)


def _missing(label: str, row: int) -> BadData:
    return BadData(wanted(f"label {label!r}", "a class in every row", f"a missing one (row {row})"))


def _no_columns() -> BadData:
    return BadData(wanted(BODY, "columns of the model", "none of them"))
