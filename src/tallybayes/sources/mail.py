"""Messages from mailboxes: mbox, also compressed, Maildir, MH, folders of files, and standard input.

A message is its bytes; the lines that mbox puts between messages belong to none. What a path is, its content says: a
folder with ``cur`` and ``new`` is a Maildir, and a file that begins with a line ``From ...`` is an mbox.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tallybayes.errors import BadData, wanted

__all__ = ["StoredMessage", "class_folders", "read_messages", "split_mbox"]

# A line that begins a message of an mbox: an address and a date. Only a time of day tells it from a sentence.
_FROM = re.compile(rb"From [^\n]*\d\d:\d\d")
_GZIP = b"\x1f\x8b"
STDIN = "-"


class StoredMessage(NamedTuple):
    """A message, and where it was: a file, and the place in it if it holds several."""

    path: str
    content: bytes


def read_messages(path: str | os.PathLike[str]) -> Iterator[StoredMessage]:
    """Yield the messages of a mailbox, in the order of their names or of the file.

    Parameters
    ----------
    path : str or path
        An mbox (also .gz), a Maildir, an MH folder, a folder with files of messages, one message, or "-" for one on
        standard input.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     box = Path(folder, "in.mbox")
    ...     two = b"From a Thu Aug 22 12:36 2002\\nTo: b\\n\\nHi\\n\\nFrom c Fri Aug 23 01:02 2002\\n\\nYo\\n"
    ...     _ = box.write_bytes(two)
    ...     [one.content for one in read_messages(box)]
    [b'To: b\\n\\nHi\\n\\n', b'\\nYo\\n']
    """
    if os.fspath(path) == STDIN:
        yield StoredMessage(STDIN, sys.stdin.buffer.read())
        return
    where = Path(path).expanduser()
    try:
        if where.is_dir():
            for file in _files(where):
                yield from _messages(file)
        else:
            yield from _messages(where)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise BadData(wanted(str(path), "a gzip file", "a damaged one")) from None
    except OSError as error:
        named = str(error.filename or path)
        if isinstance(error, FileNotFoundError):
            raise BadData(f"{named}: no such file or folder.") from None
        raise BadData(wanted(named, "a mailbox", str(error.strerror))) from None


def class_folders(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Return the name and path of each folder within one, for mail that is sorted into a folder per class."""
    where = Path(path).expanduser()
    found = sorted(one for one in where.iterdir() if one.is_dir()) if where.is_dir() else []
    found = [one for one in found if not one.name.startswith(".")]
    if len(found) < 2:
        got = f"{len(found)} folders in it" if where.is_dir() else "no folder"
        do = "Name the classes: --spam PATH --ham PATH"
        raise BadData(wanted(str(path), "a folder with a folder for each class, such as spam and ham", got, do))
    return [(one.name, str(one)) for one in found]


def split_mbox(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the messages of an mbox, without the lines that begin them.

    A message begins at a line `From ...` with a time of day, after an empty line or at the start.
    """
    current: list[bytes] = []
    blank, begun = True, False
    for line in lines:
        if blank and line.startswith(b"From ") and _FROM.match(line):
            if begun:
                yield b"".join(current)
            current, begun = [], True
        else:
            current.append(line)
        blank = line in (b"\n", b"\r\n")
    if begun or current:
        yield b"".join(current)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that hold messages: those of a Maildir or MH folder, or all below it."""
    if (folder / "cur").is_dir() and (folder / "new").is_dir():
        for part in ("cur", "new"):
            yield from sorted(one for one in (folder / part).iterdir() if _is_message(one))
        return
    for one in sorted(folder.iterdir()):
        if one.is_dir() and not one.name.startswith("."):
            yield from _files(one)
        elif _is_message(one):
            yield one


def _is_message(path: Path) -> bool:
    """Return whether a file may hold messages: hidden files, and those that MH has deleted, do not."""
    return not path.name.startswith((".", ",")) and path.is_file()


def _messages(path: Path) -> Iterator[StoredMessage]:
    with open(path, "rb") as file:
        start = file.read(2)
        file.seek(0)
        if start == _GZIP:
            with gzip.open(file, "rb") as unpacked:
                yield from _of_file(str(path), unpacked)  # type: ignore[arg-type]
        else:
            yield from _of_file(str(path), file)


def _of_file(path: str, file: BinaryIO) -> Iterator[StoredMessage]:
    first = file.readline()
    if not _FROM.match(first):
        yield StoredMessage(path, first + file.read())
        return
    messages = split_mbox(chain([first], file))
    one, two = next(messages), next(messages, None)
    if two is None:  # a single message, which has its file's name
        yield StoredMessage(path, one)
        return
    for k, content in enumerate(chain([one, two], messages), start=1):
        yield StoredMessage(f"{path}:{k}", content)
