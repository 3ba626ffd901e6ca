"""Find how strongly numbers are drawn to 0, from how large they would be without a prior."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats

__all__ = ["most_probable", "most_probable_of_tables"]

_BISECTIONS = 12  # of the logarithm of a precision: to less than half a percent, which no loss shows
_LEAST, _MOST = 0.02, 1e4  # precisions: numbers are never free of their prior, and beyond the last they are at 0
_LIKE_ALL = 2.0  # numbers of the size of all tables that each table is taken to have beside its own


def most_probable(curvature: Floats, numbers: Floats, distinct: float, usual: float) -> float:
    """Return the most probable precision of numbers, given as each would be without a prior, and their curvature.

    With a precision α a number x of curvature h is drawn to s·x, s = h / (h + α). Before any row is seen, α is
    log-normal: within a factor of e around a usual one, in two cases of three. The marginal likelihood times that prior
    is greatest where Σs = α·Σ(s·x)² + 2·log(α / usual), but for the share of numbers that are distinct. It is found by
    bisection: going from one α to the next by that equation takes many steps where x is nothing but chance.

    Parameters
    ----------
    curvature : ndarray, shape (N,)
        How well the rows know each number: 1 over its variance.
    numbers : ndarray, shape (N,)
        The numbers.
    distinct : float
        The share of numbers that do not follow from the others.
    usual : float
        The precision to expect.

    Examples
    --------
    >>> h = np.full(1000, 100.0)
    >>> [round(most_probable(h, np.full(1000, size), 1.0, 10.0)) for size in (0.5, 0.05)]  # 1 / (½² − 1 / h); chance
    [4, 5819]
    """
    squares, low, high = numbers**2, np.log(_LEAST), np.log(_MOST)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        alpha = float(np.exp(middle))
        share = curvature / (curvature + alpha)
        larger = distinct * share.sum() > alpha * (share**2 * squares).sum() + 2 * (middle - np.log(usual))
        low, high = (middle, high) if larger else (low, middle)
    return float(np.exp(low))


def most_probable_of_tables(
    curvature: Floats, numbers: Floats, distinct: float, usual: float, sizes: npt.NDArray[np.int64]
) -> Floats:  # (T,)
    """Return the most probable precision of the numbers of each table, one table after the other.

    Some columns need corrections and others none. A table of few numbers tells little by itself, and has about the
    precision of all of them.

    Examples
    --------
    >>> h, numbers = np.full(20, 100.0), np.repeat([0.5, 0.1], 10)
    >>> most_probable_of_tables(h, numbers, 1.0, 10.0, np.array([10, 10])).round()
    array([ 5., 37.])
    """
    squares, first = numbers**2, np.cumsum(sizes) - sizes
    low, high = np.full(len(sizes), np.log(_LEAST)), np.full(len(sizes), np.log(_MOST))
    for _ in range(_BISECTIONS if len(sizes) else 0):
        middle = (low + high) / 2
        alpha = np.exp(middle)
        share = curvature / (curvature + np.repeat(alpha, sizes))
        decided, fitted = np.add.reduceat(share, first), np.add.reduceat(share**2 * squares, first)
        larger = distinct * decided + _LIKE_ALL > alpha * (fitted + _LIKE_ALL / usual)
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    return np.asarray(np.exp(low))
