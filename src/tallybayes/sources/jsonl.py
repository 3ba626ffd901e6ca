"""jsonl and ndjson files: one JSON object per line, types inferred, rows read in pieces."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.bad_lines import CURE, Pass, Skips
from tallybayes.sources.locations import Place
from tallybayes.sources.position import Spot, Trail
from tallybayes.sources.source import LateType, Source
from tallybayes.sources.steps import BROKEN, columns_to_read, in_words, read_ahead, type_in_words
from tallybayes.sources.text_chunks import arrow_owned, last_line_end, open_text, replace_invalid, whole_rows

PIECE = 8 << 20  # bytes; see csv.PIECE
BLOCK = 1 << 20
# Types for which the Python type of a value decides whether it fits. For other types, pyarrow decides.
PLAIN: dict[pa.DataType, set[type]] = {
    pa.bool_(): {bool},
    pa.float64(): {int, float},
    pa.string(): {str},
    pa.null(): set(),
}


def of_lines(
    place: Place,
    *,
    columns: Sequence[str] | None,
    types: Mapping[str, pa.DataType],
    errors: str,
    sample: int,
    piece: int | None,
    skips: Skips | None,
    trail: Trail,
) -> Source:
    """Return a source of a file of JSON lines; a missing key is null.

    Types are inferred from the first `sample` bytes. A later row that does not fit raises :class:`LateType`.
    """
    path = place.name
    pieces, progress = _pieces(place, sample), Pass(path, skips)
    text = next(pieces, b"")
    while text.isspace():
        progress.advance(text, 0)
        text = next(pieces, b"")
    first = _parse(_repair(text, errors), pa.schema(list(types.items())), "infer", progress)
    whole = all(piece.isspace() for piece in pieces)
    if whole:
        progress.end()
    if not first.num_columns:
        raise BadData(wanted(path, "one JSON object in each line", "none with a key"))
    first = first.select(columns_to_read(first.schema, columns, path))
    if whole:
        return trail.whole(first, path)

    def start(spot: Spot) -> Iterator[tuple[Spot, pa.RecordBatch]]:
        progress, others = Pass(path, skips, 0, spot), "error" if columns is None else "ignore"
        for text in read_ahead(_pieces(place, piece or PIECE, spot.at)):
            if text.isspace():
                progress.advance(text, 0)
            else:
                table = _parse(_repair(text, errors), first.schema, others, progress)
                yield from ((spot, batch) for batch in table.combine_chunks().to_batches())
            spot = progress.spot_after(spot, text)
        progress.end()

    return trail.text(first.schema, path, start)


def _pieces(place: Place, size: int, at: int = 0) -> Iterator[bytes]:
    with open_text(place, at) as stream:
        yield from whole_rows(stream, size, last_line_end, place.name)


def _repair(text: bytes, errors: str) -> bytes:
    return replace_invalid(text) if errors == "replace" else text


def _parse(text: bytes, schema: pa.Schema, others: str, progress: Pass) -> pa.Table:
    """Return a table of the next lines; `others` says what to do with unknown keys."""
    bad: dict[int, str] = {}
    try:
        try:
            table = _table(text, schema, others)
        except BROKEN:
            if progress.skips is None or not (bad := _bad_lines(text)):
                raise
            table = _table(b"\n".join(line for n, line in _numbered(text) if n not in bad), schema, others)
    except BROKEN as error:
        _explain(progress, text, {} if others == "infer" else _types(schema), others, bad, error)
    progress.advance(text, table.num_rows, len(bad), bad.items())
    return table


def _table(text: bytes, schema: pa.Schema, others: str) -> pa.Table:
    from pyarrow import json as arrow_json

    if not text.strip():
        return schema.empty_table()
    options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others)
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        table = arrow_json.read_json(arrow_owned(text), arrow_json.ReadOptions(block_size=BLOCK), options)
    except BROKEN as error:
        if "straddling" not in str(error):
            raise
        table = arrow_json.read_json(arrow_owned(text), arrow_json.ReadOptions(block_size=len(text) + 1), options)
    table.validate(full=True)  # pyarrow's parser accepts any bytes as text
    return table


def _numbered(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, each with its number from 1."""
    return ((n, line) for n, line in enumerate(text.split(b"\n"), 1) if line.strip())


