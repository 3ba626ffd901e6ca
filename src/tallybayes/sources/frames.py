"""Tables in memory and streams: Arrow's C interface, dicts, lists of dicts or text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.array_columns import prose_field
from tallybayes.sources.source import Source, check_distinct, check_exportable, of_batches, of_table
from tallybayes.sources.steps import BROKEN, in_words, reword_errors
from tallybayes.sources.take import align
from tallybayes.sources.to_arrow import check_objects, column_of, table_of

SCALARS = (str, bytes, int, float, bool, type(None))


def of_arrow(frame: Any) -> Source:
    """Return a source of a pyarrow table or reader, or of any Arrow-compatible object.

    Such an object has ``__arrow_c_stream__`` or ``__arrow_c_array__``.
    """
    unaligned = _of_arrow(frame)
    source = replace(unaligned, start=lambda: map(align, unaligned))
    if pa.string_view() not in source.schema.types:
        return source
    # pyarrow can neither take nor filter string views, which polars uses.
    plain = [f.with_type(pa.large_string()) if f.type == pa.string_view() else f for f in source.schema]
    schema = pa.schema(plain, source.schema.metadata)
    return replace(source, schema=schema, start=lambda: (batch.cast(schema) for batch in source))


def _of_arrow(frame: Any) -> Source:
    name = f"the {type(frame).__name__}"
    if isinstance(frame, pa.RecordBatchReader):
        return of_batches(frame.schema, reword_errors(frame, name, "a readable stream"), name)
    if isinstance(frame, pa.RecordBatch):
        return of_table(pa.Table.from_batches([frame]), name)
    if isinstance(frame, pa.Table):
        return of_table(frame, name)
    columns = [str(column) for column in getattr(frame, "columns", [])]
    check_distinct(columns, name)
    check_exportable(columns, name)
    try:
        return _of_stream(frame, name) if hasattr(frame, "__arrow_c_stream__") else _of_struct(frame, name)
    except (*BROKEN, ValueError, TypeError, OverflowError) as error:
        if isinstance(error, BadData):
            raise
        got = f"values that cannot be converted ({_one_line(error)})"
        raise BadData(wanted(name, "columns of one type each", got)) from None


def _one_line(error: BaseException) -> str:
    # The error's second argument names the column that pandas could not convert.
    return ", ".join(in_words(Exception(part)) for part in error.args) or in_words(error)


def _of_stream(frame: Any, name: str) -> Source:
    check_objects(frame, name)
    if isinstance(frame, pa.ChunkedArray) or hasattr(frame, "dtype"):  # a series: one column, not in a table
        return _of_values(pa.chunked_array(frame), name)
    # Converting a pandas frame costs a pass over it, so the result is kept. A query stays lazy.
    if type(frame).__module__.split(".")[0] in ("pandas", "polars"):
        return of_table(pa.table(frame), name)
    first = [pa.RecordBatchReader.from_stream(frame)]
    schema = first[0].schema
    if not hasattr(frame, "__len__"):  # another library's reader: it may allow only one pass
        return of_batches(schema, reword_errors(first[0], name, "a readable stream"), name)

    def start() -> Iterable[pa.RecordBatch]:
        reader = first.pop() if first else pa.RecordBatchReader.from_stream(frame)
        return reword_errors(reader, name, "a readable stream")

    return Source(schema, None, True, name, start)


def _of_struct(frame: Any, name: str) -> Source:
    array = pa.array(frame)
    if pa.types.is_struct(array.type):
        return of_table(pa.Table.from_batches([pa.RecordBatch.from_struct_array(array)]), name)
    return _of_values(array, name)


def _of_values(values: Any, name: str) -> Source:
    """Return a source of a single unnamed column, which must be text."""
    kind = values.type
    if kind in (pa.string(), pa.large_string(), pa.string_view()):
        return of_table(pa.table({"text": values}), name)
    raise BadData(wanted(name, "a table of named columns", f"one column of {kind}", "Pass {'name': values}"))


def of_columns(columns: Mapping[Any, Any]) -> Source:
    """Return a source of a dict of columns, or of single values: one row."""
    if columns and all(isinstance(value, SCALARS) for value in columns.values()):
        return of_dicts([columns], "the dict")
    return of_table(table_of(columns, "the dict"), "the dict")


def of_dicts(rows: Sequence[Any], name: str = "the list") -> Source:
    """Return a source of a list of dicts: every key a column, absent keys null."""
    for at, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise BadData(wanted(name, "a dict in every row, as in the first", f"{row!r} in row {at}"))
    keys = dict.fromkeys(key for row in rows for key in row)
    return of_table(table_of({key: [row.get(key) for row in rows] for key in keys}, name), name)


def of_text(texts: Sequence[Any]) -> Source:
    """Return a source of a list of strings: one column, "text"."""
    kinds = set(map(type, texts))
    if not kinds <= {str, type(None)}:  # ten times as fast as a loop that tests each one
        for at, text in enumerate(texts, 1):
            if text is not None and not isinstance(text, str):
                raise BadData(wanted("the list", "a string in every row, as in the first", f"{text!r} in row {at}"))
    field, values = column_of("text", texts, "the list", kinds)
    table = pa.table([values], pa.schema([field]))
    return of_table(table.cast(pa.schema([prose_field("text", field.type)])), "the list")
