"""The steps a source goes through: choose columns, retype, blank out, slice, read ahead, put errors in words."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.sources.source import Source

__all__ = [
    "BROKEN",
    "ahead",
    "blank",
    "chosen",
    "conform",
    "first_not_utf8",
    "guarded",
    "in_words",
    "project",
    "retype",
    "slice_rows",
    "type_in_words",
    "valid",
]

T = TypeVar("T")

# What a malformed file raises from pyarrow; of memory too, when a broken length asks for a petabyte.
BROKEN = (
    pa.ArrowInvalid,
    pa.ArrowTypeError,
    pa.ArrowKeyError,
    pa.ArrowNotImplementedError,
    pa.ArrowSerializationError,
    pa.ArrowMemoryError,
    UnicodeDecodeError,
    OSError,
)


def chosen(schema: pa.Schema, columns: Sequence[str] | None, where: str) -> list[str]:
    """The names of the columns to read: those asked for, else all but the index that pandas stored among them."""
    if columns is None:
        index = pandas_index(schema)
        return [name for name in schema.names if name not in index]
    if not columns:
        raise BadOption(wanted("columns", "at least one name", "none"))
    for name in columns:
        if name not in schema.names:
            near = difflib.get_close_matches(name, schema.names, n=1)
            known = ", ".join(f"'{known}'" for known in schema.names[:10]) + (", ..." if len(schema.names) > 10 else "")
            do = f"Did you mean '{near[0]}'" if near else f"It has {known}"
            raise BadData(wanted(where, f"a column '{name}'", "none of that name", do))
    return list(columns)


def pandas_index(schema: pa.Schema) -> set[str]:
    """The columns that hold a DataFrame's index: labels of rows, which say nothing about a class."""
    if not schema.metadata or b"pandas" not in schema.metadata:
        return set()
    try:
        stored = json.loads(schema.metadata[b"pandas"])
        return {name for name in stored.get("index_columns", []) if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError):
        return set()


def project(source: Source, columns: Sequence[str] | None) -> Source:
    """The same rows with only these columns, in this order, and no metadata about the table as a whole."""
    names = chosen(source.schema, columns, source.name)
    if not names:
        raise BadData(wanted(source.name, "at least one column", "none"))
    if columns is None and not source.schema.metadata:
        return source
    schema = pa.schema([source.schema.field(name) for name in names])
    if schema.equals(source.schema, check_metadata=True):
        return source

    def start() -> Iterator[pa.RecordBatch]:
        for batch in source:
            yield pa.RecordBatch.from_arrays([batch.column(name) for name in names], schema=schema)

    return replace(source, schema=schema, start=start)


