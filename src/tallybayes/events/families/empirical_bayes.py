"""The smoothing that the counts themselves ask for.

With shares drawn from a Dirichlet(α, …, α), counts n_1 … n_K with total N have the probability

    Γ(αK) / Γ(αK + N) · Π Γ(α + n_k) / Γ(α)

up to what does not depend on α. Over all classes of a column that is a function of α alone: where the values are
equally frequent its peak lies high, where each class has few values of its own it lies near zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats

__all__ = ["empirical_bayes_alpha"]

_LOWEST, _HIGHEST = -4.0, 4.0  # powers of ten
_STEPS = (0.5, 0.0625, 0.0078125)  # each looks about the best of the one before


def empirical_bayes_alpha(counts: Floats) -> float:
    """The α, from 0.0001 to 10,000, under which the counts are most probable.

    Parameters
    ----------
    counts : ndarray, shape (C, K)
        How often each value occurs in each class.

    Examples
    --------
    >>> unequal, equal = np.array([[90.0, 10.0], [10.0, 90.0]]), np.full((2, 2), 50.0)
    >>> round(empirical_bayes_alpha(unequal), 1), empirical_bayes_alpha(equal)
    (0.6, 10000.0)
    """
    totals = counts.sum(axis=1)
    counts = counts[totals > 0]
    if counts.shape[1] < 2 or not len(counts):
        return 1.0
    # Most counts of a vocabulary are alike: each different one is looked at once.
    different, times = np.unique(counts, return_counts=True)
    low, high, best = _LOWEST, _HIGHEST, 0.0
    for step in _STEPS:
        tried = np.arange(low, high + step / 2, step)
        best = float(tried[np.argmax([_log_evidence(10**p, different, times, totals, counts.shape[1]) for p in tried])])
        low, high = max(_LOWEST, best - step), min(_HIGHEST, best + step)
    return float(10**best)


def _log_evidence(alpha: float, different: Floats, times: npt.NDArray[np.integer], totals: Floats, size: int) -> float:
    from scipy.special import gammaln  # slow to import, and few models need it

    of_values = (times * (gammaln(alpha + different) - gammaln(alpha))).sum()
    of_classes = (gammaln(alpha * size) - gammaln(alpha * size + totals)).sum()
    return float(of_values + of_classes)
