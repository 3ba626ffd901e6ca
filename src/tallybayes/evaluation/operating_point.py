"""The cheapest point of a ROC curve, for a class ratio and two error costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.display.tables import Grid, Result, number
from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Floats


@dataclass(frozen=True, repr=False)
class OperatingPoint(Result):
    """A decision threshold, with its expected error rates and cost.

    Attributes
    ----------
    threshold : float
        Decide for the positive class at this score or above (below it, if `reversed`). Infinite: never decide for it.
    fpr, tpr : float
        The false and true positive rates.
    cost : float
        The expected cost per row.
    slope : float
        The slope of a line of equal cost: ratio × cost of a false positive / cost of a false negative.
    reversed : bool
        Whether decisions are reversed: for the positive class *below* the threshold.
    """

    threshold: float
    fpr: float
    tpr: float
    cost: float
    slope: float
    reversed: bool = False

    @property
    def specificity(self) -> float:
        """The share of negatives not called positive."""
        return 1 - self.fpr

    def shown(self) -> Grid:
        """Return the point as a table of one row."""
        rule = f"score {'<' if self.reversed else '≥'} {number(self.threshold)}"
        cells = (rule, *(number(value) for value in (self.fpr, self.tpr, self.cost, self.slope)))
        return Grid("", ("positive where", "fpr", "tpr", "cost per row", "slope"), (cells,))


def cheapest(fpr: Floats, tpr: Floats, ratio: float, costs: Any) -> tuple[int, float, float]:
    """Return the position of the cheapest point, its cost, and the equal-cost slope.

    The cost is the expected cost per row. Of several points with equal cost, the one with the fewest false positives
    is returned.

    Examples
    --------
    >>> fpr, tpr = np.array([0.0, 0.25, 1.0]), np.array([0.0, 0.75, 1.0])
    >>> cheapest(fpr, tpr, 1.0, (1.0, 1.0))             # (0.25 + 0.25) / 2
    (1, 0.25, 1.0)
    >>> cheapest(fpr, tpr, 1.0, (1.0, 9.0))[0]          # a miss costs as much as nine false alarms: call all positive
    2
    """
    false_positive, false_negative = _pair(costs)
    if not (isinstance(ratio, int | float | np.number) and 0 < ratio < math.inf):
        raise BadOption(wanted("ratio", "a number above 0 (negatives per positive)", repr(ratio)))
    cost = (false_positive * ratio * fpr + false_negative * (1 - tpr)) / (1 + ratio)
    slope = ratio * false_positive / false_negative if false_negative else math.inf
    best = int(np.argmin(cost))
    return best, float(cost[best]), float(slope)


def _pair(costs: Any) -> tuple[float, float]:
    want = "two numbers not below 0 (the costs of a false positive and of a false negative)"
    try:
        pair = np.asarray(costs, np.float64)
    except (TypeError, ValueError):
        raise BadOption(wanted("costs", want, repr(costs))) from None
    if pair.shape != (2,):
        raise BadOption(wanted("costs", want, f"an array of shape {pair.shape}"))
    if not (np.isfinite(pair).all() and (pair >= 0).all() and pair.any()):
        raise BadOption(wanted("costs", want + ", not both 0", f"{pair.tolist()}"))
    return float(pair[0]), float(pair[1])
