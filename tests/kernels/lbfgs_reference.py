"""Twin of the kernel of L-BFGS's two-loop recursion."""

from __future__ import annotations

from typing import Any

import numpy as np


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
