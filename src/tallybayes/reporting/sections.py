"""The contents of each section of the page: text, tables and charts for the template.

Nothing is computed here. A section is a dict, read by the block of the same name in ``template/page.html``.
"""

from __future__ import annotations

import base64
import csv
import io
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tallybayes.display.charts.column import column_chart, horizontal_bar_chart, words_chart
from tallybayes.display.charts.explanation import explanation_chart
from tallybayes.display.charts.reliability import reliability_chart
from tallybayes.display.charts.roc import roc_chart
from tallybayes.display.tables import Column, Grid, Sheet, number
from tallybayes.evaluation import Calibration
from tallybayes.evaluation.roc import RocCurve
from tallybayes.explain.tables import Table, WordTable
from tallybayes.reporting.columns import ColumnFacts
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.performance import Answer, CostStep, Figure

# Most classes in tables, ROC curves, values of a column, classes in a legend, and notes: more would not be read.
_CLASSES, _CURVES, _VALUES, _LEGEND, _NOTES = 12, 6, 12, 6, 3
_SHORT = 8  # columns; a longer nomogram is folded
_DOWNLOADED = 10_000  # wrong rows; more would make the page heavy
_HOW = {"loo": "leave-one-out, each row by all other rows", "new rows": "none of them was used to fit it"}


class Figures(Protocol):
    """The collection that charts are added to."""

    specs: dict[str, Any]
    sliders: dict[str, Any]

    def add(self, name: str, chart: Any) -> list[str]:
        """Add a chart, and return the names of its panels."""


