"""The rows a command reads: files, globs, standard input or a query."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from tallybayes import sources
from tallybayes.cli.exit import note
from tallybayes.cli.options import InputOptions
from tallybayes.cli.phrases import in_options
from tallybayes.display.progress import counting
from tallybayes.encoding import open_rows
from tallybayes.errors import (
    BadData,
    BadOption,
    GuessedEncodingWarning,
    GuessedLayoutWarning,
    LeftOutWarning,
    MissingColumnWarning,
    SkippedLinesWarning,
    TallyError,
    wanted,
)
from tallybayes.model import Model
from tallybayes.sources.csv import ALIGNED, first_lines
from tallybayes.sources.files import COMPRESSED, ENDINGS, TEXT, ending_of
from tallybayes.sources.find_table import SPACES, find_table, looks_like_data
from tallybayes.sources.locations import Place, is_uri, name_of
from tallybayes.sources.text_chunks import CODECS, last_line_end, open_text

T = TypeVar("T")
STDIN = "standard input"
# For all passes.
_SAID_ONCE = (
    SkippedLinesWarning,
    LeftOutWarning,
    MissingColumnWarning,
    GuessedEncodingWarning,
    GuessedLayoutWarning,
)
_SAMPLE = 1 << 20  # bytes read to estimate the number of rows
# The first bytes of a file, and the format they mean.
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
    """The input files or query of a command, and how to read them."""

    paths: list[str]  # files and globs whose endings give the format; empty for a query
    inputs: InputOptions  # how rows are read
    name: str  # the name used in messages
    types: Mapping[str, pa.DataType] = field(default_factory=dict)  # column types fixed before reading
    look_bytes: int | None = None  # bytes of a piece, to see the first rows sooner
    missing: sources.MissingValues | None = None  # texts that stand for a missing value, unless the command names some
    quiet: bool = False  # hide the progress bar, because the command shows its own

    @property
    def files(self) -> list[Any]:
        """The paths as `Path` objects, which cannot be mistaken for text."""
        return [path if is_uri(path) else Path(path) for path in self.paths]

    def like(self, model: Model) -> InputRows:
        """Return the same rows, with the missing values and texts of a model."""
        types = dict.fromkeys(model.text_columns, pa.string())
        return replace(self, types=types, missing=model.schema.missing_values)

    def read(self, types: open_rows.Types | None = None, columns: Sequence[str] | None = None) -> sources.Source:
        """Open the rows; reading them moves a progress bar on a terminal."""
        rows: Any = self.files if self.inputs.sql is None else self.inputs.sql
        types = {**self.types, **(types or {})}
        options = self.inputs.read_options()
        if self.missing is not None and self.inputs.missing is None:
            options = replace(options, missing_values=self.missing)
        source = sources.open_source(rows, options, types=types, columns=columns, look_bytes=self.look_bytes)
        source = replace(source, name=self.name) if len(self.paths) > 1 else source
        return source if self.quiet else with_progress(source, self.paths)

    def raw(self, like: sources.Source) -> pa.RecordBatch:
        """Return the first batch of the same rows, with every text as it is written."""
        texts = dict.fromkeys(like.schema.names, pa.string())
        written = all(ending_of(path) in TEXT for path in self.paths) and self.paths
        options = replace(self.inputs.read_options(), missing_values=())
        rows: Any = self.files if self.inputs.sql is None else self.inputs.sql
        types = texts if written else None
        return next(iter(sources.open_source(rows, options, types=types, look_bytes=self.look_bytes)))

    def work(self, work: Callable[[sources.Source], T], types: open_rows.Types | None = None) -> T:
        """Do work on the rows; start over if a column needs a wider type.

        `types` are the column types already known to be wider.
        """
        return open_rows.reading(lambda found: work(self.read(found)), types)


def load_model(path: str) -> Model:
    """Load a model that knows something: one that has forgotten everything answers no question."""
    from tallybayes.storage.model_file import load

    model = load(path)
    if not model.classes:
        do = "Add rows with 'tally learn'"
        raise BadData(wanted(path, "a model that has learned rows", "one that knows nothing", do))
    return model


@contextmanager
def open_inputs(
    data: Sequence[str] | None, inputs: InputOptions, *, look_bytes: int | None = None
) -> Iterator[InputRows]:
    """Open the rows of a command; standard input is copied to a temporary file, removed afterwards.

    With `look_bytes`, for a look at the first rows, so is the beginning of a compressed file, which is slow to read
    more than once; the first batch has about that many bytes.
    """
    _check(data, inputs)
    if not data:
        yield InputRows([], inputs, "the query", look_bytes=look_bytes)
        return
    with tempfile.TemporaryDirectory(prefix="tally-") as folder:
        called: dict[str, str] = {}
        try:
            paths = [_placed(one, inputs.format, folder, called) for one in data]
            if look_bytes is not None:
                paths = [_begun(path, 2 * look_bytes, folder, called) for path in paths]
            for path in paths:
                _say_form(path, called.get(path, path), inputs)
            name = called.get(paths[0], name_of(paths[0])) if len(paths) == 1 else f"{len(paths)} files"
            with _reporting_skips(called):
                yield InputRows(paths, inputs, name, look_bytes=look_bytes)
        except TallyError as error:
            sentence = _as_given(str(error), called)
            if sentence == str(error):
                raise
            raise BadData(sentence) from None


def _as_given(sentence: str, called: Mapping[str, str]) -> str:
    """Return the sentence with temporary paths replaced by the names the user gave."""
    for path, name in called.items():
        sentence = sentence.replace(path, name)
    return sentence


@contextmanager
def _reporting_skips(called: Mapping[str, str]) -> Iterator[None]:
    """Report skipped lines at the end, once for all passes over the same rows."""
    shown, sentences = warnings.showwarning, dict[str, None]()

    def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
        if issubclass(category, _SAID_ONCE):
            sentences[_as_given(in_options(str(message)), called)] = None
        else:
            shown(message, category, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown
    for sentence in sentences:
        note(sentence)


def _check(data: Sequence[str] | None, inputs: InputOptions) -> None:
    """Raise unless there are either files or a query."""
    if inputs.sql is None:
        if inputs.db is not None:
            raise BadOption(wanted("--db", "a query", "none", "Add --sql"))
        if not data:
            raise BadOption(wanted("DATA", "files, or a query with --sql", "neither"))
        return
    if data:
        raise BadOption(wanted("--sql", "no DATA", repr(data[0]), "Name the files in the query"))
    if inputs.format is not None:
        raise BadOption(wanted("--format", "files", "a query"))


def _placed(given: str, format_: str | None, folder: str, called: dict[str, str]) -> str:
    """Return a path whose ending gives the format.

    It is the given one, or a temporary file or link to the same bytes.
    """
    if format_ is not None and not ending_of(f"x.{format_}"):
        formats = ", ".join(ending[1:] for ending in ENDINGS)
        raise BadOption(wanted("--format", f"one of {formats}; text also as {COMPRESSED}", repr(format_)))
    if given == "-":
        path = _spooled(format_, folder)
    elif format_ is not None and os.path.isfile(given) and ending_of(given) != ending_of(f"x.{format_}"):
        path = os.path.join(folder, f"{len(called)}.{format_}")
        os.symlink(os.path.abspath(given), path)
    else:
        return _existing(given)
    called[path] = STDIN if given == "-" else given
    return path


def _begun(path: str, size: int, folder: str, called: dict[str, str]) -> str:
    """Return a plain copy of a compressed file's first rows, or the path itself."""
    ending = ending_of(path)
    if ending not in TEXT or not path.lower().endswith(tuple(CODECS)) or not os.path.isfile(path):
        return path
    with open_text(Place.here(path)) as stream:
        head = bytes(stream.read(size))
    end = last_line_end(head) if len(head) == size else len(head)
    while end and len(head) == size and head.count(b'"', 0, end) % 2:  # inside a value that has several lines
        end = last_line_end(head[: end - 1])
    if not end or b"\0" in head:  # a line of many bytes, or characters of two: let the reader find their ends
        return path
    copy = os.path.join(folder, f"{len(called)}{ending}")
    Path(copy).write_bytes(head[:end])
    called[copy] = called.get(path, path)
    return copy


