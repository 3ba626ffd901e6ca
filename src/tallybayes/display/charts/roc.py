"""A ROC curve with its convex hull and the cheapest point, and a precision-recall curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tallybayes.display.charts.theme import AGAINST, FOR, QUIET, WIDTH

SQUARE = 250  # pixels; about as wide where three are side by side


def roc_chart(curve: list[dict[str, Any]], point: list[dict[str, Any]], line: list[dict[str, Any]]) -> Any:
    """Draw the curve, its hull, and the cheapest point on its equal-cost line.

    The curve has fpr, tpr, threshold and which ("curve" or "hull"), in order. Point and line are data sets named
    ``point`` and ``line``, so that a page can move them.
    """
    x = (
        alt.X("fpr:Q", title="false positive rate")
        .scale(domain=[0, 1])
        .axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    )
    y = (
        alt.Y("tpr:Q", title="true positive rate (sensitivity)")
        .scale(domain=[0, 1])
        .axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    )
    tips = [
        alt.Tooltip("fpr:Q", format=".3f", title="false positive rate"),
        alt.Tooltip("tpr:Q", format=".3f", title="true positive rate"),
        alt.Tooltip("threshold:Q", format=".4g", title="from probability"),
    ]
    base = alt.Chart(alt.InlineData(values=curve)).encode(x=x, y=y, order="at:Q", tooltip=tips)
    ends = alt.InlineData(values=[{"fpr": 0, "tpr": 0}, {"fpr": 1, "tpr": 1}])
    guessing = alt.Chart(ends).mark_line(color=QUIET, strokeDash=[3, 4], strokeWidth=1).encode(x=x, y=y)
    whole = base.transform_filter("datum.which == 'curve'")
    hull = base.transform_filter("datum.which == 'hull'")
    cheapest = alt.Chart(alt.InlineData(values=point, name="point")).encode(x=x, y=y, tooltip=tips)
    equal = alt.Chart(alt.InlineData(values=line, name="line")).mark_line(color=AGAINST, strokeWidth=1.5, clip=True)
    chart = alt.layer(
        guessing,
        whole.mark_line(color=FOR, strokeWidth=2),
        hull.mark_line(color=QUIET, strokeWidth=1),
        hull.mark_point(filled=True, size=22, color=QUIET, opacity=1),
        equal.encode(x=x, y=y),
        cheapest.mark_point(filled=True, size=160, color=AGAINST, opacity=1),
    )
    return chart.properties(width=WIDTH, height=SQUARE).configure_view(stroke=None)


def two_roc_chart(points: list[dict[str, Any]], names: Sequence[str]) -> Any:
    """Draw the curves of two models; a point has model, at, fpr, tpr and threshold."""
    shares: dict[str, Any] = {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}
    x = alt.X("fpr:Q", title="false positive rate").scale(domain=[0, 1]).axis(**shares)
    y = alt.Y("tpr:Q", title="true positive rate (sensitivity)").scale(domain=[0, 1]).axis(**shares)
    colour = alt.Color("model:N", scale=alt.Scale(domain=list(names), range=[FOR, AGAINST]), title=None)
    tips = [
        alt.Tooltip("model:N"),
        alt.Tooltip("fpr:Q", format=".3f", title="false positive rate"),
        alt.Tooltip("tpr:Q", format=".3f", title="true positive rate"),
        alt.Tooltip("threshold:Q", format=".4g", title="from probability"),
    ]
    curves = alt.Chart(alt.InlineData(values=points)).mark_line(strokeWidth=2)
    ends = alt.InlineData(values=[{"fpr": 0, "tpr": 0}, {"fpr": 1, "tpr": 1}])
    guessing = alt.Chart(ends).mark_line(color=QUIET, strokeDash=[3, 4], strokeWidth=1).encode(x=x, y=y)
    both = alt.layer(guessing, curves.encode(x=x, y=y, order="at:Q", color=colour.legend(orient="top"), tooltip=tips))
    return both.properties(width=WIDTH, height=SQUARE).configure_view(stroke=None)


def precision_chart(curve: list[dict[str, Any]], point: list[dict[str, Any]], share: float) -> Any:
    """Draw precision against recall, the share of positives as a line, and the chosen point.

    The curve has recall, precision and threshold, in order. The point is a data set named ``point``, so that a page can
    move it.
    """
    x = (
        alt.X("recall:Q", title="recall (sensitivity)")
        .scale(domain=[0, 1])
        .axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    )
    y = alt.Y("precision:Q", title="precision").scale(domain=[0, 1]).axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    tips = [
        alt.Tooltip("recall:Q", format=".3f"),
        alt.Tooltip("precision:Q", format=".3f"),
        alt.Tooltip("threshold:Q", format=".4g", title="from probability"),
    ]
    base = alt.Chart(alt.InlineData(values=curve)).encode(x=x, y=y, order="at:Q", tooltip=tips)
    ends = alt.InlineData(values=[{"recall": 0, "precision": share}, {"recall": 1, "precision": share}])
    guessing = alt.Chart(ends).mark_line(color=QUIET, strokeDash=[3, 4], strokeWidth=1).encode(x=x, y=y)
    chosen = alt.Chart(alt.InlineData(values=point, name="point")).encode(x=x, y=y, tooltip=tips)
    chart = alt.layer(
        guessing,
        base.mark_line(color=FOR, strokeWidth=2),
        chosen.mark_point(filled=True, size=160, color=AGAINST, opacity=1),
    )
    return chart.properties(width=WIDTH, height=SQUARE).configure_view(stroke=None)
