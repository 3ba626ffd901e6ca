"""A chart of one column's values, whatever the class."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallybayes.display.charts.column import SHORT_NUMBER, SMALL_HEIGHT, horizontal_bar_chart
from tallybayes.display.charts.theme import FOR, WIDTH
from tallybayes.display.number_format import NumberFormat

_FEW = 8  # whole numbers that have room for a label each


def distribution_chart(
    points: list[dict[str, Any]],
    kind: str,
    log: tuple[float, list[float]] | None = None,
    format_: NumberFormat | None = None,
) -> Any:
    """Draw a bar for each value, or a histogram.

    A point has value and probability; or, of the kinds "numbers" and "dates", from, to, rows and bin. `log` is the
    constant of a symmetric logarithmic axis, and its ticks; the format writes numbers as dates or times.
    """
    if kind == "values":
        return horizontal_bar_chart([{**point, "class": "rows"} for point in points], ["rows"])
    x = alt.X("from", type="temporal" if kind == "dates" else "quantitative", title=None)
    if log is None:
        x = x.scale(zero=False, nice=False).axis(grid=False, **_ticks(points, kind, format_))
    else:
        x = x.scale(zero=False, nice=False, type="symlog", constant=log[0])
        x = x.axis(grid=False, values=log[1], labelExpr=SHORT_NUMBER)
    tips = [alt.Tooltip("bin:N", title="values"), alt.Tooltip("rows:Q", format=",.6~r")]
    chart = alt.Chart().mark_bar(color=FOR, binSpacing=1)
    y = alt.Y("rows:Q", title=None).axis(tickCount=3)
    chart = chart.encode(x=x, x2="to", y=y, y2=alt.Y2Datum(0), tooltip=tips)
    return chart.properties(data=alt.InlineData(values=points), width=WIDTH, height=SMALL_HEIGHT)


def _ticks(points: list[dict[str, Any]], kind: str, format_: NumberFormat | None) -> dict[str, Any]:
    """Return where the axis has labels: round dates, or a few whole numbers."""
    if kind == "dates" or not points:
        return {"tickCount": 4}
    if format_ is not None:
        rounded = format_.ticks(points[0]["from"], points[-1]["to"], 5)
        return {"values": list(rounded), "labelExpr": format_.expression, "labelOverlap": True}
    if len(points) <= _FEW and all(point["to"] - point["from"] == 1.0 for point in points):
        return {"values": [point["from"] + 0.5 for point in points], "labelExpr": SHORT_NUMBER}
    return {"tickCount": 4, "labelExpr": SHORT_NUMBER}
