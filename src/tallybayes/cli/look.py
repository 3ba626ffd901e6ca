"""`tally look`, or `tally DATA` alone: summarise a file, guess its class column and suggest what to do next."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tallybayes.cli.group import example
from tallybayes.cli.options import Data, DisplayOptions, InputOptions
from tallybayes.display.tables import Column, Grid, Result

if TYPE_CHECKING:
    from tallybayes import sources

_LISTED = 30  # columns; of ten thousand pixels the first are enough
_EXAMPLES = 3  # values per column


@example("tally weather.csv", "tally look weather.csv --json")
def look(inputs: InputOptions, display: DisplayOptions, data: Data = None) -> None:
    """Look at a file and suggest what to do next.

    Shows the inferred event model of each column, its number of distinct and missing values in the first rows, and
    which column looks like the class. Writes nothing.
    """
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import show

    with open_inputs(data, inputs) as rows:
        show(rows.work(lambda source: _look_at(source, inputs.words(data))), display)


@dataclass(frozen=True)
class ColumnLook:
    """A summary of one column in the first rows."""

    # name, event: its name, and the event model that `fit` would infer
    name: str
    event: str
    # distinct, missing: the number of distinct values, and of rows without a value
    distinct: int
    missing: int
    examples: tuple[Any, ...]  # the first values
    remark: str = ""  # a possible problem; usually empty


@dataclass(frozen=True)
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
    """

    data: tuple[str, ...]
    rows: int
    whole: bool
    label: str | None
    classes: dict[str, int]
    columns: tuple[ColumnLook, ...]

    @property
    def _called(self) -> str:
        return ", ".join(takewhile(lambda word: not word.startswith("--"), self.data)) or "the query"

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands to run next."""
        files = shlex.join(self.data)
        if self.label is None:
            return (f"tally fit {files} --label COLUMN",)
        drops = "".join(f" --drop {shlex.quote(one.name)}" for one in self.columns if one.remark.startswith("id"))
        options = f"{files} --label {shlex.quote(self.label)}{drops}"
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
        notes = [f"And {more:,} more columns."] * (more > 0)
        if self.label is None:
            notes.append("No column looks like a class: name it with --label.")
        else:
            shares = ", ".join(f"{name} {count:,}" for name, count in list(self.classes.items())[:6])
            notes.append(f"{self.label!r} looks like the class: {shares}{', ...' if len(self.classes) > 6 else ''}.")
        size = f"{self.rows:,} rows" if self.whole else f"the first {self.rows:,} rows"
        title = f"{self._called}: {size}, {len(self.columns):,} columns"
        columns = tuple(
            one if isinstance(one, Column) else Column(one, right=one in ("values", "missing")) for one in titles
        )
        return Grid(title, columns, rows, (*notes, "Next:", *(f"  {command}" for command in self.commands)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return super().to_dict() | {"commands": list(self.commands)}


def _look_at(source: sources.Source, data: list[str]) -> Look:
    """Summarise the first rows of a source."""
    import pyarrow.compute as pc

    from tallybayes.cli.training import label_among
    from tallybayes.errors import BadData, wanted
    from tallybayes.schema.infer import infer

    batches_ = iter(source)
    first = next(batches_, None)
    if first is None:
        raise BadData(wanted(source.name, "rows", "none"))
    whole = next(batches_, None) is None
    label = label_among(source)
    other = label or source.schema.names[-1]
    events = {}
    if len(source.schema.names) > 1:
        events = infer(source.schema, other, where=source.name, first=lambda: first).events()
    columns = tuple(_column(name, first.column(name), events.get(name, ""), label) for name in source.schema.names)
    classes: dict[str, int] = {}
    if label is not None:
        counted = sorted(pc.value_counts(first.column(label)).to_pylist(), key=lambda one: -one["counts"])
        classes = {str(one["values"]): one["counts"] for one in counted if one["values"] is not None}
    return Look(tuple(data), first.num_rows, whole, label, classes, columns)


def _column(name: str, column: Any, event: str, label: str | None) -> ColumnLook:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        distinct = pc.count_distinct(column).as_py()
    except pa.ArrowNotImplementedError:  # lists cannot be compared
        distinct = 0
    present = column.drop_null()
    remark = ""
    if name == label:
        remark = "← the class?"
    elif distinct == len(present) > 10 and not pa.types.is_floating(column.type) and event != "text":
        remark = "id? a value for each row"
    elif distinct == 1:
        remark = "always the same"
    examples = tuple(pc.unique(present.slice(0, 100)).to_pylist()[:_EXAMPLES])
    return ColumnLook(name, "label" if name == label else event, distinct, column.null_count, examples, remark)


def _short(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 24 else f"{text[:23]}…"
