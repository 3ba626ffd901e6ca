"""Wrappers of the leave-one-out kernels: rows scored by moments or counts that exclude them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Columns, Floats, Integers


class Coefficients(NamedTuple):
    """Coefficients, each of shape (C, F), that map moments to a class's density.

    With n, mean, m2 the weight, mean and sum of squared deviations of a class, and N, M, M2 those of the whole column,
    the density has ``scale2 = share * (m2 + between * (mean - M)**2) + whole * M2 / N`` and the location
    ``mean - pull * (mean - M)``. `freedom` is the degrees of freedom of a Student density. `constant` is added to
    every log-density.
    """

    pull: Floats
    between: Floats
    share: Floats
    whole: Floats
    freedom: Floats
    constant: Floats


def leave_dense(
    columns: Columns,
    classes: NDArray[np.int32],
    moments: Floats,
    whole: Floats,
    full: Coefficients,
    less: Coefficients,
    out: Floats,
    *,
    floor: float,
    student: bool,
) -> NDArray[np.int64]:  # (k, 2)
    """Add each row's log-density under each class, with the row left out.

    The row is subtracted from the moments of its class and of the whole column.

    Parameters
    ----------
    moments : float64 ndarray, shape (4, C, F)
        n, mean, m2 and the mean's rest of each class, over all rows; an m2 of 0 means that all values are equal.
    whole : float64 ndarray, shape (4, F)
        The same over all classes.
    full, less : Coefficients
        The coefficients for all rows of a class, and for one row less.
    floor : float
        The smallest scale2, as a share of M2 / N.
    student : bool
        Whether the density is Student's t rather than normal.
    out : float64 ndarray, shape (n, C), or (F, n, C)
        What is added to: the sum over all columns, or each column by itself.

    Returns
    -------
    int64 ndarray, shape (k, 2)
        Row and column of the cells that were skipped, because subtracting the row cancels too many digits. The caller
        must score these in exact arithmetic.

    Examples
    --------
    >>> zero, one = np.zeros((1, 1)), np.ones((1, 1))
    >>> normal = Coefficients(zero, zero, 1 / 3 * one, zero, one, zero)      # variance: m2 / 3
    >>> moments, out = np.array([[[4.0]], [[2.0]], [[8.0]], [[0.0]]]), np.zeros((1, 1))
    >>> cells = leave_dense(np.array([[4.0]]), np.zeros(1, np.int32), moments, moments[:, 0], normal, normal, out,
    ...                     floor=1e-9, student=False)
    >>> (out + 0.5 * np.log(8 / 9)).round(6), len(cells)      # without 4: mean 4/3, m2 8/3; -(4 - 4/3)**2 / (2 * 8/9)
    (array([[-4.]]), 0)
    """
    _, C, F = np.shape(moments)
    cells = _native.leave_dense(
        columns, classes, moments.reshape(4 * C, F), whole, tuple(full), tuple(less), floor, student, out
    )
    return np.array(cells, np.int64).reshape(-1, 2)


def leave_sparse(
    indptr: Integers,
    indices: Integers,
    data: NDArray[Any],
    classes: NDArray[np.int32],
    counts: NDArray[np.int64],
    alpha: Floats,
    out: Floats,
) -> None:
    """Add each row's Σ x·log(count − x + α) over its entries x.

    The counts are those of its own class.
    An entry of 0 adds nothing; the logarithm of 0 is −∞, and that of less NaN.

    Parameters
    ----------
    counts : int64 ndarray, shape (C, n_columns)
        The counts of each column in each class, the rows included.
    alpha : float64 ndarray, shape (n_columns,)
        What is added to the counts of each column.
    out : float64 ndarray, shape (n,)
        What is added to.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> x, out = csr_array(np.array([[2, 0]])), np.zeros(1)
    >>> counts = np.array([[5, 1]])
    >>> leave_sparse(x.indptr, x.indices, x.data, np.zeros(1, np.int32), counts, np.ones(2), out)
    >>> (out - 2 * np.log(5 - 2 + 1)).round(12).tolist()
    [0.0]
    """
    _native.leave_sparse(indptr, indices, data, classes, counts, alpha, out)
