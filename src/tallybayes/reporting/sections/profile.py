"""The sections of a page on rows without a label."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tallybayes.display.charts.distribution import distribution_chart
from tallybayes.reporting.columns import ColumnFacts
from tallybayes.reporting.distributions import Distribution, spike_bin
from tallybayes.reporting.profile import Profile
from tallybayes.reporting.sections.data import column_rows, the_rows
from tallybayes.reporting.sections.format import Figures, percent

__all__ = ["PROFILE_SECTIONS", "summary"]

_CARDS = 12  # columns that are drawn at once; the others are folded
_MAPPED = 16  # columns of the map of dependence; more would be too small to read


def summary(data: Profile) -> dict[str, str]:
    """Return the figures of the first screen."""
    kinds: dict[str, int] = {}
    for one in data.before.facts:
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    cells = data.rows * max(len(data.before.facts), 1)
    missing = sum(one.missing for one in data.before.facts)
    ordered = sorted(kinds.items(), key=lambda item: -item[1])
    return {
        "kinds": ", ".join(f"{count} of {kind}" for kind, count in ordered),
        "missing": percent(missing / cells) if missing / max(cells, 1) >= 0.0005 or not missing else "under 0.1 %",
        "complete": percent(data.before.missing.complete / max(data.before.missing.rows, 1)),
        "repeated": f"{data.before.duplicates.repeated:,}",
        "dependent": f"{len(data.dependent()):,}",
        "remarks": f"{len(data.remarks)}",
    }


def _columns(data: Profile, charts: Figures) -> dict[str, Any]:
    rows = the_rows(data.before, data.rows, ("rows",))
    table = {"columns": column_rows(data.before, ("rows",)), "remarks": data.remarks, "left_out": data.left_out}
    return rows | table


def _distributions(data: Profile, charts: Figures) -> dict[str, Any]:
    both = list(zip(data.before.facts, data.before.distributions, strict=True))
    cards = [_card(charts, k, fact, values) for k, (fact, values) in enumerate(both)]
    return {"cards": cards[:_CARDS], "folded": cards[_CARDS:]}


def _card(charts: Figures, k: int, fact: ColumnFacts, values: Distribution) -> dict[str, Any]:
    dated = fact.kind == "dates or times" and fact.format is None
    kind = "values" if values.kind == "values" else "dates" if dated else "numbers"
    axis = values.axis
    log = None if axis is None or not axis.constant else (axis.constant, axis.ticks())
    chart = distribution_chart(_points(values, kind), kind, log, fact.format)
    about = "number of characters" if values.kind == "lengths" else fact.kind
    return {"name": fact.name, "event": about, "note": _note(values), "charts": charts.add(f"column-{k}", chart)}


def _note(values: Distribution) -> str:
    """Return what the chart leaves out: how many rows have the most frequent number."""
    axis = values.axis
    if axis is None:
        return ""
    at = spike_bin(axis)
    if at is None:
        return "The axis is logarithmic."
    share = float(values.counts[at].sum() / values.counts.sum())
    log = ", on a logarithmic axis" if axis.constant else ""
    return f"{axis.spike:g} in {100 * share:.0f} % of the rows; the chart shows the others{log}."


def _points(values: Distribution, kind: str) -> list[dict[str, Any]]:
    rows = values.counts.sum(axis=1)
    if kind == "values":
        total = max(float(rows.sum()), 1.0)
        both = zip(values.bins, rows.tolist(), strict=True)
        return [{"value": name, "probability": n / total} for name, n in both]
    names, at = list(values.bins), None if values.axis is None else spike_bin(values.axis)
    if at is not None:  # the number that the axis leaves out
        rows, names = np.delete(rows, at), names[:at] + names[at + 1 :]
    size = len(names)
    edges = np.linspace(values.low, values.high, size + 1) if values.axis is None else values.axis.cut(size)
    edges = edges / 1000 if kind == "dates" else edges  # microseconds; a browser counts milliseconds
    ends = itertools.pairwise(edges.tolist())
    each = zip(ends, names, rows.tolist(), strict=True)
    return [{"from": low, "to": high, "bin": name, "rows": n} for (low, high), name, n in each]


def _dependence(data: Profile, charts: Figures) -> dict[str, Any]:
    pairs = data.pairs()
    if data.dependence is None or not pairs.rows:
        return {"charts": [], "table": None, "tested": 0 if data.dependence is None else len(data.dependence)}
    drawn = charts.add("dependence", data.dependence.chart(most=_MAPPED))
    return {"charts": drawn[1:], "table": pairs, "tested": len(data.dependence)}


def _origin(data: Profile, charts: Figures) -> dict[str, Any]:
    return {"origin": data.origin}


PROFILE_SECTIONS: tuple[tuple[str, str, Callable[[Profile, Figures], dict[str, Any] | None]], ...] = (
    ("data", "Columns", _columns),
    ("distributions", "Distributions", _distributions),
    ("dependence", "Dependence", _dependence),
    ("reproduce", "Reproduce", _origin),
)
