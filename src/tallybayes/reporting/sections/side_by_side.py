"""The sections of a page on two models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tallybayes.display.charts.reliability import reliability_chart
from tallybayes.display.charts.roc import two_roc_chart
from tallybayes.display.tables import Grid, number
from tallybayes.evaluation.roc import RocCurve
from tallybayes.reporting.performance import Figure
from tallybayes.reporting.sections.format import CLASSES, Figures, finite, percent
from tallybayes.reporting.sections.mistakes import DOWNLOADED, as_csv, safe
from tallybayes.reporting.sections.quality import BESIDE, bins_of, confusion_heads, confusion_rows
from tallybayes.reporting.side_by_side import SideBySide

__all__ = ["SIDE_BY_SIDE_SECTIONS", "versus"]

_APART = 8  # rows that are listed; all are in the download
_SHARES = ("accuracy", "sensitivity", "specificity")


def versus(data: SideBySide) -> dict[str, Any]:
    """Return the figures of the first screen: those of both models."""
    a, b = data.answers
    tiles = [
        {"title": one.name, "values": [_written(one), _written(other)], "plain": _written(one, plain=True)}
        for one, other in zip(a.figures, b.figures, strict=True)
    ]
    error = [number(one.after.ece, 3) for one in data.answers]
    return {"tiles": [*tiles, {"title": "calibration error", "values": error, "plain": ""}], "said": data.verdict()}


def _written(one: Figure, *, plain: bool = False) -> str:
    value = one.plain if plain else one.value
    return percent(value) if one.name in _SHARES else number(value, 3)


def _performance(data: SideBySide, charts: Figures) -> dict[str, Any]:
    return {"table": data.figures(), "by_class": _by_class(data), "remarks": data.remarks}


def _by_class(data: SideBySide) -> Grid:
    a, b = (one.evaluation for one in data.answers)
    order = np.argsort(-a.confusion.support, kind="stable")[:CLASSES]
    rows = []
    for c in order.tolist():
        name = a.classes[c]
        other = b.classes.index(name) if name in b.classes else None
        found = [float(a.f1[c]), float("nan") if other is None else float(b.f1[other])]
        areas = [one.curves[name].auc if name in one.curves else float("nan") for one in (a, b)]
        rows.append((str(name), *map(percent, found), *(number(area, 3) for area in areas)))
    heads = [f"{what}, {name}" for what in ("F1", "AUC") for name in data.names]
    return Grid("", ("class", *heads), tuple(rows))


def _reliability(data: SideBySide, charts: Figures) -> dict[str, Any]:
    of = "the most probable class" if data.answers[0].positive is None else str(data.answers[0].positive)
    both = list(zip(data.names, data.answers, strict=True))
    points = [point for name, one in both for point in bins_of(name, one.after)]
    chart = reliability_chart(points, data.names[::-1], of)  # the first model in the first colour
    return {"charts": charts.add("reliability", chart), "of": of}


def _curves(data: SideBySide, charts: Figures) -> dict[str, Any] | None:
    a, b = (one.evaluation for one in data.answers)
    shared = [name for name in a.curves if name in b.curves]
    if not shared:
        return None
    support = dict(zip(a.classes, a.confusion.support, strict=True))
    positive = data.answers[0].positive
    of = positive if positive in shared else max(shared, key=lambda name: support[name])
    points = [p for name, one in zip(data.names, (a, b), strict=True) for p in _points(name, one.curves[of])]
    areas = [
        f"{name} {number(one.curves[of].auc, 3)}, average precision {number(one.curves[of].average_precision, 3)}"
        for name, one in zip(data.names, (a, b), strict=True)
    ]
    return {"charts": charts.add("roc", two_roc_chart(points, data.names)), "of": str(of), "areas": "; ".join(areas)}


def _points(model: str, curve: RocCurve) -> list[dict[str, Any]]:
    thin = curve.thinned(200)
    each = zip(thin.fpr, thin.tpr, thin.thresholds, strict=True)
    return [
        {"model": model, "at": k, "fpr": float(x), "tpr": float(y), "threshold": finite(float(t))}
        for k, (x, y, t) in enumerate(each)
    ]


def _apart(data: SideBySide, charts: Figures) -> dict[str, Any]:
    """Return the rows that the two decide differently: how many, the most different ones, and all as csv."""
    found = data.agreement
    a, b = data.answers
    names = [[safe(str(name)) for name in one.evaluation.classes] for one in (a, b)]
    lines = [
        (
            row + 1,
            names[0][a.true[row]],
            names[0][a.decided[row]],
            names[1][b.decided[row]],
            f"{np.exp(-a.losses[row]):.4g}",
            f"{np.exp(-b.losses[row]):.4g}",
        )
        for row in data.disagreements[:DOWNLOADED].tolist()
    ]
    heads = ("row", "true", *data.names, *(f"P(true), {name}" for name in data.names))
    return {
        "agreement": found,
        "total": sum(found),
        "table": Grid("", heads, tuple((f"{line[0]:,}", *line[1:]) for line in lines[:_APART])),
        "count": f"{len(data.disagreements):,}",
        "download": as_csv([*map(safe, heads)], lines) if lines else "",
    }


def _confusion(data: SideBySide, charts: Figures) -> dict[str, Any] | None:
    seen = [one.evaluation.confusion for one in data.answers]
    if any(len(one.classes) > CLASSES for one in seen):
        return None
    each = [
        confusion_heads(one) | {"name": name, "rows": confusion_rows(one)}
        for name, one in zip(data.names, seen, strict=True)
    ]
    return {"models": each, "narrow": len(seen[0].classes) <= BESIDE}


def _columns(data: SideBySide, charts: Figures) -> dict[str, Any]:
    return {"table": data.column_table(), "options": data.option_table()}


def _origin(data: SideBySide, charts: Figures) -> dict[str, Any]:
    return {"origin": data.origin}


SIDE_BY_SIDE_SECTIONS: tuple[tuple[str, str, Callable[[SideBySide, Figures], dict[str, Any] | None]], ...] = (
    ("answer", "Performance", _performance),
    ("reliability", "Reliability", _reliability),
    ("costs", "ROC curves", _curves),
    ("apart", "Where they differ", _apart),
    ("confusion", "Confusion", _confusion),
    ("columns", "Columns and options", _columns),
    ("reproduce", "Reproduce", _origin),
)
