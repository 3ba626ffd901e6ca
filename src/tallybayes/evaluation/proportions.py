"""Confidence intervals for proportions."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.arguments import between_0_and_1, shown
from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Floats

LEVEL = 0.95


def checked(level: float) -> float:
    """Return the confidence level if it is valid, else raise."""
    return between_0_and_1("level", level)


def wilson(share: npt.ArrayLike, count: npt.ArrayLike, level: float = LEVEL) -> tuple[Any, Any]:
    """Return Wilson's confidence interval for a proportion, low and high.

    Parameters
    ----------
    share : array_like
        The observed share, such as 8 / 10.
    count : array_like
        The number (weight) of rows it was observed in; the interval is NaN where it is 0.
    level : float
        The confidence level: how often such an interval contains the true share.

    Notes
    -----
    With z standard deviations the ends are (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), E. B. Wilson 1927.
    Unlike p ± z·σ, they stay within 0 and 1, and do not shrink to a point where all rows agree.

    Examples
    --------
    >>> low, high = wilson(8 / 10, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    >>> low, high = wilson(1.0, 10)             # ten of ten
    >>> round(low, 3), high
    (0.722, 1.0)
    """
    z = NormalDist().inv_cdf(0.5 + checked(level) / 2)
    p, n = _numbers("share", share), _numbers("count", count)
    if p.shape != n.shape and p.ndim and n.ndim:
        raise BadOption(wanted("count", f"one number, or an array of shape {p.shape}", f"one of shape {n.shape}"))
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = p + z * z / (2 * n)
        spread = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)
    return _clipped(low), _clipped(high)


def _numbers(where: str, values: npt.ArrayLike) -> Floats:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, ArithmeticError):
        raise BadOption(wanted(where, "numbers", shown(values))) from None


def _clipped(ends: Floats) -> Any:
    """Clip rounding errors beyond 0 and 1; return a scalar for a scalar."""
    return np.clip(ends, 0.0, 1.0)[()] if ends.ndim else float(np.clip(ends, 0.0, 1.0))
