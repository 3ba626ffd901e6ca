"""A nomogram: a scale of points for each column, and one for their sum."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallybayes.display.charts.theme import FOR, WIDTH


def nomogram_chart(ticks: list[dict[str, Any]], probabilities: list[dict[str, float]], title: str, of: str) -> Any:
    """Draw each column's values at their points, and probabilities at total points below.

    A tick has column, value, points, label and the side of the line on which the label is written.
    """
    names = list(dict.fromkeys(tick["column"] for tick in ticks))
    x = alt.X("points:Q", title="points").axis(orient="top", grid=True).scale(nice=False, padding=24)
    base = alt.Chart(alt.InlineData(values=ticks), title=title).encode(
        y=alt.Y("column:N", sort=names, title=None).axis(domain=False, ticks=False, labelLimit=200, grid=False), x=x
    )
    line = base.mark_line(color="#999", strokeWidth=1).encode(detail="column:N")
    tip = [alt.Tooltip("column:N"), alt.Tooltip("value:N"), alt.Tooltip("points:Q", format=".1f")]
    marks = base.mark_point(filled=True, size=36, color=FOR, opacity=1).encode(tooltip=tip)
    words = [
        base.transform_filter(f"datum.side == {side}").mark_text(dy=dy, fontSize=10).encode(text="label:N")
        for side, dy in ((0, -11), (1, 12))
    ]
    upper = alt.layer(line, marks, *words).properties(width=WIDTH + 220, height=alt.Step(46))
    total = alt.X("points:Q", title="points together").scale(nice=False, zero=False, padding=24).axis(grid=False)
    below = alt.Chart(alt.InlineData(values=probabilities)).encode(x=total)
    rule = below.mark_line(color="#999", strokeWidth=1).encode(y=alt.value(30))
    dots = below.mark_point(filled=True, size=36, color=FOR, opacity=1).encode(
        y=alt.value(30), tooltip=[alt.Tooltip("probability:Q", format=".3f"), alt.Tooltip("points:Q", format=".1f")]
    )
    labels = below.mark_text(dy=-12, fontSize=10).encode(y=alt.value(30), text=alt.Text("probability:Q", format=".3~f"))
    lower = alt.layer(rule, dots, labels).properties(width=WIDTH + 220, height=44, title=f"P({of})")
    return (
        alt.vconcat(upper, lower, spacing=24).configure_view(stroke=None).configure_title(anchor="start", fontSize=13)
    )
