"""The area under a ROC curve with DeLong's variance and interval, and the average precision."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tallybayes.evaluation.proportions import LEVEL, checked, wilson
from tallybayes.events.inputs import Floats


class Area(NamedTuple):
    """The area under a ROC curve, with its variance."""

    auc: float
    variance: float  # DeLong's variance of the area; NaN where a class has only one row
    # Satterthwaite's degrees of freedom of the variance, close to those of the class that contributes most to it
    freedom: float


def area(positives: Floats, negatives: Floats) -> Area:
    """Return the area under the curve, and its variance.

    Parameters
    ----------
    positives, negatives : ndarray, shape (T,)
        The number (weight) of positive and of negative rows at each of T distinct scores, highest first.

    Notes
    -----
    The area is the probability that a positive row scores above a negative one; a tie counts half. DeLong, DeLong and
    Clarke-Pearson (1988): with v₊ the share of negatives that a positive beats, and v₋ the share of positives that beat
    a negative, the variance is var(v₊)/m + var(v₋)/n. Rows with equal scores have equal v, so cumulative sums give it
    in O(T), after the sort that the curve needs anyway.

    Examples
    --------
    >>> area(np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0]))    # + − + −: three pairs of four
    Area(auc=0.75, variance=0.125, freedom=2.0)
    """
    m, n = positives.sum(), negatives.sum()
    beaten = (n - np.cumsum(negatives) + negatives / 2) / n
    beating = (np.cumsum(positives) - positives / 2) / m
    auc = float(positives @ beaten / m)
    if m <= 1 or n <= 1:
        return Area(auc, math.nan, math.nan)
    of_positives = float(positives @ (beaten - auc) ** 2 / (m - 1) / m)
    of_negatives = float(negatives @ (beating - auc) ** 2 / (n - 1) / n)
    variance = of_positives + of_negatives
    freedom = variance**2 / (of_positives**2 / (m - 1) + of_negatives**2 / (n - 1)) if variance else math.nan
    return Area(auc, variance, float(freedom))


def average_precision(positives: Floats, negatives: Floats) -> float:
    """Return the average precision: over all positives, among rows that score as high.

    Parameters
    ----------
    positives, negatives : ndarray, shape (T,)
        The number (weight) of positive and of negative rows at each of T distinct scores, highest first.

    Examples
    --------
    >>> average_precision(np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))     # (1 + 2/3) / 2
    0.8333333333333333
    """
    found = np.cumsum(positives)
    called = found + np.cumsum(negatives)
    precision = np.divide(found, called, out=np.zeros(len(called)), where=called > 0)  # only weights of 0 so far
    return float(positives @ precision / found[-1])


def interval(size: Area, fewest: float, level: float = LEVEL) -> tuple[float, float]:
    """Return a confidence interval for the area.

    It uses DeLong's variance and Student's t on the log-odds scale, so it stays within 0 and 1.

    Parameters
    ----------
    size : Area
        As returned by `area`.
    fewest : float
        The number (weight) of rows of the rarer class. Where the variance is 0 or undefined (a perfect detector, a
        class with one row, equal scores everywhere), Wilson's interval for this number of rows is returned instead: a
        perfect score on five positives does not make a perfect detector.
    level : float
        The confidence level: how often such an interval contains the true value.

    Notes
    -----
    The variance is a sum of two, each estimated from its own class, as in Welch's test. Coverage of a 95 % interval
    from five positives and a hundred negatives (normal scores, means two standard deviations apart): 92 % with t, 87 %
    with the normal quantile instead, 75 % with auc ± 1.96 σ.

    Examples
    --------
    >>> [round(end, 3) for end in interval(Area(0.9, 0.03**2, 1e9), 50)]
    [0.824, 0.945]
    >>> [round(end, 3) for end in interval(Area(0.9, 0.03**2, 5.0), 6)]
    [0.793, 0.955]
    >>> [round(end, 3) for end in interval(Area(1.0, 0.0, 8.0), 5)]
    [0.566, 1.0]
    """
    share = 0.5 + checked(level) / 2
    auc, variance, freedom = size
    if not variance > 0 or not 0 < auc < 1:
        low, high = wilson(auc, fewest, level)
        return float(low), float(high)
    # Imported here because a curve is often drawn without an interval, and scipy takes a quarter of a second to load.
    from scipy.special import stdtrit

    middle = math.log(auc / (1 - auc))
    step = float(stdtrit(freedom, share)) * math.sqrt(variance) / (auc * (1 - auc))
    return _odds(middle - step), _odds(middle + step)


def _odds(logit: float) -> float:
    # tanh instead of exp: a step of a thousand (a tiny class near 0 or 1) must not overflow.
    return (1 + math.tanh(logit / 2)) / 2
