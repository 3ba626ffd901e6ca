"""The sections on the quality of the model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tallybayes.display.charts.reliability import reliability_chart
from tallybayes.display.charts.roc import precision_chart, roc_chart
from tallybayes.display.tables import Grid, number
from tallybayes.evaluation import Confusion, OperatingPoint, Reliability
from tallybayes.evaluation.roc import RocCurve
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.performance import CostStep, Figure, Performance
from tallybayes.reporting.sections.format import CLASSES, Figures, finite, percent, short_names

# Most ROC curves and notes: more would not be read.
_CURVES, _NOTES = 6, 3
_MODELS = {"ridge": "logistic regression"}
_RARE = 3  # rows; all rows of such a class may be held out together
_NAMED = 17  # letters of a class that fit into a table beside another
_HEAD, _ROW_HEAD = 12, 38  # letters that fit over a column of a confusion matrix, and before its rows
BESIDE = 4  # classes; a wider confusion matrix does not fit beside another section
_HOW = {"loo": "leave-one-out, each row by all other rows", "new rows": "none of them was used to fit it"}


def the_answer(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the headline figures, and the figures by class."""
    answer = data.answer
    accuracy = answer["accuracy"]
    named = f" of {answer.positive}" if answer.positive is not None else ", classes averaged"
    titles = {"sensitivity": f"sensitivity{named}", "specificity": f"specificity{named}", "AUC": "area under the curve"}
    return {
        "how": _HOW.get(answer.how, f"{answer.how}, each fold by the other folds"),
        "rows": f"{answer.rows:,}",
        "accuracy": percent(accuracy.value),
        "low": percent(accuracy.low),
        "high": percent(accuracy.high),
        "majority": str(answer.majority),
        "plain": percent(accuracy.plain),
        "better": accuracy.low > accuracy.plain,
        "worse": accuracy.high < accuracy.plain,
        "warning": _warning(answer) if answer.worse_than_prior else "",
        "tiles": [_tile(one, titles.get(one.name, one.name)) for one in answer.figures],
        "table": _few_notes(replace(answer.shown(), title="")),
        "by_class": _by_class(data),
    }


def _warning(answer: Performance) -> str:
    """Return a sentence on a model whose probabilities are worse than the class shares."""
    loss = answer["log-loss"]
    if math.isinf(loss.value):
        rare = answer.evaluation.confusion.support[np.unique(answer.true[np.isposinf(answer.losses)])].max() < _RARE
        return "Their log-loss is infinite: a true class had probability 0. " + (
            f"It is a class with fewer than {_RARE} rows, all of them held out at once: leave such classes out."
            if rare
            else "Smoothing (alpha above 0) avoids this."
        )
    by = f"{number(answer.above_prior, 3)} ± {number(answer.above_prior_error, 3)} nats per row"
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
    write: Callable[[float], str] = percent if share else lambda x: number(x, 3)
    interval = "" if math.isnan(one.low) else f"{write(one.low)} to {write(one.high)}"
    return {"title": title, "value": write(one.value), "interval": interval, "plain": write(one.plain)}


