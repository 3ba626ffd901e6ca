"""Minimise a smooth function of many numbers by L-BFGS, with results that depend on nothing but the function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tallybayes import kernels
from tallybayes.events.inputs import Floats

__all__ = ["Step", "minimise"]

_MEMORY = 8  # steps: more hardly save any
_ENOUGH = 1e-4  # the share of the decrease promised by the slope that a step must reach (Armijo)


class Step(NamedTuple):
    """A step, and the change of the slope along it: what is known of the curvature."""

    moved: Floats  # (K,)
    turned: Floats  # (K,)


def minimise(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    first: tuple[float, Floats] | None = None,
    *,
    steps: int,
    gain: float,
    least: float = 1.0,
    known: Sequence[Step] = (),
) -> tuple[Floats, tuple[Step, ...]]:
    """Return a point near the minimum, where a step promises less than a share of the value, and the last steps.

    What a step gained does not tell: one in a bad direction gains little far from the minimum.

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
        The decrease to expect at which to end, relative to the value plus `least`.
    known : sequence of Step
        Steps of a function like this one, oldest first.

    Examples
    --------
    >>> minimise(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2), steps=20, gain=1e-12)[0].round(6)
    array([3., 3.])
    """
    at = start
    value, slope = function(at) if first is None else first
    taken: deque[tuple[Step, float]] = deque(maxlen=_MEMORY)

    def keep(step: Step) -> None:
        product = _dot(*step)
        if product > 0:
            taken.append((step, product))

    for step in known:
        keep(step)
    for _ in range(steps):
        way = -kernels.inverse_times(
            [step.moved for step, _ in taken], [step.turned for step, _ in taken], [one for _, one in taken], slope
        )
        fall = _dot(way, slope)
        if not -fall > 2 * gain * (least + abs(value)):
            at = at + way  # a step that gains too little to be looked at
            break
        length = 1.0 if taken else min(1.0, 1.0 / float(np.abs(slope).max()))
        while True:
            there = at + length * way
            new, new_slope = function(there)
            if new <= value + _ENOUGH * length * fall:
                break
            length /= 2
            if length < 1e-10:
                return at, tuple(step for step, _ in taken)
        keep(Step(there - at, new_slope - slope))
        at, value, slope = there, new, new_slope
    return at, tuple(step for step, _ in taken)


def _dot(a: Floats, b: Floats) -> float:
    """Return the sum of products; unlike BLAS, NumPy adds in the same order on every processor."""
    return float(np.add.reduce(a * b))
