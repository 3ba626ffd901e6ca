"""Lines of a text file that are no rows: passed over where that was asked for, counted, and told with their places."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

import pyarrow as pa

from tallybayes.errors import BadData, SkippedLinesWarning, wanted
from tallybayes.sources.position import Spot
from tallybayes.sources.source import Source

__all__ = ["CURE", "Pass", "Skips"]

CURE = "Mend it, or choose bad_lines='skip' to go on without it"
# So many bad lines are told with their places; whoever has more looks at the file.
FEW = 3


class Pass:
    """How far one pass over a file of text has come.

    Attributes
    ----------
    path : str
        What messages call the file.
    skips : Skips or None
        Where it is told what was passed over; if there is none, bad lines are refused by whoever finds them.
    rows : int
        The lines with something in them so far, bad ones among them.
    skipped : int
        Those of them that were bad.
    first : list of str
        The first few of these: where they are, and what they have.

    Parameters
    ----------
    path, skips
        As above.
    lines : int
        How many lines come before the first row.
    spot : Spot, optional
        Where the pass begins, if that is in the midst of the file.
    """

    def __init__(self, path: str, skips: Skips | None, lines: int = 0, spot: Spot | None = None) -> None:
        spot = Spot() if spot is None else spot
        self.path, self.skips, self.rows, self.skipped = path, skips, spot.rows + spot.skipped, spot.skipped
        self.first: list[str] = []
        self._lines, self._above = lines + spot.lines, lines

    def behind(self, spot: Spot, piece: bytes) -> Spot:
        """Where the pass is that was at a spot before it went past a piece."""
        return Spot(spot.file, spot.at + len(piece), self.rows - self.skipped, self._lines - self._above, self.skipped)

    @property
    def curious(self) -> bool:
        """Whether the place of a bad line would be told."""
        return len(self.first) < FEW

    def past(self, text: bytes, rows: int, skipped: int = 0, bad: Iterable[tuple[int, str]] = ()) -> None:
        """Go on behind a piece of text.

        Parameters
        ----------
        text : bytes
            The piece.
        rows, skipped : int
            How many of its lines are rows, and how many were passed over.
        bad : iterable of (int, str)
            The line, counted from 1 in this piece, and what it has, of the first few that were passed over.
        """
        self.first += [f"{self.path} line {self._lines + line} {what}" for line, what in islice(bad, FEW)]
        self.rows += rows + skipped
        self.skipped += skipped
        if self.skips is not None:
            self._lines += text.count(b"\n")

    def end(self) -> None:
        """Tell what was passed over; refuse a file that has nothing but bad lines."""
        if self.skipped and self.skipped == self.rows:
            got = f"{self.rows:,} bad ones only ({self.first[0].removeprefix(self.path + ' ')})"
            raise BadData(wanted(self.path, "some lines that are rows", got))
        if self.skips is not None:
            self.skips.note(self)


class Skips:
    """What was skipped in the files of one read, as whole passes over them have found.

    Every pass over a file finds the same, so it does not matter how many have been made, or how many at once.

    Examples
    --------
    >>> skips = Skips()
    >>> one = Pass("weather.csv", skips, lines=1)
    >>> one.past(b"sunny,no\\nrainy\\n", rows=1, skipped=1, bad=[(2, "has 1 value instead of 2")])
    >>> one.end()
    >>> skips.sentence()
    'skipped 1 of 2 lines: weather.csv line 3 has 1 value instead of 2.'
    """

    def __init__(self) -> None:
        self._files: dict[str, Pass] = {}
        self._told = False

    def note(self, done: Pass) -> None:
        """Remember a pass that has come to the end of its file."""
        self._files[done.path] = done

    def sentence(self) -> str:
        """How many lines were skipped, and the first few of them; nothing if there are none."""
        files = self._files.values()
        skipped, rows = sum(one.skipped for one in files), sum(one.rows for one in files)
        if not skipped:
            return ""
        first = list(islice(chain.from_iterable(one.first for one in files), FEW))
        more = [f"and {skipped - len(first):,} more"] if skipped > len(first) else []
        places = f": {', '.join(first + more)}" if first else ""
        return f"skipped {skipped:,} of {rows:,} lines{places}."

    def told(self, source: Source) -> Source:
        """The same rows; whoever has read them all is warned, once, of what was left out."""

        def start() -> Iterator[pa.RecordBatch]:
            yield from source
            sentence = "" if self._told else self.sentence()
            if sentence:
                self._told = True
                warnings.warn(sentence, SkippedLinesWarning, stacklevel=2)

        return replace(source, start=start)
