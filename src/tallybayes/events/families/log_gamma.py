"""The logarithm of the gamma function: importing that of SciPy takes longer than fitting a small file."""

from __future__ import annotations

import numpy as np

from tallybayes import kernels
from tallybayes.events.inputs import Floats

_FROM = 12  # where Stirling's series is accurate to the last digits: its next term is below 1e-16
_HALF_LOG_2_PI = 0.9189385332046728


def log_gamma(x: Floats) -> Floats:
    """Return log Γ(x) for x above 0, by Stirling's series.

    It follows Γ(x) = Γ(x + 12) / (x (x + 1) ... (x + 11)).

    Examples
    --------
    >>> log_gamma(np.array([5.0, 0.5])).round(6)      # log 4!, log √π
    array([3.178054, 0.572365])
    """
    low = x < _FROM
    small, product = np.where(low, x, 1.0), np.ones_like(x)
    for k in range(_FROM):  # at most 24^12
        product *= small + k
    z = np.where(low, x + _FROM, x)
    r = 1 / z**2
    series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * 691 / 360360))))) / z
    stirling = (z - 0.5) * kernels.log(z) - z + _HALF_LOG_2_PI + series
    return np.asarray(stirling - np.where(low, kernels.log(product), 0.0))
