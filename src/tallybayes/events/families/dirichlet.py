"""Smoothed shares of counts, for bernoulli, categorical, multinomial and complement."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from tallybayes import kernels
from tallybayes.events.inputs import Floats

__all__ = ["LEAST_ALPHA", "contrast", "leave_codes_out", "log_share", "share"]

# The least smoothing of complement: without any, a token that only one class has would rule out all others.
LEAST_ALPHA = 1e-10


def contrast(log_table: Floats) -> Floats:
    """Return a table (V, C) of log-probabilities less the largest of each row.

    Examples
    --------
    >>> contrast(np.array([[-2.0, -5.0], [-np.inf, -np.inf]]))
    array([[  0.,  -3.],
           [-inf, -inf]])
    """
    largest = log_table.max(axis=1, keepdims=True, initial=-np.inf)
    out = kernels.empty_table(*log_table.shape)
    return np.subtract(log_table, np.where(np.isfinite(largest), largest, 0.0), out=out)


def share(
    count: ArrayLike, total: ArrayLike, alpha: ArrayLike, size: ArrayLike, mass: ArrayLike | None = None
) -> Floats:
    """Return (count + α) / (total + mass); where nothing was counted, its limit for small α: 1 / size.

    Parameters
    ----------
    count, total : array_like
        The count of the value, and of all values.
    alpha : array_like
        The value's pseudo-count.
    size : array_like
        The number of values.
    mass : array_like, optional
        The sum of all values' pseudo-counts; α · size unless given.

    Notes
    -----
    This is both the posterior mean under Dirichlet(α), which predicts the next value, and the posterior mode under
    Dirichlet(α + 1), the flat prior with α further observations of each value.

    Examples
    --------
    >>> share(2, 2, 1, 2), share(0, 0, 0, 4)
    (array(0.75), array(0.25))
    """
    pseudo = np.multiply(alpha, size) if mass is None else mass
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.asarray(total + np.asarray(pseudo), np.float64)
        return np.asarray(np.where(whole > 0, np.add(count, alpha) / whole, 1 / np.asarray(size, np.float64)))


def log_share(
    count: ArrayLike, total: ArrayLike, alpha: ArrayLike, size: ArrayLike, mass: ArrayLike | None = None
) -> Floats:
    """Return the logarithm of `share`; −∞ for a count of zero without smoothing."""
    with np.errstate(divide="ignore"):
        return np.asarray(kernels.log(share(count, total, alpha, size, mass)))


def leave_codes_out(
    columns: kernels.Codes,
    sizes: npt.NDArray[np.int64],
    full: Floats,
    less: Floats,
    classes: npt.NDArray[np.int32],
    out: Floats,
    *,
    low: int = 0,
) -> None:
    """Add each code's row of a table; for the row's own class, that of a second table.

    Parameters
    ----------
    columns, sizes, low
        The codes, as the kernels take them.
    full, less : ndarray, shape (sum(sizes), C)
        The log-probability of each value given all rows, and given one row of the class less.
    classes : ndarray of int32, shape (n,)
        Each row's own class.
    out : ndarray, shape (n, C)
        The scores to add to.
    """
    scores = np.zeros_like(out)
    kernels.score_codes(columns, full, sizes, scores, low=low)
    scores[np.arange(len(out)), classes] = 0.0
    kernels.score_own_codes(columns, less, sizes, classes, scores, low=low)
    out += scores
