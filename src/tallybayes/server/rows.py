"""Rows in requests: JSON, CSV and Arrow streams, read by our sources."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from tallybayes import sources
from tallybayes.encoding import open_rows
from tallybayes.encoding.few_rows import MOST_ROWS
from tallybayes.errors import BadData, TallyError, did_you_mean, wanted
from tallybayes.model import Model
from tallybayes.schema.schema import Schema
from tallybayes.server.problem import Problem
from tallybayes.sources.missing import Markers

__all__ = [
    "ARROW",
    "CSV",
    "JSON",
    "arrow_rows",
    "form_of",
    "labelled_table",
    "names_of",
    "no_class",
    "parse_json",
    "parse_to_score",
    "reading_arrow",
    "table_of",
    "types_of",
]

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
_BODY = "the request"  # its name in messages
Rows = list[dict[str, Any]]


def form_of(content_type: str) -> str:
    """Return the format of a request's body by its content type; raise if it is none of ours."""
    kind = content_type.partition(";")[0].strip().lower() or JSON
    if kind not in (JSON, CSV, ARROW):
        raise Problem(415, wanted("Content-Type", f"{JSON}, {CSV} or {ARROW}", repr(kind)))
    return kind


def names_of(model: Model) -> frozenset[str | None]:
    """Return the names that a row may have: columns, label and weight."""
    return frozenset((*model.schema.inputs, model.schema.label, model.schema.weight))


def parse_json(body: bytes, known: frozenset[str | None]) -> Rows:
    """Return the rows of a JSON body: a list of objects with known names.

    Examples
    --------
    >>> parse_json(b'[{"x": "p"}]', frozenset({"x", "y"}))
    [{'x': 'p'}]
    """
    try:
        rows = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Problem(400, wanted(_BODY, "a JSON list of rows", f"something else ({error})")) from None
    if type(rows) is not list:
        raise BadData(wanted(_BODY, "a list of rows", _named(rows), "Put the row in a list"))
    for i, row in enumerate(rows):
        if type(row) is not dict:
            raise BadData(wanted(f"row {i + 1}", "an object of values by column", _named(row)))
        for name, value in row.items():
            if name not in known:
                do = did_you_mean(name, filter(None, known))
                raise BadData(wanted(f"row {i + 1}", "columns of the model", repr(name), do))
            if isinstance(value, (list, dict)):
                raise BadData(wanted(f"row {i + 1}, column {name!r}", "a value", _named(value)))
    return rows


def parse_to_score(body: bytes, known: frozenset[str | None], model: Model) -> Rows:
    """Return the rows of a JSON body without label and weight, which are ignored."""
    rows = parse_json(body, known)
    for row in rows:
        row.pop(model.schema.label, None)
        if model.schema.weight is not None:
            row.pop(model.schema.weight, None)
    return rows


def table_of(body: bytes, form: str, model: Model) -> pa.Table:
    """Return the rows of a body as a table, with missing values blank."""
    if form == JSON:
        rows = parse_json(body, names_of(model))
        return _read(rows, model) if rows else pa.table({name: pa.nulls(0) for name in model.schema.inputs})
    if form == ARROW:
        with reading_arrow():
            source = arrow_rows(pa.BufferReader(body), model)
            return pa.Table.from_batches(list(source), source.schema)
    return _csv(body, model)


def arrow_rows(stream: object, model: Model) -> sources.Source:
    """Return the rows of an Arrow stream as they are read, with missing values blank."""
    file = stream if isinstance(stream, pa.NativeFile) else pa.PythonFile(stream, "r")
    return _open(pa.ipc.open_stream(file), model)


