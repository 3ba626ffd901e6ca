"""Where files are: on this machine, or in a store that pyarrow reaches by a URI. The one door by which they are found,
opened and named.

    weather.csv   days/*.csv   days/   file:///home/me/weather.csv
    s3://bucket/weather.csv   s3://key:secret@bucket/days/*.csv?region=eu-west-1   gs://bucket/days/   abfs://...   hdfs://...

What stands before the @ of a URI, and behind its question mark, is for the store alone: no name has it, so no message.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import pyarrow as pa

from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.sources.steps import in_words

__all__ = ["Place", "find", "is_uri", "name_of"]

T = TypeVar("T")
SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
_URI = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://(?P<host>[^/?]*)(?P<path>[^?]*)(?P<query>\?.*)?", re.DOTALL)
# A request for 4 MB takes hardly longer than one for 64 kB, which is what a decompressor asks for at a time.
_BUFFER = 4 << 20
# Google's store is asked anew for a quarter of an hour by default, where nothing may be listening.
_GS_PATIENCE = "retry_limit_seconds=10"
_CHECK = "Check its name, the credentials and the network"


@dataclass(frozen=True)
class Place:
    """A file.

    Attributes
    ----------
    name : str
        What messages call it, by whose ending its format is told.
    path : str
        Its path, on this machine or in its store.
    store : pyarrow.fs.FileSystem or None
        The store; None on this machine.
    under : tuple of str
        The directories in which it was found, below the one that was named.
    """

    name: str
    path: str
    store: Any = None
    under: tuple[str, ...] = ()

    @classmethod
    def here(cls, path: str) -> Place:
        """A file on this machine."""
        return cls(path, path)

    def stream(self, codec: str | None = None) -> Any:
        """Its bytes from the first to the last, uncompressed."""
        if self.store is None:
            return pa.input_stream(self.path, compression=codec)
        return self.store.open_input_stream(self.path, compression=codec, buffer_size=_BUFFER)

    def seekable(self, skip: int) -> Any:
        """Its bytes from a certain one on, as they are."""
        stream = pa.input_stream(self.path) if self.store is None else self.store.open_input_file(self.path)
        stream.seek(skip)
        return stream

    def stamp(self) -> tuple[str, int, int]:
        """Its name, its size, and when it was last written to: while these are the same, so are its bytes."""
        if self.store is None:
            known = os.stat(self.path)
            return os.path.realpath(self.path), known.st_size, known.st_mtime_ns
        told = self.store.get_file_info(self.path)
        return self.name, told.size or 0, told.mtime_ns or 0

    @property
    def lasting(self) -> bool:
        """Whether it can be read again, as a pipe cannot."""
        return self.store is not None or os.path.isfile(self.path)

    def random(self) -> Any:
        """What pyarrow's readers take to read here and there in the file."""
        return self.path if self.store is None else self.store.open_input_file(self.path)


def is_uri(path: object) -> bool:
    """Whether a path is a URI.

    Examples
    --------
    >>> is_uri("s3://bucket/weather.csv"), is_uri("c:/weather.csv")
    (True, False)
    """
    return isinstance(path, str) and _URI.fullmatch(path) is not None


def name_of(path: str) -> str:
    """What a path is called in messages: all of it, but a URI without what is for its store alone.

    Examples
    --------
    >>> name_of("s3://key:secret@bucket/weather.csv?region=eu-west-1")
    's3://bucket/weather.csv'
    """
    uri = _URI.fullmatch(path)
    if uri is None:
        return path
    user, at, host = uri["host"].rpartition("@")
    if not at and ":" in host and "@" in uri["path"]:  # a secret with a bare slash, which ends a host
        return f"{uri['scheme']}://..."
    if uri["scheme"].startswith("abfs"):  # whose user is the container
        host = user.split(":", 1)[0] + at + host
    return f"{uri['scheme']}://{host}{uri['path']}"


def find(path: str, endings: Sequence[str]) -> list[Place]:
    """The files that a path, a glob, a directory or a URI of these stands for; of a directory those of some endings."""
    if not is_uri(path):
        return _find_here(path, endings)
    if path.startswith("file:///"):
        return _find_here(unquote(path.removeprefix("file://")), endings)
    name = name_of(path)
    store, root, inside = _store(path, name)
    return _asked(name, lambda: _find_there(store, root, inside, name, endings))


def _find_here(path: str, endings: Sequence[str]) -> list[Place]:
    here = os.path.expanduser(path)
    if os.path.isdir(here):
        files = [file.relative_to(here).parts for file in Path(here).rglob("*") if file.is_file()]
        return [Place(f := os.path.join(here, *parts), f, None, parts[:-1]) for parts in _data(files, path, endings)]
    if os.path.exists(here):
        return [Place.here(here)]
    if not glob.has_magic(here):
        raise _absent(path)
    found = sorted(file for file in map(Path, glob.glob(here, recursive=True)) if file.is_file())
    if not found:
        raise BadData(wanted(path, "files that match", "none"))
    fixed = len(_fixed(Path(here).parts))
    return [Place(str(file), str(file), None, file.parts[fixed:-1]) for file in found]


