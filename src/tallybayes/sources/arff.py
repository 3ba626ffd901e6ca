"""ARFF, Weka's file format: declared attributes, then rows of values, dense or sparse.

    @relation weather
    @attribute outlook {sunny, overcast, rainy}
    @attribute temperature numeric
    @data
    sunny, 85          % a row of values; ? is missing
    {1 70}             % the same as: sunny, 70 (an omitted number is 0, an omitted nominal its first value)

Nominal attributes become text, whatever their values look like; numeric ones become numbers, dates timestamps. pyarrow
parses rows with simple quotation marks on all cores; other rows are parsed value by value, with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.locations import Place
from tallybayes.sources.position import Spot, Trail
from tallybayes.sources.source import Source
from tallybayes.sources.steps import BROKEN
from tallybayes.sources.text_chunks import arrow_owned, last_line_end, open_text, replace_invalid, whole_rows

PIECE = 8 << 20  # bytes; see csv.PIECE
_TYPES = ("numeric", "real", "integer", "string", "date", "{values}")
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+(?P<name>{_QUOTED}|[^\s{{]+)\s*(?P<type>.*)", re.IGNORECASE)
_VALUE = re.compile(rf"\s*(?:(?P<quoted>{_QUOTED})|(?P<bare>[^,\t]*?))\s*(?:(?P<end>[,\t])|$)")
_CELL = re.compile(rf"\s*(?P<index>\d+)\s+(?:(?P<quoted>{_QUOTED})|(?P<bare>[^,]*?))\s*(?:,|$)")
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
# The letters of Java's date formats that Python has, too.
_DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}


@dataclass(frozen=True)
class Attribute:
    """A declared column."""

    name: str
    kind: str
    values: tuple[str, ...] = ()  # the values that a nominal attribute may have
    form: str = ""  # the `strptime` format of a date

    @property
    def type(self) -> pa.DataType:
        """The column's type."""
        return {"numeric": pa.float64(), "date": pa.timestamp("us")}.get(self.kind, pa.string())


def of_attributes(place: Place, *, errors: str, trail: Trail) -> Source:
    """Return a source of an ARFF file."""
    path = place.name
    attributes, begin = _header(place)
    schema = pa.schema([(one.name, one.type) for one in attributes])

    def start(spot: Spot) -> Iterator[tuple[Spot, pa.RecordBatch]]:
        with open_text(place, begin + spot.at) as stream:
            for piece in whole_rows(stream, PIECE, last_line_end, path):
                rows = spot.rows
                table = _Piece(path, attributes, schema, rows).parse(_decode(path, piece, rows, errors))
                yield from ((spot, batch) for batch in table.combine_chunks().to_batches())
                spot = Spot(spot.file, spot.at + len(piece), rows + table.num_rows)

    return trail.text(schema, path, start)


def _header(place: Place) -> tuple[list[Attribute], int]:
    """Return the attributes, and the byte at which the rows begin."""
    attributes: list[Attribute] = []
    begin, path = 0, place.name
    with open_text(place) as stream:
        for number, raw in enumerate(_lines(stream), 1):
            begin += len(raw)
            line = raw.decode(errors="replace").removeprefix("\ufeff").strip()
            word = line.split(None, 1)[0].lower() if line else ""
            if word == "@data":
                if not attributes:
                    raise BadData(wanted(path, "attributes before @data", "none"))
                return attributes, begin
            if word == "@attribute":
                attributes.append(_attribute(path, line, number))
            elif word and not word.startswith(("%", "@relation")):
                raise BadData(wanted(path, "@relation, @attribute or @data", f"{line[:60]!r} in line {number}"))
    raise BadData(wanted(path, "a line @data", "none" if begin else "an empty file"))


def _lines(stream: Any) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(1 << 16):
        *whole, rest = (rest + bytes(block)).split(b"\n")
        yield from (line + b"\n" for line in whole)
    if rest:
        yield rest


def _attribute(path: str, line: str, number: int) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise BadData(wanted(path, "@attribute name type", f"{line[:60]!r} in line {number}"))
    name, kind = _unquoted(found["name"]), re.sub(r"\s+%.*", "", found["type"]).strip()
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, "nominal", tuple(value for value in _values(kind[1:-1]) if value is not None))
    word, _, form = kind.partition(" ")
    if word.lower() in ("numeric", "real", "integer"):
        return Attribute(name, "numeric")
    if word.lower() == "string":
        return Attribute(name, "string")
    if word.lower() == "date":
        return Attribute(
            name, "date", form=_date_format(f"{path}, attribute {name!r}", _unquoted(form.strip()) or _ISO)
        )
    raise BadData(wanted(f"{path}, attribute {name!r}", f"one of {', '.join(_TYPES)}", repr(kind)))


def _date_format(where: str, form: str) -> str:
    """Return the `strptime` format of a Java date format; refuse one that names a part of the date twice."""
    made = _strptime(form)
    try:
        datetime.strptime("", made)
    except re.error:
        raise BadData(wanted(where, "a date format that has each part once", repr(form))) from None
    except ValueError:
        pass  # no text of it was given
    return made


def _strptime(form: str) -> str:
    """Return a Java date format as `strptime` has it: ``yyyy-MM-dd`` becomes ``%Y-%m-%d``."""
    parts = re.findall(r"'([^']*)'|([A-Za-z]+)|([^A-Za-z']+)", form)
    return "".join(quoted or _DATES.get(letters, letters) or other for quoted, letters, other in parts)


def _decode(path: str, piece: bytes, rows: int, errors: str) -> str:
    try:
        return (replace_invalid(piece) if errors == "replace" else piece).decode()
    except UnicodeDecodeError as error:
        row = rows + piece[: error.start].count(b"\n") + 1
        do = "Convert it, for instance with iconv, or choose errors='replace'"
        raise BadData(wanted(path, "text in UTF-8", f"other bytes in row {row}", do)) from None


