"""A stream of text cut into pieces that end where a row ends, so that each piece can be parsed by all cores at once.

pyarrow's own streaming csv reader (``open_csv``) parses on one core, and its json counterpart exists only since
version 20. ``read_csv`` and ``read_json`` use all cores but want whole rows: finding where a row ends is what is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.errors import BadData, wanted
from tallybayes.sources.locations import Place

__all__ = [
    "CODECS",
    "arrow_owned",
    "last_line_end",
    "last_row_end",
    "lines_of_rows",
    "open_text",
    "replace_invalid",
    "whole_rows",
]

CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}

# A row longer than this is taken for a quotation mark that never closes, rather than read until memory is full.
LONGEST_ROW = 128 << 20
_SKIPPED = 1 << 20


def open_text(place: Place, skip: int = 0) -> Any:
    """The stream of a file's bytes, uncompressed, from the given byte on."""
    codec = next((codec for suffix, codec in CODECS.items() if place.name.lower().endswith(suffix)), None)
    if codec is None and skip:
        return place.seekable(skip)
    stream = place.stream(codec)
    while skip and (read := stream.read(min(skip, _SKIPPED))):  # what is compressed has to be read up to there
        skip -= len(read)
    return stream


def whole_rows(stream: Any, size: int, row_end: Callable[[bytes], int], where: str) -> Iterator[bytes]:
    """The stream in pieces of about `size` bytes, each ending where `row_end` says that its last whole row ends."""
    rest = b""
    while block := stream.read(size):
        text = rest + block
        end = row_end(text)
        rest = text[end:]
        if end:
            yield text[:end]
        elif len(rest) > LONGEST_ROW:
            line = rest.split(b"\n", 1)[0][:60].decode(errors="replace")
            got = f"one of more than {LONGEST_ROW >> 20} MB, beginning {line!r}"
            raise BadData(wanted(where, "rows that end", got, "Close its quotation mark"))
    if rest:
        yield rest


def replace_invalid(text: bytes) -> bytes:
    """The same with U+FFFD where bytes are not UTF-8, as Python's ``errors="replace"`` puts it.

    Examples
    --------
    >>> replace_invalid(b"caf\\xe9, tea").decode()
    'caf\ufffd, tea'
    """
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode(errors="replace").encode()
    return text


def arrow_owned(text: bytes) -> pa.BufferReader:
    """The text in memory of Arrow's own, to be parsed by Arrow's threads.

    A thread of Arrow's that is the last to let go of memory of Python's must wait for the interpreter, and aborts the
    process if that is ending just then (apache/arrow issues 34314 and 50482). The copy costs a hundredth of the parse.
    """
    buffer = pa.allocate_buffer(len(text))
    memoryview(buffer).cast("B")[:] = text
    return pa.BufferReader(buffer)


def last_line_end(text: bytes) -> int:
    """Where the last whole line ends: 0 if none does.

    Examples
    --------
    >>> last_line_end(b"one\\ntwo")
    4
    """
    return text.rfind(b"\n") + 1


def last_row_end(text: bytes, delimiter: bytes = b",") -> int:
    """Where the last whole row of delimited text ends, lines inside quotation marks not counting as rows.

    Notes
    -----
    A mark opens a quoted value only at the beginning of the value, and two within it stand for one. If every mark is
    either an opening one (after a delimiter or line end), a closing one (before a delimiter or line end) or half of a
    pair, and the two alternate, then a line end lies outside iff the number of marks before it is even: arithmetic on
    whole arrays. Text such as ``5" pipe`` breaks the rule and is lexed value by value, some five times slower.

    Examples
    --------
    >>> last_row_end(b'1,"two\\nlines"\\n2,"open\\n')
    14
    """
    if b'"' not in text:
        return last_line_end(text)
    marks = _paired_marks(text, delimiter)
    if marks is None:
        return _lexed_row_end(text, delimiter)
    end = len(text)
    while (line := text.rfind(b"\n", 0, end)) >= 0:
        before = int(np.searchsorted(marks, line))
        if before % 2 == 0:
            return line + 1
        end = int(marks[before - 1])
    return 0


def _paired_marks(text: bytes, delimiter: bytes) -> Any:
    """The places of the quotation marks, or None if they are not all opening, closing or doubled ones."""
    codes = np.frombuffer(text, np.uint8)
    marks = np.flatnonzero(codes == ord('"'))
    border = np.zeros(256, bool)
    border[[ord('"'), ord("\n"), ord("\r"), ord(delimiter)]] = True
    opening, closing = marks[0::2], marks[1::2]
    # The text begins where a row does; what follows its last byte is unknown, and decides nothing before it.
    before = border[codes[opening[opening > 0] - 1]]
    after = border[codes[closing[closing < len(text) - 1] + 1]]
    return marks if before.all() and after.all() else None


def _lexed_row_end(text: bytes, delimiter: bytes) -> int:
    """The same by the definition: skip each quoted value, look for line ends between them."""
    end = at = 0
    for value in _quoted(delimiter).finditer(text):
        end = text.rfind(b"\n", at, value.start() + 1) + 1 or end
        at = value.end()
    return text.rfind(b"\n", at) + 1 or end


def _quoted(delimiter: bytes) -> re.Pattern[bytes]:
    """A value in quotation marks, with the delimiter or line end before it."""
    return re.compile(rb'(?:^|[\n\r%s])"(?:[^"]++|"")*+(?:"|\Z)' % re.escape(delimiter))


def lines_of_rows(text: bytes, rows: Sequence[int], delimiter: bytes = b",") -> list[int]:
    """The lines on which some rows of delimited text begin, both counted from 1; a blank line is no row.

    Examples
    --------
    >>> lines_of_rows(b'1,"two\\nlines"\\n\\n2,x\\n', [1, 2])
    [1, 4]
    """
    if not rows:
        return []
    flat = text
    if b'"' in text:  # line ends within a value are made blanks, so that each one left ends a row
        flat = _quoted(delimiter).sub(lambda v: v[0][:1] + re.sub(rb"[\r\n]", b" ", v[0][1:]), text)
    begins = [row.start() for row in islice(re.finditer(rb"[^\r\n]+", flat), max(rows))]
    return [text.count(b"\n", 0, begins[row - 1]) + 1 for row in rows]
