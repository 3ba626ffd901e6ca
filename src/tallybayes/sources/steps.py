"""Steps applied to a source: select, cast and blank columns, slice, read ahead, reword errors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.sources.array_columns import is_prose
from tallybayes.sources.missing import Markers
from tallybayes.sources.source import Source

T = TypeVar("T")

# What pyarrow raises for a malformed file. A corrupt length can ask for a petabyte: hence the memory error.
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


def columns_to_read(schema: pa.Schema, columns: Sequence[str] | None, where: str) -> list[str]:
    """Return the names of the columns to read: by default all but a pandas index."""
    if columns is None:
        index = pandas_index(schema)
        return [name for name in schema.names if name not in index]
    if not columns:
        raise BadOption(wanted("columns", "at least one name", "none"))
    names = schema.names  # makes a list each time
    known = set(names)
    for name in columns:
        if name not in known:
            raise BadData(wanted(where, f"a column '{name}'", "none of that name", did_you_mean(name, names)))
    return list(columns)


def pandas_index(schema: pa.Schema) -> set[str]:
    """Return the columns that hold a DataFrame's index, which says nothing about a class."""
    if not schema.metadata or b"pandas" not in schema.metadata:
        return set()
    try:
        stored = json.loads(schema.metadata[b"pandas"])
        return {name for name in stored.get("index_columns", []) if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError):
        return set()