class _Piece:
    """A parser of lines into tables that names the row of a fault."""

    def __init__(self, path: str, attributes: Sequence[Attribute], schema: pa.Schema, rows: int) -> None:
        self._path, self._attributes, self._schema, self._rows = path, attributes, schema, rows

    def parse(self, text: str) -> pa.Table:
        """Return the rows of a text as a table."""
        # pyarrow cannot parse other marks than ', blanks next to a mark, rows in braces, or comments after %.
        plain = not re.search(r"[\"\\{%\t]|[ \t]'|'[ \t]|\r[^\n]", text) and "\n\n" not in text.strip("\n")
        table = self._by_arrow(text) if plain and text.strip() else None
        return self._by_value(text) if table is None else table

    def _by_arrow(self, text: str) -> pa.Table | None:
        """Return the rows parsed by pyarrow; None if it fails, since its errors lack places."""
        import pyarrow.compute as pc
        from pyarrow import csv

        types = {one.name: one.type if one.kind == "numeric" else pa.string() for one in self._attributes}
        try:
            table = csv.read_csv(
                arrow_owned(text.encode()),
                csv.ReadOptions(column_names=[one.name for one in self._attributes]),
                csv.ParseOptions(quote_char="'", escape_char="\\"),
                csv.ConvertOptions(
                    column_types=types, null_values=["?"], strings_can_be_null=True, quoted_strings_can_be_null=False
                ),
            )
        except BROKEN:
            return None
        columns = []
        for one, column in zip(self._attributes, table.columns, strict=True):
            if one.kind != "numeric":
                column = pc.utf8_trim_whitespace(column)
                if pc.any(pc.equal(column, "?")).as_py():  # written with blanks around it, or in quotes
                    return None
            if one.kind == "date" or (one.kind == "nominal" and not _all_among(column, one.values)):
                return None
            columns.append(column)
        return pa.table(columns, schema=self._schema)

    def _by_value(self, text: str) -> pa.Table:
        """Return the same rows, parsed value by value."""
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("%")]
        rows = [self._row(line, row) for row, line in enumerate(lines, self._rows + 1)]
        columns = [
            [self._value(one, values[k], row) for row, values in enumerate(rows, self._rows + 1)]
            for k, one in enumerate(self._attributes)
        ]
        return pa.table(
            [pa.array(c, field.type) for c, field in zip(columns, self._schema, strict=True)], schema=self._schema
        )

    def _row(self, line: str, row: int) -> Sequence[str | None]:
        stripped = line.strip()
        values = self._sparse(stripped, row) if stripped.startswith("{") else _values(stripped)
        if len(values) != len(self._attributes):
            got = f"{len(values)} in row {row}: {stripped[:60]!r}"
            raise BadData(wanted(self._path, f"{len(self._attributes)} values in every row", got))
        return values

    def _sparse(self, line: str, row: int) -> Sequence[str | None]:
        """Return a row in braces; omitted values are 0 or the first nominal value."""
        inside = re.sub(r"\}\s*(%.*)?$", "", line)[1:]
        out: list[str | None] = []
        for one in self._attributes:
            if one.kind in ("string", "date"):
                do = "Write the rows in dense form"
                where = f"{self._path}, attribute {one.name!r}"
                raise BadData(wanted(where, "numbers or nominal values in sparse rows", one.kind, do))
            out.append("0" if one.kind == "numeric" else one.values[0])
        at = 0
        while at < len(inside) and inside[at:].strip():
            found = _CELL.match(inside, at)
            if found is None or int(found["index"]) >= len(out):
                raise BadData(wanted(self._path, "pairs of index and value in braces", f"{line[:60]!r} (row {row})"))
            out[int(found["index"])] = _cell(found)
            at = found.end()
        return out

    def _value(self, one: Attribute, text: str | None, row: int) -> Any:
        if text is None:
            return None
        where = f"{self._path}, attribute {one.name!r}"
        try:
            if one.kind == "numeric":
                return float(text)
            if one.kind == "date":
                return datetime.strptime(text, one.form)
        except ValueError:
            want = "numbers" if one.kind == "numeric" else f"dates written {one.form!r}"
            raise BadData(wanted(where, want, f"{text!r} (row {row})")) from None
        if one.kind == "nominal" and text not in one.values:
            listed = ", ".join(one.values[:8]) + (", ..." if len(one.values) > 8 else "")
            raise BadData(wanted(where, f"one of the declared values {listed}", f"{text!r} (row {row})"))
        return text


def _all_among(column: pa.ChunkedArray, values: Sequence[str]) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.is_in(column.drop_null(), pa.array(values, pa.string()))).as_py() in (True, None))


def _values(line: str) -> list[str | None]:
    """Return the values of a line without quotation marks; None is missing."""
    out: list[str | None] = []
    at = 0
    while True:
        found = _VALUE.match(line, at)
        if found is None:  # text after a closing mark: a comment, or not a value at all
            end = re.compile(rf"\s*({_QUOTED})\s*%.*").match(line, at)
            return [*out, _unquoted(end[1])] if end else [*out, line[at:].strip()]
        cell = _cell(found)
        if found["end"] is None and found["bare"] and "%" in found["bare"]:
            cell = found["bare"].split("%", 1)[0].strip()  # a comment after the last value
        out.append(None if cell == "?" and not found["quoted"] else cell)
        at = found.end()
        if found["end"] is None:
            return out


def _cell(found: re.Match[str]) -> str | None:
    if found["quoted"]:
        return _unquoted(found["quoted"])
    return None if found["bare"] == "?" else found["bare"]


def _unquoted(text: str) -> str:
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