def the_data(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the classes, the remarks, and the facts about each column."""
    shares = zip(data.prior.classes, data.prior.rows, data.prior.shares, strict=True)
    ordered = sorted(shares, key=lambda one: -one[1])
    return {
        "classes": [
            {"name": str(name), "rows": f"{rows:,.6g}" if rows % 1 else f"{rows:,.0f}", "share": _percent(share)}
            for name, rows, share in ordered[:_CLASSES]
        ],
        "more_classes": max(0, len(ordered) - _CLASSES),
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
    ends = ", ".join(one.common) if one.low is None else f"{_value(one.low)} to {_value(one.high)}"
    return one.name, one.kind, one.event, f"{one.missing:,}" if one.missing else "–", f"{one.distinct:,}", ends


def the_answer(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the headline figures, and the figures by class."""
    answer = data.answer
    accuracy = answer["accuracy"]
    named = f" of {answer.positive}" if answer.positive is not None else ", classes averaged"
    titles = {"sensitivity": f"sensitivity{named}", "specificity": f"specificity{named}", "AUC": "area under the curve"}
    return {
        "how": _HOW.get(answer.how, f"{answer.how}, each fold by the other folds"),
        "rows": f"{answer.rows:,}",
        "accuracy": _percent(accuracy.value),
        "low": _percent(accuracy.low),
        "high": _percent(accuracy.high),
        "majority": str(answer.majority),
        "plain": _percent(accuracy.plain),
        "better": accuracy.low > accuracy.plain,
        "worse": accuracy.high < accuracy.plain,
        "behind": _behind(answer) if answer.worse_than_prior else "",
        "tiles": [_tile(one, titles.get(one.name, one.name)) for one in answer.standings],
        "table": _few_notes(replace(answer.shown(), title="")),
        "by_class": _by_class(data),
    }


def _behind(answer: Answer) -> str:
    """Return a sentence on a model whose probabilities are worse than the class shares."""
    loss = answer["log-loss"]
    if math.isinf(loss.value):
        return "Their log-loss is infinite: a true class had probability 0. Smoothing (alpha above 0) avoids this."
    by = f"{number(answer.behind, 3)} ± {number(answer.behind_error, 3)} nats per row"
    return (
        f"Their log-loss is {number(loss.value, 3)}; the class shares alone, without any column, have "
        f"{number(loss.plain, 3)}: the model is worse by {by}. The columns say too little about "
        "the class, or the rows are too few."
    )


def _few_notes(grid: Grid) -> Grid:
    more = len(grid.notes) - _NOTES
    return replace(grid, notes=(*grid.notes[:_NOTES], f"and {more} more notes")) if more > 1 else grid


def _tile(one: Figure, title: str) -> dict[str, Any]:
    share = one.name in ("accuracy", "sensitivity", "specificity")
    write: Callable[[float], str] = _percent if share else lambda x: number(x, 3)
    interval = "" if math.isnan(one.low) else f"{write(one.low)} to {write(one.high)}"
    return {"title": title, "value": write(one.value), "interval": interval, "plain": write(one.plain)}


def _by_class(data: ReportData) -> Grid:
    seen = data.answer.evaluation
    support = seen.confusion.support
    order = sorted(range(len(seen.classes)), key=lambda c: -support[c])[:_CLASSES]
    columns = [seen.sensitivity, seen.specificity, seen.precision, seen.f1]
    rows = tuple(
        (
            str(seen.classes[c]),
            number(support[c], 1),
            *(_percent(float(column[c])) for column in columns),
            _auc(seen, c),
        )
        for c in order
    )
    more = len(seen.classes) - len(order)
    notes = (f"and {more} more classes with fewer rows",) if more > 0 else ()
    return Grid("", ("class", "rows", "sensitivity", "specificity", "precision", "F1", "AUC"), rows, notes)


def _auc(seen: Any, c: int) -> str:
    curve = seen.curves.get(seen.classes[c])
    return "" if curve is None else number(curve.auc, 3)


def the_reliability(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the calibration of the probabilities, as chart and tables."""
    answer = data.answer
    of = "the most probable class" if answer.positive is None else str(answer.positive)
    stages = {"before calibration": answer.before, "after calibration": answer.after}
    if not answer.calibrated:
        stages = {"not calibrated": answer.after}
    points = [point for when, bins in stages.items() for point in _bins(when, bins)]
    return {
        "of": of,
        "charts": charts.add("reliability", reliability_chart(points, list(stages), of)),
        "tables": [(when, replace(bins.shown(), title="")) for when, bins in reversed(stages.items())],
        "before": number(answer.before.ece, 3),
        "after": number(answer.after.ece, 3),
        "calibrated": answer.calibrated,
    }


def _bins(when: str, bins: Calibration) -> list[dict[str, Any]]:
    names = ("confidence", "observed", "low", "high", "count")
    filled = [row for row in zip(*(getattr(bins, name) for name in names), strict=True) if row[-1] > 0]
    keys = ("given", "observed", "low", "high", "rows")
    return [{"when": when, **dict(zip(keys, map(float, row), strict=True))} for row in filled]


def the_costs(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return ROC curves, and the cheapest threshold for each position of the slider."""
    answer = data.answer
    support = dict(zip(answer.evaluation.classes, answer.evaluation.confusion.support, strict=True))
    curves = sorted(answer.evaluation.curves.items(), key=lambda item: -support[item[0]])
    blocks = []
    for k, (name, curve) in enumerate(curves[:_CURVES]):
        steps = [_step(step, str(name)) for step in answer.costs[name]]
        middle = len(steps) // 2
        [drawn] = charts.add(f"roc-{k}", roc_chart(_curve(curve), steps[middle]["point"], steps[middle]["line"]))
        charts.sliders[drawn] = steps
        low, high = curve.interval()
        share = curve.positives / (curve.positives + curve.negatives)
        area = (
            f"{curve.auc:.3f} ({low:.3f} to {high:.3f}); under the hull {curve.hull.auc:.3f}. Average precision: "
            f"{curve.average_precision:.3f}, where guessing has {share:.3f}"
        )
        blocks.append({"name": str(name), "chart": drawn, "steps": steps, "middle": middle, "area": area})
    return {"blocks": blocks, "more": max(0, len(curves) - _CURVES)}


def _curve(curve: RocCurve) -> list[dict[str, Any]]:
    thin, hull = curve.thinned(200), curve.hull
    parts = {"curve": (thin.fpr, thin.tpr, thin.thresholds), "hull": (hull.fpr, hull.tpr, hull.thresholds)}
    return [
        {"which": which, "at": k, "fpr": float(x), "tpr": float(y), "threshold": _finite(float(t))}
        for which, columns in parts.items()
        for k, (x, y, t) in enumerate(zip(*columns, strict=True))
    ]


def _step(step: CostStep, name: str) -> dict[str, Any]:
    point = step.point
    if step.false_positive == step.false_negative:
        said = f"A missed {name} and a false alarm cost the same."
    elif step.false_positive < step.false_negative:
        said = f"A missed {name} costs as much as {step.false_negative:g} false alarms."
    else:
        said = f"A false alarm costs as much as {step.false_positive:g} missed rows of {name}."
    rule = "never" if math.isinf(point.threshold) else f"probability ≥ {point.threshold:.3g}"
    return {
        "said": said,
        "threshold": rule,
        "sensitivity": _percent(point.tpr),
        "specificity": _percent(point.specificity),
        "cost": number(point.cost, 4),
        "point": [{"fpr": point.fpr, "tpr": point.tpr, "threshold": _finite(point.threshold)}],
        "line": [{"fpr": x, "tpr": y} for x, y in step.line],
    }


def the_confusion(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the confusion matrix, or the most frequent mistakes if it is too wide."""
    seen = data.answer.evaluation.confusion
    if len(seen.classes) > _CLASSES:
        return {"classes": [], "table": seen.shown()}
    rows = zip(seen.classes, seen.matrix, seen.shares, strict=True)
    return {
        "classes": [str(name) for name in seen.classes],
        "rows": [
            (str(name), [_confused(n, share, c == k) for c, (n, share) in enumerate(zip(counts, shares, strict=True))])
            for k, (name, counts, shares) in enumerate(rows)
        ],
        "table": None,
    }


def _confused(n: float, share: float, right: bool) -> dict[str, Any]:
    shade = "0%" if math.isnan(share) else f"{share:.0%}"
    return {"rows": number(n, 1), "share": _percent(share), "shade": shade, "right": right}


def the_learning(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the learning curve."""
    if data.learning is None:
        return {"charts": [], "table": None}
    names = charts.add("learning", data.learning.chart())
    return {"charts": names, "table": data.learning.shown(), "compared": len(data.learning.models) > 1}


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
    note = f"and {len(table.rows) - _VALUES} more values" if len(table.rows) > _VALUES else ""
    table = table.frequent(_VALUES)
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
            for one in found.drifted()[:_VALUES]
        ],
        "more": max(0, len(found.drifted()) - _VALUES),
        "tested": sum(not math.isnan(one.p) for one in found.columns),
        "table": replace(shown, title=""),
    }


def the_mistakes(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the worst mistakes, explained, and all wrong rows as csv to download."""
    wrong = np.flatnonzero((data.answer.true >= 0) & (data.answer.true != data.answer.decided))
    some = f"the first {_DOWNLOADED:,} of {len(wrong):,} wrong rows" if len(wrong) > _DOWNLOADED else ""
    return {
        "download": _as_download(data, wrong[:_DOWNLOADED]) if len(wrong) else "",
        "wrong": (some or f"the {len(wrong):,} wrong rows" if len(wrong) != 1 else "the wrong row") + " (csv)",
        "rows": [
            {
                "row": f"{one.row:,}",
                "true": str(one.true),
                "decided": str(one.decided),
                "probability": _percent(one.probability),
                "texts": one.texts,
                "charts": charts.add(f"mistake-{k}", explanation_chart(one.why.points(), "")),
                "table": replace(one.why.shown(), title=""),
            }
            for k, one in enumerate(data.mistakes)
        ],
    }


def _as_download(data: ReportData, wrong: npt.NDArray[np.intp]) -> str:
    """Return row number, true class, decided class and probability of the true class, as a csv in a data URI."""
    answer = data.answer
    names = [_safe(str(name)) for name in answer.evaluation.classes]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "true", "predicted", "P(true)"])
    for row in wrong.tolist():
        chance = f"{math.exp(-answer.losses[row]):.6g}"
        writer.writerow([row + 1, names[answer.true[row]], names[answer.decided[row]], chance])
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.getvalue().encode()).decode()}"


def _safe(text: str) -> str:
    """Return text that a spreadsheet does not run as a formula."""
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text


def the_origin(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the data needed to reproduce the report."""
    return {"origin": data.origin}


SECTIONS: tuple[tuple[str, str, Callable[[ReportData, Figures], dict[str, Any]]], ...] = (
    ("data", "Data", the_data),
    ("answer", "Performance", the_answer),
    ("reliability", "Reliability", the_reliability),
    ("costs", "Thresholds and costs", the_costs),
    ("confusion", "Confusion", the_confusion),
    ("learning", "Learning curve", the_learning),
    ("columns", "Columns by class", the_columns),
    ("importance", "Importance", the_importance),
    ("dependence", "Dependence", the_dependence),
    ("nomogram", "Nomogram", the_nomogram),
    ("drift", "Drift", the_drift),
    ("mistakes", "Worst mistakes", the_mistakes),
    ("reproduce", "Reproduce", the_origin),
)


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.1%}".replace("%", " %")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
