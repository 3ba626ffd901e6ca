"""Wrappers of logarithms, exponentials and products that have the same bits on every processor.

NumPy's are those of its vector library, of the C library or of BLAS, which choose by the processor; what a prediction
rests on is computed here instead. Each number is within 2 units in the last place.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import _native
from .types import Floats

_LOG, _LOG1P, _EXP, _LOG_GAMMA = range(4)


def log(x: npt.ArrayLike) -> Floats:
    """Return the natural logarithm of each number: −∞ of 0, NaN below; without warnings.

    Examples
    --------
    >>> log([1.0, 0.0]).tolist()
    [0.0, -inf]
    """
    return _map(_LOG, x)


def log1p(x: npt.ArrayLike) -> Floats:
    """Return the natural logarithm of 1 + x, with full precision for small x.

    Examples
    --------
    >>> log1p([0.0, 1e-20]).tolist()
    [0.0, 1e-20]
    """
    return _map(_LOG1P, x)


def exp(x: npt.ArrayLike) -> Floats:
    """Return e to the power of each number.

    Examples
    --------
    >>> exp([0.0, -np.inf, 1000.0]).tolist()
    [1.0, 0.0, inf]
    """
    return _map(_EXP, x)


def log_gamma(x: npt.ArrayLike) -> Floats:
    """Return log Γ(x) of each number: ∞ of 0, NaN below. Importing SciPy's takes longer than a small fit.

    Examples
    --------
    >>> log_gamma([5.0, 0.5]).round(6).tolist()  # log 4!, log √π
    [3.178054, 0.572365]
    """
    return _map(_LOG_GAMMA, x)


def logaddexp(x: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Return log(e^x + e^y), also where the exponentials underflow.

    Examples
    --------
    >>> logaddexp([-1000.0, -np.inf], [-1000.0, -np.inf]).round(6).tolist()
    [-999.306853, -inf]
    """
    high, low = np.maximum(x, y), np.minimum(x, y)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(high), high, high + log1p(exp(low - high)))


def power(x: npt.ArrayLike, exponent: float) -> Floats:
    """Return positive numbers to a power.

    Examples
    --------
    >>> power([4.0, 9.0], 0.5).round(12).tolist(), power([2.0], 0.0).tolist()
    ([2.0, 3.0], [1.0])
    """
    return exp(exponent * log(x))


def add_product(left: npt.ArrayLike, right: npt.ArrayLike, out: Floats) -> None:
    """Add the product of two matrices, (n, F) and (F, C), to `out` (n, C).

    Examples
    --------
    >>> out = np.ones((1, 2))
    >>> add_product(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]), out)
    >>> out.tolist()
    [[14.0, 17.0]]
    """
    _native.add_product(np.ascontiguousarray(left, np.float64), np.ascontiguousarray(right, np.float64), out)


def _map(function: int, x: npt.ArrayLike) -> Floats:
    numbers = np.ascontiguousarray(x, np.float64)
    out = np.empty_like(numbers)
    _native.elementwise(function, numbers.reshape(-1), out.reshape(-1))
    return out if np.ndim(x) else out.reshape(())
