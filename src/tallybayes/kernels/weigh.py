"""The loss of weighted terms with its derivatives, and the score test of more terms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Codes, Floats, Sizes

__all__ = ["CodedTerms", "WeighedTerms", "score_test", "weigh_terms", "weighted_sum"]


class WeighedTerms(NamedTuple):
    """The loss; slopes by scale (U,), bias (C,) and table (K·C,); the same of curvatures; and that of all scales."""

    loss: float
    slopes: Floats  # (U + C + K·C,)
    curves: Floats  # (U + C + K·C,)
    all_curve: float


class CodedTerms(NamedTuple):
    """Terms and corrections that rows look up by code: rows with the same code share an entry of a table.

    Attributes
    ----------
    codes : int32 ndarray, shape (V, n)
        The entry of each row in each table; -1 adds nothing.
    sizes : int64 ndarray, shape (V,)
        The number of entries of each table.
    values : float64 ndarray, shape (P, C - 1)
        The term of each entry, table by table; less the last class's.
    terms : int32 ndarray, shape (V,)
        The number of the term that each table holds; -1 for none.
    bins : int32 ndarray, shape (P,)
        The correction of each entry; -1 for none.
    """

    codes: NDArray[np.int32]
    sizes: NDArray[np.int64]
    values: Floats
    terms: NDArray[np.int32]
    bins: NDArray[np.int32]


def weigh_terms(
    base: Floats,
    terms: NDArray[np.float32],
    numbers: NDArray[np.int32],
    coded: CodedTerms,
    classes: NDArray[np.int32],
    weights: Floats | None,
    share: Floats,
    scale: Floats,
    bias: Floats,
    table: Floats,
    *,
    rows: slice | None = None,
    sloped: bool = True,
    curved: bool = False,
    p: Floats | None = None,
) -> WeighedTerms:
    """Compute the loss of weighted scores, and its derivatives.

    The scores are ``base + share * (bias + Σ scale * term + Σ correction)``.

    Parameters
    ----------
    base : float64 ndarray, shape (C - 1, n)
        Finite scores of all classes but the last, less those of the last.
    terms : float32 ndarray, shape (T, C - 1, n)
        Finite terms, likewise, of each row.
    numbers : int32 ndarray, shape (T,)
        The number of each of them.
    coded : CodedTerms
        The other terms, and the corrections.
    classes : int32 ndarray, shape (n,)
        Each row's class.
    weights : float64 ndarray, shape (n,), or None
    share : float64 ndarray, shape (n,)
    scale, bias, table : float64 ndarray, shapes (U,), (C,) and (K, C)
    rows : slice, optional
        The rows to add up, with a step of 1; all of them by default.
    sloped, curved : bool
        Whether to compute slopes, and curvatures; otherwise they are 0.
    p : float64 ndarray, shape (n, C), optional
        OUT: the probabilities of the classes of these rows.

    Examples
    --------
    >>> one = CodedTerms(*(np.zeros(k, np.int32) for k in ((1, 1), 1)), np.ones((1, 1)), *np.zeros((2, 1), np.int32))
    >>> one = one._replace(sizes=np.ones(1, np.int64))
    >>> none = np.zeros((0, 1, 1), np.float32), np.zeros(0, np.int32)
    >>> found = weigh_terms(np.zeros((1, 1)), *none, one, np.zeros(1, np.int32), None,
    ...                     np.ones(1), np.zeros(1), np.zeros(2), np.zeros((1, 2)), curved=True)
    >>> round(found.loss, 6), found.slopes.tolist(), found.curves[0].item()      # log 2; p - 1; p (1 - p)
    (0.693147, [-0.5, -0.5, 0.5, -0.5, 0.5], 0.25)
    """
    size = len(scale) + len(bias) + table.size
    out = np.empty(2 + 2 * size)
    first, end, _ = (slice(None) if rows is None else rows).indices(len(classes))
    given = base, terms, numbers, coded, classes, weights, share, scale, bias, table
    _native.weigh_terms(*given, out, first, max(first, end), sloped, curved, p)
    return WeighedTerms(float(out[0]), out[2 : 2 + size], out[2 + size :], float(out[1]))


def weighted_sum(weights: Floats, terms: NDArray[np.floating]) -> Floats:  # (D, n)
    """Return the sum of terms (U, D, n), each times its weight.

    Unlike BLAS, it adds in the same order on every processor, and on one thread. A product has the type of its term.

    Examples
    --------
    >>> weighted_sum(np.array([1.0, 0.0, 2.0]), np.array([[[1.0]], [[5.0]], [[3.0]]]))
    array([[7.]])
    """
    out = np.empty(terms.shape[1:])
    _native.weighted_sum(weights, terms, out)
    return out


def score_test(
    columns: Codes,
    full: Floats,
    less: Floats,
    sizes: Sizes,
    classes: NDArray[np.int32],
    p: Floats,
    slope_weights: Floats,
    curve_weights: Floats,
) -> tuple[Floats, Floats]:
    """Compute how fast the log-likelihood rises with the weight of each column's terms, and its curvature.

    Parameters
    ----------
    columns : integer ndarray, shape (n, F), or sequence of F integer arrays of shape (n,)
        Codes; one outside its column's range adds nothing.
    full, less : float64 ndarray, shape (sum(sizes), C)
        The term of each code, in other classes than the row's own and in its own.
    sizes : sequence of int, length F
    classes : int32 ndarray, shape (n,)
    p : float64 ndarray, shape (n, C)
        The probabilities of the classes, without these terms.
    slope_weights, curve_weights : float64 ndarray, shape (n,)
        The factor of each row.

    Returns
    -------
    slope, curve : float64 ndarray, shape (F,)
        A weight gains about slope² / (2 · curve) nats.

    Examples
    --------
    >>> terms, ones = np.array([[1.0, 0.0]]), np.ones(1)
    >>> score_test(np.zeros((1, 1), int), terms, terms, [1], np.zeros(1, np.int32), np.full((1, 2), 0.5), ones, ones)
    (array([0.5]), array([0.25]))
    """
    out = np.empty((2, len(sizes)))
    _native.score_test(columns, full, less, sizes, classes, p, slope_weights, curve_weights, out)
    return out[0], out[1]