def _existing(path: str) -> str:
    """Return the path if something exists there; otherwise raise and suggest a similar name."""
    expanded = os.path.expanduser(path)
    if os.path.exists(expanded) or glob.has_magic(expanded) or is_uri(path):
        return path
    folder = os.path.dirname(expanded) or "."
    inside = [
        os.path.join(os.path.dirname(path), name) for name in (os.listdir(folder) if os.path.isdir(folder) else ())
    ]
    near = get_close_matches(path, inside, n=1)
    raise BadData(wanted(path, "a file", "none at that path", f"Did you mean {near[0]!r}?" if near else ""))


def _spooled(format_: str | None, folder: str) -> str:
    """Copy standard input to a file, since it may be read several times."""
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


def _say_form(path: str, name: str, inputs: InputOptions) -> None:
    usual = TEXT.get(ending_of(path))
    if usual is None or not os.path.isfile(path):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuessedEncodingWarning)  # said when the file is read
        _, lines, found, _ = first_lines(Place.here(path), usual, inputs.read_options().form)
        lines = lines[find_table(lines, found, name).above :]
    if found != usual and inputs.delimiter is None and not path.lower().endswith(ALIGNED):
        mark = "spaces" if found == SPACES else "tabs" if found == "\t" else repr(found)
        note(f"{name}: values are separated by {mark}, not by {usual!r}.")
    if not inputs.no_header and looks_like_data(lines, found):
        first = lines[0].strip()[:40]
        note(f"{name}: the first line ({first}) looks like data. If it is, add --no-header.")


