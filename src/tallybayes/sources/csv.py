"""csv, tsv and their like: the delimiter found, the types inferred from the first rows, the rest read in pieces."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.array_columns import check_names
from tallybayes.sources.bad_lines import CURE, Pass, Skips
from tallybayes.sources.locations import Place
from tallybayes.sources.position import Spot, Trail
from tallybayes.sources.source import LateType, Source, check_distinct
from tallybayes.sources.steps import columns_to_read, first_not_utf8, in_words, read_ahead, reword_errors, type_in_words
from tallybayes.sources.text_chunks import (
    arrow_owned,
    last_row_end,
    lines_of_rows,
    open_text,
    replace_invalid,
    whole_rows,
)

__all__ = ["delimiter_of", "of_delimited"]

# A piece of 8 blocks keeps the cores busy; larger pieces took as long and more memory. With one piece in use, one being
# parsed and one ahead, a file of any size is read in some 200 MB.
PIECE = 8 << 20
BLOCK = 1 << 20
PEEK = 1 << 16
DELIMITERS = ",;\t|"

Types = Mapping[str, pa.DataType]


@dataclass(frozen=True)
class Layout:
    """How one file is laid out, and how its values become columns."""

    place: Place
    delimiter: str
    names: list[str]
    begin: int  # the first byte after the header
    lines: int  # the lines before that
    columns: list[str]
    missing: tuple[str, ...]
    replace: bool = False  # whether bytes that are not UTF-8 become U+FFFD
    skips: bool = False  # whether rows with too few or too many values are passed over

    @property
    def path(self) -> str:
        """What messages call the file."""
        return self.place.name

    def pieces(self, size: int, at: int = 0) -> Iterator[bytes]:
        """The rows after the header, as they are written; without so many bytes of them, which end where a row does."""
        with open_text(self.place, self.begin + at) as stream:
            yield from whole_rows(stream, size, partial(last_row_end, delimiter=self.delimiter.encode()), self.path)

    def parse(self, text: bytes, types: Types, *, block: int = BLOCK, threads: bool = True) -> tuple[Any, list[Any]]:
        """A table of the rows in a piece of text, and the rows that were passed over; on one thread, with numbers."""
        from pyarrow import csv as arrow_csv

        bad: list[Any] = []

        def pass_over(row: Any) -> str:
            bad.append(row)
            return "skip"

        # Only these strings are missing: 'NA' may be Namibia. An empty field is missing in every column.
        converted = arrow_csv.ConvertOptions(
            include_columns=self.columns,
            column_types={name: types[name] for name in self.columns if name in types},
            null_values=["", *self.missing],
            strings_can_be_null=True,
        )
        read = arrow_csv.ReadOptions(column_names=self.names, block_size=block, use_threads=threads)
        parsed = arrow_csv.ParseOptions(
            delimiter=self.delimiter,
            newlines_in_values=b'"' in text,
            invalid_row_handler=pass_over if self.skips else None,
        )
        return arrow_csv.read_csv(arrow_owned(text or b"\n"), read, parsed, converted), bad


def of_delimited(
    place: Place,
    delimiter: str,
    *,
    columns: Sequence[str] | None,
    missing: Sequence[str],
    names: Sequence[str] | None,
    types: Types,
    errors: str,
    sample: int,
    skips: Skips | None,
    trail: Trail,
) -> Source:
    """A source of a delimited file, whose first line names the columns unless `names` does.

    A column's type is what fits the first `sample` bytes. Where a later row does not fit, :class:`LateType` says so.
    """
    layout = replace(_lay_out(place, delimiter, columns, missing, names, errors), skips=skips is not None)
    path = place.name

    def begin(spot: Spot | None = None) -> Pass:
        return Pass(path, skips, layout.lines, spot)

    pieces, at = layout.pieces(sample), begin()
    first = _parse(layout, next(pieces, b""), types, types, at)
    for field in first.schema:
        if pa.types.is_binary(field.type):  # so pyarrow infers what is not UTF-8; read as text, it says in which row
            _parse(layout, next(layout.pieces(sample)), {field.name: pa.string()}, types, begin())
    if next(pieces, None) is None:
        at.end()
        return trail.whole(first, path)
    inferred = {field.name: field.type for field in first.schema}

    def start(spot: Spot) -> Iterator[tuple[Spot, pa.RecordBatch]]:
        at = begin(spot)
        for piece in read_ahead(layout.pieces(PIECE, spot.at)):
            table = _parse(layout, piece, inferred, types, at)
            yield from ((spot, batch) for batch in table.combine_chunks().to_batches())
            spot = at.behind(spot, piece)
        at.end()

    def read() -> Iterator[pa.RecordBatch]:
        return trail.track(read_ahead(reword_errors(start(trail.spot), path, "a readable file")))

    return Source(first.schema, None, True, path, read)


def _lay_out(
    place: Place,
    default: str,
    columns: Sequence[str] | None,
    missing: Sequence[str],
    names: Sequence[str] | None,
    errors: str,
) -> Layout:
    path = place.name
    mark, lines, delimiter = _first_lines(place, default)
    try:
        rows = csv.reader(lines, delimiter=delimiter)
        header = next(row for row in rows if row)
    except (csv.Error, StopIteration) as error:
        got = "one that cannot be read" if isinstance(error, csv.Error) else "blank lines only"
        raise BadData(wanted(path, "a header line", got)) from None
    begin = mark + sum(len(line.encode(errors="surrogateescape")) for line in lines[: rows.line_num])
    before = rows.line_num
    if names is not None:
        check_names(names, len(header))
        header, begin, before = list(names), mark, 0
    else:
        header = _mended_header(header, path, errors)
    check_distinct(header, path)
    wanted_columns = columns_to_read(pa.schema([(name, pa.null()) for name in header]), columns, path)
    return Layout(place, delimiter, header, begin, before, wanted_columns, tuple(missing), errors == "replace")


def delimiter_of(place: Place, default: str) -> str:
    """What separates the values of a file: what its name says, unless its first lines say otherwise."""
    return _first_lines(place, default)[2]


def _first_lines(place: Place, default: str) -> tuple[int, list[str], str]:
    """Where the text begins, its first lines, and the delimiter that they have."""
    head = _head(place)
    mark = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    # What is not UTF-8 is kept as it is, in half characters, so that lines have the length that they have in the file.
    lines = io.StringIO(head[mark:].decode(errors="surrogateescape"), newline="").readlines()
    whole = lines if head.endswith(b"\n") else lines[:-1] or lines
    return mark, lines, _delimiter([line for line in whole if line.strip()] or lines, default)


def _mended_header(header: list[str], path: str, errors: str) -> list[str]:
    written = [name.encode(errors="surrogateescape") for name in header]
    for name, given in zip(written, header, strict=True):
        if replace_invalid(name) != name and errors != "replace":
            at = next(i for i, c in enumerate(given) if "\udc80" <= c <= "\udcff")
            raise _not_utf8(path, f"its header (byte {len(given[:at].encode()) + 1} of a name)", "replace")
    return [replace_invalid(name).decode() for name in written]


def _head(place: Place) -> bytes:
    """The first bytes of a file, at least a line of them, known to be text."""
    with open_text(place) as stream:
        head = bytes(stream.read(PEEK))
        while not head.count(b"\n") and (more := stream.read(len(head))):
            head += more
            if len(head) > 16 << 20:
                break
    path = place.name
    if not head:
        raise BadData(wanted(path, "a header line", "an empty file"))
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _not_utf8(path, "its first bytes (UTF-16)")
    if b"\0" in head or head.startswith(b"PAR1"):
        got = f"binary data (it begins {head[:8]!r})"
        raise BadData(wanted(path, "text", got, "Name the file after the format that it has"))
    return head


def _delimiter(lines: list[str], default: str) -> str:
    """The delimiter that gives the first lines equally many values, the file name's own if it does."""
    for candidate in sorted(DELIMITERS, key=lambda mark: (mark != default, -lines[0].count(mark))):
        try:
            widths = {len(row) for row in csv.reader(lines[:20], delimiter=candidate) if row}
        except csv.Error:
            continue
        if len(widths) == 1 and widths != {1}:
            return candidate
    return default if default in lines[0] else max(DELIMITERS, key=lambda mark: (lines[0].count(mark), mark == default))


