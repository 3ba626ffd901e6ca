"""The upper convex hull of a rising curve.

Its points are those that are optimal for some class ratio and some costs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats

# Share of points: a vectorised pass that removes fewer costs more than finishing with the loop over single points.
_WORTH_A_PASS = 0.1


def corners(x: Floats, y: Floats) -> npt.NDArray[np.intp]:
    """Return the positions of the points at which a curve bends.

    The points between them are on straight lines and carry no information.

    Examples
    --------
    >>> corners(np.array([0.0, 0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0, 3.0, 3.0]))
    array([0, 1, 3, 4])
    """
    bends = np.ones(len(x), bool)
    bends[1:-1] = _turn(x, y) != 0
    return np.flatnonzero(bends)


def upper_hull(x: Floats, y: Floats) -> npt.NDArray[np.intp]:
    """Return the positions of the points on the upper convex hull.

    Parameters
    ----------
    x, y : ndarray, shape (T,)
        A curve that never falls and never turns back, without repeated points.

    Notes
    -----
    A point not above the line between its neighbours is not on the hull, so whole arrays of them are removed at once:
    for the curve of a million rows, a dozen passes leave a few hundred points. Andrew's monotone chain processes the
    rest. Coordinates that are counts rather than rates make the comparisons exact.

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
    """Return the turn at each inner point: negative above its neighbours' line, 0 on it."""
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
