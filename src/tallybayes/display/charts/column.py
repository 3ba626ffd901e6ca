"""Charts of one column's distribution in each class."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallybayes.display.charts.theme import COLOURS, HEIGHT, WIDTH, colour_of
from tallybayes.display.number_format import NumberFormat

SMALL_HEIGHT = 130  # pixels of a chart among many
SHORT_NUMBER = "abs(datum.value) < 10000 ? format(datum.value, '~g') : format(datum.value, '~s')"


def column_chart(
    points: list[dict[str, Any]],
    column: str,
    classes: list[str],
    kind: str,
    spread: list[dict[str, Any]] | None = None,
    *,
    small: bool = False,
    format_: NumberFormat | None = None,
    log: tuple[float, list[float]] | None = None,
) -> Any:
    """Draw bars side by side for each value, or a curve for each class.

    `points` come from `Table.points`, the kind from `Profile.kind`; `spread`, from `Histogram.points`, is a histogram
    drawn behind the curves. A small chart has no scale of densities, whose numbers are in its tooltips. The format
    writes numbers as dates or times; `log` is the constant of a symmetric logarithmic axis, and its ticks.
    """
    # Altair copies a chart with its data at every step, so data is added last.
    drawn = {"data": alt.InlineData(values=points), "title": column}
    base = alt.Chart()
    at = alt.Tooltip("value" if format_ is None else "label", type="nominal", title="value")
    tips = [alt.Tooltip("class:N"), at, alt.Tooltip("probability:Q", format=".4f")]
    if kind == "values":
        chart = base.mark_bar().encode(
            x=alt.X("value:N", title=None, sort=None).axis(labelAngle=0, labelLimit=120),
            xOffset=alt.XOffset("class:N", sort=classes),
            y=alt.Y("probability:Q", title="probability in the class"),
            color=colour_of("class", classes),
            tooltip=tips,
        )
        return chart.configure_view(stroke=None).configure_title(anchor="start").properties(height=HEIGHT, **drawn)
    y = alt.Y("probability:Q", title="density in the class" if kind == "numbers" else "probability in the class")
    x = alt.X("value:Q", title=None).scale(zero=False, nice=False)
    if format_ is None:
        x = x.axis(grid=False)
    else:  # round dates and times, which a scale of numbers does not know
        ends = [point["value"] for point in points] or [0.0]
        rounded = list(format_.ticks(min(ends), max(ends), 5 if small else 7))
        x = x.axis(grid=False, values=rounded, labelExpr=format_.expression, labelOverlap=True)
    scale = alt.Scale(zero=False, nice=False)
    if log is not None:
        scale = alt.Scale(zero=False, nice=False, type="symlog", constant=log[0])
    if small:
        if format_ is None:
            some = {"tickCount": 4} if log is None else {"values": log[1]}
            x = x.axis(grid=False, labelExpr=SHORT_NUMBER, **some)
        y = y.title(None).axis(labels=False, ticks=False, domain=False)
    x = x.scale(scale)
    line = base.mark_line(strokeWidth=2, interpolate="monotone", point=kind == "counts").encode(
        x=x, y=y, color=colour_of("class", classes), tooltip=tips
    )
    area = _spread(spread, x, y, classes, format_) or base.mark_area(opacity=0.15, interpolate="monotone").encode(
        x=x, y=y.stack(None), color=colour_of("class", classes)
    )
    both = (area + line).configure_view(stroke=None).configure_title(anchor="start")
    return both.properties(width=WIDTH + 80, height=SMALL_HEIGHT if small else HEIGHT, **drawn)


def horizontal_bar_chart(points: list[dict[str, Any]], classes: list[str]) -> Any:
    """Draw thin horizontal bars for each value; long names fit even on a narrow page."""
    values = list(dict.fromkeys(str(point["value"]) for point in points))
    tips = [alt.Tooltip("value:N"), alt.Tooltip("class:N"), alt.Tooltip("probability:Q", format=".4f")]
    drawn = alt.InlineData(values=[{**point, "value": str(point["value"])} for point in points])
    chart = (
        alt.Chart()
        .mark_bar()
        .encode(
            y=alt.Y("value:N", sort=values, title=None).axis(
                labelLimit=96, labelOverlap=True, ticks=False, domain=False
            ),
            yOffset=alt.YOffset("class:N", sort=classes),
            x=alt.X("probability:Q", title=None).axis(format="~%", tickCount=4),
            color=colour_of("class", classes),
            tooltip=tips,
        )
    )
    step = min(9.0, max(3.0, SMALL_HEIGHT / (len(values) * len(classes) * 1.25)))
    return chart.properties(data=drawn, width=WIDTH, height=alt.Step(step, **{"for": "offset"}))


def _spread(
    spread: list[dict[str, Any]] | None, x: Any, y: Any, classes: list[str], format_: NumberFormat | None
) -> Any:
    if not spread:
        return None
    ends_ = [alt.Tooltip("from:Q", format=".4~g"), alt.Tooltip("to:Q", format=".4~g")]
    if format_ is not None:
        spread = [{**one, "rows from": format_.text(one["from"]), "rows to": format_.text(one["to"])} for one in spread]
        ends_ = [alt.Tooltip("rows from:N", title="from"), alt.Tooltip("rows to:N", title="to")]
    tips = [alt.Tooltip("class:N"), *ends_, alt.Tooltip("rows:Q", format=",.6~r")]
    bars = alt.Chart(alt.InlineData(values=spread)).mark_bar(opacity=0.22, stroke=None, binSpacing=0)
    start, height = x.copy(), y.copy()
    start.shorthand = "from:Q"
    ends = {"x": start, "x2": "to:Q"}
    height.shorthand = "density:Q"
    return bars.encode(**ends, y=height.stack(None), y2=alt.Y2Datum(0), color=colour_of("class", classes), tooltip=tips)


def words_chart(points: list[dict[str, Any]], column: str, classes: list[str]) -> Any:
    """Draw the words with the highest log-odds for each class, one panel per class."""
    panels = []
    for k, name in enumerate(classes):
        mine = [point for point in points if point["class"] == name]
        panels.append(
            alt.Chart(alt.InlineData(values=mine), title=name)
            .mark_bar(color=COLOURS[k % len(COLOURS)])
            .encode(
                y=alt.Y("word:N", sort=[point["word"] for point in mine], title=None),
                x=alt.X("log-odds:Q", title="log-odds for it").axis(tickCount=5),
                tooltip=[alt.Tooltip("word:N"), alt.Tooltip("log-odds:Q", format=".2f"), alt.Tooltip("texts:Q")],
            )
            .properties(width=200)
        )
    whole = alt.concat(*panels, columns=4, title=column) if len(panels) > 1 else panels[0]
    return whole.configure_view(stroke=None).configure_title(anchor="start")