def _bad_lines(text: bytes) -> dict[int, str]:
    """Return the fault of each line that is not a JSON object, by line number."""
    faults = {n: _fault(line) for n, line in _numbered(text)}
    return {n: fault for n, fault in faults.items() if fault}


def _fault(line: bytes) -> str:
    """Return what is wrong with a line; "" if nothing is."""
    try:
        value = _load(line)
        json.dumps(value, ensure_ascii=False).encode()  # fails at half of a surrogate pair
    except UnicodeDecodeError as error:
        return f"has other bytes than UTF-8 (from byte {error.start + 1})"
    except UnicodeEncodeError as error:
        return f"has the lone surrogate {error.object[error.start]!a}"
    return f"has {_start(line)}, not a JSON object" if value is None else ""


def _types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in schema}


def _explain(
    progress: Pass, text: bytes, types: dict[str, pa.DataType], others: str, bad: Container[int], error: Exception
) -> NoReturn:
    """Raise an error for the line at which pyarrow failed, since it names none."""
    path = progress.path
    for row, (number, line) in enumerate(_numbered(text), progress.rows + 1):
        for column, value in {} if number in bad else _object(path, line, row).items():
            if value is None or (column not in types and others == "ignore"):
                continue
            kind = types.get(column)
            if kind is None and others == "infer":
                types[column] = pa.float64() if type(value) is int else _type_of(value, path, column, row)
            elif kind is None or not _fits(value, kind):
                where, got = f"{path}, column '{column}'", f"{value!r} (row {row})"
                want = "no such column" if kind is None else type_in_words(kind)
                wider = None if others == "infer" else _wider(kind, value)
                if wider is None:
                    raise BadData(wanted(where, want, got, "Make its values of one type")) from None
                raise LateType(
                    wanted(where, f"{want}, as in the rows before", got, "Declare the column's type"), {column: wider}
                ) from None
    raise BadData(wanted(path, "one JSON object in each line", f"something else ({in_words(error)})")) from None


def _object(path: str, line: bytes, row: int) -> dict[str, Any]:
    try:
        value = _load(line)
    except UnicodeDecodeError as error:
        got = f"other bytes in row {row} (byte {error.start + 1} of the line)"
        do = "Convert it, for instance with iconv, or choose errors='replace'"
        raise BadData(wanted(path, "text in UTF-8", got, do)) from None
    if value is None:
        raise BadData(wanted(path, "one JSON object in each line", f"{_start(line)} (row {row})", CURE))
    if fault := _fault(line):
        raise BadData(wanted(path, "text that is Unicode", f"a line that {fault} (row {row})", CURE))
    return value


def _load(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a line; None if it holds something else."""
    text = line.decode("utf-8-sig")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _start(line: bytes) -> str:
    return repr(line.decode(errors="replace").strip()[:60])


def _type_of(value: Any, path: str, column: str, row: int) -> pa.DataType:
    try:
        return pa.array([value]).type
    except BROKEN:
        where, got = f"{path}, column '{column}'", f"{_start(json.dumps(value).encode())} (row {row})"
        raise BadData(wanted(where, "values of one type", got, "Make its values of one type")) from None


def _fits(value: Any, kind: pa.DataType) -> bool:
    if kind in PLAIN:
        return type(value) in PLAIN[kind]
    if pa.types.is_integer(kind):
        return type(value) is int and abs(value) < 2**63
    try:
        pa.array([value]).cast(kind) if isinstance(value, str) else pa.array([value], kind)
    except BROKEN:
        return False
    return True


def _wider(kind: pa.DataType | None, value: Any) -> pa.DataType | None:
    """Return a type for the column so far and this value; None if unreadable."""
    if kind is None or pa.types.is_null(kind):
        return pa.array([value]).type
    if pa.types.is_integer(kind) and type(value) in (int, float):
        return pa.float64()
    return pa.string() if pa.types.is_temporal(kind) and isinstance(value, str) else None
