"""Rows in requests: JSON, CSV and Arrow streams, read by our sources."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.types as is_

from tallybayes import sources
from tallybayes.drift.recent_rows import thin
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, Sentence, TallyError, did_you_mean, wanted
from tallybayes.model import Model
from tallybayes.server.problem import Problem
from tallybayes.sources.missing import markers_of_numbers
from tallybayes.sources.steps import check_batches

__all__ = [
    "ARROW",
    "BODY",
    "CSV",
    "JSON",
    "arrow_rows",
    "convert",
    "form_of",
    "names_of",
    "parse_json",
    "parse_to_score",
    "reading_arrow",
    "renamed",
    "table_of",
]

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
BODY = "the request"  # its name in messages
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
        raise Problem(400, wanted(BODY, "a JSON list of rows", f"something else ({error})")) from None
    if type(rows) is not list:
        raise BadData(wanted(BODY, "a list of rows", _named(rows), "Put the row in a list"))
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


def convert(rows: Rows, numbers: Mapping[str, pa.DataType], model: Model) -> None:
    """Make the values of columns of numbers or booleans those of their type.

    Texts that stand for a missing value become null. Numbers are doubles, so that rows agree on a type.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": [1.5, 2.5], "y": ["no", "yes"]}, "y")
    >>> rows = [{"x": "NA"}, {"x": 2}]
    >>> convert(rows, {"x": pa.float64()}, model)
    >>> rows
    [{'x': None}, {'x': 2.0}]
    """
    markers = markers_of_numbers(model.schema.missing_values)
    for i, row in enumerate(rows):
        for name, value in row.items():
            kind = numbers.get(name)
            if kind is None or value is None:
                continue
            if type(value) is str:
                row[name] = None if value in markers else value
            elif is_.is_floating(kind):
                row[name] = float(value)
            elif is_.is_boolean(kind) and type(value) is not bool:
                raise BadData(wanted(f"row {i + 1}, column {name!r}", "true, false or null", _named(value)))
            elif is_.is_integer(kind):
                row[name] = _whole(value, f"row {i + 1}, column {name!r}")


def _whole(value: float, where: str) -> int:
    """Return a whole number of 64 bits; raise if a value is none."""
    if type(value) is bool or value != value // 1 or not -(1 << 63) <= value < 1 << 63:
        raise BadData(wanted(where, "a whole number of at most 64 bits", _named(value)))
    return int(value)


def parse_to_score(body: bytes, known: frozenset[str | None], numbers: Mapping[str, pa.DataType], model: Model) -> Rows:
    """Return the rows of a JSON body without label and weight, which are ignored."""
    rows = parse_json(body, known)
    convert(rows, numbers, model)
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
    """Return the rows of an Arrow stream as they are read, with missing values blank.

    Arrow believes a stream's offsets, and would read beyond its memory: each batch is checked first.
    """
    file = stream if isinstance(stream, pa.NativeFile) else pa.PythonFile(stream, "r")
    reader = pa.ipc.open_stream(file)
    return _open(pa.RecordBatchReader.from_batches(reader.schema, check_batches(reader, BODY, "strict")), model)


def watch_some(rows: sources.Source, see: Callable[[pa.Table], None]) -> sources.Source:
    """Return rows; some of the 1st, 2nd, 4th, 8th ... batch are given to `see` at the end."""

    def start() -> Iterator[pa.RecordBatch]:
        seen: list[pa.RecordBatch] = []
        for k, batch in enumerate(rows, 1):
            if k & (k - 1) == 0:
                seen.append(thin(batch))
            yield batch
        if seen:
            see(pa.Table.from_batches(seen))

    return replace(rows, start=start)


@contextmanager
def reading_arrow() -> Iterator[None]:
    """Refuse what is no Arrow stream."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        got = f"something else ({str(error).splitlines()[0]})"
        raise Problem(400, wanted(BODY, "an Arrow stream", got)) from None
    except BadData as error:
        raise renamed(error, f"the {pa.RecordBatchReader.__name__}") from None


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
        raise renamed(error, path) from None
    finally:
        os.unlink(path)


def renamed(error: TallyError, name: str) -> BadData:
    """Return an error of a source under a name of ours as one of the request."""
    said = error.args[0]
    if not isinstance(said, Sentence):
        return BadData(str(error).replace(name, BODY))
    return BadData(wanted(*(part.replace(name, BODY) for part in (said.where, said.want, said.got, said.do))))


def _named(value: object) -> str:
    kinds: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")
