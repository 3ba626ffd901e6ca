"""Wrappers of the kernels that add log scores per class to ``out``, and normalise.

``out`` is always a C-contiguous float64 array of shape (n, C). A row's scores depend on that row alone, to the last
bit, so slicing the rows changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Codes, Columns, Floats, Integers, Sizes


def score_gaussian(
    columns: Columns, mean: Floats, scale: Floats, constant: Floats, out: Floats, *, rest: Floats | None = None
) -> bool:
    """Add ``constant - ((x - mean) * scale)**2``, a normal log-density, summed over the columns; NaN adds nothing.

    Return whether there is a NaN. `mean`, `scale` and `constant` are float64 (C, F). `rest`, by default 0, is what the
    means have beyond a double.

    Examples
    --------
    >>> out = np.zeros((1, 2))
    >>> score_gaussian(np.array([[3.0]]), np.array([[1.0], [3.0]]), np.full((2, 1), 0.5), np.full((2, 1), -1.0), out)
    False
    >>> out.tolist()
    [[-2.0, -1.0]]
    """
    return _native.score_gaussian(columns, mean, scale, constant, out, rest)


def score_student(
    columns: Columns,
    mean: Floats,
    scale: Floats,
    constant: Floats,
    power: Floats,
    out: Floats,
    *,
    rest: Floats | None = None,
) -> None:
    """Add ``constant - power * log1p(((x - mean) * scale)**2)``, Student's t log-density, as ``score_gaussian`` does.

    Adjacent columns of equal power share a logarithm, so put them next to each other if possible.

    Examples
    --------
    >>> out, one = np.zeros((1, 1)), np.ones((1, 1))
    >>> score_student(np.array([[2.0]]), one, one, 0 * one, one, out)
    >>> round(out.item(), 6)
    -0.693147
    """
    _native.score_student(columns, mean, scale, constant, power, out, rest)


def score_codes(
    columns: Codes, table: Floats, sizes: Sizes, out: Floats, *, low: int = 0, outside: Literal["skip", "last"] = "skip"
) -> None:
    """Add the rows of the table that a row's codes point to.

    A code outside its column's range adds nothing ("skip"), or the same as the column's last code ("last").

    Examples
    --------
    >>> out, table = np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0], [10.0, 20.0]])
    >>> score_codes(np.array([[1, 0], [0, 7]]), table, [2, 1], out)
    >>> out.tolist()
    [[13.0, 24.0], [1.0, 2.0]]
    """
    if outside not in ("skip", "last"):
        raise ValueError(f"outside: wanted 'skip' or 'last', got {outside!r}")
    _native.score_codes(columns, table, sizes, out, low, outside == "last")


def score_own_codes(
    columns: Codes, table: Floats, sizes: Sizes, classes: NDArray[np.int32], out: Floats, *, low: int = 0
) -> None:
    """Do as ``score_codes``, but only for ``out[i, classes[i]]``: the entries that leaving a row out changes.

    Examples
    --------
    >>> out, table = np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> score_own_codes(np.array([[1], [0]]), table, [2], np.array([0, 1], np.int32), out)
    >>> out.tolist()
    [[3.0, 0.0], [0.0, 2.0]]
    """
    _native.score_own_codes(columns, table, sizes, classes, out, low)


def score_sparse(
    indptr: Integers,
    indices: Integers,
    data: NDArray[Any],
    table: Floats,
    out: Floats,
    lengths: Floats | None = None,
) -> None:
    """Add each row's entries times their columns' rows of the table (n_columns, C).

    An entry of 0 adds nothing, even where the table is -inf. The sum of each row is written to ``lengths`` (n,).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> x, out = csr_array(np.array([[2, 0], [1, 1]])), np.zeros((2, 1))
    >>> score_sparse(x.indptr, x.indices, x.data, np.array([[-1.0], [-0.5]]), out)
    >>> out.tolist()
    [[-2.0], [-1.5]]
    """
    _native.score_sparse(indptr, indices, data, table, out, lengths)


def empty_table(height: int, n_classes: int) -> Floats:
    """Return room for a table (height, n_classes) at the start of a cache line.

    A row of twenty classes then takes three lines. At NumPy's own place every other one would take four, and
    ``score_sparse`` waits for most of them.

    Examples
    --------
    >>> table = empty_table(3, 20)
    >>> table.shape, table.ctypes.data % 64
    ((3, 20), 0)
    """
    line = 64
    room = np.empty(height * n_classes * 8 + line, np.uint8)
    start = -room.ctypes.data % line
    return room[start : start + height * n_classes * 8].view(np.float64).reshape(height, n_classes)


def softmax(scores: Floats, out: Floats | None = None) -> Floats:
    """Turn each row of scores (n, C) into probabilities; return the log of its norm.

    The probabilities are in ``out``, or in place.

    It is ``log(sum(exp(scores)))``; -inf, with zeros in ``out``, if all scores of the row are -inf.

    Examples
    --------
    >>> scores = np.log([[1.0, 3.0], [2.0, 2.0]]) - 1000.0
    >>> softmax(scores).round(6).tolist(), scores.round(6).tolist()
    ([-998.613706, -998.613706], [[0.25, 0.75], [0.5, 0.5]])
    """
    log_norm = np.empty(len(scores))
    _native.softmax(scores, scores if out is None else out, log_norm, False)
    return log_norm


def log_softmax(scores: Floats, out: Floats | None = None) -> Floats:
    """Do as ``softmax``, but with log-probabilities; a row of -inf is left unchanged.

    Examples
    --------
    >>> scores = np.zeros((1, 4))
    >>> log_softmax(scores).round(6).tolist(), scores.round(6).tolist()
    ([1.386294], [[-1.386294, -1.386294, -1.386294, -1.386294]])
    """
    log_norm = np.empty(len(scores))
    _native.softmax(scores, scores if out is None else out, log_norm, True)
    return log_norm


def log_norm(scores: Floats) -> Floats:  # (n,)
    """Return the log of the norm of each row of scores (n, C), as ``softmax`` does; scores stay as they are.

    Examples
    --------
    >>> log_norm(np.zeros((1, 4))).round(6).tolist()
    [1.386294]
    """
    out = np.empty(len(scores))
    _native.softmax(scores, None, out, True)
    return out


def best_class(scores: Floats, best: NDArray[np.int64]) -> bool:
    """Write the class of each row's largest score, the first of several; return whether all of these are finite.

    Where a score is NaN or no class is possible the answer is False, and the class of that row means nothing.

    Examples
    --------
    >>> best = np.empty(2, np.int64)
    >>> best_class(np.array([[-3.0, -1.0, -1.0], [0.0, -np.inf, -2.0]]), best), best.tolist()
    (True, [1, 0])
    """
    return _native.best_class(scores, best)


def _at_once(n: int, work: Callable[[slice], None]) -> None:
    work(slice(0, n))


def temper(
    scores: Floats,
    own: Floats,
    logs: Floats,
    weights: Floats | None,
    u: float,
    v: float,
    loss: Floats,
    over: Callable[[int, Callable[[slice], None]], object] = _at_once,
) -> tuple[float, float, float, float, float, float]:
    """Compute the loss under temperature ``exp(u + v * log)``, and its derivatives.

    Parameters
    ----------
    scores : float64 ndarray, shape (n, C)
        Finite scores, shifted so that the largest of each row is 0.
    own : float64 ndarray, shape (n,)
        The scores of the rows' own classes.
    logs : float64 ndarray, shape (n,)
        The log of each row's size, centred; NaN for a row whose temperature is always 1.
    loss : float64 ndarray, shape (n,)
        OUT: the loss of each row.
    over : callable
        Takes n and work on slices of n rows, and does it, such as on threads; the slices do not matter.

    Returns
    -------
    tuple of float
        The weighted sum of the losses; its first derivatives by u and v; its second by u², uv and v².

    Examples
    --------
    >>> loss = np.empty(1)
    >>> sums = temper(np.array([[0.0, -1.0]]), np.array([-1.0]), np.zeros(1), None, np.log(2.0), 0.0, loss)
    >>> round(loss.item(), 6), round(sums[1], 6)      # log(1 + e^-2) + 2; 2 * (1 - 0.119203)
    (2.126928, 1.761594)
    """
    if len(own) != len(scores):
        raise ValueError(f"own: wanted length {len(scores)}, got {len(own)}")
    slopes = np.empty((len(scores), 2))

    def work(some: slice) -> None:
        weight = None if weights is None else weights[some]
        _native.temper_rows(scores[some], own[some], logs[some], weight, u, v, loss[some], slopes[some])

    over(len(scores), work)
    return _native.temper_sums(logs, weights, loss, slopes)
