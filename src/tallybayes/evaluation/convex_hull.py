"""The upper convex hull of a rising curve: the points that some class ratio and costs make best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats

__all__ = ["corners", "upper_hull"]

# A pass over all points that removes less than this share of them costs more than going through the rest one by one.
_WORTH_A_PASS = 0.1


def corners(x: Floats, y: Floats) -> npt.NDArray[np.intp]:
    """The positions of the points at which a curve bends; those between lie on the line and say nothing more.

    Examples
    --------
    >>> corners(np.array([0.0, 0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0, 3.0, 3.0]))
    array([0, 1, 3, 4])
    """
    bends = np.ones(len(x), bool)
    bends[1:-1] = _turn(x, y) != 0
    return np.flatnonzero(bends)


def upper_hull(x: Floats, y: Floats) -> npt.NDArray[np.intp]:
    """The positions of the points on the upper convex hull, from the first point to the last.

    Parameters
    ----------
    x, y : ndarray, shape (T,)
        A curve that never falls and never turns back, without repeated points.

    Notes
    -----
    A point not above the line between its neighbours is none of the hull's, so whole arrays of them go at once: of the
    curve of a million rows a dozen passes leave a few hundred points. What then is left is gone through as in Andrew's
    monotone chain. Counts rather than rates as coordinates make the comparisons exact.

    Examples
    --------
    >>> upper_hull(np.array([0.0, 0.0, 1.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 3.0, 3.0]))
    array([0, 1, 3, 4])
    """
    kept = np.arange(len(x))
    while len(kept) > 2:
        above = np.ones(len(kept), bool)
        above[1:-1] = _turn(x[kept], y[kept]) < 0
        fewer = kept[above]
        if len(fewer) == len(kept):
            return kept
        if len(fewer) > (1 - _WORTH_A_PASS) * len(kept):
            return fewer[_chain(x[fewer].tolist(), y[fewer].tolist())]
        kept = fewer
    return kept


def _turn(x: Floats, y: Floats) -> Floats:
    """Below 0 where a point lies above the line between its neighbours, 0 where it lies on it."""
    dx, dy = np.diff(x), np.diff(y)
    return np.asarray(dx[:-1] * dy[1:] - dy[:-1] * dx[1:])


def _chain(x: list[float], y: list[float]) -> list[int]:
    hull: list[int] = []
    for k in range(len(x)):
        while len(hull) > 1:
            i, j = hull[-2], hull[-1]
            if (x[j] - x[i]) * (y[k] - y[j]) - (y[j] - y[i]) * (x[k] - x[j]) < 0:
                break
            hull.pop()
        hull.append(k)
    return hull
