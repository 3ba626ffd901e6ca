"""A chart of a running estimate of a probability, against the number of flips."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallybayes.display.charts.theme import COLOURS, HEIGHT, WIDTH

__all__ = ["running_chart"]


def running_chart(points: list[dict[str, Any]], level: float, truth: float | None = None) -> Any:
    """Draw the estimate and its interval against flips; the true value is dashed.

    Parameters
    ----------
    points : list of dict
        The result of `RunningEstimate.points`.
    level : float
        The confidence level of the interval.
    truth : float, optional
        The true value, where it is known.
    """
    x = alt.X("flips:Q", scale=alt.Scale(type="log", nice=False), title="flips")
    x = x.axis(grid=False, values=_powers_of_ten(points), format=",d")
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x)
    scale = alt.Scale(domain=[0, 1])
    title = f"estimate, with its {100 * level:g} % interval"
    band = base.mark_area(opacity=0.2, color=COLOURS[0]).encode(y=alt.Y("low:Q", scale=scale, title=title), y2="high:Q")
    line = base.mark_line(color=COLOURS[0], strokeWidth=2).encode(y=alt.Y("estimate:Q", scale=scale, title=title))
    layers = [band, line]
    if truth is not None:
        mark = alt.Chart(alt.InlineData(values=[{"truth": truth, "name": f"truth {truth:g}"}]))
        layers.append(mark.mark_rule(color=COLOURS[1], strokeDash=[6, 4], strokeWidth=1.5).encode(y="truth:Q"))
        label = mark.mark_text(align="right", baseline="bottom", dy=-4, color=COLOURS[1], fontWeight="bold")
        layers.append(label.encode(y="truth:Q", x=alt.value(2 * WIDTH - 6), text="name:N"))
    return alt.layer(*layers).properties(width=2 * WIDTH, height=HEIGHT).configure_view(stroke=None)


def _powers_of_ten(points: list[dict[str, Any]]) -> list[int]:
    last = max(int(p["flips"]) for p in points)
    return [10**k for k in range(len(str(last)))]
