"""The sections on the columns of the model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tallybayes.display.charts.column import column_chart, horizontal_bar_chart, words_chart
from tallybayes.display.charts.importance import importance_chart
from tallybayes.display.tables import Grid, Sheet, number
from tallybayes.explain.histograms import Histogram
from tallybayes.explain.tables import Table, WordTable
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.sections.format import VALUES, Figures, legend_classes

_CARDS = 8  # columns that are drawn at once; the others are folded
_RANKED = 15  # columns whose importance is drawn; all are in the table
_WORDS = 8  # of each class that are drawn
_BARS = 40  # of a small chart: values × classes
_SPIKES = 4  # classes whose shares are listed
_SHORT = 8  # columns; a longer nomogram is folded


def the_columns(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the distribution of each column in each class."""
    kept = legend_classes(data)
    cards = [_card(data, charts, k, one.of_classes(kept)) for k, one in enumerate(data.tables)]
    return {
        "cards": cards[:_CARDS],
        "folded": cards[_CARDS:],
        "legend": [*map(str, kept)],
        "classes": len(kept) if len(kept) < len(data.prior.classes) else 0,
        "more": data.columns - len(data.tables),
    }


def _card(data: ReportData, charts: Figures, k: int, table: Table) -> dict[str, Any]:
    names = list(map(str, table.classes))
    if isinstance(table, WordTable):
        points = table.points()
        some = [one for name in names for one in [p for p in points if p["class"] == name][:_WORDS]]
        chart = words_chart(some, table.column, names)
        return {"name": table.column, "event": table.event, "words": True, "table": _words(table), "note": ""} | {
            "charts": charts.add(f"column-{k}", chart)
        }
    beside = ""
    most = min(VALUES, max(2, _BARS // len(names)))
    note = f"and {len(table.rows) - most} more values" if len(table.rows) > most else ""
    table = table.frequent(most)
    if table.profile.kind == "values":
        chart = horizontal_bar_chart(table.points(), names)
    else:
        spread = data.histograms.get(table.column)
        points = [] if spread is None else [p for p in spread.points() if p["class"] in names]
        chart = column_chart(
            table.points(), "", names, table.profile.kind, points, small=True, format_=table.format, log=_log(table)
        )
        beside = "" if spread is None else _spike(spread)
    shown = table.shown()
    grid = Grid("", shown.columns, shown.rows, (note,) if note and table.counts is not None else ())  # type: ignore[union-attr]
    return {"name": table.column, "event": table.event, "words": False, "table": grid, "note": beside} | {
        "charts": charts.add(f"column-{k}", chart)
    }


def _log(table: Table) -> tuple[float, list[float]] | None:
    axis = table.axis
    return None if axis is None or not axis.constant else (axis.constant, axis.ticks())


def _spike(spread: Histogram) -> str:
    """Return what the chart leaves out: how many rows of each class have the most frequent number."""
    axis, shares = spread.axis, spread.spike
    if axis is None or axis.spike is None or shares is None:
        return "The axis is logarithmic." if axis is not None and axis.constant else ""
    each = ", ".join(f"{100 * share:.0f} % of {name}" for share, name in zip(shares, spread.classes, strict=True))
    if len(shares) > _SPIKES:
        each = f"{100 * shares.min():.0f} to {100 * shares.max():.0f} % of each class"
    log = ", on a logarithmic axis" if axis.constant else ""
    return f"{axis.spike:g} in {each}; the chart shows the other rows{log}."


def _words(table: WordTable) -> Sheet:
    shown = table.shown()
    return Sheet("", shown.grids, (f"The words with the highest log-odds, of {len(table.rows):,} words.",))


def the_importance(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the importance of each column."""
    table = replace(data.importance.shown(), title="")
    left_out = data.importance.change is not None
    points = data.importance.points()
    chart = importance_chart(points[:_RANKED], left_out=left_out)
    return {"charts": charts.add("importance", chart), "table": table, "left_out": left_out} | {
        "drawn": _RANKED if len(points) > _RANKED else 0,
        "words": any(isinstance(one, WordTable) for one in data.tables),
    }


def the_dependence(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the pairs of columns that violate the independence assumption, and the weights that allow for it."""
    found = data.dependence
    weights = None if data.weights is None else replace(data.weights.shown(), title="")
    if found is None:
        return {"charts": [], "table": None, "said": (), "broken": 0, "weights": weights}
    shown = found.shown()
    worst = [found.meaning(pair) for pair in found.worst(3) if pair.holm <= 0.05]
    return {
        "charts": charts.add("dependence", found.chart(most=12)),
        "table": Grid("", shown.columns, shown.rows),
        "said": worst,
        "broken": len(found.dependent()),
        "pairs": f"{len(found):,}",
        "weights": weights,
    }


def the_nomogram(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the nomogram: points to add up by hand."""
    if data.nomogram is None:
        return {"charts": [], "table": None}
    return {
        "charts": charts.add("nomogram", data.nomogram.chart()),
        "table": data.nomogram.shown(),
        "of": str(data.nomogram.of),
        "against": str(data.nomogram.against),
        "several": len(data.prior.classes) > 2,
        "short": data.columns <= _SHORT,
    }


def the_drift(data: ReportData, charts: Figures) -> dict[str, Any] | None:
    """Return what has changed in new rows; None without new rows."""
    found = data.drift
    if found is None:
        return None
    shown = found.shown()
    return {
        "rows": number(found.new_rows, 1),
        "enough": found.enough,
        "drifted": [
            {"name": one.column, "distance": f"{one.distance:.1%}".replace("%", " %"), "changes": one.changes}
            for one in found.drifted()[:VALUES]
        ],
        "more": max(0, len(found.drifted()) - VALUES),
        "tested": sum(not math.isnan(one.p) for one in found.columns),
        "table": replace(shown, title=""),
    }
