"""Empirical Bayes: the smoothing under which the counts are most probable.

With shares drawn from a Dirichlet(α, …, α), counts n_1 … n_K with total N have the probability

    Γ(αK) / Γ(αK + N) · Π Γ(α + n_k) / Γ(α)

up to a factor without α. Its product over all classes of a column is a function of α alone: the peak is at a large α
where the values are equally frequent, and near zero where each class has few values of its own.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats

__all__ = ["empirical_bayes_alpha"]

_LOWEST, _HIGHEST = -4.0, 4.0  # powers of ten
_STEPS = (0.5, 0.0625, 0.0078125)  # each searches around the best of the one before


def empirical_bayes_alpha(counts: Floats) -> float:
    """Return the α, from 0.0001 to 10,000, under which the counts are most probable.

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
    # Most counts of a vocabulary are equal: each distinct one is evaluated once.
    distinct, times = np.unique(counts, return_counts=True)
    low, high, best = _LOWEST, _HIGHEST, 0.0
    for step in _STEPS:
        powers = np.arange(low, high + step / 2, step)
        logs = [_log_evidence(_ten_to(p), distinct, times, totals, counts.shape[1]) for p in powers]
        best = float(powers[np.argmax(logs)])
        low, high = max(_LOWEST, best - step), min(_HIGHEST, best + step)
    return _ten_to(best)


def _ten_to(power: float) -> float:
    """Return a power of ten, correctly rounded: that of the C library depends on the processor."""
    return float(Decimal(10) ** Decimal(float(power)))


def _log_evidence(alpha: float, distinct: Floats, times: npt.NDArray[np.integer], totals: Floats, size: int) -> float:
    of_values = (times * (kernels.log_gamma(alpha + distinct) - kernels.log_gamma(np.asarray(alpha)))).sum()
    of_classes = (kernels.log_gamma(np.asarray(alpha * size)) - kernels.log_gamma(alpha * size + totals)).sum()
    return float(of_values + of_classes)
