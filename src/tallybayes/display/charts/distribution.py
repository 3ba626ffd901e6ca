"""A chart of one column's values, whatever the class."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallybayes.display.charts.column import SHORT_NUMBER, SMALL_HEIGHT, horizontal_bar_chart
from tallybayes.display.charts.theme import FOR, WIDTH


def distribution_chart(points: list[dict[str, Any]], kind: str, log: tuple[float, list[float]] | None = None) -> Any:
    """Draw a bar for each value, or a histogram.

    A point has value and probability; or, of the kinds "numbers" and "dates", from, to, rows and bin. `log` is the
    constant of a symmetric logarithmic axis, and its ticks.
    """
    if kind == "values":
        return horizontal_bar_chart([{**point, "class": "rows"} for point in points], ["rows"])
    x = alt.X("from", type="temporal" if kind == "dates" else "quantitative", title=None)
    if log is None:
        x = x.scale(zero=False, nice=False).axis(grid=False, tickCount=4)
    else:
        x = x.scale(zero=False, nice=False, type="symlog", constant=log[0])
        x = x.axis(grid=False, values=log[1], labelExpr=SHORT_NUMBER)
    tips = [alt.Tooltip("bin:N", title="values"), alt.Tooltip("rows:Q", format=",.6~r")]
    chart = alt.Chart().mark_bar(color=FOR, binSpacing=1)
    y = alt.Y("rows:Q", title=None).axis(tickCount=3)
    chart = chart.encode(x=x, x2="to", y=y, y2=alt.Y2Datum(0), tooltip=tips)
    return chart.properties(data=alt.InlineData(values=points), width=WIDTH, height=SMALL_HEIGHT)
