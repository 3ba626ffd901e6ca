"""Decisions from probabilities: the most probable class, the cheapest, one past a threshold, or none.

The decision is none where the best class is too improbable (`abstain`), or where too little was counted to know that
it is the most probable (`confidence`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.arguments import index_of, shown
from tallybayes.categories import Categories
from tallybayes.errors import BadOption, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.options import is_finite
from tallybayes.inference.uncertainty import z_of

__all__ = ["ABSTAIN", "decide"]

ABSTAIN = -1


def decide(
    probabilities: Floats,
    classes: Categories,
    *,
    costs: npt.ArrayLike | None = None,
    threshold: Mapping[Any, float] | None = None,
    abstain: float | None = None,
    confidence: float | None = None,
    lead: Floats | None = None,
) -> npt.NDArray[np.intp]:  # (n,)
    """Return the position of each row's decided class, −1 where the decision is to abstain.

    Parameters
    ----------
    probabilities : ndarray, shape (n, C)
        The probability of each class.
    classes : Categories
        The classes.
    costs : array_like, shape (C, C), optional
        ``costs[i][j]`` is the cost of deciding for class i when class j is true.
    threshold : mapping, optional
        Decide for a class if its probability reaches the given number, such as ``{"spam": 0.9}``. If several classes
        do, decide for the most probable of them; if none does, for the most probable class without a threshold.
    abstain : float, optional
        Abstain where the decided class has a probability below this.
    confidence : float, optional
        Abstain where the most probable class is not ahead of every other at this level, such as 0.95.
    lead : ndarray, shape (n,), optional
        The number of standard deviations by which it is ahead; needed for `confidence`.

    Examples
    --------
    >>> p = np.array([[0.3, 0.7]]); classes = Categories.of(["ham", "spam"])
    >>> decide(p, classes), decide(p, classes, costs=[[0, 1], [10, 0]])      # losing ham costs ten times as much
    (array([1]), array([0]))
    >>> decide(p, classes, threshold={"spam": 0.9}), decide(p, classes, abstain=0.8)
    (array([0]), array([-1]))
    >>> decide(p, classes, confidence=0.95, lead=np.array([1.5]))
    array([-1])
    """
    if costs is not None and threshold is not None:
        raise BadOption(wanted("decision", "either costs or a threshold", "both"))
    if confidence is not None and (costs is not None or threshold is not None):
        got = "costs" if costs is not None else "a threshold"
        raise BadOption(wanted("confidence", "a decision for the most probable class", got, "Leave one of them out"))
    if costs is not None:
        best = np.argmin(probabilities @ _costs(costs, len(classes)).T, axis=1)
    elif threshold is not None:
        best = np.argmax(_past(threshold, probabilities, classes), axis=1)
    else:
        best = np.argmax(probabilities, axis=1)
    if abstain is not None:
        if not is_finite(abstain) or not 0 <= abstain <= 1:
            raise BadOption(wanted("abstain", "a probability from 0 to 1", repr(abstain)))
        unsure = np.take_along_axis(probabilities, best[:, None], axis=1)[:, 0] < abstain
        best = np.where(unsure, ABSTAIN, best)
    if confidence is not None:
        assert lead is not None
        best = np.where(lead >= z_of(confidence, "confidence"), best, ABSTAIN)  # NaN is not ahead
    return np.asarray(best, np.intp)


def _costs(costs: npt.ArrayLike, size: int) -> Floats:
    try:
        matrix = np.asarray(costs, np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        got = f"an array of shape {matrix.shape}"
        raise BadOption(wanted("costs", f"a {size} × {size} matrix of finite numbers, decided × true", got))
    return matrix


def _past(threshold: Mapping[Any, float], probabilities: Floats, classes: Categories) -> Floats:
    """Return scores that put classes past their threshold first, and those not past it last."""
    if not isinstance(threshold, Mapping):
        raise BadOption(wanted("threshold", "a probability for each class", shown(threshold)))
    scores = probabilities.copy()
    for name, least in threshold.items():
        c = index_of(name, classes.values)
        if c is None:
            raise BadOption(wanted("threshold", "a class", shown(name), did_you_mean(name, map(str, classes.values))))
        if not is_finite(least) or not 0 <= least <= 1:
            raise BadOption(wanted("threshold", "a probability from 0 to 1", shown(least)))
        scores[:, c] += np.where(probabilities[:, c] >= least, 2.0, -2.0)
    return scores
