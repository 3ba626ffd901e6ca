"""csv, tsv and similar files: delimiter detected, types inferred, rows read in pieces."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from tallybayes.errors import BadData, GuessedLayoutWarning, wanted
from tallybayes.sources.array_columns import check_names
from tallybayes.sources.bad_lines import CURE, Pass, Skips
from tallybayes.sources.find_table import NUMBER, SPACES, find_delimiter, find_table, tidy
from tallybayes.sources.locations import Place
from tallybayes.sources.missing import MissingValues, keeps_usual, markers_of_numbers
from tallybayes.sources.position import Spot, Trail
from tallybayes.sources.source import LateType, Source, check_distinct
from tallybayes.sources.steps import columns_to_read, first_not_utf8, in_words, read_ahead, type_in_words
from tallybayes.sources.text_chunks import (
    arrow_owned,
    last_row_end,
    lines_of_rows,
    open_text,
    replace_invalid,
    whole_rows,
    without_invalid,
)
from tallybayes.sources.text_format import TextFormat

# Bytes. A piece of 8 blocks keeps the cores busy; larger pieces took as long and more memory. With one piece in use,
# one being parsed and one read ahead, a file of any size takes about 200 MB.
PIECE = 8 << 20
BLOCK = 1 << 20
ALIGNED = (".txt", ".dat", ".data")  # endings of files whose values may be separated by runs of spaces
PEEK = 1 << 16  # bytes in which to find the header and the delimiter

Types = Mapping[str, pa.DataType]
# A zip code such as 01234, or an id of more digits than a 64-bit number has; in bytes, where a value may begin.
_CODE = r"^\s*0\d+\s*$|^\s*\d{19,}\s*$"
_CODE_BYTES = re.compile(rb"""[,;|\t\n\r" ](?:0\d|\d{19})""")


@dataclass(frozen=True)
class Layout:
    """The layout of one file and the conversion of its values to columns."""

    place: Place
    delimiter: str
    names: list[str]
    begin: int  # the first byte after the header
    lines: int  # the number of lines before `begin`
    columns: list[str]
    missing: MissingValues
    replace: bool = False  # replace bytes that are not UTF-8 by U+FFFD
    encoding: str | None = None  # what the text is converted from; None for UTF-8
    padded: bool = False  # values have spaces around them, which are left out
    skips: bool = False  # skip rows with too few or too many values, or bytes that are not UTF-8

    @property
    def path(self) -> str:
        """The file's name in messages."""
        return self.place.name

    def pieces(self, size: int, at: int = 0) -> Iterator[bytes]:
        """Yield the raw text after the header in whole rows, from byte `at` on.

        IN: `at` is a row boundary, counted from the first byte after the header.
        """
        with open_text(self.place, self.begin + at, self.encoding) as stream:
            yield from whole_rows(stream, size, partial(last_row_end, delimiter=self.delimiter.encode()), self.path)

    def parse(self, text: bytes, types: Types, *, block: int = BLOCK, threads: bool = True) -> tuple[Any, list[Any]]:
        """Return a table of the rows in a piece of text, and the skipped rows.

        pyarrow numbers skipped rows only if it parses on one thread.
        """
        from pyarrow import csv as arrow_csv

        bad: list[Any] = []

        def skip(row: Any) -> str:
            bad.append(row)
            return "skip"

        # An empty field is missing in every column. By default, markers such as '-' are missing among numbers only:
        # here they leave texts as they are, and `steps.blank` says which of them are missing among names.
        converted = arrow_csv.ConvertOptions(
            include_columns=self.columns,
            column_types={name: types[name] for name in self.columns if name in types},
            null_values=["", *markers_of_numbers(self.missing)],
            strings_can_be_null=not keeps_usual(self.missing),
        )
        text = tidy(text, self.delimiter, padded=self.padded)
        read = arrow_csv.ReadOptions(column_names=self.names, block_size=block, use_threads=threads)
        mark = "\t" if self.delimiter == SPACES else self.delimiter
        parsed = arrow_csv.ParseOptions(
            delimiter=mark, newlines_in_values=b'"' in text, invalid_row_handler=skip if self.skips else None
        )
        return arrow_csv.read_csv(arrow_owned(text or b"\n"), read, parsed, converted), bad


