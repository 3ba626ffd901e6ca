"""Displayable results: tables for terminals, plain text and HTML, and plain values for JSON.

This is the only module outside the command line that uses rich, and it imports rich only when something is displayed.
A result defines what its tables contain (`Grid`, `Sheet`); this module defines how they look.
"""

from __future__ import annotations

import datetime
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

# Characters; a terminal has no room for wide tables, but a string has, unless nobody could find anything in it.
_WIDE, _WIDEST = 400, 4000
_FEWEST, _GAP = 3, 3  # columns that are always shown, and characters between two
_NAMED = 20  # columns that are left out by name; of more, their number says enough
_NAME, _WORDS = 20, 12  # characters that are left at least of the names of rows, and of other texts
# Every control character but tab and line feed, which only move on; those that turn the direction of writing, which
# make a name look like another; and halves of characters, which cannot be printed.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}
_TURNS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS |= {code: f"\\u{code:04x}" for code in (*_TURNS, *range(0xD800, 0xE000))}


@dataclass(frozen=True)
class Column:
    """A heading, and whether its cells are aligned right."""

    name: str
    right: bool = True


@dataclass(frozen=True)
class Grid:
    """One table of formatted text cells.

    Examples
    --------
    >>> print(Grid("Fruit", ("kind", "count"), (("pears", "12"), ("figs", "3")), ("Counted on Monday.",)))
    Fruit
    kind    count
    ─────────────
    pears      12
    figs        3
    Counted on Monday.
    """

    title: str  # the title; may be empty
    # a plain name is a right-aligned column of numbers, except the first, which names the rows and is left-aligned
    columns: tuple[Column | str, ...]
    rows: tuple[tuple[str, ...], ...]  # one cell for each column
    notes: tuple[str, ...] = ()  # sentences below the table

    def heads(self) -> tuple[Column, ...]:
        """Return the columns, each with its alignment."""
        return tuple(one if isinstance(one, Column) else Column(one, right=k > 0) for k, one in enumerate(self.columns))

    def __rich__(self) -> Any:
        return _rich(self)

    def _repr_html_(self) -> str:
        return notebook(self)

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True)
class Sheet:
    """Several tables one below the other, followed by notes."""

    title: str
    grids: tuple[Grid, ...]
    notes: tuple[str, ...] = ()

    def __rich__(self) -> Any:
        return _rich(self)

    def _repr_html_(self) -> str:
        return notebook(self)

    def __str__(self) -> str:
        return _text(self)


class Result(ABC):
    """Base of results, which display in terminals and notebooks and convert to plain values.

    A subclass that is a dataclass has ``repr=False``: a result is shown as its table everywhere.
    """

    @abstractmethod
    def shown(self) -> Grid | Sheet:
        """Return the tables to display."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `json.dumps`; NaN and infinity are None."""
        return self._named(*(field.name for field in fields(self)))  # type: ignore[arg-type]

    def to_arrow(self) -> pa.Table:
        """Return the numbers, not rounded, as an Arrow table with the result's lines."""
        return columns_to_arrow(self._columns())

    def to_pandas(self) -> Any:
        """Return `to_arrow` as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def _columns(self) -> dict[str, Any]:
        """Return the columns of `to_arrow`; by default the single figures, as one row."""
        return {name: [value] for name, value in self.to_dict().items() if not isinstance(value, list | dict)}

    def _named(self, *names: str, **more: Any) -> dict[str, Any]:
        """Return attributes, and further values, as plain values by name."""
        return dict(plain({name: getattr(self, name) for name in names} | more))

    def __repr__(self) -> str:
        return str(self)

    def __rich__(self) -> Any:
        return _rich(self.shown())

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook displays: the tables, and the chart if any."""
        return notebook(self.shown(), getattr(self, "chart", None))

    def __str__(self) -> str:
        return _text(self.shown())


