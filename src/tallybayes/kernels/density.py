"""Wrappers of the kernels of a kernel density on the cells of numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Floats, Sizes

__all__ = ["density_places", "density_sums", "density_terms"]


def density_places(
    sizes: Sizes, low: Floats, value: Floats, high: Floats, pooled: Floats, *, steps: int, farthest: int
) -> NDArray[np.int32]:
    """Return the normal score of each cell in steps, from 0 to twice the farthest.

    A cell without rows has the place of the nearest one in its column; 0 where no cell has any.

    Parameters
    ----------
    sizes : sequence of int, length F
        The number of cells of each column.
    low, value, high : float64 ndarray, shape (K,)
        The lowest value of each cell, the one that stands for it, and the highest.
    pooled : float64 ndarray, shape (K,)
        The weight of each cell over all classes.
    steps : int
        The number of steps to a standard deviation.
    farthest : int
        The farthest place on either side, in steps.

    Examples
    --------
    >>> at = np.arange(4.0)
    >>> density_places([4], at, at, at, np.array([1.0, 8.0, 0.0, 1.0]), steps=10, farthest=30)     # z of .05, .5, .95
    array([14, 30, 30, 46], dtype=int32)
    """
    out = np.empty(len(value), np.int32)
    _native.density_places(sizes, low, value, high, pooled, steps, farthest, out)
    return out


def density_terms(
    counts: Floats,
    sizes: Sizes,
    places: NDArray[np.int32],
    shapes: Floats,
    masses: Floats,
    prior: Floats,
    *,
    n_places: int,
    weights: Floats | None = None,
    out: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the log-terms of a kernel density for each cell, (3, K, C), and its weights, (H · A, F).

    The terms are those of `expert_terms`: from all rows, and without a row of another class or the same.

    Parameters
    ----------
    counts : float64 ndarray, shape (K, C)
        The weight of each class in each cell.
    sizes : sequence of int, length F
        The number of cells of each column.
    places : int32 ndarray, shape (K,)
        The place of each cell in its column.
    shapes : float64 ndarray, shape (H, R)
        The kernel of each width by the distance of places; 1 at 0.
    masses : float64 ndarray, shape (A,)
        The weights of what all classes share.
    prior : float64 ndarray, shape (2, C)
        The prior weight of each class, and that with a row less.
    n_places : int
        The number of places.
    weights : float64 ndarray, shape (H · A, F), optional
        The weight of each width and mass, if they are known.
    out : float64 ndarray, shape (3, K, C), optional
        Where to write the terms.

    Examples
    --------
    >>> counts, here = np.diag([2.0, 2.0]), np.arange(2, dtype=np.int32)
    >>> terms, _ = density_terms(counts, [2], here, np.ones((1, 1)), np.ones(1), np.ones((2, 2)), n_places=2)
    >>> np.exp(terms[0]).round(3).tolist()      # (4 · 2/2 + 1) / 3 and 1 / 3
    [[1.667, 0.333], [0.333, 1.667]]
    """
    (K, C), chosen = counts.shape, weights is not None
    each = np.empty((len(shapes) * len(masses), len(sizes))) if weights is None else np.array(weights, order="C")
    terms = np.empty((3, K, C)) if out is None else out
    given = counts, sizes, places, n_places, shapes, masses, prior, chosen, each
    _native.density(*given, terms.reshape(3 * K, C), None)
    return terms, each


def density_sums(
    counts: Floats, sizes: Sizes, places: NDArray[np.int32], shapes: Floats, *, n_places: int
) -> Floats:  # (H, K, C)
    """Return the rows of each class near each cell, by their distance; see `density_terms`.

    Examples
    --------
    >>> here = np.array([0, 2], np.int32)
    >>> density_sums(np.diag([2.0, 4.0]), [2], here, np.array([[1.0, 0.75, 0.5]]), n_places=3).tolist()
    [[[2.0, 2.0], [1.0, 4.0]]]
    """
    (K, C), H = counts.shape, len(shapes)
    out, weights = np.empty((H, K, C)), np.empty((H, len(sizes)))
    given = counts, sizes, places, n_places, shapes, np.ones(1), np.ones((2, C)), True, weights
    _native.density(*given, None, out.reshape(H * K, C))
    return out
