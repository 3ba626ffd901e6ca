"""L-BFGS in plain NumPy: the specification of the compiled one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .precisions_reference import decided, find_precisions

MEMORY, ENOUGH = 8, 1e-4


def inverse_times(moved: list[Any], turned: list[Any], curved: list[float], slope: Any) -> Any:
    """Return the inverse curvature that the pairs suggest, times the slope."""
    out, shares = slope.copy(), []
    for step, change, product in reversed(list(zip(moved, turned, curved, strict=True))):
        shares.append(np.dot(step, out) / product)
        out -= shares[-1] * change
    if curved:
        out *= curved[-1] / np.dot(turned[-1], turned[-1])
    for step, change, product, share in zip(moved, turned, curved, reversed(shares), strict=True):
        out += (share - np.dot(change, out) / product) * step
    return out


def minimise(
    function: Callable[[Any], tuple[float, Any]],
    at: Any,
    value: float,
    slope: Any,
    *,
    steps: int,
    gain: float,
    least: float,
    known: Sequence[tuple[Any, Any]] = (),
) -> tuple[Any, list[tuple[Any, Any]]]:
    """Return a point near the minimum, and the last steps with the changes of slope along them."""
    taken: deque[tuple[Any, Any, float]] = deque(maxlen=MEMORY)

    def keep(moved: Any, turned: Any) -> None:
        if moved @ turned > 0:
            taken.append((moved, turned, moved @ turned))

    for moved, turned in known:
        keep(moved, turned)
    for _ in range(steps):
        way = -inverse_times(*([one[k] for one in taken] for k in range(3)), slope)
        fall = way @ slope
        if not -fall > 2 * gain * (least + abs(value)):
            at = at + way
            break
        length = 1.0 if taken else min(1.0, 1.0 / np.abs(slope).max())
        while True:
            there = at + length * way
            new, new_slope = function(there)
            if new <= value + ENOUGH * length * fall:
                break
            length /= 2
            if length < 1e-10:
                return at, [(moved, turned) for moved, turned, _ in taken]
        keep(there - at, new_slope - slope)
        at, value, slope = there, new, new_slope
    return at, [(moved, turned) for moved, turned, _ in taken]


def minimise_drawn(function, unit, precision, wall, at, loss, slope, told, **limits) -> tuple[Any, Any]:
    """Return numbers near the minimum of a function with their prior, and the last steps of the function alone."""

    def drawn(point: Any, loss: float, slope: Any) -> tuple[float, Any]:
        below = min(0.0, 1 + point[0])
        loss = loss + 0.5 * (precision * point**2).sum() + 0.5 * wall * below**2
        slope = slope + precision * point
        slope[0] += wall * below
        return loss, slope * unit

    known = [(moved / unit, (turned + precision * moved) * unit) for moved, turned in told]
    found, last = minimise(
        lambda scaled: drawn(scaled * unit, *function(scaled * unit)),
        at / unit,
        *drawn(at, loss, slope),
        **limits,
        known=known,
    )
    moves = [(moved * unit, turned / unit) for moved, turned in last]
    return found * unit, np.array([(moved, turned - precision * moved) for moved, turned in moves])


def fit_rounds(function, groups, kinds, at, precision, told, rounds, wall) -> tuple[Any, Any, Any, float]:
    """Return numbers, precisions, the last steps and how many numbers are decided; `function` gives curvatures too."""
    many = 0.0
    for k, limits in enumerate(rounds):
        loss, slope, curvature = function(at)
        if k:
            precision, _ = find_precisions(groups, curvature, at, precision, kinds)
        each = precision[groups.of]
        many = decided(groups, curvature, precision)
        prior = 1 / np.sqrt(curvature + each), each, wall * curvature[0]
        options = limits._asdict()
        at, told = minimise_drawn(lambda point: function(point)[:2], *prior, at, loss, slope, list(told), **options)
    return at, precision, told, many
