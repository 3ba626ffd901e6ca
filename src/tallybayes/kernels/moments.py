"""Wrappers of the kernels that add exact sums, and round them to doubles, once, at the end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Floats, Limbs


def add_limbs(left: NDArray[np.int64], right: NDArray[np.int64], out: NDArray[np.int64]) -> tuple[int, int]:
    """Write the sums of limbs into `out`, modulo 2^64; return the bits of the greatest magnitude before and after.

    Examples
    --------
    >>> out = np.zeros(2, np.int64)
    >>> add_limbs(np.array([-8, 1]), np.array([3, 2]), out), out.tolist()
    ((4, 3), [-5, 3])
    """
    return _native.add_limbs(left, right, out)


def to_float(exact: Limbs) -> Floats:
    """Return the double nearest to each exact number, ±inf beyond the largest.

    Examples
    --------
    >>> to_float(Limbs(np.array([[1, 1], [-1, 0]]), -1)).tolist()
    [1.0000000002328306, -2.3283064365386963e-10]
    """
    limbs = np.ascontiguousarray(exact.limbs)
    out = np.empty(limbs.shape[:-1])
    _native.to_float(limbs, exact.base, out)
    return out


def exact_moments(n: Limbs, s1: Limbs, s2: Limbs) -> tuple[Floats, Floats, Floats, Floats]:
    """Return weight, mean, sum of squared deviations and the mean's rest, from the exact sums of w, w·x and w·x².

    They are n, s1 / n, s2 - s1²/n, and s1 / n less the mean; all but n are 0 where n is 0. Differences are computed in
    integers, so there is no cancellation however far the mean is from 0: each result is within 2 units in the last
    place. The rest is given where the mean is more than 1,024 standard deviations from 0, and else is 0: there a
    deviation from the rounded mean has digits enough.

    Examples
    --------
    >>> from tallybayes.kernels import power_sums
    >>> x = 1e15 + np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> [part.item() for part in exact_moments(*power_sums(x, np.zeros(4, np.int32), 1))]
    [4.0, 1000000000000002.5, 5.0, 0.0]
    """
    parts = [np.ascontiguousarray(exact.limbs) for exact in (n, s1, s2)]
    shape = parts[0].shape[:-1]
    if parts[1].shape[:-1] != shape or parts[2].shape[:-1] != shape:
        raise ValueError(f"s1 and s2: wanted shape {shape}, got {parts[1].shape[:-1]} and {parts[2].shape[:-1]}")
    out = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    _native.exact_moments(parts[0], n.base, parts[1], s1.base, parts[2], s2.base, *out)
    return out
