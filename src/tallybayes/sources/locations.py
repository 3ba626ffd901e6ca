"""Files, local or in a store: the one place that finds, opens and names them.

    weather.csv   days/*.csv   days/   file:///home/me/weather.csv
    s3://bucket/weather.csv   s3://key:secret@bucket/days/*.csv?region=eu-west-1   gs://bucket/days/   abfs://...   hdfs://...

pyarrow reaches a store by a URI. What a URI has before @ or after ? is only for the store: secrets may be there, so it
never appears in names or messages.
"""

from __future__ import annotations

import glob
import io
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

import pyarrow as pa

from tallybayes.errors import BadData, BadOption, LeftOutWarning, wanted
from tallybayes.sources.steps import in_words

T = TypeVar("T")
Endings: TypeAlias = Callable[[Sequence[str]], Sequence[str]]  # of the files to take, among those of a directory
SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
_URI = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://(?P<host>[^/?]*)(?P<path>[^?]*)(?P<query>\?.*)?", re.DOTALL)
# A decompressor asks for 64 kB at a time, but a request for 4 MB takes hardly longer.
_BUFFER = 4 << 20  # bytes
# By default, Google's client retries for 15 minutes even if no server answers.
_GS_PATIENCE = "retry_limit_seconds=10"
_NAMED = 5  # files listed by name
_CHECK = "Check its name, the credentials and the network"


class Meter:
    """How many bytes of a file have been read, since it was last opened."""

    def __init__(self) -> None:
        self.read = 0


class _Metered(io.RawIOBase):
    """A stream that counts the bytes read from it."""

    def __init__(self, raw: Any, meter: Meter) -> None:
        self._raw, self._meter = raw, meter
        meter.read = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._raw.read(size)
        self._meter.read += len(data)
        return data

    def close(self) -> None:
        self._raw.close()
        super().close()


@dataclass(frozen=True)
class Place:
    """A file, local or in a store."""

    name: str  # its name in messages; its ending decides the format
    path: str  # its path on this machine or in its store
    store: Any = None  # the store; None for a local file
    member: str | None = None  # the file's name inside a zip archive
    under: tuple[str, ...] = ()  # the directories between the one that was searched and the file
    meter: Meter = field(default_factory=Meter, compare=False, repr=False)  # counts in compressed files alone

    @classmethod
    def here(cls, path: str) -> Place:
        """Return the place of a local file."""
        return cls(path, path)

    def stream(self, codec: str | None = None) -> Any:
        """Open its bytes as a stream, decompressed if a codec is given."""
        if self.member is not None:
            return pa.input_stream(self._counted(self._archived()), compression=codec)
        if self.store is None:
            raw = self.path if codec is None else self._counted(io.FileIO(self.path))
            return pa.input_stream(raw, compression=codec)
        return self.store.open_input_stream(self.path, compression=codec, buffer_size=_BUFFER)

    def _counted(self, raw: Any) -> Any:
        return pa.PythonFile(_Metered(raw, self.meter), "r")

    def size(self) -> int | None:
        """Return the number of bytes that its meter counts; None where it does not count."""
        if self.store is not None:
            return None
        if self.member is None:
            return os.path.getsize(self.path)
        from zipfile import ZipFile

        with ZipFile(self.path) as archive:
            return archive.getinfo(self.member).file_size

    def members(self) -> list[str]:
        """Return the files in a zip archive."""
        from zipfile import ZipFile

        with ZipFile(self.path if self.store is None else self.store.open_input_file(self.path)) as archive:
            return [one.filename for one in archive.infolist() if not one.is_dir()]

    def _archived(self) -> Any:
        """Open a member of a zip archive."""
        from zipfile import ZipFile

        archive = self.path if self.store is None else self.store.open_input_file(self.path)
        return ZipFile(archive).open(str(self.member))

    def seekable(self, skip: int) -> Any:
        """Open its raw bytes from byte `skip` on."""
        stream = pa.input_stream(self.path) if self.store is None else self.store.open_input_file(self.path)
        stream.seek(skip)
        return stream

    def stamp(self) -> tuple[str, int, int]:
        """Return its name, size and time of last change, which identify its bytes."""
        if self.store is None:
            status = os.stat(self.path)
            return os.path.realpath(self.path), status.st_size, status.st_mtime_ns
        info = self.store.get_file_info(self.path)
        return self.name, info.size or 0, info.mtime_ns or 0

    @property
    def lasting(self) -> bool:
        """Whether it can be read again; a pipe cannot."""
        return self.store is not None or os.path.isfile(self.path)

    def random_access(self) -> Any:
        """Return what pyarrow's readers accept for random access to the file."""
        if self.member is not None:
            return pa.BufferReader(self._archived().read())
        return self.path if self.store is None else self.store.open_input_file(self.path)


