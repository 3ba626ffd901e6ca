"""A test of independence: Pearson's χ² within each class, and its p-value.

The p-value is that of a permutation test that shuffles one column within each class. Nothing is shuffled: the mean and
the variance of χ² over all permutations are known exactly (Haldane 1940), and a gamma distribution is matched to both.
With many rows per cell it approaches the textbook χ² distribution. With few rows or rare values the textbook
distribution is wrong, and that of the likelihood ratio more so: at 1.5 rows per cell, half of all independent columns
would be called dependent at the 5 % level.

Notation: N rows of a class, R and K the counts of the two columns' values in it, r and k the numbers of values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallybayes.events.inputs import Floats

# The fewest rows for which the variance is defined.
_LEAST = 4


class ChiSquared(NamedTuple):
    """P-values of independence, and the mean share of χ² due to chance; (pairs,) each."""

    p: Floats
    chance: Floats


def chi_squared(tables: Floats) -> ChiSquared:
    """Test tables of shape (pairs, C, A, B) for independence in every class.

    Examples
    --------
    >>> apart, alike = [[10.0, 10.0], [10.0, 10.0]], [[20.0, 0.0], [0.0, 20.0]]
    >>> found = chi_squared(np.array([[apart], [alike]]))
    >>> found.p.round(6).tolist(), found.chance.round(4).tolist()      # χ² = 40; 40/39 of it is chance
    ([1.0, 0.0], [0.0, 0.0256])
    """
    statistic, mean, variance = (part.sum(axis=1) for part in _moments(tables))
    from scipy.special import gammaincc  # slow to import, and a server may never need it

    with np.errstate(divide="ignore", invalid="ignore"):
        shape, scale = mean**2 / variance, variance / mean
        # Where every permutation gives the same table, nothing speaks against independence.
        p = np.where((mean > 0) & (variance > 0), gammaincc(shape, statistic / scale), 1.0)
        return ChiSquared(p, np.where(statistic > 0, mean / statistic, 0.0))


def _moments(tables: Floats) -> tuple[Floats, Floats, Floats]:  # (pairs, C) each
    """Return Pearson's χ² of each class, and its mean and variance over all permutations.

    Notes
    -----
    The mean is N (r − 1)(k − 1) / (N − 1), the variance 2N / (N − 3) · (v₁ − w₁)(v₂ − w₂) + N² / (N − 1) · w₁ w₂, with
    v = (r − 1)(N − r) / (N − 1) and w = (N Σ 1/R − r²) / (N − 2), and likewise for the other column.
    """
    rows, columns = tables.sum(axis=3), tables.sum(axis=2)  # (pairs, C, A), (pairs, C, B)
    N = rows.sum(axis=2)
    enough = _LEAST <= N
    n = np.where(enough, N, _LEAST)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Σ (n − e)² / e = N (Σ n² / (R K) − 1)
        share = np.where(tables > 0, (tables / rows[..., None]) * (tables / columns[:, :, None]), 0.0).sum(axis=(2, 3))
    r, v, w = _margin(rows, n)
    k, u, z = _margin(columns, n)
    mean = n * (r - 1) * (k - 1) / (n - 1)
    variance = 2 * n / (n - 3) * (v - w) * (u - z) + n**2 / (n - 1) * w * z
    some = enough & (r > 1) & (k > 1)
    statistic = n * np.maximum(share - 1, 0.0)
    return np.where(some, statistic, 0.0), np.where(some, mean, 0.0), np.where(some, variance, 0.0)


def _margin(counts: Floats, n: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the number of values of a column, and v and w of the variance."""
    values = np.count_nonzero(counts, axis=2).astype(np.float64)
    inverse = np.where(counts > 0, 1 / np.where(counts > 0, counts, 1.0), 0.0).sum(axis=2)
    return values, (values - 1) * (n - values) / (n - 1), (n * inverse - values**2) / (n - 2)