def of_delimited(
    place: Place,
    delimiter: str,
    *,
    columns: Sequence[str] | None,
    missing: MissingValues,
    names: Sequence[str] | None,
    types: Types,
    errors: str,
    sample: int,
    piece: int | None,
    skips: Skips | None,
    trail: Trail,
    form: TextFormat,
) -> Source:
    """Return a source of a delimited file.

    The first line names the columns, unless `names` is given or the form has no header.

    Types are inferred from the first `sample` bytes. A later row that does not fit raises :class:`LateType`.
    """
    layout = replace(_lay_out(place, delimiter, columns, missing, names, errors, form), skips=skips is not None)
    path = place.name

    def begin(spot: Spot | None = None) -> Pass:
        return Pass(path, skips, layout.lines, spot)

    pieces, progress = layout.pieces(sample), begin()
    text = next(pieces, b"")
    first = _parse(layout, text, types, types, progress)
    if codes := _codes(layout, text, first, types):
        types, progress = {**types, **codes}, begin()
        first = _parse(layout, text, types, types, progress)
    for field in first.schema:
        if pa.types.is_binary(field.type):  # pyarrow's guess for invalid UTF-8; parsed as text, it names the row
            _parse(layout, next(layout.pieces(sample)), {field.name: pa.string()}, types, begin())
    if next(pieces, None) is None:
        progress.end()
        return trail.whole(first, path)
    inferred = {field.name: field.type for field in first.schema}

    def start(spot: Spot) -> Iterator[tuple[Spot, pa.RecordBatch]]:
        progress = begin(spot)
        for text in read_ahead(layout.pieces(piece or PIECE, spot.at)):
            table = _parse(layout, text, inferred, types, progress)
            yield from ((spot, batch) for batch in table.combine_chunks().to_batches())
            spot = progress.spot_after(spot, text)
        progress.end()

    return trail.text(first.schema, path, start)


def _codes(layout: Layout, text: bytes, table: pa.Table, declared: Types) -> Types:
    """Return the columns that look like numbers and are codes: with leading zeros, or more digits than numbers have."""
    numbers = [
        field.name
        for field in table.schema
        if field.name not in declared and (pa.types.is_integer(field.type) or pa.types.is_floating(field.type))
    ]
    if not numbers or not _CODE_BYTES.search(text):
        return {}
    import pyarrow.compute as pc

    narrow = replace(layout, columns=numbers)
    texts, _ = _parse_fast(narrow, text, dict.fromkeys(numbers, pa.string()), Pass(layout.path, None))
    return {
        name: pa.string() for name in numbers if pc.any(pc.match_substring_regex(texts.column(name), _CODE)).as_py()
    }


def _lay_out(
    place: Place,
    default: str,
    columns: Sequence[str] | None,
    missing: MissingValues,
    names: Sequence[str] | None,
    errors: str,
    form: TextFormat,
) -> Layout:
    path = place.name
    mark, lines, delimiter, encoding = first_lines(place, default, form)
    table = find_table(lines, delimiter, path)
    begin, before, header = mark + _bytes(lines[: table.begin]), table.begin, table.names
    if names is None and not form.header:
        names = [f"column{k}" for k in range(1, len(header) + 1)]
    if names is not None:
        check_names(names, len(header))
        header, begin, before, table = list(names), mark, 0, replace(table, empty=frozenset(), said=())
    else:
        header = _decode_header(header, path, errors)
        for sentence in table.said:
            warnings.warn(sentence, GuessedLayoutWarning, stacklevel=2)
    check_distinct(header, path)
    used = [name for name, found in zip(header, table.names, strict=True) if found not in table.empty]
    wanted_columns = columns_to_read(pa.schema([(name, pa.null()) for name in used]), columns, path)
    layout = Layout(place, delimiter, header, begin, before, wanted_columns, missing, errors == "replace", encoding)
    return replace(layout, padded=table.padded)


def _bytes(lines: Sequence[str]) -> int:
    return sum(len(line.encode(errors="surrogateescape")) for line in lines)


def first_lines(place: Place, default: str, form: TextFormat) -> tuple[int, list[str], str, str | None]:
    """Return the byte where the text begins, its first lines, their delimiter, and the encoding."""
    head, encoding = _head(place, form)
    mark = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    # Invalid UTF-8 is kept as lone surrogates, so that encoding a line again gives its length in the file.
    lines = io.StringIO(head[mark:].decode(errors="surrogateescape"), newline="").readlines()
    whole = lines if head.endswith(b"\n") else lines[:-1] or lines
    written = [line for line in whole if line.strip()] or lines
    aligned = place.name.lower().endswith(ALIGNED)
    delimiter = form.delimiter or find_delimiter(written, default, aligned=aligned)
    return mark, lines, delimiter, encoding