def project(source: Source, columns: Sequence[str] | None) -> Source:
    """Return the same rows with only these columns, in order, without table metadata."""
    names = columns_to_read(source.schema, columns, source.name)
    if not names:
        raise BadData(wanted(source.name, "at least one column", "none"))
    if columns is None and not source.schema.metadata:
        return source
    schema = pa.schema([source.schema.field(name) for name in names])
    if schema.equals(source.schema, check_metadata=True):
        return source

    def some(batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([batch.column(name) for name in names], schema=schema)

    return source.map(some, schema)


def retype(source: Source, types: Mapping[str, pa.DataType]) -> Source:
    """Return the same rows with some columns cast; an absent column becomes nulls."""
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
            # Above 2^53 a whole number may be rounded, exactly as if the file had been read as doubles.
            return column.cast(field.type, safe=not pa.types.is_floating(field.type))
        except BROKEN as error:
            if column.type == pa.string_view():  # pyarrow 16 cannot cast it to anything
                return pa.array(column.to_pylist(), field.type)
            where = f"{source.name}, column '{field.name}'"
            got = f"{type_in_words(column.type)} ({in_words(error)})"
            raise BadData(wanted(where, type_in_words(field.type), got)) from None

    def cast_all(batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([cast(batch, field) for field in schema], schema=schema)

    return source.map(cast_all, schema)


def conform(source: Source, types: Mapping[str, pa.DataType], *, cast: bool = True) -> Source:
    """Return one partition's rows with the columns and types that all partitions share.

    Numbers may be narrower or wider, text may be dictionary-coded or not, and a column without values may have any
    type. A column of another kind is an error. Types are only cast if `cast`.
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
    """Return the same rows; raise BadData if one of these columns holds a value."""
    schema = pa.schema([field.with_type(types.get(field.name, field.type)) for field in source.schema])

    def nothing(column: pa.Array, field: pa.Field) -> pa.Array:
        if column.null_count == len(column):
            return pa.nulls(len(column), field.type)
        want = f"{type_in_words(field.type)}, as in the other partitions"
        got = type_in_words(column.type)
        raise BadData(wanted(f"{source.name}, column '{field.name}'", want, got, "Make them one type"))

    def emptied(batch: pa.RecordBatch) -> pa.RecordBatch:
        pairs = zip(batch.columns, schema, strict=True)
        columns = [nothing(column, field) if field.name in types else column for column, field in pairs]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    return source.map(emptied, schema)


def _alike(one: pa.DataType, other: pa.DataType) -> bool:
    """Return whether both types hold the same kind of value."""
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


def blank(source: Source, markers: Markers) -> Source:
    """Return the same rows, with markers null in all (also dictionary-coded) text columns."""
    if not markers.missing:
        return source
    views = [field.name for field in source.schema if field.type == pa.string_view()]
    source = retype(source, dict.fromkeys(views, pa.large_string()))  # Arrow cannot compare string views

    each = [_markers(field, markers) for field in source.schema]
    if not any(each):
        return source

    def blanked(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [
            without(column, texts) if texts else column for texts, column in zip(each, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=source.schema)

    return source.map(blanked)


def _markers(field: pa.Field, markers: Markers) -> tuple[str, ...]:
    """Return the texts that are missing in a column."""
    if not holds_text(field.type):
        return ()
    return markers.of(field.name, prose=is_prose(field))


def holds_text(kind: pa.DataType) -> bool:
    """Return whether a type is text, dictionary-coded or not."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(values) or pa.types.is_large_string(values))


def without(column: pa.Array, missing: Sequence[str]) -> pa.Array:
    """Return a column of text with these strings null."""
    import pyarrow.compute as pc  # rarely needed, and takes half as long to import as pyarrow itself

    if not pa.types.is_dictionary(column.type):
        gone = pc.is_in(column, pa.array(missing, column.type))
        return pc.if_else(gone, pa.scalar(None, column.type), column)
    gone = pc.is_in(column.dictionary, pa.array(missing, column.type.value_type)).take(column.indices)
    kept = pc.if_else(gone, pa.scalar(None, column.type.index_type), column.indices)
    return pa.DictionaryArray.from_arrays(kept, column.dictionary, ordered=column.type.ordered)


def slice_rows(source: Source, batch_rows: int | None) -> Source:
    """Return the same rows in batches of at most `batch_rows`, without a copy."""
    if batch_rows is None:
        return source

    def start() -> Iterator[pa.RecordBatch]:
        for batch in source:
            for at in range(0, batch.num_rows, batch_rows):
                yield batch.slice(at, batch_rows)

    return replace(source, start=start)


def check_batches(
    batches: Iterable[pa.RecordBatch], where: str, errors: str, rows: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield the same batches, each fully validated.

    Readers do not check offsets in Arrow files, nor UTF-8 in any file.

    With `errors` "replace", invalid UTF-8 becomes U+FFFD; otherwise it raises BadData that names the row and byte.
    `rows` is the number of rows before the first batch.
    """
    for batch in batches:
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid as error:
            if "UTF8" not in str(error):
                raise
            batch = _replace_invalid(batch, rows, where, errors)
        rows += batch.num_rows
        yield batch


def _replace_invalid(batch: pa.RecordBatch, rows: int, where: str, errors: str) -> pa.RecordBatch:
    columns = batch.columns
    for i, field in enumerate(batch.schema):
        coded = pa.types.is_dictionary(field.type)
        texts = columns[i].dictionary if coded else columns[i]
        if not holds_text(field.type) or (bad := first_not_utf8(texts)) is None:
            continue
        if coded:  # a dictionary may hold values that no row uses: only a bad value in use has a row to name
            bad = first_not_utf8(texts.take(columns[i].indices))
        if errors != "replace" and bad is not None:
            got = f"other bytes (row {rows + bad[0] + 1}, byte {bad[1] + 1})"
            do = "Rewrite it in UTF-8, or choose errors='replace'"
            raise BadData(wanted(f"{where}, column '{field.name}'", "text in UTF-8", got, do))
        new = [None if v is None else v.decode(errors="replace") for v in texts.cast(_as_bytes(texts)).to_pylist()]
        texts = pa.array(new, texts.type)
        columns[i] = pa.DictionaryArray.from_arrays(columns[i].indices, texts) if coded else texts
    repaired = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
    repaired.validate(full=True)
    return repaired


def first_not_utf8(texts: pa.Array) -> tuple[int, int] | None:
    """Return the first row that is not UTF-8 and its first invalid byte, from 0."""
    for row, value in enumerate(texts.cast(_as_bytes(texts)).to_pylist()):
        try:
            _ = value is None or value.decode()
        except UnicodeDecodeError as error:
            return row, error.start
    return None


def _as_bytes(texts: pa.Array) -> pa.DataType:
    return pa.large_binary() if texts.type in (pa.large_string(), pa.large_binary()) else pa.binary()


def read_ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the same items, one ahead, produced in another thread; None ends them."""
    iterator = iter(items)
    with ThreadPoolExecutor(1, "tallybayes-read") as reader:
        future = reader.submit(next, iterator, None)
        while (item := future.result()) is not None:
            future = reader.submit(next, iterator, None)
            yield item


def reword_errors(batches: Iterable[T], where: str, want: str) -> Iterator[T]:
    """Yield the same batches; reword pyarrow's errors about a broken file as BadData."""
    try:
        yield from batches
    except BROKEN as error:
        raise BadData(wanted(where, want, f"one that cannot be read ({in_words(error)})")) from None


def in_words(error: BaseException) -> str:
    """Return the first line of an error's message, cut to 200 characters."""
    line = str(error).strip().split("\n")[0].rstrip(".")
    return line if len(line) <= 200 else line[:200] + "..."


def type_in_words(kind: pa.DataType) -> str:
    """Return what a column of this type holds, in a user's words."""
    if pa.types.is_integer(kind):
        return "whole numbers"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    if pa.types.is_temporal(kind):
        return "dates or times"
    if pa.types.is_nested(kind):
        return "records" if pa.types.is_struct(kind) else "lists"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return "bytes"
    words = {pa.bool_(): "true or false", pa.null(): "nothing", pa.string(): "text", pa.large_string(): "text"}
    return words.get(kind, str(kind))
