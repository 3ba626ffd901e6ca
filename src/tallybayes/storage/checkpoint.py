"""A long run saved on its way, so that it can be stopped, by whatever, and go on later to the same bits.

A checkpoint is the parcel of the first rows, how many they are, the place in the files where to go on, and what the
run is: its files, with sizes and times, and the options by which rows are read and counted. A run goes on only if all
of that is as it was; to evidence of other rows, or counted in another way, nothing is ever added.
"""

from __future__ import annotations

import base64
import os
import re
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from tallybayes import __version__, engines, sources
from tallybayes.encoding.open_rows import Types
from tallybayes.errors import BadData, BadModelFile, BadOption, TallyError, wanted
from tallybayes.evidence import serialize
from tallybayes.evidence.count import Count
from tallybayes.evidence.partial import PartialEvidence, open_partial
from tallybayes.schema.schema import Schema
from tallybayes.sources.position import Spot, Trail, without_first
from tallybayes.storage import atomic_write

__all__ = ["EVERY", "Checkpoint"]

# A minute's work is no great loss, and what is saved within a second or less is no great cost.
EVERY = 60.0
_START_OVER = "Go on with the same data and options, or delete it to start over"


def _say(sentence: str) -> None:
    print(f"tallybayes: {sentence}", file=sys.stderr)


class Begun(NamedTuple):
    """How far a run has come."""

    rows: int  # of which the parcel is
    parcel: PartialEvidence
    passed: int  # rows before the place, not more than `rows`
    place: Spot


@dataclass(frozen=True)
class Checkpoint:
    """A file in which a run is saved on its way.

    Attributes
    ----------
    path : str or path
        The file. One that is there is gone on from.
    every : float
        How many seconds lie between two savings.
    kept : bool
        Whether it stays when all rows are counted, until `remove` is called.
    say : callable
        Is told what the user should know.
    """

    path: str | os.PathLike[str]
    every: float = EVERY
    kept: bool = False
    say: Callable[[str], None] = _say

    def __post_init__(self) -> None:
        if isinstance(self.every, bool) or not isinstance(self.every, int | float) or not self.every >= 0:
            raise BadOption(wanted("checkpoint", "a number of seconds between savings", repr(self.every)))
        folder = self._file.parent
        if not os.access(folder, os.W_OK) or self._file.is_dir():
            got = f"the folder {str(self._file)!r}" if self._file.is_dir() else f"no folder {str(folder)!r} to write to"
            raise BadOption(wanted("checkpoint", "a place to write", got))

    @classmethod
    def of(cls, given: str | os.PathLike[str] | Checkpoint | None) -> Checkpoint | None:
        """What a user gave, as one."""
        if given is None or isinstance(given, Checkpoint):
            return given
        if not isinstance(given, str | os.PathLike):
            raise BadOption(wanted("checkpoint", "the path of a file", repr(given)))
        return cls(given)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"checkpoint {str(self.path)!r}"

    @property
    def _file(self) -> Path:
        return Path(self.path).expanduser()

    def types(self) -> Types | None:
        """The types that the run found while it read, with which it is opened to go on; None if it is new."""
        content = self._content()
        if content is None:
            return None
        try:
            found = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self._more(content)["types"])))
        except (pa.ArrowException, TypeError, ValueError):
            raise self._no_checkpoint() from None
        return {field.name: field.type for field in found}

    def count(
        self,
        schema: Schema,
        rows: engines.Partitioned,
        threads: int,
        *,
        sampled: bool,
        missing_values: Sequence[str],
    ) -> PartialEvidence:
        """Count all rows, as `evidence.count` does, from where the run was left.

        Parameters
        ----------
        schema : Schema
            What each column is.
        rows : Partitioned
            The rows, of files.
        threads : int
            How many threads count.
        sampled : bool
            Whether to take the sample by which a model is calibrated.
        missing_values : sequence of str
            Texts that stand for a missing value.
        """
        trail = _trail_of(rows)
        task = Count(schema, sampled=sampled)
        run = _described(schema, rows, trail, sampled=sampled, missing_values=missing_values)
        begun = self._begun(run, schema)
        if begun is None:
            begun = Begun(0, task.zero(), 0, Spot())
        else:
            self.say(f"{self.name}: going on after {begun.rows:,} rows.")
        saving = _Saving(self, run, trail, begun)
        try:
            trail.begin, trail.before = begun.place, begun.passed
            left = sources.Source(rows.schema, None, False, rows.name, lambda: saving.left(rows))
            total = task.over(left, threads, begun.parcel, begun.rows, saving.update)
        except sources.LateType:  # the run starts over, with another type
            self.remove()
            raise
        except BaseException:
            saving.stopped()
            raise
        finally:
            trail.begin, trail.before = Spot(), 0
        saving.ended()
        return total

    def remove(self) -> None:
        """Delete the file, and what a run that was killed while it saved has left beside it."""
        file = self._file
        file.unlink(missing_ok=True)
        halves = re.compile(rf"\.{re.escape(file.name)}\.[a-z0-9_]{{8}}")
        for other in file.parent.iterdir():
            if halves.fullmatch(other.name):
                other.unlink(missing_ok=True)

    def _content(self) -> bytes | None:
        try:
            return self._file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadOption(wanted(self.name, "a file that can be read", str(error.strerror))) from None

    def _more(self, content: bytes) -> Any:
        try:
            header, _ = serialize.unpack(content, self.name)
            more = header["more"]
            serialize.require({"run", "rows", "passed", "place", "types"} <= set(more), "the parts of a checkpoint")
            return more
        except (TallyError, KeyError, TypeError):
            raise self._no_checkpoint() from None

    def _no_checkpoint(self) -> BadModelFile:
        got, do = "another file, or a damaged one", "Delete it to start over, or name another"
        return BadModelFile(wanted(self.name, "what a run has saved there", got, do))

    def _begun(self, run: dict[str, Any], schema: Schema) -> Begun | None:
        """How far the run has come that was saved; None if there is none. Refused is one of another kind."""
        content = self._content()
        if content is None:
            return None
        more = self._more(content)
        difference = _difference(more["run"], run)
        if difference is not None:
            raise BadOption(wanted(self.name, *difference, _START_OVER))
        try:
            parcel = open_partial(content, schema, self.name)
            begun = Begun(int(more["rows"]), parcel, int(more["passed"]), Spot(*map(int, more["place"])))
            serialize.require(0 <= begun.passed <= begun.rows and min(begun.place) >= 0, "rows")
        except (TallyError, TypeError, ValueError):
            raise self._no_checkpoint() from None
        return begun


