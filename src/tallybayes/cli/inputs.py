"""What the user names on the command line, as rows: files, globs, standard input, a query, all by the one door."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from tallybayes import sources
from tallybayes.cli.exit import note
from tallybayes.cli.options import Reading
from tallybayes.display.progress import counting
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, BadOption, SkippedLinesWarning, TallyError, wanted
from tallybayes.model import Model
from tallybayes.sources.csv import delimiter_of
from tallybayes.sources.files import COMPRESSED, ENDINGS, TEXT, ending_of
from tallybayes.sources.locations import Place, is_uri, name_of
from tallybayes.sources.text_chunks import CODECS

__all__ = ["InputRows", "estimated_rows", "opened", "with_progress"]

T = TypeVar("T")
STDIN = "standard input"
_SAMPLE = 1 << 20  # bytes by which the number of rows is estimated
# How a file begins, and what it then is.
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x1f\x8b": "csv.gz",
    b"BZh": "csv.bz2",
    b"\x28\xb5\x2f\xfd": "csv.zst",
    b"\x04\x22\x4d\x18": "csv.lz4",
}


@dataclass(frozen=True)
class InputRows:
    """Files that have been found, or a query, and how they are to be read.

    Attributes
    ----------
    paths : list of str
        Files and globs, each with an ending that tells what it is; none where there is a query.
    reading : Reading
        The options.
    name : str
        What the user calls it.
    types : mapping of str to pyarrow.DataType
        Columns whose types are known before a row is read.
    quiet : bool
        Whether reading shows no bar, something else being shown.
    """

    paths: list[str]
    reading: Reading
    name: str
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    quiet: bool = False

    @property
    def files(self) -> list[Any]:
        """The paths, as what cannot be taken for text."""
        return [path if is_uri(path) else Path(path) for path in self.paths]

    def like(self, model: Model) -> InputRows:
        """The same, columns that are text in a model being text here, even if a few rows look like numbers."""
        types: dict[str, pa.DataType] = {}
        for block, statistic in zip(model.schema.blocks, model.evidence.statistics, strict=True):
            if block.event.input == "text":
                types |= dict.fromkeys(block.columns, pa.string())
            elif block.event.input == "codes":
                kinds = zip(block.columns, (labels.array.type for labels in statistic.labels), strict=True)
                types |= {name: kind for name, kind in kinds if kind == pa.string()}
        return replace(self, types=types)

    def read(self, types: open_rows.Types | None = None, columns: Sequence[str] | None = None) -> sources.Source:
        """The rows, with a progress bar where somebody watches."""
        rows: Any = self.files if self.reading.sql is None else self.reading.sql
        types = {**self.types, **(types or {})}
        source = sources.open_source(rows, self.reading.options(), types=types, columns=columns)
        source = replace(source, name=self.name) if len(self.paths) > 1 else source
        return source if self.quiet else with_progress(source, self.paths)

    def work(self, work: Callable[[sources.Source], T], types: open_rows.Types | None = None) -> T:
        """Do work on the rows; start over where a file needs a wider type than its first rows showed.

        `types` are those of which that is known already.
        """
        return open_rows.reading(lambda found: work(self.read(found)), types)


@contextmanager
def opened(data: Sequence[str] | None, reading: Reading) -> Iterator[InputRows]:
    """The rows that a command was given; what comes from elsewhere has been put beside, and is gone afterwards."""
    _check(data, reading)
    if not data:
        yield InputRows([], reading, "the query")
        return
    with tempfile.TemporaryDirectory(prefix="tally-") as folder:
        called: dict[str, str] = {}
        try:
            paths = [_placed(one, reading.format, folder, called) for one in data]
            for path in paths:
                _say_delimiter(path, called.get(path, path))
            name = called.get(paths[0], name_of(paths[0])) if len(paths) == 1 else f"{len(paths)} files"
            with _skips_told(called):
                yield InputRows(paths, reading, name)
        except TallyError as error:
            sentence = _as_given(str(error), called)
            if sentence == str(error):
                raise
            raise BadData(sentence) from None


def _as_given(sentence: str, called: Mapping[str, str]) -> str:
    """The sentence with files under the names by which the user knows them."""
    for path, name in called.items():
        sentence = sentence.replace(path, name)
    return sentence


@contextmanager
def _skips_told(called: Mapping[str, str]) -> Iterator[None]:
    """Say at the end, and once for all passes over the same rows, which lines were skipped."""
    shown, sentences = warnings.showwarning, dict[str, None]()

    def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
        if issubclass(category, SkippedLinesWarning):
            sentences[_as_given(str(message), called)] = None
        else:
            shown(message, category, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown
    for sentence in sentences:
        note(sentence)


def _check(data: Sequence[str] | None, reading: Reading) -> None:
    """Refuse what is neither files nor a query, or both."""
    if reading.sql is None:
        if reading.db is not None:
            raise BadOption(wanted("--db", "a query beside it", "none", "Add --sql"))
        if not data:
            raise BadOption(wanted("DATA", "files, or a query behind --sql", "neither"))
        return
    if data:
        raise BadOption(wanted("--sql", "no DATA beside it", repr(data[0]), "Name files within the query"))
    if reading.format is not None:
        raise BadOption(wanted("--format", "files", "a query"))


def _placed(given: str, format_: str | None, folder: str, called: dict[str, str]) -> str:
    """A path whose ending tells the format: the one given, or one of our own that leads to the same bytes."""
    if format_ is not None and not ending_of(f"x.{format_}"):
        known = ", ".join(ending[1:] for ending in ENDINGS)
        raise BadOption(wanted("--format", f"one of {known}; text also as {COMPRESSED}", repr(format_)))
    if given == "-":
        path = _spooled(format_, folder)
    elif format_ is not None and os.path.isfile(given) and ending_of(given) != ending_of(f"x.{format_}"):
        path = os.path.join(folder, f"{len(called)}.{format_}")
        os.symlink(os.path.abspath(given), path)
    else:
        return _there(given)
    called[path] = STDIN if given == "-" else given
    return path


def _there(path: str) -> str:
    """The path, if there is something; a name that is nearly right is offered."""
    here = os.path.expanduser(path)
    if os.path.exists(here) or glob.has_magic(here) or is_uri(path):
        return path
    folder = os.path.dirname(here) or "."
    inside = [
        os.path.join(os.path.dirname(path), name) for name in (os.listdir(folder) if os.path.isdir(folder) else ())
    ]
    near = get_close_matches(path, inside, n=1)
    raise BadData(wanted(path, "a file", "none at that path", f"Did you mean {near[0]!r}?" if near else ""))


def _spooled(format_: str | None, folder: str) -> str:
    """Standard input as a file: it may have to be read more than once, and may be larger than memory."""
    stream = sys.stdin.buffer
    head = stream.read(1 << 16)
    if not head:
        raise BadData(wanted(STDIN, "rows", "nothing"))
    path = os.path.join(folder, f"stdin.{format_ or _sniffed(head)}")
    with open(path, "wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file, 1 << 20)
    return path


def _sniffed(head: bytes) -> str:
    for magic, format_ in _MAGIC.items():
        if head.startswith(magic):
            return format_
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    return "arff" if text[:9].lower() == b"@relation" or text.startswith(b"%") else "csv"


def _say_delimiter(path: str, name: str) -> None:
    usual = TEXT.get(ending_of(path))
    if usual is None or not os.path.isfile(path):
        return
    found = delimiter_of(Place.here(path), usual)
    if found != usual:
        note(f"{name}: values are separated by {found!r}, not by {usual!r}.")


def with_progress(source: sources.Source, paths: Sequence[str]) -> sources.Source:
    """Return the same rows; reading them moves a bar, if standard error is a terminal."""
    if not sys.stderr.isatty():
        return source

    def start() -> Iterator[pa.RecordBatch]:
        before = 0 if source.trail is None else source.trail.before
        return _shown(source, source.name, source.rows or estimated_rows(paths), before)

    return replace(source, start=start)


def estimated_rows(paths: Sequence[str]) -> int | None:
    """About how many rows files of text have, by the length of their first ones; None where that cannot be told."""
    total = 0.0
    for path in (file for one in paths for file in (glob.glob(one) or [one])):
        if not os.path.isfile(path):
            return None
        size = os.path.getsize(path)
        codec = next((codec for ending, codec in CODECS.items() if path.lower().endswith(ending)), None)
        with open(path, "rb") as raw:
            stream = raw if codec is None else pa.input_stream(raw, compression=codec)
            lines = bytes(stream.read(_SAMPLE)).count(b"\n")
            total += lines * max(1.0, size / max(1, raw.tell()))
    return round(total) or None


def _shown(batches_: Iterable[pa.RecordBatch], name: str, total: int | None, rows: int) -> Iterator[pa.RecordBatch]:
    with counting(os.path.basename(name), "rows", total) as tell:
        for batch in batches_:
            yield batch
            rows += batch.num_rows
            tell(rows)
