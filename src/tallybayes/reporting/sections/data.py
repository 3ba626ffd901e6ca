"""The sections on the data and on how to reproduce the page."""

from __future__ import annotations

from typing import Any

from tallybayes.display.tables import Column, Grid
from tallybayes.reporting.columns import ColumnFacts
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.sections.format import CLASSES, Figures, percent, shown_value


def the_data(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the classes, the remarks, and the facts about each column."""
    shares = zip(data.prior.classes, data.prior.rows, data.prior.shares, strict=True)
    ordered = sorted(shares, key=lambda one: -one[1])
    return {
        "classes": [
            {"name": str(name), "rows": f"{rows:,.6g}" if rows % 1 else f"{rows:,.0f}", "share": percent(share)}
            for name, rows, share in ordered[:CLASSES]
        ],
        "more_classes": max(0, len(ordered) - CLASSES),
        "remarks": data.remarks,
        "columns": Grid(
            "",
            (
                "column",
                Column("values", right=False),
                Column("event model", right=False),
                "missing",
                "distinct",
                Column("range, or most frequent", right=False),
            ),
            tuple(_fact(one) for one in data.facts),
        ),
        "left_out": data.left_out,
    }


def _fact(one: ColumnFacts) -> tuple[str, ...]:
    ends = ", ".join(one.common) if one.low is None else f"{shown_value(one.low)} to {shown_value(one.high)}"
    return one.name, one.kind, one.event, f"{one.missing:,}" if one.missing else "–", f"{one.distinct:,}", ends


def the_origin(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the data needed to reproduce the report."""
    return {"origin": data.origin}
