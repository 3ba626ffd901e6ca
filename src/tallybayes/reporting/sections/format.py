"""How numbers look on the page, and the most of anything that is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from tallybayes.reporting.data import ReportData

# Classes in tables, and values of a column: more would not be read.
CLASSES, VALUES = 12, 12
_COLOURS = 8  # ; the last one is for all other classes, if there are more


class Figures(Protocol):
    """The collection that charts are added to."""

    specs: dict[str, Any]
    sliders: dict[str, Any]

    def add(self, name: str, chart: Any) -> list[str]:
        """Add a chart, and return the names of its panels."""


def legend_classes(data: ReportData) -> tuple[Any, ...]:
    """Return the classes that have a colour: all, or the most frequent ones, in the order of the model."""
    names, rows = data.prior.classes, data.prior.rows
    if len(names) <= _COLOURS:
        return names
    support = dict(zip(names, rows, strict=True))
    keep = set(sorted(names, key=lambda name: -support[name])[: _COLOURS - 1])
    return tuple(name for name in names if name in keep)


def percent(share: float) -> str:
    """Format a share in per cent."""
    return "–" if math.isnan(share) else f"{share:.1%}".replace("%", " %")


def finite(value: float) -> float | None:
    """Return a finite number, or None, which JSON can hold."""
    return value if math.isfinite(value) else None


def shown_value(value: Any) -> str:
    """Format a value of a column."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def short_names(names: Sequence[Any], most: int) -> list[str]:
    """Return short names that differ: those that would be alike begin with the word in which they differ.

    Examples
    --------
    >>> short_names(["delivery with complications", "delivery without complications", "transfer"], 16)
    ['…with complicatio…', '…without complica…', 'transfer']
    """
    first = [short_name(name, most) for name in names]
    found = []
    for name, short in zip(names, first, strict=True):
        alike = [str(other) for other, same in zip(names, first, strict=True) if same == short]
        rest = str(name)[str(name).rfind(" ", 0, _shared(alike)) + 1 :]
        begun = f"…{rest}" if len(rest) <= most else f"…{rest[:most]}…"
        found.append(short if len(alike) == 1 else begun)
    return found


def _shared(names: Sequence[str]) -> int:
    """Return the number of letters in which all names begin alike."""
    return next(
        (k for k, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), min(map(len, names))
    )


def short_name(name: Any, most: int) -> str:
    """Return a name without its middle if it is long: classes often differ at the end.

    Examples
    --------
    >>> short_name("a rather long class name number 7", 16)
    'a rather… number 7'
    """
    text = str(name)
    return text if len(text) <= most + 2 else f"{text[: most // 2].rstrip()}…{text[-(most - most // 2) - 1 :]}"
