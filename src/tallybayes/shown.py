"""Results that can be shown: tables of text that become a rich table or plain text, and plain values for JSON.

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
from typing import Any

__all__ = ["Column", "Grid", "Result", "Sheet", "number", "plain"]

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

    def __rich__(self) -> Any:
        return _rich(self)

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

    def __str__(self) -> str:
        return _text(self)


class Result(ABC):
    """What a result can do besides holding numbers: be shown in a terminal, as text, and as plain values."""

    @abstractmethod
    def shown(self) -> Grid | Sheet:
        """The tables that a person wants to see."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values that `json.dumps` takes; what JSON has no number for (NaN, infinity) is None."""

    def __rich__(self) -> Any:
        return _rich(self.shown())

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
    for k, column in enumerate(grid.columns):
        column = column if isinstance(column, Column) else Column(column, right=k > 0)
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
