"""Class averages as images, and the log-odds of each pixel for two classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tallybayes.display.charts.theme import COLOURS

_SIDE, _BESIDE = 140, 5  # pixels of an image's longer side; images in a row
_LARGE = 300  # pixels of the longer side of a single image


def picture_chart(points: list[dict[str, Any]], shape: tuple[int, int], classes: Sequence[str], unit: str) -> Any:
    """Draw a grey image for each class, all on one scale."""
    grey = alt.Scale(range=["#f3f3f3", "#000000"], interpolate="rgb")
    colour = alt.Color("average:Q", scale=grey, title=unit).legend(gradientLength=_SIDE)
    images = _images(points, shape, _SIDE).encode(color=colour)
    head = alt.Header(labelFontSize=14, labelFontWeight="bold", labelPadding=4, title=None)
    facets = images.facet(alt.Facet("class:N", sort=list(classes), header=head), columns=_BESIDE, spacing=12)
    return facets.configure_view(stroke=None)


def against_chart(points: list[dict[str, Any]], shape: tuple[int, int], classes: tuple[str, str]) -> Any:
    """Draw an image of log-odds: blue for the first class, orange for the second.

    A pixel with log-odds 0 is white.
    """
    most = max((abs(p["log_odds"]) for p in points if p["log_odds"] is not None), default=1.0)
    scale = alt.Scale(domain=[-most, 0, most], range=[COLOURS[1], "#ffffff", COLOURS[0]], interpolate="lab")
    colour = alt.Color("log_odds:Q", scale=scale, title="log-odds").legend(gradientLength=_LARGE - 40)
    title = alt.TitleParams(
        f"{classes[0]} against {classes[1]}: what a lit pixel says",
        subtitle=f"lit rather than dark; blue speaks for {classes[0]}, orange for {classes[1]}",
        anchor="start",
    )
    return _images(points, shape, _LARGE).encode(color=colour).properties(title=title).configure_view(stroke=None)


def _images(points: list[dict[str, Any]], shape: tuple[int, int], side: int) -> Any:
    step = max(1, side // max(shape))
    x = alt.X("column:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    y = alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    chart = alt.Chart(alt.InlineData(values=points)).mark_rect(strokeWidth=0).encode(x=x, y=y)
    return chart.properties(width=step * shape[1], height=step * shape[0])
