"""Malformed lines of text files: skipped on request, counted, reported with their places."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

import pyarrow as pa

from tallybayes.errors import BadData, SkippedLinesWarning, wanted
from tallybayes.sources.position import Spot
from tallybayes.sources.source import Source

CURE = "Fix the line, or skip it with bad_lines='skip'"
FEW = 3  # bad lines whose places are reported; more do not fit into one sentence


class Pass:
    """The progress of one pass over a text file.

    `skips` collects what was skipped; without it the parser raises an error at the first bad line. `rows` counts the
    lines so far that are not blank, including bad ones, `skipped` the bad ones among them, and `first` has the place
    and the fault of the first few.
    """

    def __init__(self, path: str, skips: Skips | None, lines: int = 0, spot: Spot | None = None) -> None:
        spot = Spot() if spot is None else spot
        self.path, self.skips, self.rows, self.skipped = path, skips, spot.rows + spot.skipped, spot.skipped
        self.first: list[str] = []
        self._lines, self._above = lines + spot.lines, lines

    def spot_after(self, spot: Spot, piece: bytes) -> Spot:
        """Return the spot after a piece that began at `spot`."""
        return Spot(spot.file, spot.at + len(piece), self.rows - self.skipped, self._lines - self._above, self.skipped)

    @property
    def needs_places(self) -> bool:
        """Whether the place of the next bad line will be reported."""
        return len(self.first) < FEW

    def advance(self, text: bytes, rows: int, skipped: int = 0, bad: Iterable[tuple[int, str]] = ()) -> None:
        """Count the lines of the next piece of text.

        `bad` has the line, counted from 1 in this piece, and the fault of the first skipped lines.
        """
        self.first += [f"{self.path} line {self._lines + line} {what}" for line, what in islice(bad, FEW)]
        self.rows += rows + skipped
        self.skipped += skipped
        if self.skips is not None:
            self._lines += text.count(b"\n")

    def end(self) -> None:
        """Record what was skipped; raise BadData if every line was bad."""
        if self.skipped and self.skipped == self.rows:
            got = f"{self.rows:,} bad ones (first: {self.first[0].removeprefix(self.path + ' ')})"
            raise BadData(wanted(self.path, "at least one valid line", got))
        if self.skips is not None:
            self.skips.note(self)


class Skips:
    """The lines skipped in the files of one read.

    Only complete passes are recorded. Every pass over a file finds the same lines, so repeated or concurrent passes do
    no harm.

    Examples
    --------
    >>> skips = Skips()
    >>> one = Pass("weather.csv", skips, lines=1)
    >>> one.advance(b"sunny,no\\nrainy\\n", rows=1, skipped=1, bad=[(2, "has 1 value instead of 2")])
    >>> one.end()
    >>> skips.sentence()
    'skipped 1 of 2 lines: weather.csv line 3 has 1 value instead of 2.'
    """

    def __init__(self) -> None:
        self._files: dict[str, Pass] = {}
        self._warned = False

    def note(self, done: Pass) -> None:
        """Record a pass that reached the end of its file."""
        self._files[done.path] = done

    def sentence(self) -> str:
        """Return how many lines were skipped and where the first are; "" if none."""
        files = self._files.values()
        skipped, rows = sum(one.skipped for one in files), sum(one.rows for one in files)
        if not skipped:
            return ""
        first = list(islice(chain.from_iterable(one.first for one in files), FEW))
        more = [f"and {skipped - len(first):,} more"] if skipped > len(first) else []
        places = f": {', '.join(first + more)}" if first else ""
        return f"skipped {skipped:,} of {rows:,} lines{places}."

    def warn_after(self, source: Source) -> Source:
        """Return the same rows, with one warning about skipped lines after the last row."""

        def start() -> Iterator[pa.RecordBatch]:
            yield from source
            sentence = "" if self._warned else self.sentence()
            if sentence:
                self._warned = True
                warnings.warn(sentence, SkippedLinesWarning, stacklevel=2)

        return replace(source, start=start)