def with_progress(source: sources.Source, paths: Sequence[str]) -> sources.Source:
    """Return the same rows; reading them moves a progress bar on a terminal."""
    if not sys.stderr.isatty():
        return source

    def start() -> Iterator[pa.RecordBatch]:
        before = 0 if source.trail is None else source.trail.before
        share = None if source.trail is None else share_read(source.trail.files)
        total = source.rows or (estimated_rows(paths) if share is None else None)
        with counting(os.path.basename(source.name), "rows", total, share) as show_rows:
            rows = before
            for batch in source:
                yield batch
                rows += batch.num_rows
                show_rows(rows)

    return replace(source, start=start)


def share_read(files: Sequence[Place]) -> Callable[[], float | None] | None:
    """Return a function that tells the share of compressed files read, or None.

    It counts the bytes of the compressed files: how far their text shrank is known only at the end.
    """
    packed = all(file.member is not None or file.name.lower().endswith(tuple(CODECS)) for file in files)
    sizes = [file.size() if packed and file.lasting else None for file in files]
    total = sum(size or 0 for size in sizes)
    if not total or None in sizes:
        return None
    for file in files:
        file.meter.read = 0
    return lambda: sum(file.meter.read for file in files) / total


def estimated_rows(paths: Sequence[str]) -> int | None:
    """Estimate the number of rows of plain text files from their first; None if unknown."""
    total = 0.0
    for path in (file for one in paths for file in (glob.glob(one) or [one])):
        if not os.path.isfile(path) or path.lower().endswith(tuple(CODECS)):
            return None
        size = os.path.getsize(path)
        with open(path, "rb") as stream:
            lines = stream.read(_SAMPLE).count(b"\n")
            total += lines * max(1.0, size / max(1, stream.tell()))
    return round(total) or None
