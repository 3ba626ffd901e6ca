"""Results that can be shown: tables of text that become a rich table, plain text or HTML, and plain values for JSON.

The one door to rich outside the command line, opened when something is shown. A result says what its tables hold
(`Grid`, `Sheet`); how they look is decided here, once.
"""

from __future__ import annotations

import datetime
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = ["Column", "Grid", "Result", "Sheet", "html", "number", "plain"]

# Plain text is as wide as its tables are: a terminal cuts, a string need not.
_WIDE = 400


@dataclass(frozen=True)
class Column:
    """A heading, and on which side its cells stand."""

    name: str
    right: bool = True


@dataclass(frozen=True)
class Grid:
    """One table: cells are text, already formatted.

    Attributes
    ----------
    title : str
        What the table is about; may be empty.
    columns : tuple of Column or str
        A plain name is a column of numbers, except the first, which names the rows and stands on the left.
    rows : tuple of tuples of str
        A cell for each column.
    notes : tuple of str
        Sentences below the table.

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

    title: str
    columns: tuple[Column | str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def heads(self) -> tuple[Column, ...]:
        """The columns, each with its side."""
        return tuple(one if isinstance(one, Column) else Column(one, right=k > 0) for k, one in enumerate(self.columns))

    def __rich__(self) -> Any:
        return _rich(self)

    def _repr_html_(self) -> str:
        return html(self)

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True)
class Sheet:
    """Tables below each other, and sentences below them."""

    title: str
    grids: tuple[Grid, ...]
    notes: tuple[str, ...] = ()

    def __rich__(self) -> Any:
        return _rich(self)

    def _repr_html_(self) -> str:
        return html(self)

    def __str__(self) -> str:
        return _text(self)


class Result(ABC):
    """What a result can do besides holding numbers: be shown in a terminal or a notebook, as text, as plain values."""

    @abstractmethod
    def shown(self) -> Grid | Sheet:
        """The tables that a person wants to see."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values that `json.dumps` takes; what JSON has no number for (NaN, infinity) is None."""

    def __rich__(self) -> Any:
        return _rich(self.shown())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html(self.shown())

    def __str__(self) -> str:
        return _text(self.shown())


def number(value: float, digits: int = 4) -> str:
    """A figure as tables print it: whole numbers whole, others to so many digits, – where there is none.

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


def plain(value: Any) -> Any:
    """The same in plain values: arrays and tuples as lists, NaN and infinities as None, dates as text.

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
    if isinstance(value, Iterable):
        return [plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def html(shown: Grid | Sheet) -> str:
    """The tables as HTML, every name in them escaped; their looks are left to the page.

    Examples
    --------
    >>> made = html(Grid("", ("kind", "count"), (("<b>", "3"),), ("Counted on Monday.",)))
    >>> "&lt;b&gt;" in made, made.endswith("<p>Counted on Monday.</p></div>")
    (True, True)
    """
    title = f"<p><strong>{escape(shown.title)}</strong></p>" if shown.title else ""
    inside = _html_table(shown) if isinstance(shown, Grid) else "".join(map(html, shown.grids))
    notes = "".join(f"<p>{escape(note)}</p>" for note in shown.notes)
    return f'<div class="tally">{title}{inside}{notes}</div>'


def _html_table(grid: Grid) -> str:
    sides = ["right" if head.right else "left" for head in grid.heads()]
    # Written at each cell: a notebook has rules of its own, which a page's style sheet does not reach.
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

    parts: list[Any] = [Text(shown.title, style="bold")] if shown.title else []
    if isinstance(shown, Grid):
        parts.append(_table(shown))
    else:
        for k, grid in enumerate(shown.grids):
            parts += [Text("")] * bool(k or shown.title) + [_rich(grid)]
        parts += [Text("")] * bool(shown.notes)
    return Group(*parts, *(Text(note, style="dim") for note in shown.notes))


def _table(grid: Grid) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False, padding=(0, 1))
    for column in grid.heads():
        table.add_column(Text(column.name), justify="right" if column.right else "left")
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))  # Text: a class called [red] is a name and no colour
    return table


def _text(shown: Grid | Sheet) -> str:
    from rich.console import Console

    page = io.StringIO()
    console = Console(file=page, width=_WIDE, color_system=None, force_terminal=False, force_jupyter=False)
    console.print(_rich(shown))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
