"""How numbers look on the page, and the most of anything that is shown."""

from __future__ import annotations

import math
from typing import Any, Protocol

# Classes in tables, and values of a column: more would not be read.
CLASSES, VALUES = 12, 12


class Figures(Protocol):
    """The collection that charts are added to."""

    specs: dict[str, Any]
    sliders: dict[str, Any]

    def add(self, name: str, chart: Any) -> list[str]:
        """Add a chart, and return the names of its panels."""


def percent(share: float) -> str:
    """Format a share in per cent."""
    return "–" if math.isnan(share) else f"{share:.1%}".replace("%", " %")


def finite(value: float) -> float | None:
    """Return a finite number, or None, which JSON can hold."""
    return value if math.isfinite(value) else None


def shown_value(value: Any) -> str:
    """Format a value of a column."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