def is_uri(path: object) -> bool:
    """Return whether a path is a URI.

    Examples
    --------
    >>> is_uri("s3://bucket/weather.csv"), is_uri("c:/weather.csv")
    (True, False)
    """
    return isinstance(path, str) and _URI.fullmatch(path) is not None


def name_of(path: str) -> str:
    """Return a path's name in messages: a URI without secrets, any other path unchanged.

    Examples
    --------
    >>> name_of("s3://key:secret@bucket/weather.csv?region=eu-west-1")
    's3://bucket/weather.csv'
    """
    uri = _URI.fullmatch(path)
    if uri is None:
        return path
    user, at, host = uri["host"].rpartition("@")
    if not at and ":" in host and "@" in uri["path"]:  # an unencoded slash in the secret has ended the host
        return f"{uri['scheme']}://..."
    if uri["scheme"].startswith("abfs"):  # here the user part is the container
        host = user.split(":", 1)[0] + at + host
    return f"{uri['scheme']}://{host}{uri['path']}"


def find(path: str, endings: Endings) -> list[Place]:
    """Return the files of a path, glob, directory or URI."""
    if not is_uri(path):
        return _find_local(path, endings)
    if path.startswith("file:///"):
        return _find_local(unquote(path.removeprefix("file://")), endings)
    name = name_of(path)
    store, root, inside = _store(path, name)
    return _ask(name, lambda: _find_in_store(store, root, inside, name, endings))


def _find_local(path: str, endings: Endings) -> list[Place]:
    full = os.path.expanduser(path)
    if os.path.isdir(full):
        files = [file.relative_to(full).parts for file in Path(full).rglob("*") if os.path.isfile(file)]
        return [
            Place(f := os.path.join(full, *parts), f, None, None, parts[:-1]) for parts in _data(files, path, endings)
        ]
    if os.path.exists(full):
        return [Place.here(full)]
    if not glob.has_magic(full):
        raise _absent(path)
    found = sorted(file for file in map(Path, glob.glob(full, recursive=True)) if os.path.isfile(file))
    if not found:
        raise BadData(wanted(path, "files that match", "none"))
    fixed = len(_fixed(Path(full).parts))
    return [Place(str(file), str(file), None, None, file.parts[fixed:-1]) for file in found]


def _find_in_store(store: Any, root: str, inside: str, name: str, endings: Endings) -> list[Place]:
    from pyarrow import fs

    parts = tuple(part for part in inside.split("/") if part)
    base = name.removesuffix(inside).rstrip("/")

    def path_of(names: tuple[str, ...]) -> str:
        return "/".join((root.rstrip("/"), *names)) or "/"

    def place(folder: tuple[str, ...], file: tuple[str, ...]) -> Place:
        return Place("/".join((base, *folder, *file)), path_of(folder + file), store, None, file[:-1])

    def files_under(folder: tuple[str, ...]) -> list[tuple[str, ...]]:
        top = path_of(folder)
        infos = store.get_file_info(fs.FileSelector(top, recursive=True, allow_not_found=True))
        return [tuple(one.path[len(top) :].strip("/").split("/")) for one in infos if one.type == fs.FileType.File]

    kind = store.get_file_info(path_of(parts)).type
    if kind == fs.FileType.File:
        return [place(parts, ())]
    if kind == fs.FileType.Directory:
        return [place(parts, file) for file in _data(files_under(parts), name, endings)]
    fixed = _fixed(parts)
    if fixed == parts:
        raise _absent(name)
    found = sorted(file for file in files_under(fixed) if _matches(file, parts[len(fixed) :]))
    if not found:
        raise BadData(wanted(name, "files that match", "none"))
    return [place(fixed, file) for file in found]


