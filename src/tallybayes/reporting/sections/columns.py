"""The sections on the columns of the model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tallybayes.display.charts.column import column_chart, horizontal_bar_chart, words_chart
from tallybayes.display.tables import Grid, Sheet, number
from tallybayes.explain.tables import Table, WordTable
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.sections.format import VALUES, Figures

_LEGEND = 6  # most classes in a legend
_SHORT = 8  # columns; a longer nomogram is folded


def the_columns(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the distribution of each column in each class."""
    support = dict(zip(data.prior.classes, data.prior.rows, strict=True))
    keep = sorted(data.prior.classes, key=lambda name: -support[name])[:_LEGEND]
    kept = [name for name in data.prior.classes if name in keep]
    cards = [_card(data, charts, k, one.of_classes(kept)) for k, one in enumerate(data.tables)]
    return {
        "cards": cards,
        "classes": len(kept) if len(kept) < len(support) else 0,
        "more": data.columns - len(data.tables),
    }


def _card(data: ReportData, charts: Figures, k: int, table: Table) -> dict[str, Any]:
    names = list(map(str, table.classes))
    if isinstance(table, WordTable):
        chart = words_chart(table.points(), table.column, names)
        return {"name": table.column, "event": table.event, "words": True, "table": _words(table)} | {
            "charts": charts.add(f"column-{k}", chart)
        }
    note = f"and {len(table.rows) - VALUES} more values" if len(table.rows) > VALUES else ""
    table = table.frequent(VALUES)
    if table.profile.kind == "values":
        chart = horizontal_bar_chart(table.points(), names)
    else:
        spread = data.histograms.get(table.column)
        points = [] if spread is None else [p for p in spread.points() if p["class"] in names]
        chart = column_chart(table.points(), "", names, table.profile.kind, points)
    shown = table.shown()
    grid = Grid("", shown.columns, shown.rows, (note,) if note and table.counts is not None else ())  # type: ignore[union-attr]
    return {"name": table.column, "event": table.event, "words": False, "table": grid} | {
        "charts": charts.add(f"column-{k}", chart)
    }


def _words(table: WordTable) -> Sheet:
    shown = table.shown()
    return Sheet("", shown.grids, (f"The words with the highest log-odds, of {len(table.rows):,} words.",))


def the_importance(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the importance of each column."""
    table = replace(data.importance.shown(), title="")
    left_out = data.importance.change is not None
    return {"charts": charts.add("importance", data.importance.chart()), "table": table, "left_out": left_out} | {
        "words": any(isinstance(one, WordTable) for one in data.tables)
    }


def the_dependence(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the pairs of columns that violate the independence assumption, and the weights that allow for it."""
    found = data.dependence
    weights = None if data.weights is None else replace(data.weights.shown(), title="")
    if found is None:
        return {"charts": [], "table": None, "said": (), "broken": 0, "weights": weights}
    broken = found.broken()
    shown = found.shown()
    worst = [found.meaning(pair) for pair in found.worst(5) if pair.holm <= 0.05]
    return {
        "charts": charts.add("dependence", found.chart(most=16)),
        "table": Grid("", shown.columns, shown.rows),
        "said": worst,
        "broken": len(broken),
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


def the_drift(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return what has changed in new rows."""
    found = data.drift
    if found is None:
        return {"table": None}
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
