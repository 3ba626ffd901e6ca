"""Posterior variances of log-probabilities that event models share.

Shares have a Dirichlet posterior, rates a Gamma posterior. Under either the variance of a logarithm is a trigamma
function, ψ₁: about 1/n for a count of n, and ∞ for a count of 0 without a prior, since nothing is known then.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from tallybayes.events.inputs import Floats

__all__ = ["minus_variance", "trigamma"]

_MANY = 1 << 16  # counts: most of this many are equal, and looking them up is quicker than ψ₁


def trigamma(x: ArrayLike) -> Floats:
    """Return ψ₁(x), the variance of the logarithm of a Gamma variable of shape x; ∞ at 0.

    Examples
    --------
    >>> trigamma([0.0, 1.0, 100.0]).round(4)      # π²/6; about 1/100
    array([   inf, 1.6449, 0.0101])
    """
    from scipy.special import zeta  # slow to import, and only needed for variances

    x = np.asarray(x, np.float64)
    if x.size < _MANY:
        return np.asarray(zeta(2.0, x), np.float64)
    each = pa.array(x.ravel()).dictionary_encode()
    return np.asarray(zeta(2.0, each.dictionary.to_numpy())[each.indices.to_numpy()].reshape(x.shape))


def minus_variance(
    count: ArrayLike, total: ArrayLike, alpha: ArrayLike, size: ArrayLike, mass: ArrayLike | None = None
) -> Floats:
    """Return minus the variance of `dirichlet.log_share`; −∞ where nothing is known.

    Notes
    -----
    A share θ of a Dirichlet distribution has Var(log θ) = ψ₁(count + α) − ψ₁(total + mass). The minus lets a table of
    variances be scored like one of log-probabilities, which may be −∞ but not ∞.

    Examples
    --------
    >>> minus_variance(1, 2, 0, 2), minus_variance(0, 2, 0, 2)      # ψ₁(1) − ψ₁(2) = 1
    (array(-1.), array(-inf))
    """
    pseudo = np.multiply(alpha, size) if mass is None else mass
    shape, whole = np.add(count, alpha), np.add(total, pseudo)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(shape > 0, trigamma(whole) - trigamma(shape), -np.inf))