def _absent(path: str) -> BadData:
    do = "" if os.path.splitext(path)[1] or is_uri(path) else "Pass text as a list: [text]"
    return BadData(wanted(path if len(path) < 200 else path[:200] + "...", "a file", "none at that path", do))


def _data(files: Sequence[tuple[str, ...]], where: str, endings: Endings) -> list[tuple[str, ...]]:
    """Return a directory's data files, sorted, without bookkeeping files (_ or . first)."""
    shown = [parts for parts in sorted(files) if not any(part.startswith(("_", ".")) for part in parts)]
    kinds = endings([parts[-1] for parts in shown])
    found = [parts for parts in shown if set(kinds) & set(PurePath(parts[-1].lower()).suffixes)]
    if found and len(found) < len(shown):
        taken = set(found)
        others = ", ".join("/".join(parts) for parts in shown if parts not in taken)
        names = ["/".join(parts) for parts in found]
        more = f" and {len(names) - _NAMED:,} more files" if len(names) > _NAMED else ""
        sentence = f"{where}: took {', '.join(names[:_NAMED])}{more}, and left out {others[:200]}."
        warnings.warn(sentence, LeftOutWarning, stacklevel=2)
    if not found:
        do = "Pass a glob for files of another kind, such as 'directory/*.csv'"
        raise BadData(wanted(where, "a directory of data files", "one without any", do))
    return found


def _fixed(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of a glob before the first pattern."""
    return parts[: next((k for k, part in enumerate(parts) if glob.has_magic(part)), len(parts))]


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path matches a glob: * within one part, ** any number of parts."""
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
    """Return the store of a URI, the root of its paths, and the path below."""
    from pyarrow import fs

    parts = _URI.fullmatch(uri)
    if parts is None or parts["scheme"] not in SCHEMES:
        do = "Download it first" if uri.startswith("http") else ""
        raise BadOption(wanted(name, f"a path, or a URI of {', '.join(SCHEMES)} or file", "another scheme", do))
    scheme, query = parts["scheme"], parts["query"] or ""
    if not parts["host"] and not scheme.endswith("fs"):
        raise BadOption(wanted(name, f"a bucket, as in {scheme}://bucket/file.csv", "none"))
    if name.endswith("://..."):
        do = "Write / as %2F and so on, or set it in the environment"
        raise BadOption(wanted(name, f"a URI such as {scheme}://key:secret@bucket/file.csv", "an unencoded secret", do))
    if scheme in ("gs", "gcs") and "retry_limit_seconds" not in query:
        query = f"{query}&{_GS_PATIENCE}" if query else f"?{_GS_PATIENCE}"
    # pyarrow parses only the store's part: a file name may contain characters that a URI cannot (blanks, brackets, %).
    store, root = _ask(name, lambda: fs.FileSystem.from_uri(f"{scheme}://{parts['host']}/{query}"))
    return store, root, parts["path"].lstrip("/")


def _ask(name: str, ask: Callable[[], T]) -> T:
    """Return a store's answer; reword its errors as BadData, without the URI's secrets."""
    try:
        return ask()
    except (BadData, BadOption):
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        message = in_words(error)
        message = "its address cannot be read" if "URI" in message else message
        raise BadData(wanted(name, "a file that can be reached", f"none ({message})", _CHECK)) from None
