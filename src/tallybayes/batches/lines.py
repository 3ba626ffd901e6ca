"""jsonl and ndjson: one JSON object a line, the types inferred from the first megabytes, the rest read in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import pyarrow as pa

from tallybayes.batches.chunks import arrow_owned, last_line_end, mended, open_text, whole_rows
from tallybayes.batches.source import LateType, Source
from tallybayes.batches.steps import BROKEN, ahead, blank, chosen, guarded, in_words, type_in_words
from tallybayes.batches.trail import Place, Trail
from tallybayes.errors import BadData, wanted

__all__ = ["of_lines"]

PIECE = 8 << 20
BLOCK = 1 << 20
# The types for which Python's own type of a value decides whether it fits; for others pyarrow is asked.
PLAIN: dict[pa.DataType, set[type]] = {
    pa.bool_(): {bool},
    pa.float64(): {int, float},
    pa.string(): {str},
    pa.null(): set(),
}


def of_lines(
    path: str,
    *,
    columns: Sequence[str] | None,
    missing: Sequence[str],
    types: Mapping[str, pa.DataType],
    errors: str,
    sample: int,
    trail: Trail,
) -> Source:
    """A source of a file of JSON lines; a key that a line lacks is null.

    A column's type is what fits the first `sample` bytes. Where a later row does not fit, :class:`LateType` says so.
    """
    pieces = (piece for piece in _pieces(path, sample) if not piece.isspace())
    first = _parse(path, _as_asked(next(pieces, b""), errors), pa.schema(list(types.items())), "infer", 0)
    if not first.num_columns:
        raise BadData(wanted(path, "one JSON object in each line", "none with a key"))
    first = first.select(chosen(first.schema, columns, path))
    if next(pieces, None) is None:
        return blank(trail.whole(first, path), missing)

    def start(place: Place) -> Iterator[tuple[Place, pa.RecordBatch]]:
        others = "error" if columns is None else "ignore"
        for piece in ahead(_pieces(path, PIECE, place.at)):
            rows = 0
            if not piece.isspace():
                table = _parse(path, _as_asked(piece, errors), first.schema, others, place.rows)
                rows = table.num_rows
                yield from ((place, batch) for batch in table.combine_chunks().to_batches())
            place = Place(place.file, place.at + len(piece), place.rows + rows)

    def read() -> Iterator[pa.RecordBatch]:
        return trail.handed(ahead(guarded(start(trail.place), path, "a readable file")))

    return blank(Source(first.schema, None, True, path, read), missing)


def _pieces(path: str, size: int, at: int = 0) -> Iterator[bytes]:
    with open_text(path, at) as stream:
        yield from whole_rows(stream, size, last_line_end, path)


def _as_asked(text: bytes, errors: str) -> bytes:
    return mended(text) if errors == "replace" else text


def _parse(path: str, text: bytes, schema: pa.Schema, others: str, rows: int) -> pa.Table:
    """A table of a piece's lines; `others` is what to do with keys that the schema does not know."""
    from pyarrow import json as arrow_json

    if not text:
        return pa.table({})
    options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others)
    for block in (BLOCK, len(text) + 1):
        try:
            read = arrow_json.ReadOptions(block_size=block)
            table = arrow_json.read_json(arrow_owned(text.removeprefix(b"\xef\xbb\xbf")), read, options)
            table.validate(full=True)  # pyarrow's parser lets any bytes pass for text
            return table
        except BROKEN as error:
            if "straddling" not in str(error) or block > BLOCK:
                _explain(path, text, {} if others == "infer" else _types(schema), others, rows, error)
    raise AssertionError("unreachable")


def _types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in schema}


def _explain(
    path: str, text: bytes, types: dict[str, pa.DataType], others: str, rows: int, error: Exception
) -> NoReturn:
    """Find the line that pyarrow stumbled over, since it tells neither its number nor, often, the column."""
    for row, line in enumerate((line for line in text.split(b"\n") if line.strip()), rows + 1):
        for column, value in _object(path, line, row).items():
            if value is None or (column not in types and others == "ignore"):
                continue
            kind = types.get(column)
            if kind is None and others == "infer":
                types[column] = pa.float64() if type(value) is int else pa.array([value]).type
            elif kind is None or not _fits(value, kind):
                where, got = f"{path}, column '{column}'", f"{value!r} (row {row})"
                want = "no such column" if kind is None else type_in_words(kind)
                wider = None if others == "infer" else _wider(kind, value)
                if wider is None:
                    raise BadData(wanted(where, want, got, "Make its values of one type")) from None
                raise LateType(
                    wanted(where, f"{want}, as in the rows before", got, "Declare the column's type"), {column: wider}
                ) from None
    raise BadData(wanted(path, "one JSON object in each line", f"others ({in_words(error)})")) from None


def _object(path: str, line: bytes, row: int) -> dict[str, Any]:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        got = f"other bytes in row {row} (byte {error.start + 1} of the line)"
        do = "Convert it, for instance with iconv, or choose errors='replace'"
        raise BadData(wanted(path, "text in UTF-8", got, do)) from None
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    got = line.decode(errors="replace").strip()
    raise BadData(wanted(path, "one JSON object in each line", f"{got[:60]!r} (row {row})"))


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
    """The type that holds a column so far and the value that did not fit it, if pyarrow can read such a mixture."""
    if kind is None or pa.types.is_null(kind):
        return pa.array([value]).type
    if pa.types.is_integer(kind) and type(value) in (int, float):
        return pa.float64()
    return pa.string() if pa.types.is_temporal(kind) and isinstance(value, str) else None
