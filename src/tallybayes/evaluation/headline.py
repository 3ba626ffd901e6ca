"""The headline figures with their intervals, for a model and for the majority-class baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tallybayes.arguments import instance
from tallybayes.evaluation.evaluate import Evaluation, evaluate
from tallybayes.evaluation.inputs import class_names, places, row_weights
from tallybayes.evaluation.proportions import LEVEL, wilson
from tallybayes.events.inputs import Floats
from tallybayes.inference.uncertainty import z_of


class Figure(NamedTuple):
    """A figure with its 95 % interval.

    Attributes
    ----------
    value : float
        The measured value.
    low, high : float
        Its 95 % interval; NaN where there is none.
    """

    value: float
    low: float
    high: float


def majority(labels: Any, classes: Iterable[Any], *, weights: Any = None) -> Evaluation:
    """Evaluate the baseline that gives every row the class shares as probabilities.

    Examples
    --------
    >>> plain = majority(["ham", "ham", "ham", "spam"], ["ham", "spam"])
    >>> plain.accuracy, plain["ham"].sensitivity, plain["spam"].sensitivity
    (0.75, 1.0, 0.0)
    """
    names = class_names(classes)
    true = places(labels, names)
    shares = np.bincount(true, row_weights(weights, len(true)), len(names))
    return evaluate(labels, np.tile(shares / shares.sum(), (len(true), 1)), names, weights=weights)


def headline(seen: Evaluation, positive: Any = None, level: float = LEVEL) -> dict[str, Figure]:
    """Return accuracy, log-loss, sensitivity, specificity and AUC, with their intervals.

    Parameters
    ----------
    seen : Evaluation
        The evaluation that the figures are taken from.
    positive : object, optional
        The class whose sensitivity and specificity are returned. By default they are averaged over all classes with
        equal weight.
    level : float
        The confidence level of the intervals.

    Notes
    -----
    Shares have Wilson's interval, areas DeLong's, and log-loss the normal interval of a mean. An averaged sensitivity
    is a mean of independent shares, so their variances add. An averaged specificity is not, and has no interval.

    Examples
    --------
    >>> seen = evaluate(["ham"] * 4 + ["spam"] * 4, [[0.8, 0.2]] * 5 + [[0.2, 0.8]] * 3, ["ham", "spam"])
    >>> found = headline(seen, "spam")
    >>> found["accuracy"].value, found["sensitivity"].value, found["specificity"].value
    (0.875, 0.75, 1.0)
    """
    z = z_of(level)
    loss = instance("seen", seen, Evaluation, "an Evaluation, as `evaluate` returns it").loss
    figures = {
        "accuracy": Figure(seen.accuracy, *seen.accuracy_interval(level)),
        "log-loss": Figure(loss.mean, loss.mean - z * loss.error, loss.mean + z * loss.error)
        if np.isfinite(loss.mean)
        else Figure(loss.mean, float("nan"), float("nan")),
    }
    if positive is not None:
        own = seen[positive]
        figures["sensitivity"] = _share(own.sensitivity, own.tp + own.fn, level)
        figures["specificity"] = _share(own.specificity, own.tn + own.fp, level)
    else:
        figures["sensitivity"] = _mean_share(seen.sensitivity, seen.confusion.support, z)
        figures["specificity"] = Figure(seen.macro.specificity, float("nan"), float("nan"))
    figures["AUC"] = _area(list(seen.curves.values()), seen.auc, level)
    return figures


def _share(share: float, count: float, level: float) -> Figure:
    low, high = wilson(share, count, level)
    return Figure(share, float(low), float(high))


def _mean_share(shares: Floats, counts: Floats, z: float) -> Figure:
    defined = ~np.isnan(shares)
    s, n = shares[defined], counts[defined]
    if not len(s):
        return Figure(*[float("nan")] * 3)
    mean, error = float(s.mean()), float(np.sqrt((s * (1 - s) / n).sum())) / len(s)
    return Figure(mean, max(0.0, mean - z * error), min(1.0, mean + z * error))


def _area(curves: Sequence[Any], mean: float, level: float) -> Figure:
    if len(curves) != 1:
        return Figure(mean, float("nan"), float("nan"))
    return Figure(mean, *curves[0].interval(level))
