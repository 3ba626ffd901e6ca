"""`tally look`, or `tally DATA` alone: summarise a file and suggest what to do."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tallybayes.cli.column_look import UNFIT, ColumnLook
from tallybayes.cli.group import example
from tallybayes.cli.options import Data, DisplayOptions, InputOptions
from tallybayes.display.number_of import number_of
from tallybayes.display.tables import Column, Grid, Result

if TYPE_CHECKING:
    from tallybayes import sources
    from tallybayes.cli.inputs import InputRows
    from tallybayes.schema.find_total import Total

_WIDE = 110  # characters; a narrower terminal has room for one example of each column
_LISTED = 30  # columns; of ten thousand pixels the first are enough
_LOOK_BYTES = 256 << 10  # bytes of a text file: some thousand rows, at once even where they are compressed


@example("tally weather.csv", "tally look weather.csv --json")
def look(inputs: InputOptions, display: DisplayOptions, data: Data = None) -> None:
    """Look at a file and suggest what to do next.

    Shows the inferred event model of each column, its number of distinct and missing values in the first rows, and
    which column looks like the class. Writes nothing.
    """
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import show, terminal_width

    with open_inputs(data, inputs, look_bytes=_LOOK_BYTES) as rows:
        found = _look_at(rows, inputs.words(data))
    if sys.stdout.isatty() and not display.json and display.output is None and terminal_width() < _WIDE:
        found = replace(found, columns=tuple(replace(one, examples=one.examples[:1]) for one in found.columns))
    show(found, display)


@dataclass(frozen=True, repr=False)
class Look(Result):
    """A summary of a file's first rows.

    Attributes
    ----------
    data : tuple of str
        The words that name the rows on the command line: files, or --sql QUERY and --db URL; then --where and the like.
    rows : int
        The number of rows summarised.
    whole : bool
        Whether these are all rows.
    label : str or None
        The column that looks like the class.
    classes : dict of str to int
        Its values, most frequent first.
    columns : tuple of ColumnLook
        All columns.
    total : Total or None
        The cell that names the last row a line of totals.
    """

    data: tuple[str, ...]
    rows: int
    whole: bool
    label: str | None
    classes: dict[str, int]
    columns: tuple[ColumnLook, ...]
    total: Total | None = None

    @property
    def _called(self) -> str:
        return ", ".join(takewhile(lambda word: not word.startswith("--"), self.data)) or "the query"

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands to run next."""
        files = shlex.join(self.data)
        if self.label is None:
            return (f"tally report {files} --no-label",)
        unfit = [one.name for one in self.columns if one.event == UNFIT]
        options = f"{files} --label {shlex.quote(self.label)}{''.join(f' --drop {shlex.quote(one)}' for one in unfit)}"
        return (f"tally report {options}", f"tally fit {options}", f"tally validate {options}")

    def shown(self) -> Grid:
        """The columns, and the commands to run next."""
        titles = ("column", Column("taken as", right=False), "values", "missing", Column("such as", right=False), "")
        rows = tuple(
            (
                one.name,
                one.event,
                f"{one.distinct:,}",
                f"{one.missing:,}",
                ", ".join(map(_short, one.examples)),
                one.remark,
            )
            for one in self.columns[:_LISTED]
        )
        more = len(self.columns) - _LISTED
        notes = [f"And {more:,} more columns."] * (more > 0) + self._remarks()
        if self.label is None:
            notes.append("No column looks like a class: name it with --label.")
        else:
            shares = ", ".join(f"{name} {count:,}" for name, count in list(self.classes.items())[:6])
            notes.append(f"{self.label!r} looks like the class: {shares}{', ...' if len(self.classes) > 6 else ''}.")
        size = number_of(self.rows, "row") if self.whole else f"the first {self.rows:,} rows"
        title = f"{self._called}: {size}, {number_of(len(self.columns), 'column')}"
        columns = tuple(
            one if isinstance(one, Column) else Column(one, right=one in ("values", "missing")) for one in titles
        )
        return Grid(title, columns, rows, (*notes, "Next:", *(f"  {command}" for command in self.commands)))

    def _remarks(self) -> list[str]:
        """Return what was taken as missing, what is not used, and how to say otherwise."""
        notes = []
        if self.total is not None:
            cell = f"column {self.total.column!r} has {self.total.text!r}"
            how = f"If it is one, leave it out with --where {shlex.quote(self.total.condition)}."
            notes.append(f"The last row looks like a line of totals ({cell}). {how}")
        marked = [one for one in self.columns if one.markers]
        if marked:
            each = ((one.name, ", ".join(f"{text!r} {n:,}" for text, n in one.markers.items())) for one in marked)
            listed = ", ".join(f"{name} ({texts})" for name, texts in each)
            others = "--missing TEXT names others in place of the usual texts; --missing auto --missing TEXT adds one."
            notes.append(f"Taken as missing: {listed}. {others}")
        unused = [one.name for one in self.columns if one.event == "not used"]
        if unused:
            notes.append(f"Not used: {', '.join(unused)}. To use it: --keep {shlex.quote(unused[0])}.")
        if any(one.remark and one.event not in ("label", "not used") for one in self.columns):
            notes.append("To take a column in another way: --event NAME=categorical, or --drop NAME.")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return super().to_dict() | {"commands": list(self.commands)}


def _look_at(rows: InputRows, data: list[str]) -> Look:
    """Summarise the first rows of a command's input."""
    import pyarrow.compute as pc

    from tallybayes.cli.column_look import infer_columns
    from tallybayes.cli.training import label_among
    from tallybayes.errors import BadData, wanted
    from tallybayes.schema.find_total import find_total
    from tallybayes.sources.column_readings import rows_with_class

    def work(source: sources.Source) -> Look:
        batches_ = iter(source)
        first = next(batches_, None)
        if first is None:
            raise BadData(wanted(source.name, "rows", "none"))
        whole = next(batches_, None) is None
        label = label_among(first) if first.num_columns > 1 else None  # nothing else could tell it
        raw = rows.raw(source).slice(0, first.num_rows)
        columns = infer_columns(first, raw, source.missing_values or (), label, source.name)
        classes: dict[str, int] = {}
        if label is not None:
            counted = sorted(pc.value_counts(first.column(label)).to_pylist(), key=lambda one: -one["counts"])
            classes = {str(one["values"]): one["counts"] for one in counted if one["values"] is not None}
        total = find_total(rows_with_class(first, label)) if whole else None
        return Look(tuple(data), first.num_rows, whole, label, classes, columns, total)

    return rows.work(work)


_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})  # a cell of a table is one line


def _short(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value).strip().translate(_ESCAPES)
    return text if len(text) <= 24 else f"{text[:23]}…"