def _parse(layout: Layout, text: bytes, types: Types, declared: Types, at: Pass) -> pa.Table:
    """A table of the rows in the piece of text that comes next."""
    text = replace_invalid(text) if layout.replace else text
    try:
        table, bad = _parse_fast(layout, text, types, at)
    except pa.ArrowInvalid as error:
        raise _explained(str(error), layout, types, declared, at.rows, text) from None
    numbers = [row.number for row in bad if row.number is not None]
    lines = lines_of_rows(text, numbers, layout.delimiter.encode())
    told = [(line, _has(row)) for line, row in zip(lines, bad[: len(lines)], strict=True)]
    at.past(text, table.num_rows, len(bad), told)
    return table


def _parse_fast(layout: Layout, text: bytes, types: Types, at: Pass) -> tuple[pa.Table, list[Any]]:
    """On all cores, or, where a row has to be named, which pyarrow can only then, on one."""
    whole = len(text) + 1
    try:
        try:
            table, bad = layout.parse(text, types)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise
            table, bad = layout.parse(text, types, block=whole)  # a row that is longer than a block
        if not (bad and at.curious):
            return table, bad
    except pa.ArrowInvalid:
        pass
    return layout.parse(text, types, block=whole, threads=False)


def _has(row: Any) -> str:
    return f"has {row.actual_columns} value{'s' * (row.actual_columns != 1)} instead of {row.expected_columns}"