@contextmanager
def reading_arrow() -> Iterator[None]:
    """Refuse what is no Arrow stream."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        got = f"something else ({str(error).splitlines()[0]})"
        raise Problem(400, wanted(_BODY, "an Arrow stream", got)) from None


def labelled_table(body: bytes, form: str, model: Model, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return labelled rows with the columns of the model, its label and its weight; raise if a class is missing.

    `types` are those of `types_of`.
    """
    schema = model.schema
    table = _json_table(body, model) if form == JSON else table_of(body, form, model)
    if schema.label not in table.column_names:
        do = did_you_mean(schema.label, table.column_names)
        raise BadData(wanted(f"label {schema.label!r}", "a class in every row", "no such column", do))
    labels = table.column(schema.label)
    if labels.null_count:
        raise _no_class(schema.label, labels.is_null().index(True).as_py() + 1)
    if schema.weight is not None and schema.weight not in table.column_names:
        raise BadData(wanted(f"weight {schema.weight!r}", "a weight in every row", "no such column"))
    if not any(name in types for name in table.column_names):
        raise BadData(wanted(_BODY, "columns of the model", "none of them"))
    own = [name for name in (schema.label, schema.weight) if name is not None]
    columns = {name: _typed(table, name, kind) for name, kind in types.items()}
    columns |= {name: _typed(table, name, pa.null()) for name in own}
    return pa.table(columns)


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


def _typed(table: pa.Table, name: str, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """Return a column so that rows of many requests have the same types; the model judges what is neither."""
    if name not in table.column_names:
        return pa.nulls(table.num_rows, kind)  # missing in every row
    column, is_ = table.column(name), pa.types
    number = is_.is_integer(column.type) or is_.is_floating(column.type) or is_.is_boolean(column.type)
    if is_.is_null(column.type) or (number and kind == pa.float64()):
        return column.cast(pa.float64() if number else kind)
    return column


def _json_table(body: bytes, model: Model) -> pa.Table:
    """Return JSON rows as a table as they are: learning blanks what stands for a missing value, but not for a class."""
    rows, schema = parse_json(body, names_of(model)), model.schema
    if not rows:
        raise BadData(wanted(_BODY, "at least one row", "none"))
    absent = (None, *no_class(schema))
    for i, row in enumerate(rows):
        label = row.get(schema.label)
        if label in absent:
            raise _no_class(schema.label, i + 1)
        if type(label) is float and abs(label) > _EXACT:
            got = f"{label!r} (row {i + 1})"
            raise BadData(wanted(f"label {schema.label!r}", "classes that JSON numbers hold exactly", got))
    if len(rows) <= MOST_ROWS and (plain := _plain_table(rows)) is not None:
        return plain
    source = sources.open_source(rows, sources.PLAIN_OPTIONS)
    return pa.Table.from_batches(list(source), source.schema)


def no_class(schema: Schema) -> tuple[str, ...]:
    """Return the texts that stand for a missing class."""
    return Markers(schema.missing_values, schema.label).of(schema.label)


_EXACT = 1 << 53  # beyond it a double does not hold every whole number
_ARROW_TYPES = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}


def _plain_table(rows: Rows) -> pa.Table | None:
    """Return a few rows whose columns have one plain type each as a table, as a source would; else None."""
    columns: dict[str, pa.Array] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values} - {type(None)}
        if len(kinds) > 1 and kinds <= {float, int, bool}:  # numbers, some of which are true or false
            values, kinds = [None if value is None else float(value) for value in values], {float}
        if not kinds:
            columns[name] = pa.nulls(len(rows))
            continue
        if len(kinds) != 1:
            return None
        try:
            columns[name] = pa.array(values, _ARROW_TYPES[kinds.pop()])
        except (pa.ArrowException, OverflowError):
            return None
    return pa.table(columns)


def _no_class(label: str, row: int) -> BadData:
    return BadData(wanted(f"label {label!r}", "a class in every row", f"a missing one (row {row})"))


def _read(rows: Any, model: Model, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    source = _open(rows, model, types)
    return pa.Table.from_batches(list(source), source.schema)


def _open(rows: Any, model: Model, types: Mapping[str, pa.DataType] | None = None) -> sources.Source:
    schema = model.schema
    options = sources.ReadOptions(schema.missing_values)
    return sources.open_source(rows, options, types=types, label=schema.label, documents=schema.texts)


def _csv(body: bytes, model: Model) -> pa.Table:
    texts = dict.fromkeys(model.text_columns, pa.string())
    handle, path = tempfile.mkstemp(".csv", "tally-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
        return open_rows.reading(lambda types: _read(Path(path), model, {**texts, **(types or {})}))
    except TallyError as error:
        raise BadData(str(error).replace(path, _BODY)) from None
    finally:
        os.unlink(path)


def _named(value: object) -> str:
    kinds: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")
