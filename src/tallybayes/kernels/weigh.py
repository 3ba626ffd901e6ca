"""The loss of weighted terms with its derivatives, its minimum, and the score test of more terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Codes, Floats, Sizes

__all__ = [
    "CodedTerms",
    "Drawn",
    "Limits",
    "MinimisedTerms",
    "WeighedTerms",
    "find_precisions",
    "minimise",
    "minimise_terms",
    "score_test",
    "weigh_terms",
]


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


def find_precisions(
    curvature: Floats,
    squares: Floats,
    sizes: Sizes,
    distinct: Floats,
    expected: Floats,
    alphas: Floats,
    logs: Floats,
    *,
    strength: float,
) -> Floats:  # (G,)
    """Return the most probable precision of each group of numbers, see `inference.precisions`.

    It is where distinct · Σs = α · Σs²x² + strength · (log α − expected), s = h / (h + α), to the lattice's spacing.

    Parameters
    ----------
    curvature, squares : float64 ndarray, shape (N,)
        h and x² of each number, group after group.
    sizes : sequence of int, length G
        The size of each group.
    distinct, expected : float64 ndarray, shape (G,)
        The share of numbers that do not follow from others, and the logarithm of the precision to expect.
    alphas, logs : float64 ndarray, shape (M,)
        Precisions to try, rising, and their logarithms.
    strength : float
        How strongly that precision is expected.

    Examples
    --------
    >>> alphas = np.exp(np.linspace(-4, 4, 1025))
    >>> given = np.full(9, 100.0), np.full(9, 0.26), [9], np.ones(1), np.zeros(1), alphas, np.log(alphas)
    >>> find_precisions(*given, strength=0.0).round(1).tolist()                              # 1 / (0.26 − 1 / 100)
    [4.0]
    """
    out = np.empty(len(sizes))
    _native.find_precisions(curvature, squares, sizes, distinct, expected, strength, alphas, logs, out)
    return out


class MinimisedTerms(NamedTuple):
    """The numbers, and the last steps with the changes of the slope of the loss alone along them."""

    numbers: Floats  # (1 + U + C + K·C,)
    steps: Floats  # (S, 2, 1 + U + C + K·C)


class Drawn(NamedTuple):
    """What draws numbers to 0, and the first of them from below -1.

    `unit` has the step of each number that changes the loss by about a half, `precision` how strongly each is drawn.
    """

    unit: Floats
    precision: Floats
    wall: float


class Limits(NamedTuple):
    """The most steps, and the decrease to expect at which to end, relative to the value plus `least`."""

    steps: int
    gain: float
    least: float


def minimise(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats, value: float, slope: Floats, limits: Limits
) -> Floats:  # (K,)
    """Return a point near the minimum of a smooth function, by L-BFGS.

    Parameters
    ----------
    function : callable
        Takes a point; returns value and slope.
    start, slope : float64 ndarray, shape (K,)
        The first point, and the slope there.
    value : float
        The value there.
    limits : Limits

    Examples
    --------
    >>> minimise(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(1), 9.0, np.full(1, -6.0),
    ...          Limits(20, 1e-12, 1.0)).round(6)
    array([3.])
    """
    return np.asarray(_native.minimise(function, start, value, slope, *limits))


def minimise_terms(
    base: Floats,
    terms: NDArray[np.float32],
    numbers: NDArray[np.int32],
    coded: CodedTerms,
    classes: NDArray[np.int32],
    weights: Floats | None,
    share: Floats,
    *,
    target: Floats,
    first: Floats,
    drawn: Drawn,
    start: Floats,
    loss: float,
    slope: Floats,
    steps: Floats,
    limits: Limits,
    function: Callable[[Floats], tuple[float, Floats]] | None = None,
) -> MinimisedTerms:
    """Minimise the loss of weighted terms with a prior, by L-BFGS.

    The numbers are a common weight t, weights w, the bias of each class and corrections: those of `weigh_terms`, with
    ``scale = first + t * target + w``.

    Parameters
    ----------
    base, terms, numbers, coded, classes, weights, share
        As `weigh_terms` takes them.
    target, first : float64 ndarray, shape (U,)
    drawn : Drawn
    start, slope : float64 ndarray, shape (1 + U + C + K·C,)
        The first numbers, and the slope of the loss alone there.
    loss : float
        The loss alone there.
    steps : float64 ndarray, shape (S, 2, 1 + U + C + K·C)
        Steps of a loss like this one and the changes of its slope, oldest first.
    limits : Limits
    function : callable, optional
        Takes numbers; returns loss and slope in place of the compiled ones: those of rows on several threads.
    """
    given = base, terms, numbers, coded, classes, weights, share
    prior = drawn.unit, drawn.precision, drawn.wall
    found = _native.minimise_terms(given, target, first, *prior, start, loss, slope, steps, *limits, function)
    return MinimisedTerms(*found)


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
