"""A reliability diagram: observed frequency against predicted probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tallybayes.display.charts.theme import AGAINST, FOR, HEIGHT, QUIET, WIDTH


def reliability_chart(points: list[dict[str, Any]], when: Sequence[str], of: str) -> Any:
    """Draw the observed share against the predicted probability, with intervals.

    On the diagonal both agree.

    A point has when, given, observed, low, high and rows of a bin; the last value of `when` is the one that matters.
    """
    scale = alt.Scale(domain=list(when), range=[AGAINST, FOR][-len(when) :])
    colour = alt.Color("when:N", scale=scale, sort=list(when), title=None)
    colour = colour.legend(orient="top") if len(when) > 1 else colour.legend(None)
    x = alt.X("given:Q", title=f"predicted probability of {of}").scale(domain=[0, 1]).axis(format=".0%", tickCount=5)
    y = alt.Y("observed:Q", title="observed share").scale(domain=[0, 1]).axis(format=".0%", tickCount=5)
    tips = [
        alt.Tooltip("when:N", title="probabilities"),
        alt.Tooltip("given:Q", format=".3f", title="mean probability"),
        alt.Tooltip("observed:Q", format=".3f", title="observed"),
        alt.Tooltip("low:Q", format=".3f", title="from"),
        alt.Tooltip("high:Q", format=".3f", title="to"),
        alt.Tooltip("rows:Q", format=",.6~r"),
    ]
    ends = {"y": alt.Y("low:Q", title="observed share"), "y2": "high:Q"}
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x, color=colour, tooltip=tips)
    corners = [{"given": 0, "observed": 0}, {"given": 1, "observed": 1}]
    agree = alt.Chart(alt.InlineData(values=corners)).mark_line(color=QUIET, strokeDash=[3, 4], strokeWidth=1)
    chart = alt.layer(
        agree.encode(x="given:Q", y="observed:Q"),
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(**ends),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, size=60, opacity=1).encode(y=y),
    )
    return chart.properties(width=WIDTH, height=HEIGHT - 40).configure_view(stroke=None)