def columns_to_arrow(columns: Mapping[str, Any]) -> pa.Table:
    """Return columns as an Arrow table; a column of mixed types becomes text.

    Examples
    --------
    >>> columns_to_arrow({"value": [1.5, "other", None], "n": [3, 4, 5]}).to_pydict()
    {'value': ['1.5', 'other', None], 'n': [3, 4, 5]}
    """
    import pyarrow as pa

    def array(values: Any) -> pa.Array:
        plain = values.tolist() if hasattr(values, "tolist") else list(values)
        try:
            return pa.array(plain)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            return pa.array([None if one is None else str(one) for one in plain], pa.string())

    return pa.table({name: array(values) for name, values in columns.items()})


def number(value: float, digits: int = 4) -> str:
    """Format a figure for tables: integers without decimals, NaN as a dash.

    Examples
    --------
    >>> number(12.0), number(0.66666), number(float("nan")), number(float("inf"))
    ('12', '0.6667', '–', '∞')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:.{digits}f}"


def visible(text: str) -> str:
    """Return text with control characters escaped: no name can command a terminal.

    Examples
    --------
    >>> visible("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    return text.translate(_CONTROLS)


def plain(value: Any) -> Any:
    """Convert to plain values for JSON; NaN and infinities become None.

    Examples
    --------
    >>> plain({"p": (0.5, float("nan")), "day": datetime.date(2024, 2, 29)})
    {'p': [0.5, None], 'day': '2024-02-29'}
    """
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars, without importing it
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, Result):
        return value.to_dict()
    if hasattr(value, "_asdict") or is_dataclass(value):  # a named tuple, or a dataclass
        return plain(value._asdict() if hasattr(value, "_asdict") else asdict(value))
    if isinstance(value, Iterable):
        return [plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


# A rule below the heads and room between columns, in colours that suit a light and a dark notebook.
_STYLE = (
    ".tally-result table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.3em 0 .8em}"
    ".tally-result{overflow-x:auto}"
    ".tally-result th,.tally-result td{padding:.15em .9em .15em 0;border:0;background:none;white-space:nowrap}"
    ".tally-result thead th{font-weight:600;border-bottom:1px solid #8888;white-space:normal;vertical-align:bottom}"
    ".tally-result p{margin:.3em 0;max-width:60em}"
    ".tally-result svg{max-width:100%;height:auto;overflow:visible}"
)


def notebook(shown: Grid | Sheet, chart: Callable[[], Any] | None = None) -> str:
    """Return tables, and a chart if there is one, as HTML with its own style.

    Examples
    --------
    >>> notebook(Grid("", ("kind", "count"), (("figs", "3"),))).startswith('<div class="tally-result"><style>')
    True
    """
    drawn = ""
    if chart is not None:
        from tallybayes.display.charts.notebook import svg_of

        drawn = svg_of(chart())
    return f'<div class="tally-result"><style>{_STYLE}</style>{html(shown)}{drawn}</div>'


def html(shown: Grid | Sheet) -> str:
    """Return the tables as HTML with all text escaped; the page provides the style.

    Examples
    --------
    >>> text = html(Grid("", ("kind", "count"), (("<b>", "3"),), ("Counted on Monday.",)))
    >>> "&lt;b&gt;" in text, text.endswith("<p>Counted on Monday.</p></div>")
    (True, True)
    """
    title = f"<p><strong>{escape(shown.title)}</strong></p>" if shown.title else ""
    inside = _html_table(shown) if isinstance(shown, Grid) else "".join(map(html, shown.grids))
    notes = "".join(f"<p>{escape(note)}</p>" for note in shown.notes)
    return f'<div class="tally">{title}{inside}{notes}</div>'


def _html_table(grid: Grid) -> str:
    sides = ["right" if head.right else "left" for head in grid.heads()]
    # The style is on each cell, because a notebook has its own rules and a style sheet of ours does not reach them.
    heads = (
        f'<th style="text-align:{side}">{escape(head.name)}</th>'
        for head, side in zip(grid.heads(), sides, strict=True)
    )
    rows = (
        f'<tr><th style="text-align:{sides[0]};font-weight:inherit">{escape(row[0])}</th>'
        + "".join(
            f'<td style="text-align:{side}">{escape(cell)}</td>' for cell, side in zip(row[1:], sides[1:], strict=True)
        )
        + "</tr>"
        for row in grid.rows
    )
    return f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _rich(shown: Grid | Sheet) -> Any:
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [Text(visible(shown.title), style="bold")] if shown.title else []
    if isinstance(shown, Grid):
        parts.append(_TerminalTable(shown))
    else:
        for k, grid in enumerate(shown.grids):
            parts += [Text("")] * bool(k or shown.title) + [_rich(grid)]
        parts += [Text("")] * bool(shown.notes)
    return Group(*parts, *(Text(visible(note), style="dim") for note in shown.notes))


@dataclass(frozen=True)
class _TerminalTable:
    """A table as wide as its terminal: the last numbers may be left out."""

    grid: Grid

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.text import Text

        kept = _columns_with_room(self.grid, options.max_width)
        yield _table(self.grid, kept, options.max_width)
        shown = set(kept)
        left = [head.name for k, head in enumerate(self.grid.heads()) if k not in shown]
        if left:
            more = f" and {len(left) - _NAMED:,} more" if len(left) > _NAMED else ""
            yield Text(visible(f"Left out for want of room: {', '.join(left[:_NAMED])}{more}."), style="dim")


def _columns_with_room(grid: Grid, width: int) -> list[int]:
    """Return the columns that there is room for: the last numbers are left out."""
    heads, least = grid.heads(), _least(grid)
    numbers = [k for k, head in enumerate(heads) if head.right and k > 0]
    left: set[int] = set()
    needed = _width(least)
    while numbers and len(heads) - len(left) > _FEWEST and needed > width:
        k = numbers.pop()
        left.add(k)
        needed -= least[k] + _GAP
    return [k for k in range(len(heads)) if k not in left]


def _width(least: Sequence[int]) -> int:
    return sum(least) + _GAP * (len(least) - 1)


def _least(grid: Grid) -> list[int]:
    """Return the least width of each column: numbers whole, texts in part."""
    from rich.cells import cell_len

    def of(k: int, head: Column) -> int:
        words = max((cell_len(word) for word in head.name.split()), default=0)
        cells = max((cell_len(row[k]) for row in grid.rows), default=0)
        return max(words, cells if head.right else min(cells, _NAME if k == 0 else _WORDS))

    return [of(k, head) for k, head in enumerate(grid.heads())]


def _table(grid: Grid, kept: list[int], width: int) -> Any:
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False, padding=(0, 1))
    heads, least = grid.heads(), _least(grid)
    # Rich divides the room by shares: where heads are broken and hardly any is to spare, a number would lose a digit.
    whole = [max(cell_len(heads[k].name), least[k]) for k in kept]
    exact = _width(whole) > width >= _width([least[k] for k in kept]) > width - len(kept)
    for k in kept:
        head, size = heads[k], least[k] if heads[k].right else None
        side: Literal["left", "right"] = "right" if head.right else "left"
        table.add_column(
            Text(visible(head.name)),
            justify=side,
            width=size if exact else None,
            min_width=None if exact else size,
        )
    for row in grid.rows:
        table.add_row(*(Text(visible(row[k])) for k in kept))  # Text: a class called [red] is a name, not a colour
    return table


def _text(shown: Grid | Sheet) -> str:
    from rich.console import Console

    page = io.StringIO()
    grids = (shown,) if isinstance(shown, Grid) else shown.grids
    width = min(_WIDEST, max((_WIDE, *(_width(_least(grid)) for grid in grids))))
    console = Console(file=page, width=width, color_system=None, force_terminal=False, force_jupyter=False)
    console.print(_rich(shown))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
