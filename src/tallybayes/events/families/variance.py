"""How far a log-probability may be off, given how little was counted: the variances that event models have in common.

What was counted leaves the parameters uncertain: shares have a Dirichlet distribution, rates a Gamma distribution, and
the variance of a logarithm under either is a trigamma function, ψ₁. About 1/n for a count of n, ∞ for a count of 0
without a prior: then nothing is known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats

__all__ = ["minus_variance", "trigamma"]


def trigamma(x: npt.ArrayLike) -> Floats:
    """ψ₁(x), the variance of the logarithm of a Gamma variable of shape x; ∞ at 0.

    Examples
    --------
    >>> trigamma([0.0, 1.0, 100.0]).round(4)      # π²/6; about 1/100
    array([   inf, 1.6449, 0.0101])
    """
    from scipy.special import zeta  # slow to import, and only needed where doubts are asked for

    return np.asarray(zeta(2.0, x), np.float64)


def minus_variance(
    count: npt.ArrayLike,
    total: npt.ArrayLike,
    alpha: npt.ArrayLike,
    size: npt.ArrayLike,
    mass: npt.ArrayLike | None = None,
) -> Floats:
    """Minus the variance of the logarithm of a share, of what `dirichlet.log_share` takes; −∞ where it is not known.

    Notes
    -----
    Of a share θ of a Dirichlet distribution, Var(log θ) = ψ₁(count + α) − ψ₁(total + mass). It is handed out with a
    minus so that a table of it is scored like one of log-probabilities, where −∞ has its place.

    Examples
    --------
    >>> minus_variance(1, 2, 0, 2), minus_variance(0, 2, 0, 2)      # ψ₁(1) − ψ₁(2) = 1
    (array(-1.), array(-inf))
    """
    pseudo = np.multiply(alpha, size) if mass is None else mass
    shape, whole = np.add(count, alpha), np.add(total, pseudo)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(shape > 0, trigamma(whole) - trigamma(shape), -np.inf))