CONVERSION = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to [^:]+: (.*)", re.DOTALL)
RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): ?(.*)", re.DOTALL)


def _explained(message: str, layout: Layout, types: Types, declared: Types, rows: int, text: bytes) -> BadData:
    """What pyarrow says of a piece that begins after `rows` rows, as a sentence of ours."""
    if found := RAGGED.search(message):
        row, want, got, line = found.groups()
        at = f" in row {rows + int(row)}: {line[:60]!r}" if row else ""
        return BadData(wanted(layout.path, f"{want} values in every row", got + at, CURE))
    if not (found := CONVERSION.search(message)):
        return BadData(
            wanted(layout.path, "rows of text", f"some that cannot be read ({in_words(Exception(message))})")
        )
    column, row, got = layout.names[int(found[1])], found[2], found[3]
    at = f"row {rows + int(row)}" if row else "a later row"
    if got == "invalid UTF8 data":
        return _not_utf8(layout.path, f"column '{column}' ({_first_bad(layout, text, column, rows)})", "replace")
    value = re.sub(r"^invalid value '(.*)'$", r"\1", got, flags=re.DOTALL)
    where, do = f"{layout.path}, column '{column}'", f"Declare the column's type, or count {value!r} as missing"
    want = type_in_words(types[column]) + ("" if column in declared else ", as in the rows before")
    return LateType(wanted(where, want, f"{value!r} ({at})", do), {column: _wider(types[column], value)})


def _wider(kind: pa.DataType, value: str) -> pa.DataType:
    """The narrowest type that holds both a column so far and the value that did not fit it."""
    if not re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", value):
        return pa.string()
    if pa.types.is_null(kind):
        return pa.int64() if re.fullmatch(r"\s*-?\d{1,18}\s*", value) else pa.float64()
    return pa.float64() if pa.types.is_integer(kind) else pa.string()


def _first_bad(layout: Layout, text: bytes, column: str, rows: int) -> str:
    """The row, and the byte within the value, at which a column stops being UTF-8."""
    table, _ = layout.parse(text, dict.fromkeys(layout.columns, pa.binary()), block=len(text) + 1, threads=False)
    row, byte = first_not_utf8(table.column(column).combine_chunks()) or (0, 0)
    return f"row {rows + row + 1}, byte {byte + 1}"


def _not_utf8(path: str, where: str, cure: str = "") -> BadData:
    do = "Convert it, for instance with iconv" + (f", or choose errors='{cure}'" if cure else "")
    return BadData(wanted(path, "text in UTF-8", f"other bytes in {where}", do))