class _Saving:
    """A run on its way: which rows are still to come, and what is saved when."""

    def __init__(self, checkpoint: Checkpoint, run: dict[str, Any], trail: Trail, begun: Begun) -> None:
        self.checkpoint, self.run, self.trail = checkpoint, run, trail
        self.begun = self.saved = begun
        # Rows are read ahead of those that are counted: these are the places of the pass, with the rows before each.
        self.places = deque([(begun.passed, begun.place)])
        self.since = time.monotonic()
        self.due = self.since + checkpoint.every

    def left(self, rows: engines.Partitioned) -> Iterator[pa.RecordBatch]:
        """The rows that are still to be counted."""
        first = self.begun.rows - self.begun.passed
        yield from without_first(self._placed(rows), first)
        if self.places[-1][0] < self.begun.rows:
            name, got = self.checkpoint.name, f"{self.places[-1][0]:,}"
            raise BadData(wanted(name, f"{rows.name} to have the {self.begun.rows:,} rows counted", got, _START_OVER))

    def _placed(self, rows: engines.Partitioned) -> Iterator[pa.RecordBatch]:
        passed = self.begun.passed
        for batch in rows:
            if self.trail.spot != self.places[-1][1]:
                self.places.append((passed, self.trail.spot))
            passed += batch.num_rows
            yield batch
        self.places.append((passed, self.trail.spot))

    def update(self, parcel: PartialEvidence, rows: int) -> None:
        """Take the result so far; save it if it is time to."""
        while len(self.places) > 1 and self.places[1][0] <= rows:
            self.places.popleft()
        self.begun = Begun(rows, parcel, *self.places[0])
        if time.monotonic() >= self.due:
            self.save()

    def save(self) -> None:
        """Save how far the run has come; a disk that is full is no reason to stop it."""
        rows, parcel, passed, place = self.begun
        types = base64.b64encode(pa.schema(list(self.trail.types.items())).serialize().to_pybytes()).decode()
        more = {"run": self.run, "rows": rows, "passed": passed, "place": place, "types": types}
        try:
            atomic_write.write(replace(parcel, more=more).pack(), self.checkpoint.path, "checkpoint")
            self.saved = self.begun
        except TallyError as error:
            warnings.warn(f"{error} The run goes on without.", UserWarning, stacklevel=2)
        self.due = time.monotonic() + self.checkpoint.every

    def stopped(self) -> None:
        """Save what is known, and say how to go on."""
        if self.begun.rows > self.saved.rows:
            self.save()
        if self.saved.rows:
            done = f"{self.saved.rows:,} rows are saved"
            self.checkpoint.say(f"{self.checkpoint.name}: {done}; the same again goes on after them.")

    def ended(self) -> None:
        """All rows are counted; of a run that took long that is saved, for what comes next may be killed, too."""
        if self.checkpoint.every <= time.monotonic() - self.since and self.begun.rows > self.saved.rows:
            self.save()


def _trail_of(rows: engines.Partitioned) -> Trail:
    do = "Write the rows to a parquet file first"
    if rows.trail is None:
        raise BadOption(wanted("checkpoint", "files, whose rows keep their order", rows.name, do))
    for file in rows.trail.files:
        if not file.lasting:
            raise BadOption(wanted("checkpoint", "files, which can be read again", f"{file.name!r}, which is none", do))
    return rows.trail


def _described(
    schema: Schema, rows: engines.Partitioned, trail: Trail, *, sampled: bool, missing_values: Sequence[str]
) -> dict[str, Any]:
    """All that decides what is counted, as plain values under the names that a user knows."""
    return {
        "version": __version__,
        "files": [list(file.stamp()) for file in trail.files],
        **trail.how,
        "missing_values": sorted({*trail.how["missing_values"], *missing_values}),
        "types": {name: str(kind) for name, kind in trail.types.items()},
        "columns": {field.name: str(field.type) for field in rows.schema},
        "label": schema.label,
        "weights": schema.weight,
        "missing": schema.missing,
        "events": schema.events(),
        "calibrate": sampled,
    }


def _difference(then: Any, now: dict[str, Any]) -> tuple[str, str] | None:
    """What a run was, and what it is now, where the two differ first."""
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
