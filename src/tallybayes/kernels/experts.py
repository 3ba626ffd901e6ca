"""Wrappers of the kernels of experts on a number: a tree of counts, a Student t, and the average of three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .leave_one_out import Coefficients
from .types import Floats, Sizes

__all__ = ["ExpertTerms", "MixedExperts", "expert_terms", "mix_experts"]


class ExpertTerms(NamedTuple):
    """What both experts say of each cell, K cells of all columns together.

    Attributes
    ----------
    terms : float64 ndarray, shape (2, 3, K, C)
        The log-terms of tree and Student t: from all rows; and without a row of weight 1, where the class is another
        one than the row's, and where it is the row's own.
    omegas : float64 ndarray, shape (L, A, F)
        The probability of each smoothing, in each level and column.
    lost : bool ndarray, shape (K,)
        Where leaving a row out of the Student t cancels too many digits.
    """

    terms: Floats
    omegas: Floats
    lost: NDArray[np.bool_]


class MixedExperts(NamedTuple):
    """The average of three experts.

    Attributes
    ----------
    log_weights : float64 ndarray, shape (3, F)
        The logs of the experts' weights.
    mixed : float64 ndarray, shape (K, C), or None
        The log of the average in each cell, from all rows.
    left_out : float64 ndarray, shape (C, P)
        The same for each pair of a cell and the class of a row left out of it.
    """

    log_weights: Floats
    mixed: Floats | None
    left_out: Floats


def expert_terms(
    value: Floats,
    counts: Floats,
    sizes: Sizes,
    nodes: NDArray[np.int32],
    n_nodes: Sequence[int],
    alphas: Floats,
    moments: Floats,
    whole: Floats,
    full: Coefficients,
    less: Coefficients,
    *,
    floor: float,
    omegas: Floats | None = None,
    out: Floats | None = None,
) -> ExpertTerms:
    """Return the terms of a tree of counts and of a Student t for each cell.

    Parameters
    ----------
    value : float64 ndarray, shape (K,)
        The value that stands for each cell.
    counts : float64 ndarray, shape (K, C)
        The weight of each class in each cell.
    sizes : sequence of int, length F
        The number of cells of each column.
    nodes : int32 ndarray, shape (L, K)
        Each cell's node, level by level; those of parent p are 2p and 2p + 1, and -1 is none.
    n_nodes : sequence of int, length L
        The number of nodes of each level.
    alphas : float64 ndarray, shape (A,)
        The smoothings that the tree averages over.
    moments, whole : float64 ndarray, shapes (3, F, C) and (3, F)
        n, mean and m2 of each class, and over all classes.
    full, less : Coefficients of shape (F, C)
        The coefficients of the Student t for all rows of a class, and for one row less.
    floor : float
        The smallest squared scale, as a share of the column's variance.
    omegas : float64 ndarray, shape (L, A, F), optional
        The probabilities of smoothings, if they are known.
    out : float64 ndarray, shape (2, 3, K, C), optional
        Where to write the terms.

    Examples
    --------
    >>> two, one = np.array([[[2.0, 2.0]], [[0.0, 1.0]], [[0.0, 0.0]]]), np.array([[4.0], [0.5], [1.0]])
    >>> half = Coefficients(*np.full((6, 1, 2), 0.5))
    >>> found = expert_terms(np.array([0.0, 1.0]), np.diag([2.0, 2.0]), [2], np.array([[0, 1]], np.int32), [2],
    ...                      np.ones(1), two, one, half, half, floor=1e-9)
    >>> np.exp(found.terms[0, 0]).round(3).tolist()      # (2 / ½ + 1) / 3 and 1 / 3: a share over the pooled one, ½
    [[1.667, 0.333], [0.333, 1.667]]
    """
    K, C = counts.shape
    chances = np.zeros((len(n_nodes), len(alphas), len(sizes))) if omegas is None else omegas.copy()
    terms, lost = np.empty((2, 3, K, C)) if out is None else out, np.zeros(K, np.uint8)
    flat = chances.reshape(len(n_nodes) * len(alphas), len(sizes)), terms.reshape(6 * K, C)
    by_class = moments.reshape(3 * len(sizes), C)
    chosen = omegas is not None
    given = value, counts, sizes, nodes, n_nodes, alphas, flat[0], chosen, by_class, whole, full, less
    _native.expert_terms(*given, floor, flat[1], lost)
    return ExpertTerms(terms, chances, lost.view(np.bool_))


def mix_experts(
    terms: Floats,
    counts: Floats,
    sizes: Sizes,
    log_rows: Floats,
    pairs: NDArray[np.int64],
    *,
    used: tuple[bool, bool, bool] = (True, True, True),
    log_weights: Floats | None = None,
    mixed: bool = True,
) -> MixedExperts:
    """Return the average of three experts, weighted by how well each predicts the classes of rows left out.

    Parameters
    ----------
    terms : float64 ndarray, shape (3, 3, K, C)
        The experts' terms, as `expert_terms` gives those of the first two.
    counts : float64 ndarray, shape (K, C)
        The weight of each class in each cell.
    sizes : sequence of int, length F
        The number of cells of each column.
    log_rows : float64 ndarray, shape (2, C)
        The log of each class's prior weight, and of that with a row less.
    pairs : int64 ndarray, shape (P,)
        The rows left out to average for, rising: cell times C plus class.
    used : tuple of bool
        Which of the experts take part.
    log_weights : float64 ndarray, shape (3, F), optional
        The logs of the experts' weights, if they are known.
    mixed : bool
        Whether to average for all cells.

    Examples
    --------
    >>> terms = np.log([[[[0.5, 1.5]]] * 3, [[[1.0, 1.0]]] * 3, [[[1.0, 1.0]]] * 3])
    >>> found = mix_experts(terms, np.array([[1.0, 3.0]]), [1], np.log([[1.0, 3.0], [1.0, 2.0]]), np.array([0, 1]))
    >>> np.exp(found.log_weights).round(2).ravel().tolist()      # 0.1 · (6/7)³ against 1/4 · (2/3)³
    [0.3, 0.35, 0.35]
    """
    (K, C), given = counts.shape, log_weights is not None
    weights = np.empty((3, len(sizes))) if log_weights is None else np.array(log_weights, order="C")
    out, left_out = np.empty((K, C)) if mixed else None, np.empty((C, len(pairs)))
    flat = terms.reshape(9 * K, C)
    _native.mix_experts(flat, counts, sizes, log_rows, *used, given, pairs, weights, out, left_out)
    return MixedExperts(weights, out, left_out)