def retype(source: Source, types: Mapping[str, pa.DataType]) -> Source:
    """The same rows with some columns cast; a column that is not there becomes nulls."""
    fields = {field.name: field for field in source.schema}
    fields |= {name: fields.get(name, pa.field(name, kind)).with_type(kind) for name, kind in types.items()}
    schema = pa.schema(list(fields.values()))
    if not types or schema.equals(source.schema):
        return source

    def cast(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
        at = source.schema.get_field_index(field.name)
        if at < 0:
            return pa.nulls(batch.num_rows, field.type)
        column = batch.column(at)
        if column.type == field.type:
            return column
        try:
            # Beyond 2^53 a whole number may round on its way to a double, as it would when read as one.
            return column.cast(field.type, safe=not pa.types.is_floating(field.type))
        except BROKEN as error:
            if column.type == pa.string_view():  # of which pyarrow 16 can cast nothing
                return pa.array(column.to_pylist(), field.type)
            where = f"{source.name}, column '{field.name}'"
            got = f"{type_in_words(column.type)} ({in_words(error)})"
            raise BadData(wanted(where, type_in_words(field.type), got)) from None

    def start() -> Iterator[pa.RecordBatch]:
        for batch in source:
            yield pa.RecordBatch.from_arrays([cast(batch, field) for field in schema], schema=schema)

    return replace(source, schema=schema, start=start)


def conform(source: Source, types: Mapping[str, pa.DataType], *, cast: bool = True) -> Source:
    """The rows of one of several partitions with the columns that all have, and in their types if `cast`.

    Numbers may be narrower or wider, text coded or not, and a column without any value of whatever type; a column of
    another kind is refused.
    """
    other: dict[str, pa.DataType] = {}
    for name, kind in types.items():
        at = source.schema.get_field_index(name)
        if at < 0:
            raise BadData(wanted(source.name, f"a column '{name}', as in the other partitions", "none of that name"))
        if not _alike(source.schema.field(at).type, kind):
            other[name] = kind
    known = {name: kind for name, kind in types.items() if not pa.types.is_null(kind)}
    source = _empty(source, other) if other else source
    return project(retype(source, known) if cast else source, list(types))


def _empty(source: Source, types: Mapping[str, pa.DataType]) -> Source:
    """The same rows, if these columns hold no value at all."""
    fields = [field.with_type(types.get(field.name, field.type)) for field in source.schema]
    schema = pa.schema(fields)

    def nothing(column: pa.Array, field: pa.Field) -> pa.Array:
        if column.null_count == len(column):
            return pa.nulls(len(column), field.type)
        where, want = (
            f"{source.name}, column '{field.name}'",
            f"{type_in_words(field.type)}, as in the other partitions",
        )
        raise BadData(wanted(where, want, type_in_words(column.type), "Make them one type"))

    def start() -> Iterator[pa.RecordBatch]:
        for batch in source:
            pairs = zip(batch.columns, schema, strict=True)
            columns = [nothing(column, field) if field.name in types else column for column, field in pairs]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return replace(source, schema=schema, start=start)


def _alike(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether values of both types are of one kind."""
    one, other = (kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (one, other))
    if pa.types.is_null(one) or pa.types.is_null(other) or one == other:
        return True
    return any(
        all(any(is_(kind) for is_ in kinds) for kind in (one, other))
        for kinds in (
            (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
            (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
            (pa.types.is_temporal,),
        )
    )


def blank(source: Source, missing: Sequence[str]) -> Source:
    """The same rows with these strings replaced by nulls, in every column of strings or of categories."""
    if not missing:
        return source
    views = [field.name for field in source.schema if field.type == pa.string_view()]
    source = retype(source, dict.fromkeys(views, pa.large_string()))  # Arrow has no comparison of string views
    texts = [i for i, field in enumerate(source.schema) if _holds_text(field.type)]

    def start() -> Iterator[pa.RecordBatch]:
        for batch in source:
            columns = batch.columns
            for i in texts:
                columns[i] = _without(columns[i], missing)
            yield pa.RecordBatch.from_arrays(columns, schema=source.schema)

    return replace(source, start=start)


def _holds_text(kind: pa.DataType) -> bool:
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(values) or pa.types.is_large_string(values))


def _without(column: pa.Array, missing: Sequence[str]) -> pa.Array:
    import pyarrow.compute as pc  # half as long to load as all of pyarrow, and seldom needed

    if not pa.types.is_dictionary(column.type):
        gone = pc.is_in(column, pa.array(missing, column.type))
        return pc.if_else(gone, pa.scalar(None, column.type), column)
    gone = pc.is_in(column.dictionary, pa.array(missing, column.type.value_type)).take(column.indices)
    kept = pc.if_else(gone, pa.scalar(None, column.type.index_type), column.indices)
    return pa.DictionaryArray.from_arrays(kept, column.dictionary, ordered=column.type.ordered)


def slice_rows(source: Source, batch_rows: int | None) -> Source:
    """The same rows in batches of at most so many, as views of the batches that come."""
    if batch_rows is None:
        return source
    if batch_rows < 1:
        raise BadOption(wanted("batch_rows", "a number of rows, at least 1", str(batch_rows)))

    def start() -> Iterator[pa.RecordBatch]:
        for batch in source:
            for at in range(0, batch.num_rows, batch_rows):
                yield batch.slice(at, batch_rows)

    return replace(source, start=start)


def valid(batches: Iterable[pa.RecordBatch], where: str, errors: str, rows: int = 0) -> Iterator[pa.RecordBatch]:
    """The same batches, after a look at what readers take on trust: offsets in Arrow files, UTF-8 in all.

    With `errors` "replace", bytes that are not UTF-8 become U+FFFD; else they are refused with their row and place.
    `rows` is how many come before the first.
    """
    for batch in batches:
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid as error:
            if "UTF8" not in str(error):
                raise
            batch = _mended(batch, rows, where, errors)
        rows += batch.num_rows
        yield batch


def _mended(batch: pa.RecordBatch, rows: int, where: str, errors: str) -> pa.RecordBatch:
    columns = batch.columns
    for i, field in enumerate(batch.schema):
        coded = pa.types.is_dictionary(field.type)
        texts = columns[i].dictionary if coded else columns[i]
        if not _holds_text(field.type) or (bad := first_not_utf8(texts)) is None:
            continue
        if coded:  # of which a batch may hold values that none of its rows has
            bad = first_not_utf8(texts.take(columns[i].indices))
        if errors != "replace" and bad is not None:
            got = f"other bytes (row {rows + bad[0] + 1}, byte {bad[1] + 1})"
            do = "Write it anew, or choose errors='replace'"
            raise BadData(wanted(f"{where}, column '{field.name}'", "text in UTF-8", got, do))
        new = [None if v is None else v.decode(errors="replace") for v in texts.cast(_as_bytes(texts)).to_pylist()]
        texts = pa.array(new, texts.type)
        columns[i] = pa.DictionaryArray.from_arrays(columns[i].indices, texts) if coded else texts
    mended = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
    mended.validate(full=True)
    return mended


def first_not_utf8(texts: pa.Array) -> tuple[int, int] | None:
    """The first row whose bytes are not UTF-8, and the byte at which that begins."""
    for row, value in enumerate(texts.cast(_as_bytes(texts)).to_pylist()):
        try:
            _ = value is None or value.decode()
        except UnicodeDecodeError as error:
            return row, error.start
    return None


def _as_bytes(texts: pa.Array) -> pa.DataType:
    return pa.large_binary() if texts.type in (pa.large_string(), pa.large_binary()) else pa.binary()


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items, each made in another thread while the one before is in use: one ahead, so memory is bounded."""
    coming = iter(items)
    with ThreadPoolExecutor(1, "tallybayes-read") as reader:
        future = reader.submit(next, coming, None)
        while (item := future.result()) is not None:
            future = reader.submit(next, coming, None)
            yield item


def guarded(batches: Iterable[T], where: str, want: str) -> Iterator[T]:
    """The same batches; what pyarrow has to say about a broken file is put in one sentence."""
    try:
        yield from batches
    except BROKEN as error:
        raise BadData(wanted(where, want, f"one that cannot be read ({in_words(error)})")) from None


def in_words(error: BaseException) -> str:
    """The first line of an error's message, short enough for a sentence."""
    line = str(error).strip().split("\n")[0].rstrip(".")
    return line if len(line) <= 200 else line[:200] + "..."


def type_in_words(kind: pa.DataType) -> str:
    """What a column of this type holds, as a user would say it."""
    if pa.types.is_integer(kind):
        return "whole numbers"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    if pa.types.is_temporal(kind):
        return "dates or times"
    words = {pa.bool_(): "true or false", pa.null(): "nothing", pa.string(): "text", pa.large_string(): "text"}
    return words.get(kind, str(kind))
