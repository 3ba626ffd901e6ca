"""The posterior of numbers that are normal together in each class, and what they say beyond each alone.

The notation, and the formulas, are those of `events.correlation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tallybayes import kernels
from tallybayes.events.event import ClassCodes
from tallybayes.events.inputs import Dense, Floats

__all__ = ["UNIT", "Moments", "NormalPosterior"]

UNIT = 2.0**-10  # of a score: a thousandth of a standard deviation
_PRIOR_ROWS = 2.0  # of independent scores
_LEAST_LEFT = 1e-12  # of a determinant without a row: rounding, where thousands of rows are one


class Moments(NamedTuple):
    """The sums of each class: n (C,), Σz (C, d), Σzzᵀ (C, d, d)."""

    n: Floats
    totals: Floats
    products: Floats


@dataclass(frozen=True, eq=False)
class NormalPosterior:
    """The posterior of mean and covariance of each class: see the notation above.

    Attributes
    ----------
    k : ndarray, shape (C,)
        The rows behind the mean, the prior's included.
    mean : ndarray, shape (C, d)
        The means m.
    root : ndarray, shape (C, d, d)
        R, upper triangular, with Ψ⁻¹ = RRᵀ.
    log_det : ndarray, shape (C,)
        log |Ψ|.
    diagonal : ndarray, shape (C, d)
        The diagonal of Ψ.
    """

    k: Floats
    mean: Floats
    root: Floats
    log_det: Floats
    diagonal: Floats

    @classmethod
    def of(cls, moments: Moments) -> NormalPosterior:
        """Return the posterior, given the sums."""
        k = moments.n + 1
        mean = moments.totals / k[:, None]
        d = mean.shape[1]
        spread = moments.products - k[:, None, None] * mean[:, :, None] * mean[:, None, :]
        spread = spread + _PRIOR_ROWS * np.eye(d)
        lower = np.linalg.cholesky(spread)
        log_det = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        root = np.ascontiguousarray(np.linalg.inv(lower).swapaxes(1, 2))
        return cls(k, mean, root, log_det, np.diagonal(spread, axis1=1, axis2=2).copy())

    def distances(self, data: Dense) -> Floats:  # (n, C)
        """Return uᵀΨ⁻¹u of each row, given its scores in units; the same whatever rows are beside it."""
        out = np.empty((len(data), len(self.k)))
        kernels.distances(data.columns, self.mean / UNIT, self.root * UNIT, out)
        return out

    def log_ratios(self, data: Dense) -> Floats:  # (n, C)
        """Return I of each row and class, given its scores in units; NaN where they are missing."""
        k, d = self.k, self.mean.shape[1]
        degrees, wider = k + _PRIOR_ROWS, (k + 1) / k
        scale = UNIT / np.sqrt(wider[:, None] * self.diagonal)
        alone = np.zeros((len(data), len(k)))
        power = np.repeat((degrees[:, None] + 1) / 2, d, axis=1)
        kernels.score_student(data.columns, self.mean / UNIT, scale, np.zeros_like(power), power, alone)
        q = self.distances(data)
        q /= wider
        joint = kernels.log1p(q)
        joint *= (degrees + d) / 2
        constant = _log_constant(k, d) - 0.5 * (self.log_det - np.log(self.diagonal).sum(axis=1))
        return np.asarray(constant - joint - alone)

    def log_ratios_without(self, data: Dense, classes: ClassCodes, weights: Floats) -> Floats:  # (n, C)
        """Return I of each row and class, the row being left out of its own class."""
        out, distances = self.log_ratios(data), self.distances(data)
        for c, k in enumerate(self.k.tolist()):
            mine = np.flatnonzero(classes == c)
            u = data.take(mine).matrix() * UNIT - self.mean[c]
            q, own = distances[mine, c], u * u / self.diagonal[c]
            w = np.minimum(weights[mine], k - 1)  # rounding may leave less than was counted
            grown, gone = k / (k - w), w * k / (k - w)
            left, lefts = 1 - gone * q, 1 - gone[:, None] * own  # above 0: Ψ keeps its prior
            left, lefts = np.maximum(left, _LEAST_LEFT), np.maximum(lefts, _LEAST_LEFT)
            out[mine, c] = _log_ratio(
                k - w,
                grown**2 * q / left,
                self.log_det[c] + np.log(left),
                (grown**2)[:, None] * own / lefts,
                np.log(self.diagonal[c]) + np.log(lefts),
            )
        return out


def _log_ratio(k: Floats, q: Floats, log_det: Floats, own: Floats, logs: Floats) -> Floats:  # (n,)
    """Return log t(z) − Σ_j log t_j(z_j): `own` (n, d) are the squares q_j, `logs` the logarithms of Ψ_jj."""
    d, degrees, wider = own.shape[1], k + _PRIOR_ROWS, (k + 1) / k
    joint = -0.5 * log_det - (degrees + d) / 2 * np.log1p(q / wider)
    alone = -0.5 * logs - (degrees[:, None] + 1) / 2 * np.log1p(own / wider[:, None])
    return np.asarray(_log_constant(k, d) + joint - alone.sum(axis=1))


def _log_constant(k: Floats, d: int) -> Floats:
    """Return the part of log t(z) − Σ_j log t_j(z_j) that depends on the number of rows alone."""
    from scipy.special import gammaln  # slow to import

    degrees = k + _PRIOR_ROWS
    one = gammaln((degrees + 1) / 2) - gammaln(degrees / 2)
    return np.asarray(gammaln((degrees + d) / 2) - gammaln(degrees / 2) - d * one)
