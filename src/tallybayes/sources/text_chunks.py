"""Text streams cut into pieces of whole rows, for all cores to parse.

pyarrow's own streaming csv reader (``open_csv``) parses on one core, and its json counterpart exists only since
version 20. ``read_csv`` and ``read_json`` use all cores but need whole rows, so this module finds where rows end.
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

CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}

# Bytes. A longer row is taken for a quotation mark that never closes; reading on would fill the memory.
LONGEST_ROW = 128 << 20
_SKIPPED = 1 << 20  # bytes read at a time to reach a position in a compressed file


def open_text(place: Place, skip: int = 0, encoding: str | None = None) -> Any:
    """Open a file's uncompressed text as UTF-8, from byte `skip` on."""
    codec = next((codec for suffix, codec in CODECS.items() if place.name.lower().endswith(suffix)), None)
    if codec is None and skip and encoding is None and place.member is None:
        return place.seekable(skip)
    stream = place.stream(codec)
    stream = stream if encoding is None else pa.transcoding_input_stream(stream, encoding, "utf-8")
    while skip and (read := stream.read(min(skip, _SKIPPED))):  # other files can only be read from their start
        skip -= len(read)
    return stream


def whole_rows(stream: Any, size: int, row_end: Callable[[bytes], int], where: str) -> Iterator[bytes]:
    """Yield the stream in pieces of about `size` bytes that end with a whole row.

    `row_end` returns where the last whole row of a text ends, 0 if none does.
    """
    rest = b""
    while block := stream.read(size):
        text = rest + block
        end = row_end(text)
        rest = text[end:]
        if end:
            yield text[:end]
        elif len(rest) > LONGEST_ROW:
            line = rest.split(b"\n", 1)[0][:60].decode(errors="replace")
            got = f"a longer one that begins {line!r}"
            raise BadData(wanted(where, f"rows of at most {LONGEST_ROW >> 20} MB", got, "Close its quotation mark"))
    if rest:
        yield rest


def replace_invalid(text: bytes) -> bytes:
    """Return the text with U+FFFD in place of bytes that are not UTF-8.

    The result is that of Python's ``errors="replace"``.

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
    """Copy the text into Arrow's own memory, for Arrow's threads to parse.

    If an Arrow thread is the last to release memory owned by Python, it must wait for the interpreter; if the
    interpreter is just shutting down, the process aborts (apache/arrow issues 34314 and 50482). The copy costs a
    hundredth of the parse.
    """
    buffer = pa.allocate_buffer(len(text))
    memoryview(buffer).cast("B")[:] = text
    return pa.BufferReader(buffer)


def last_line_end(text: bytes) -> int:
    """Return where the last whole line ends; 0 if none does.

    Examples
    --------
    >>> last_line_end(b"one\\ntwo")
    4
    """
    return text.rfind(b"\n") + 1


def last_row_end(text: bytes, delimiter: bytes = b",") -> int:
    """Return where the last whole row of delimited text ends; 0 if none does.

    A line end inside quotation marks does not end a row.

    Notes
    -----
    A quotation mark opens a quoted value only at the beginning of the value; inside it, two marks stand for one.
    Suppose that every mark is an opening one (after a delimiter or line end), a closing one (before a delimiter or
    line end) or half of a pair, and that opening and closing marks alternate. Then a line end is outside quotes iff the
    number of marks before it is even, which is arithmetic on whole arrays. Text such as ``5" pipe`` breaks the rule and
    is lexed value by value, about five times slower.

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
    """Return the positions of quotation marks; None if they break `last_row_end`'s rule."""
    codes = np.frombuffer(text, np.uint8)
    marks = np.flatnonzero(codes == ord('"'))
    border = np.zeros(256, bool)
    border[[ord('"'), ord("\n"), ord("\r"), ord(delimiter)]] = True
    opening, closing = marks[0::2], marks[1::2]
    # The text begins where a row begins. What follows its last byte is unknown, but cannot change anything before it.
    before = border[codes[opening[opening > 0] - 1]]
    after = border[codes[closing[closing < len(text) - 1] + 1]]
    return marks if before.all() and after.all() else None


def _lexed_row_end(text: bytes, delimiter: bytes) -> int:
    """Return the same by the definition: skip quoted values, find line ends between them."""
    end = at = 0
    for value in _quoted(delimiter).finditer(text):
        end = text.rfind(b"\n", at, value.start() + 1) + 1 or end
        at = value.end()
    return text.rfind(b"\n", at) + 1 or end


def _quoted(delimiter: bytes) -> re.Pattern[bytes]:
    """Return a pattern for a quoted value and the delimiter or line end before it."""
    return re.compile(rb'(?:^|[\n\r%s])"(?:[^"]++|"")*+(?:"|\Z)' % re.escape(delimiter))


def lines_of_rows(text: bytes, rows: Sequence[int], delimiter: bytes = b",") -> list[int]:
    """Return the lines on which the given rows of delimited text begin.

    Lines and rows count from 1. A blank line is not a row.

    Examples
    --------
    >>> lines_of_rows(b'1,"two\\nlines"\\n\\n2,x\\n', [1, 2])
    [1, 4]
    """
    if not rows:
        return []
    begins = [row.start() for row in islice(_rows(text, delimiter), max(rows))]
    return [text.count(b"\n", 0, begins[row - 1]) + 1 for row in rows]


def without_invalid(text: bytes, delimiter: bytes = b",") -> tuple[bytes, list[tuple[int, str]]]:
    """Return delimited text without the rows that are not UTF-8, and the line and the fault of each.

    Their line ends stay, so that the other rows keep their lines.

    Examples
    --------
    >>> without_invalid(b"tea,1\\ncaf\\xe9,2\\n")
    (b'tea,1\\n\\n', [(2, 'has other bytes than UTF-8 (from byte 4)')])
    """
    try:
        text.decode()
        return text, []
    except UnicodeDecodeError:
        kept, bad, at, line = [], [], 0, 1
    for row in _rows(text, delimiter):
        content = text[row.start() : row.end()]
        try:
            content.decode()
        except UnicodeDecodeError as error:
            line += text.count(b"\n", at, row.start())
            kept += [text[at : row.start()], re.sub(rb"[^\r\n]", b"", content)]
            bad.append((line, f"has other bytes than UTF-8 (from byte {error.start + 1})"))
            line += content.count(b"\n")
            at = row.end()
    return b"".join([*kept, text[at:]]), bad


def _rows(text: bytes, delimiter: bytes) -> Iterator[re.Match[bytes]]:
    """Yield where each row of delimited text is; a blank line is not a row."""
    flat = text
    if b'"' in text:  # blank out line ends inside values: every one left then ends a row
        flat = _quoted(delimiter).sub(lambda v: v[0][:1] + re.sub(rb"[\r\n]", b" ", v[0][1:]), text)
    return re.finditer(rb"[^\r\n]+", flat)
