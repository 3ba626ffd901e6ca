"""Two heat maps of the dependence between columns: given the class, and overall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

# Pixels: smallest and largest cell, and the width of a map. Few columns do not make huge cells, many stay on the page.
_CELL, _MOST_CELL, _WIDTH = 14, 26, 420
# Almost no dependence is almost white.
_FROM_NONE_TO_MOST = ["#f1f5fa", "#0072b2", "#00284a"]


def dependence_chart(points: list[dict[str, Any]], columns: Sequence[str], label: str, level: float) -> Any:
    """Draw two maps on one scale; a dot marks pairs with Holm-corrected p ≤ level."""
    most = max((point["bits"] for point in points), default=1.0)
    colour = alt.Color(
        "bits:Q", scale=alt.Scale(domain=[0, most], range=_FROM_NONE_TO_MOST, interpolate="lab"), title="bits"
    )
    size = max(_CELL, min(_MOST_CELL, _WIDTH // max(1, len(columns)))) * len(columns)
    titles = {"given": f"given {label}", "overall": "overall"}
    maps = [
        _map([p for p in points if p["what"] == what], columns, title, colour, size, most, level)
        for what, title in titles.items()
    ]
    under = f"bits that one column says of the other; a dot: p ≤ {level:g} (Holm)"
    title = alt.Title("Which columns depend on each other", subtitle=under, anchor="start", offset=12)
    return alt.hconcat(*maps, spacing=28).properties(title=title).configure_view(stroke=None)


def _map(
    points: list[dict[str, Any]], columns: Sequence[str], title: str, colour: Any, size: int, most: float, level: float
) -> Any:
    second = title == "overall"
    x = alt.X("a:N", sort=list(columns), title=None).axis(labelAngle=-45, ticks=False, domain=False)
    y = alt.Y("b:N", sort=list(columns), title=None).axis(ticks=False, domain=False, labels=not second)
    tips = [
        alt.Tooltip("a:N", title="column"),
        alt.Tooltip("b:N", title="and"),
        alt.Tooltip("bits:Q", format=".4f"),
        alt.Tooltip("p:Q", format=".2g", title="p (Holm)"),
        alt.Tooltip("interaction:Q", format="+.4f"),
    ]
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x, y=y, tooltip=tips)
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(color=colour)
    ink = alt.condition(f"datum.bits > {most / 3}", alt.value("white"), alt.value("#00284a"))
    dots = base.mark_circle(size=28, opacity=1).encode(color=ink).transform_filter(f"datum.p <= {level}")
    return (cells + dots).properties(width=size, height=size, title=alt.Title(title, fontWeight="normal"))
