"""Minimise a smooth function of many numbers by L-BFGS, with results that depend on nothing but the function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from tallybayes import kernels
from tallybayes.events.inputs import Floats

__all__ = ["minimise"]

_MEMORY = 8  # pairs of steps and changes of slope: more hardly save steps
_ENOUGH = 1e-4  # the share of the decrease promised by the slope that a step must reach (Armijo)


def minimise(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    first: tuple[float, Floats] | None = None,
    *,
    steps: int,
    gain: float,
    least: float = 1.0,
) -> Floats:
    """Return a point near the minimum, where a step gains less than a share of the value.

    Parameters
    ----------
    function : callable
        Takes a point; returns value and gradient.
    start : ndarray, shape (K,)
        The first point; coordinates should be scaled to a curvature of about 1.
    first : tuple of float and ndarray, optional
        Value and gradient there, if they are known.
    steps : int
        The largest number of steps.
    gain : float
        The decrease at which to end, relative to the value plus `least`.

    Examples
    --------
    >>> minimise(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2), steps=20, gain=1e-12).round(6)
    array([3., 3.])
    """
    at = start
    value, slope = function(at) if first is None else first
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    for _ in range(steps):
        moved, turned, curved = (list(each) for each in zip(*pairs, strict=True)) if pairs else ([], [], [])
        way = -kernels.inverse_times(moved, turned, curved, slope)
        fall = _dot(way, slope)
        if not fall < 0:
            break
        length = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(slope).max()))
        while True:
            there = at + length * way
            new, new_slope = function(there)
            if new <= value + _ENOUGH * length * fall:
                break
            length /= 2
            if length < 1e-10:
                return at
        step, change = there - at, new_slope - slope
        product = _dot(step, change)
        if product > 0:
            pairs.append((step, change, product))
        gained = value - new
        at, value, slope = there, new, new_slope
        if gained <= gain * (least + abs(value)):
            break
    return at


def _dot(a: Floats, b: Floats) -> float:
    """Return the sum of products; unlike BLAS, NumPy adds in the same order on every processor."""
    return float(np.add.reduce(a * b))
