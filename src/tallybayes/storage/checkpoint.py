"""Checkpoints of a long run, so that it can be interrupted and resumed with bit-identical results.

A checkpoint holds the partial evidence of the first rows, their number, the position in the files to resume from, and a
description of the run: its files, with sizes and times, and the options by which rows are read and counted. A run
resumes only if the description is unchanged, so evidence of other rows or other options is never mixed.
"""

from __future__ import annotations

import base64
import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from tallybayes import __version__, engines, sources
from tallybayes.encoding.open_rows import Types
from tallybayes.errors import BadData, BadModelFile, BadOption, TallyError, wanted
from tallybayes.evidence import container
from tallybayes.evidence.count import Count
from tallybayes.evidence.partial import PartialEvidence, open_partial
from tallybayes.schema.schema import Schema
from tallybayes.sources.position import Spot, Trail, without_first
from tallybayes.storage import atomic_write

__all__ = ["EVERY", "Checkpoint"]

# Seconds: to lose a minute of work is cheap, and so is the second or less that a save takes.
EVERY = 60.0
_START_OVER = "Resume with the same data and options, or delete it to start over"


def _say(sentence: str) -> None:
    print(f"tallybayes: {sentence}", file=sys.stderr)


class Progress(NamedTuple):
    """The state of a run: rows counted, their evidence, and a position in the files."""

    rows: int  # counted in `evidence`
    evidence: PartialEvidence
    passed: int  # rows before the position, at most `rows`
    place: Spot


@dataclass(frozen=True)
class Checkpoint:
    """A file in which a run saves its progress.

    Attributes
    ----------
    path : str or path
        The file. If it exists, the run resumes from it.
    every : float
        The number of seconds between two saves.
    kept : bool
        Whether it stays after all rows are counted, until `remove` is called.
    say : callable
        Called with messages to the user.
    """

    path: str | os.PathLike[str]
    every: float = EVERY
    kept: bool = False
    say: Callable[[str], None] = _say

    def __post_init__(self) -> None:
        if isinstance(self.every, bool) or not isinstance(self.every, int | float) or not self.every >= 0:
            raise BadOption(wanted("checkpoint", "a number of seconds between saves", repr(self.every)))
        folder = self._file.parent
        if not os.access(folder, os.W_OK) or self._file.is_dir():
            got = f"the folder {str(self._file)!r}" if self._file.is_dir() else f"no folder {str(folder)!r} to write to"
            raise BadOption(wanted("checkpoint", "a place to write", got))

    @classmethod
    def of(cls, given: str | os.PathLike[str] | Checkpoint | None) -> Checkpoint | None:
        """Return the user's option as a checkpoint."""
        if given is None or isinstance(given, Checkpoint):
            return given
        if not isinstance(given, str | os.PathLike):
            raise BadOption(wanted("checkpoint", "the path of a file", repr(given)))
        return cls(given)

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return f"checkpoint {str(self.path)!r}"

    @property
    def _file(self) -> Path:
        return atomic_write.local_path(self.path, "checkpoint")

    def types(self) -> Types | None:
        """Return the column types that the saved run has found, to resume with; None for a new run."""
        content = self._content()
        if content is None:
            return None
        try:
            found = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self._more(content)["types"])))
        except (pa.ArrowException, TypeError, ValueError):
            raise self._no_checkpoint() from None
        return {field.name: field.type for field in found}

    def count(self, schema: Schema, rows: engines.Partitioned, threads: int, *, sampled: bool) -> PartialEvidence:
        """Count all rows, as `evidence.count` does, resuming a saved run.

        Parameters
        ----------
        schema : Schema
            The type of each column.
        rows : Partitioned
            The rows, of files.
        threads : int
            The number of threads.
        sampled : bool
            Whether to take the sample that calibrates a model.
        """
        trail = _trail_of(rows)
        task = Count(schema, sampled=sampled)
        run = _description(schema, rows, trail, sampled=sampled)
        start = self._saved(run, schema)
        if start is None:
            start = Progress(0, task.zero(), 0, Spot())
        else:
            self.say(f"{self.name}: resuming after {start.rows:,} rows.")
        saver = _Saver(self, run, trail, start)
        try:
            trail.begin, trail.before = start.place, start.passed
            left = sources.Source(rows.schema, None, False, rows.name, lambda: saver.left(rows))
            total = task.over(left, threads, start.evidence, start.rows, saver.update)
        except sources.LateType:  # the run starts over, with another type
            self.remove()
            raise
        except BaseException:
            saver.stop()
            raise
        finally:
            trail.begin, trail.before = Spot(), 0
        saver.finish()
        return total

    def remove(self) -> None:
        """Delete the file, and temporary files of a run that was killed during a save."""
        self._file.unlink(missing_ok=True)
        atomic_write.remove_temporaries(self._file)

    def _content(self) -> bytes | None:
        try:
            return self._file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadOption(wanted(self.name, "a file that can be read", str(error.strerror))) from None

    def _more(self, content: bytes) -> Any:
        try:
            header, _ = container.unpack(content, self.name)
            more = header["more"]
            container.require({"run", "rows", "passed", "place", "types"} <= set(more), "the parts of a checkpoint")
            return more
        except (TallyError, KeyError, TypeError):
            raise self._no_checkpoint() from None

    def _no_checkpoint(self) -> BadModelFile:
        got, do = "another file, or a damaged one", "Delete it to start over, or name another"
        return BadModelFile(wanted(self.name, "a saved run", got, do))

    def _saved(self, run: dict[str, Any], schema: Schema) -> Progress | None:
        """Return the progress of the saved run; None if there is none. Raise if it is another run's."""
        content = self._content()
        if content is None:
            return None
        more = self._more(content)
        difference = _difference(more["run"], run)
        if difference is not None:
            raise BadOption(wanted(self.name, *difference, _START_OVER))
        try:
            evidence = open_partial(content, schema, self.name)
            progress = Progress(int(more["rows"]), evidence, int(more["passed"]), Spot(*map(int, more["place"])))
            container.require(0 <= progress.passed <= progress.rows and min(progress.place) >= 0, "rows")
        except (TallyError, TypeError, ValueError):
            raise self._no_checkpoint() from None
        return progress