def _find_there(store: Any, root: str, inside: str, name: str, endings: Sequence[str]) -> list[Place]:
    from pyarrow import fs

    given = tuple(part for part in inside.split("/") if part)
    base = name.removesuffix(inside).rstrip("/")

    def path_of(parts: tuple[str, ...]) -> str:
        return "/".join((root.rstrip("/"), *parts)) or "/"

    def placed(folder: tuple[str, ...], file: tuple[str, ...]) -> Place:
        return Place("/".join((base, *folder, *file)), path_of(folder + file), store, file[:-1])

    def files_under(folder: tuple[str, ...]) -> list[tuple[str, ...]]:
        top = path_of(folder)
        infos = store.get_file_info(fs.FileSelector(top, recursive=True, allow_not_found=True))
        return [tuple(one.path[len(top) :].strip("/").split("/")) for one in infos if one.type == fs.FileType.File]

    kind = store.get_file_info(path_of(given)).type
    if kind == fs.FileType.File:
        return [placed(given, ())]
    if kind == fs.FileType.Directory:
        return [placed(given, file) for file in _data(files_under(given), name, endings)]
    fixed = _fixed(given)
    if fixed == given:
        raise _absent(name)
    found = sorted(file for file in files_under(fixed) if _matches(file, given[len(fixed) :]))
    if not found:
        raise BadData(wanted(name, "files that match", "none"))
    return [placed(fixed, file) for file in found]


def _absent(path: str) -> BadData:
    do = "" if os.path.splitext(path)[1] or is_uri(path) else "Pass text as a list: [text]"
    return BadData(wanted(path if len(path) < 200 else path[:200] + "...", "a file", "none at that path", do))


def _data(files: Sequence[tuple[str, ...]], where: str, endings: Sequence[str]) -> list[tuple[str, ...]]:
    """Of the files under a directory those of rows, in order. What begins with _ or . is another's bookkeeping."""
    found = [
        parts
        for parts in sorted(files)
        if os.path.splitext(parts[-1])[1].lower() in endings and not any(part.startswith(("_", ".")) for part in parts)
    ]
    if not found:
        do = "Pass a glob for files of another kind, such as 'directory/*.csv'"
        raise BadData(wanted(where, "a directory of parquet files", "one without any", do))
    return found


def _fixed(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a glob before the first that is a pattern."""
    return parts[: next((k for k, part in enumerate(parts) if glob.has_magic(part)), len(parts))]


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path fits a glob: as on this machine, * is one part or some of it, and ** any number of parts."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or (
            bool(parts) and not parts[0].startswith(".") and _matches(parts[1:], pattern)
        )
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _store(uri: str, name: str) -> tuple[Any, str, str]:
    """The store of a URI, what its paths begin with, and the path within that."""
    from pyarrow import fs

    parts = _URI.fullmatch(uri)
    if parts is None or parts["scheme"] not in SCHEMES:
        do = "Download it first" if uri.startswith("http") else ""
        raise BadOption(wanted(name, f"a path, or a URI of {', '.join(SCHEMES)} or file", "another", do))
    scheme, query = parts["scheme"], parts["query"] or ""
    if not parts["host"] and not scheme.endswith("fs"):
        raise BadOption(wanted(name, f"a bucket, as in {scheme}://bucket/file.csv", "none"))
    if name.endswith("://..."):
        do = "Write its signs as in %2F, or leave it to the environment"
        raise BadOption(wanted(name, f"a URI such as {scheme}://key:secret@bucket/file.csv", "an unquoted secret", do))
    if scheme in ("gs", "gcs") and "retry_limit_seconds" not in query:
        query = f"{query}&{_GS_PATIENCE}" if query else f"?{_GS_PATIENCE}"
    # Only the store is for pyarrow to make out: a name may hold signs (blanks, brackets, %) that no URI has.
    store, root = _asked(name, lambda: fs.FileSystem.from_uri(f"{scheme}://{parts['host']}/{query}"))
    return store, root, parts["path"].lstrip("/")


def _asked(name: str, ask: Callable[[], T]) -> T:
    """What a store answers; where it does not, why, in one sentence that has nothing of the URI but the name."""
    try:
        return ask()
    except (BadData, BadOption):
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        said = in_words(error)
        said = "its address cannot be read" if "URI" in said else said
        raise BadData(wanted(name, "a file that can be reached", f"none ({said})", _CHECK)) from None
