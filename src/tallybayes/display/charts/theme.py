"""Colours, sizes and legends shared by all charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

__all__ = ["AGAINST", "COLOURS", "FOR", "HEIGHT", "QUIET", "WIDTH", "colour_of", "legend_columns"]

# A palette for colour-blind readers too (Okabe and Ito).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#b3a400", "#555555"]
FOR, AGAINST = COLOURS[0], COLOURS[1]
# For reference lines.
QUIET = "#888"
WIDTH, HEIGHT = 320, 240
_LETTER, _SYMBOL, _LONGEST = 6.2, 30, 240  # pixels of a letter, of a symbol with its gaps, and of the longest name


def legend_columns(names: Sequence[str], width: float = WIDTH) -> int:
    """Return how many names fit side by side in a legend.

    Examples
    --------
    >>> legend_columns(["yes", "no"]), legend_columns(["a class with a rather long name"] * 8)
    (6, 1)
    """
    longest = max((min(_LETTER * len(name), _LONGEST) for name in names), default=0.0) + _SYMBOL
    return max(1, int(width // longest))


def colour_of(field: str, names: Sequence[str], width: float = WIDTH) -> Any:
    """Return a colour for each name, with a legend that wraps above the chart."""
    return alt.Color(
        f"{field}:N", sort=list(names), scale=alt.Scale(domain=list(names), range=COLOURS), title=None
    ).legend(orient="top", symbolOpacity=1, symbolSize=120, labelLimit=_LONGEST, columns=legend_columns(names, width))