class _Saver:
    """An unfinished run: the rows still to be counted, and when progress is saved."""

    def __init__(self, checkpoint: Checkpoint, run: dict[str, Any], trail: Trail, start: Progress) -> None:
        self.checkpoint, self.run, self.trail = checkpoint, run, trail
        self.progress = self.saved = start
        # Rows are read ahead of those that are counted: the positions of the reader, with the rows before each.
        self.places = deque([(start.passed, start.place)])
        self.since = time.monotonic()
        self.due = self.since + checkpoint.every

    def left(self, rows: engines.Partitioned) -> Iterator[pa.RecordBatch]:
        """Yield the rows that are still to be counted."""
        first = self.progress.rows - self.progress.passed
        yield from without_first(self._placed(rows), first)
        if self.places[-1][0] < self.progress.rows:
            want, got = f"{rows.name} to have the {self.progress.rows:,} rows counted", f"{self.places[-1][0]:,}"
            raise BadData(wanted(self.checkpoint.name, want, got, _START_OVER))

    def _placed(self, rows: engines.Partitioned) -> Iterator[pa.RecordBatch]:
        passed = self.progress.passed
        for batch in rows:
            if self.trail.spot != self.places[-1][1]:
                self.places.append((passed, self.trail.spot))
            passed += batch.num_rows
            yield batch
        self.places.append((passed, self.trail.spot))

    def update(self, evidence: PartialEvidence, rows: int) -> None:
        """Take the result so far; save it if it is time to."""
        while len(self.places) > 1 and self.places[1][0] <= rows:
            self.places.popleft()
        self.progress = Progress(rows, evidence, *self.places[0])
        if time.monotonic() >= self.due:
            self.save()

    def save(self) -> None:
        """Save the progress; a full disk only warns."""
        rows, evidence, passed, place = self.progress
        types = base64.b64encode(pa.schema(list(self.trail.types.items())).serialize().to_pybytes()).decode()
        more = {"run": self.run, "rows": rows, "passed": passed, "place": place, "types": types}
        try:
            atomic_write.write(replace(evidence, more=more).pack(), self.checkpoint.path, "checkpoint")
            self.saved = self.progress
        except TallyError as error:
            warnings.warn(f"{error} The run continues without it.", UserWarning, stacklevel=2)
        self.due = time.monotonic() + self.checkpoint.every

    def stop(self) -> None:
        """Save the progress of an interrupted run, and say how to resume."""
        if self.progress.rows > self.saved.rows:
            self.save()
        if self.saved.rows:
            done = f"{self.saved.rows:,} rows are saved"
            self.checkpoint.say(f"{self.checkpoint.name}: {done}; run the same again to resume.")

    def finish(self) -> None:
        """Save the complete count of a long run, since the next step may be killed as well."""
        if self.checkpoint.every <= time.monotonic() - self.since and self.progress.rows > self.saved.rows:
            self.save()


def _trail_of(rows: engines.Partitioned) -> Trail:
    do = "Write the rows to a parquet file first"
    if rows.trail is None:
        raise BadOption(wanted("checkpoint", "files, whose rows keep their order", rows.name, do))
    for file in rows.trail.files:
        if not file.lasting:
            raise BadOption(wanted("checkpoint", "files, which can be read again", repr(file.name), do))
    return rows.trail


def _description(schema: Schema, rows: engines.Partitioned, trail: Trail, *, sampled: bool) -> dict[str, Any]:
    """Return everything that decides what is counted, as plain values by option name."""
    return {
        "version": __version__,
        "files": [list(file.stamp()) for file in trail.files],
        **trail.how,
        "types": {name: str(kind) for name, kind in trail.types.items()},
        "columns": {field.name: str(field.type) for field in rows.schema},
        "label": schema.label,
        "weights": schema.weight,
        "missing": schema.missing,
        "events": schema.events(),
        "calibrate": sampled,
    }


def _difference(then: Any, now: dict[str, Any]) -> tuple[str, str] | None:
    """Return the first difference between two runs, as what was wanted and what was got; None if equal."""
    if not isinstance(then, dict):
        return "a description of the run", "none"
    if then.get("files") != now["files"]:
        return "the files as they were", _changed(then.get("files"), now["files"])
    for name, value in now.items():
        old = then.get(name)
        if old != value:
            if isinstance(old, dict) and isinstance(value, dict):
                part = next(key for key in [*old, *value] if old.get(key) != value.get(key))
                name, old, value = f"{name} of {part!r}", old.get(part), value.get(part)
            return f"{name} to be {_plain(old)}, as before", _plain(value)
    return None


def _changed(then: Any, now: list[list[Any]]) -> str:
    before = {file[0]: file for file in then}
    for path, *rest in now:
        if path not in before:
            return f"another one, {path!r}"
        if before[path][1:] != rest:
            return f"{path!r} written to since"
    missing = next((path for path in before if path not in {file[0] for file in now}), None)
    return "another order of them" if missing is None else f"them without {missing!r}"


def _plain(value: Any) -> str:
    return "none" if value is None else repr(value)
