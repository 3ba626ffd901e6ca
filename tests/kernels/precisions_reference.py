"""The most probable precisions in plain NumPy: the specification of the compiled ones."""

from __future__ import annotations

import numpy as np


def find_precisions(curvature, squares, sizes, distinct, expected, alphas, logs, *, strength) -> np.ndarray:  # (G,)
    """Return the middle, on a logarithmic scale, of the two lattice points around each precision."""
    out, first = [], 0
    for size, share, centre in zip(sizes, distinct, expected, strict=True):
        h, x2 = curvature[first : first + size], squares[first : first + size]
        low, high = 0, len(alphas) - 1
        while high - low > 1:
            middle = (low + high) // 2
            s = h / (h + alphas[middle])
            more = share * s.sum() > alphas[middle] * (s**2 * x2).sum() + strength * (logs[middle] - centre)
            low, high = (middle, high) if more else (low, middle)
        out.append(np.sqrt(alphas[low] * alphas[high]))
        first += size
    return np.array(out)
