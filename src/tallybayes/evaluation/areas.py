"""The area under a ROC curve, its variance by DeLong, and an interval for it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tallybayes.encoded import Floats
from tallybayes.evaluation.intervals import LEVEL, quantile, wilson

__all__ = ["Area", "area", "interval"]


class Area(NamedTuple):
    """The area under a curve, and the variance of that estimate (NaN where there is only one row of a class)."""

    auc: float
    variance: float


def area(positives: Floats, negatives: Floats) -> Area:
    """The area, and its variance, from the weight of both classes at each score, from the highest score down.

    Parameters
    ----------
    positives, negatives : ndarray, shape (T,)
        The number (weight) of rows of each kind at each of T distinct scores, highest first.

    Notes
    -----
    The area is the chance that a positive row scores above a negative one, a tie counting half. DeLong, DeLong and
    Clarke-Pearson (1988): with v₊ the share of negatives that a positive beats, and v₋ the share of positives that beat
    a negative, the variance is var(v₊)/m + var(v₋)/n. Rows of one score have one v, so that cumulative sums give it, in
    O(T) after the sort that the curve needs anyway.

    Examples
    --------
    >>> area(np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0]))    # + − + −: three pairs of four
    Area(auc=0.75, variance=0.125)
    """
    m, n = positives.sum(), negatives.sum()
    beaten = (n - np.cumsum(negatives) + negatives / 2) / n
    beating = (np.cumsum(positives) - positives / 2) / m
    auc = float(positives @ beaten / m)
    if m <= 1 or n <= 1:
        return Area(auc, math.nan)
    spread_of_positives = positives @ (beaten - auc) ** 2 / (m - 1)
    spread_of_negatives = negatives @ (beating - auc) ** 2 / (n - 1)
    return Area(auc, float(spread_of_positives / m + spread_of_negatives / n))


def interval(auc: float, variance: float, fewest: float, level: float = LEVEL) -> tuple[float, float]:
    """Where the area may lie: DeLong's variance on the scale of log-odds, which stays within 0 and 1.

    Parameters
    ----------
    auc, variance : float
        As `area` gives them.
    fewest : float
        The number (weight) of rows of the rarer class. Where the variance says nothing (a perfect detector, one row of
        a class, scores that are all alike), Wilson's interval of so many rows stands in: a perfect score on five
        positives does not make a perfect detector.
    level : float
        How often such an interval holds the truth.

    Examples
    --------
    >>> [round(end, 3) for end in interval(0.9, 0.03**2, 50)]
    [0.824, 0.945]
    >>> [round(end, 3) for end in interval(1.0, 0.0, 5)]
    [0.566, 1.0]
    """
    if not variance > 0 or not 0 < auc < 1:
        low, high = wilson(auc, fewest, level)
        return float(low), float(high)
    middle = math.log(auc / (1 - auc))
    step = quantile(level) * math.sqrt(variance) / (auc * (1 - auc))
    return _odds(middle - step), _odds(middle + step)


def _odds(logit: float) -> float:
    # tanh instead of exp: a step of a thousand (a tiny class near 0 or 1) must not overflow.
    return (1 + math.tanh(logit / 2)) / 2
