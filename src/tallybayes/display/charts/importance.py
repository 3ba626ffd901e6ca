"""A bar chart of the importance of each column."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallybayes.display.charts.theme import AGAINST, FOR, WIDTH


def importance_chart(points: list[dict[str, Any]], *, left_out: bool) -> Any:
    """Draw a bar for each column: its bits and, if known, its leave-one-out loss."""
    names = [point["column"] for point in points]
    base = alt.Chart(alt.InlineData(values=points)).encode(
        y=alt.Y("column:N", sort=names, title=None).axis(labelLimit=220, ticks=False, domain=False)
    )
    tips = [alt.Tooltip("column:N"), alt.Tooltip("bits:Q", format=".4f")]
    bits = base.mark_bar(color=FOR).encode(x=alt.X("bits:Q", title="bits about the class"), tooltip=tips)
    bits = bits.properties(width=WIDTH, height=alt.Step(16))
    if not left_out:
        return bits.configure_view(stroke=None)
    tips = [*tips, alt.Tooltip("change:Q", format="+.4f")]
    colour = alt.condition("datum.change >= 0", alt.value(FOR), alt.value(AGAINST))
    bars = base.mark_bar().encode(
        x=alt.X("change:Q", title="log-loss rises by, without it"), color=colour, tooltip=tips
    )
    error = base.mark_rule(color="#333").encode(x=alt.X("low:Q", title="log-loss rises by, without it"), x2="high:Q")
    change = (bars + error).properties(width=WIDTH, height=alt.Step(16))
    return alt.hconcat(change, bits.encode(y=alt.Y("column:N", sort=names, title=None, axis=None))).configure_view(
        stroke=None
    )
