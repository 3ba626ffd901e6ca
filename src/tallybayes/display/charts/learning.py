"""A chart of accuracy and log-loss against the number of training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tallybayes.display.charts.theme import HEIGHT, WIDTH, colour_of


def learning_chart(points: list[dict[str, Any]], models: Sequence[str]) -> Any:
    """Draw mean and band of each model against rows, one panel per figure."""
    colour = colour_of("model", models)
    figures = {name: [p for p in points if p["figure"] == name] for name in ("accuracy", "log-loss")}
    # A figure with only infinite means has nothing to draw.
    panels = [_panel(own, name, colour) for name, own in figures.items() if any(one["mean"] is not None for one in own)]
    return alt.hconcat(*panels).configure_view(stroke=None)


def _panel(points: list[dict[str, Any]], title: str, colour: Any) -> Any:
    x = alt.X("rows:Q", scale=alt.Scale(type="log", nice=False), title="rows learned")
    x = x.axis(grid=False, values=sorted({p["rows"] for p in points}), labelOverlap=True)
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x, color=colour)
    y = alt.Y("mean:Q", scale=alt.Scale(zero=False), title=title)
    band = base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    return (band + base.mark_line(point=True).encode(y=y)).properties(width=WIDTH, height=HEIGHT - 70)