def _by_class(data: ReportData) -> Grid:
    seen = data.answer.evaluation
    support = seen.confusion.support
    order = sorted(range(len(seen.classes)), key=lambda c: -support[c])[:CLASSES]
    columns = [seen.sensitivity, seen.specificity, seen.precision, seen.f1]
    names = dict(zip(order, short_names([seen.classes[c] for c in order], _NAMED), strict=True))
    rows = tuple(
        (
            names[c],
            number(support[c], 1),
            *(percent(float(column[c])) for column in columns),
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
    points = [point for when, bins in stages.items() for point in bins_of(when, bins)]
    return {
        "of": of,
        "charts": charts.add("reliability", reliability_chart(points, list(stages), of)),
        "stages": list(stages),
        "tables": [(when, replace(bins.shown(), title="")) for when, bins in reversed(stages.items())],
        "before": number(answer.before.ece, 3),
        "after": number(answer.after.ece, 3),
        "calibrated": answer.calibrated,
    }


def bins_of(when: str, bins: Reliability) -> list[dict[str, Any]]:
    """Return the bins that have rows, as the chart draws them."""
    return [{"when": when, **point} for point in bins.points()]


def the_costs(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return ROC curves, and the cheapest threshold for each position of the slider."""
    answer = data.answer
    support = dict(zip(answer.evaluation.classes, answer.evaluation.confusion.support, strict=True))
    first = answer.positive  # then the most frequent class
    curves = sorted(answer.evaluation.curves.items(), key=lambda item: (item[0] != first, -support[item[0]]))
    blocks = []
    for k, (name, curve) in enumerate(curves[:_CURVES]):
        steps = [_step(step, str(name), curve) for step in answer.costs[name]]
        middle = len(steps) // 2
        share = curve.positives / (curve.positives + curve.negatives)
        [drawn] = charts.add(f"roc-{k}", roc_chart(_curve(curve), steps[middle]["point"], steps[middle]["line"]))
        [beside] = charts.add(f"precision-{k}", precision_chart(_precision(curve), steps[middle]["found"], share))
        charts.sliders[drawn] = steps
        low, high = curve.interval()
        area = (
            f"{curve.auc:.3f} ({low:.3f} to {high:.3f}); under the hull {curve.hull.auc:.3f}. Average precision: "
            f"{curve.average_precision:.3f}, where guessing has {share:.3f}"
        )
        blocks.append(
            {"name": str(name), "chart": drawn, "precision": beside, "steps": steps, "middle": middle, "area": area}
        )
    return {"blocks": blocks, "more": max(0, len(curves) - _CURVES)}


def _curve(curve: RocCurve) -> list[dict[str, Any]]:
    thin, hull = curve.thinned(200), curve.hull
    parts = {"curve": (thin.fpr, thin.tpr, thin.thresholds), "hull": (hull.fpr, hull.tpr, hull.thresholds)}
    return [
        {"which": which, "at": k, "fpr": float(x), "tpr": float(y), "threshold": finite(float(t))}
        for which, columns in parts.items()
        for k, (x, y, t) in enumerate(zip(*columns, strict=True))
    ]


def _precision(curve: RocCurve) -> list[dict[str, Any]]:
    thin = curve.thinned(200)
    columns = (thin.recall, thin.precision, thin.thresholds)
    return [
        {"at": k, "recall": float(x), "precision": float(y), "threshold": finite(float(t))}
        for k, (x, y, t) in enumerate(zip(*columns, strict=True))
    ]


def _step(step: CostStep, name: str, curve: RocCurve) -> dict[str, Any]:
    point = step.point
    if step.false_positive == step.false_negative:
        said = f"A missed {name} and a false alarm cost the same."
    elif step.false_positive < step.false_negative:
        said = f"A missed {name} costs as much as {step.false_negative:g} false alarms."
    else:
        said = f"A false alarm costs as much as {step.false_positive:g} missed rows of {name}."
    rule = "never" if math.isinf(point.threshold) else f"P ≥ {point.threshold:.3g}"
    return {
        "said": said,
        "threshold": rule,
        "sensitivity": percent(point.tpr),
        "specificity": percent(point.specificity),
        "precision": percent(_found(point, curve)["precision"]),
        "cost": number(point.cost, 4),
        "point": [{"fpr": point.fpr, "tpr": point.tpr, "threshold": finite(point.threshold)}],
        "found": [_found(point, curve)],
        "line": [{"fpr": x, "tpr": y} for x, y in step.line],
    }


def _found(point: OperatingPoint, curve: RocCurve) -> dict[str, Any]:
    """Return the point of the precision-recall curve at the same threshold."""
    right, wrong = point.tpr * curve.positives, point.fpr * curve.negatives
    precision = right / (right + wrong) if right + wrong > 0 else 1.0
    return {"recall": point.tpr, "precision": precision, "threshold": finite(point.threshold)}


def the_confusion(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the confusion matrix, or the most frequent mistakes if it is too wide."""
    seen = data.answer.evaluation.confusion
    if len(seen.classes) > CLASSES:
        return {"classes": [], "narrow": False, "table": seen.shown()}
    return confusion_heads(seen) | {"narrow": len(seen.classes) <= BESIDE, "rows": confusion_rows(seen), "table": None}


def confusion_heads(seen: Confusion) -> dict[str, Any]:
    """Return the classes of a confusion matrix, and whether its columns have numbers in place of long names."""
    names = [str(name) for name in seen.classes]
    numbered = len(names) > BESIDE and max(map(len, names)) > _HEAD
    return {"classes": names, "numbered": numbered, "short": short_names(names, _ROW_HEAD)}


def confusion_rows(seen: Confusion) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the cells of a confusion matrix, row by row."""
    rows = zip(seen.classes, seen.matrix, seen.shares, strict=True)
    return [
        (str(name), [_confused(n, share, c == k) for c, (n, share) in enumerate(zip(counts, shares, strict=True))])
        for k, (name, counts, shares) in enumerate(rows)
    ]


def _confused(n: float, share: float, right: bool) -> dict[str, Any]:
    shade = "0%" if math.isnan(share) else f"{share:.0%}"
    return {"rows": number(n, 1), "share": percent(share), "shade": shade, "right": right}


def the_learning(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the learning curve."""
    if data.learning is None:
        return {"charts": [], "table": None}
    names = charts.add("learning", data.learning.chart())
    return {
        "charts": names,
        "models": [_MODELS.get(name, name) for name in data.learning.models],
        "table": data.learning.shown(),
        "compared": len(data.learning.models) > 1,
    }