def _decode_header(header: list[str], path: str, errors: str) -> list[str]:
    raw = [name.encode(errors="surrogateescape") for name in header]
    for name, text in zip(raw, header, strict=True):
        if replace_invalid(name) != name and errors != "replace":
            at = next(i for i, c in enumerate(text) if "\udc80" <= c <= "\udcff")
            raise _not_utf8(path, f"its header (byte {len(text[:at].encode()) + 1} of a name)", "replace")
    return [replace_invalid(name).decode() for name in raw]


def _head(place: Place, form: TextFormat) -> tuple[bytes, str | None]:
    """Return the first bytes of a file as UTF-8, at least one line, and its encoding; raise BadData unless text."""
    with open_text(place) as stream:
        head = bytes(stream.read(PEEK))
        encoding = form.encoding_of(head, place.name)
        if encoding is None:  # not opened again: the first block of a compressed file takes long
            head = _to_a_line(head, stream)
    if encoding is not None:
        with open_text(place, encoding=encoding) as stream:
            head = _to_a_line(bytes(stream.read(PEEK)), stream)
    path = place.name
    if not head.removeprefix(b"\xef\xbb\xbf"):
        raise BadData(wanted(path, "a header line", "an empty file"))
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _not_utf8(path, "its first bytes (UTF-16)")
    if b"\0" in head or head.startswith(b"PAR1"):
        got = f"binary data (it begins {head[:8]!r})"
        raise BadData(wanted(path, "text", got, "Give the file the ending of its real format"))
    return head, encoding


def _to_a_line(head: bytes, stream: Any) -> bytes:
    """Return the first bytes of a stream, and more until they hold a line, but no more than is bearable."""
    while not head.count(b"\n") and len(head) <= 16 << 20 and (more := stream.read(len(head))):
        head += more
    return head


def _parse(layout: Layout, text: bytes, types: Types, declared: Types, progress: Pass) -> pa.Table:
    """Return a table of the rows in the next piece of text."""
    delimiter = layout.delimiter.encode()
    invalid: list[tuple[int, str]] = []
    if layout.replace:
        text = replace_invalid(text)
    elif layout.skips:
        text, invalid = without_invalid(text, delimiter)
    try:
        table, bad = _parse_fast(layout, text, types, progress)
    except pa.ArrowInvalid as error:
        raise _explain(str(error), layout, types, declared, progress.rows, text) from None
    numbers = [row.number for row in bad if row.number is not None]
    lines = lines_of_rows(text, numbers, delimiter)
    places = [(line, _fault(row)) for line, row in zip(lines, bad[: len(lines)], strict=True)]
    progress.advance(text, table.num_rows, len(bad) + len(invalid), sorted([*places, *invalid]))
    return table


def _parse_fast(layout: Layout, text: bytes, types: Types, progress: Pass) -> tuple[pa.Table, list[Any]]:
    """Parse on all cores; on one if rows must be named: pyarrow numbers them there."""
    whole = len(text) + 1
    try:
        try:
            table, bad = layout.parse(text, types)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise
            table, bad = layout.parse(text, types, block=whole)  # a row is longer than a block
        if not (bad and progress.needs_places):
            return table, bad
    except pa.ArrowInvalid:
        pass
    return layout.parse(text, types, block=whole, threads=False)


def _fault(row: Any) -> str:
    return f"has {row.actual_columns} value{'s' * (row.actual_columns != 1)} instead of {row.expected_columns}"


CONVERSION = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to [^:]+: (.*)", re.DOTALL)
RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): ?(.*)", re.DOTALL)


def _explain(message: str, layout: Layout, types: Types, declared: Types, rows: int, text: bytes) -> BadData:
    """Return pyarrow's message about a piece after `rows` rows as our own error."""
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
    """Return the narrowest type for both the column so far and this value."""
    if not NUMBER.fullmatch(value):
        return pa.string()
    if pa.types.is_null(kind):
        return pa.int64() if re.fullmatch(r"\s*-?\d{1,18}\s*", value) else pa.float64()
    return pa.float64() if pa.types.is_integer(kind) else pa.string()


def _first_bad(layout: Layout, text: bytes, column: str, rows: int) -> str:
    """Return the row and the byte of its value where a column stops being UTF-8."""
    table, _ = layout.parse(text, dict.fromkeys(layout.columns, pa.binary()), block=len(text) + 1, threads=False)
    row, byte = first_not_utf8(table.column(column).combine_chunks()) or (0, 0)
    return f"row {rows + row + 1}, byte {byte + 1}"


def _not_utf8(path: str, where: str, cure: str = "") -> BadData:
    do = "Convert it, for instance with iconv" + (f", or choose errors='{cure}'" if cure else "")
    return BadData(wanted(path, "text in UTF-8", f"other bytes in {where}", do))
