"""Even grids over rising edges: a number's interval by arithmetic, then a few comparisons.

Databases and graphs that work through whole columns search among edges slowly, one halving after another. The place of
a number in an even grid says how many edges are before it, but for the few edges within that place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats

__all__ = ["Grid"]


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid from the first edge to the last.

    Attributes
    ----------
    low, scale : float
        The place of x is the whole part of (x − low) · scale, from 0 to the number of places less 1.
    starts : ndarray of int, shape (places,)
        The edges before each place.
    most : int
        The edges within a place, at most.

    Examples
    --------
    >>> grid = Grid.of(np.array([0.0, 1.0, 8.0]), 4)
    >>> grid.starts.tolist(), grid.most
    ([0, 2, 2, 2], 2)
    """

    low: float
    scale: float
    starts: npt.NDArray[np.intp]
    most: int

    @classmethod
    def of(cls, edges: Floats, places: int) -> Grid | None:
        """Return the grid of some rising edges; None where doubles cannot hold one."""
        low, scale = float(edges[0]) if len(edges) else 0.0, 0.0
        if len(edges) > 1:
            with np.errstate(over="ignore", divide="ignore"):
                scale = float(places / (edges[-1] - edges[0]))
            if not np.isfinite(scale) or scale == 0:
                return None
        # The same operations on the same doubles as where numbers are scored, so both put an edge into the same place.
        place = np.floor(np.clip((edges - low) * scale, 0, places - 1)).astype(np.intp)
        counts = np.bincount(place, minlength=places)
        return cls(low, scale, np.cumsum(counts) - counts, int(counts.max()))
