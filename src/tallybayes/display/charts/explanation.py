"""A bar chart of the contributions for and against a class."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallybayes.display.charts.theme import AGAINST, FOR, WIDTH


def explanation_chart(points: list[dict[str, Any]], title: str) -> Any:
    """Draw a bar for the prior and for each contribution, in the order given."""
    base = alt.Chart(alt.InlineData(values=points), title=title).encode(
        y=alt.Y("what:N", sort=[point["what"] for point in points], title=None).axis(
            labelLimit=260, ticks=False, domain=False
        )
    )
    colour = alt.condition("datum.log_odds >= 0", alt.value(FOR), alt.value(AGAINST))
    x = alt.X("log_odds:Q", title="log-odds: against ←  → for", scale=alt.Scale(padding=40, nice=False)).axis(
        grid=True, tickCount=6
    )
    bars = base.mark_bar(height={"band": 0.7}).encode(
        x=x, color=colour, tooltip=[alt.Tooltip("what:N"), alt.Tooltip("log_odds:Q", title="log-odds", format="+.4f")]
    )
    sides = [("datum.log_odds >= 0", "left", 4), ("datum.log_odds < 0", "right", -4)]
    beside = [
        base.transform_filter(side)
        .mark_text(baseline="middle", fontSize=10, align=align, dx=dx)  # type: ignore[arg-type]
        .encode(x=x, text=alt.Text("log_odds:Q", format="+.2f"))
        for side, align, dx in sides
    ]
    zero = alt.Chart(alt.InlineData(values=[{"x": 0}])).mark_rule(color="#888").encode(x="x:Q")
    chart = alt.layer(bars, zero, *beside).properties(width=WIDTH + 80, height=alt.Step(17))
    return chart.configure_view(stroke=None).configure_title(anchor="start")
