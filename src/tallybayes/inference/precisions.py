"""Find how strongly numbers are drawn to 0, from how large they would be without a prior."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats

__all__ = ["most_probable"]

_LEAST, _MOST = 0.02, 1e4  # precisions: numbers are never free of their prior, and beyond the last they are at 0
# Some five percent apart, which no loss shows.
_LOGS = np.linspace(float(kernels.log(_LEAST)), float(kernels.log(_MOST)), 257)
_ALPHAS = kernels.exp(_LOGS)
_SPREAD = 1.0  # of the logarithm of a precision, before any row is seen: a factor of e, in two cases of three


def most_probable(
    curvature: Floats, numbers: Floats, sizes: npt.NDArray[np.int64], distinct: Floats | float, usual: Floats | float
) -> Floats:  # (G,)
    """Return the most probable precision of groups of numbers, given as each would be without a prior.

    With a precision α a number x of curvature h is drawn to s·x, s = h / (h + α). Before any row is seen, log α is
    normal around that of a usual precision. The marginal likelihood times that prior is greatest where
    Σs = α·Σ(s·x)² + 2·log(α / usual), but for the share of numbers that are distinct. It is found by bisection: going
    from one α to the next by that equation takes many steps where x is nothing but chance.

    Parameters
    ----------
    curvature, numbers : ndarray, shape (N,)
        How well the rows know each number, 1 over its variance; and the numbers, group after group.
    sizes : ndarray of int64, shape (G,)
        The size of each group, from 1 on.
    distinct : ndarray, shape (G,), or float
        The share of numbers that do not follow from the others.
    usual : ndarray, shape (G,), or float
        The precision to expect.

    Examples
    --------
    >>> numbers = np.repeat([0.5, 0.05], 1000)              # 1 / (½² − 1 / 100); chance
    >>> most_probable(np.full(2000, 100.0), numbers, np.array([1000, 1000]), 1.0, 10.0).round().tolist()
    [4.0, 5838.0]
    """
    many = len(sizes)
    share, expected = np.broadcast_to(distinct, many).astype(float), np.broadcast_to(kernels.log(usual), many).copy()
    given = curvature, numbers**2, sizes, share, expected, _ALPHAS, _LOGS
    return kernels.find_precisions(*given, strength=2 / _SPREAD**2)
