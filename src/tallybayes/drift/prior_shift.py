"""The class shares of unlabelled rows, estimated from their probabilities by EM.

If only the class shares have changed, and rows of one class look as they did, the probabilities of new rows hold enough
to find the new shares (Saerens, Latinne and Decaestecker 2002): reweigh every row's probabilities by new share over
prior, take their mean as the next shares, and repeat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which imports scipy.stats when it is first used: it is slow, and a server may never need it

from tallybayes.events.inputs import Floats
from tallybayes.model import Model

__all__ = ["MOST_NUMBERS", "PriorShift", "estimate_prior", "shift_prior"]

MOST_NUMBERS = 5_000_000  # probabilities that EM goes over: rows × classes, 40 MB
_STEPS, _STILL = 2000, 1e-7  # the most steps, and the change of a share below which shares stand still
_TINY = 1e-300  # keeps a probability of 0 from ending in 0 / 0


@dataclass(frozen=True)
class PriorShift:
    """Class shares estimated from unlabelled rows, beside the prior.

    Attributes
    ----------
    classes : tuple
        The classes.
    prior : tuple of float
        The model's prior.
    shares : tuple of float
        The shares under which the new rows are most probable.
    p : float
        The p-value of "the class shares are those of the fitted rows". It relies on calibrated probabilities.
    rows : int
        The number of rows that were used.
    """

    classes: tuple[Any, ...]
    prior: tuple[float, ...]
    shares: tuple[float, ...]
    p: float
    rows: int


def estimate_prior(model: Model, probabilities: Floats, weights: Floats | None = None) -> PriorShift:
    """Estimate the class shares of rows from the probabilities (n, C) that a model gives them."""
    counted = float(model.evidence.rows.sum().to_float()) if model.choices.prior == "learned" else np.inf
    prior = np.exp(model.belief.log_prior)
    return shift_prior(model.classes, prior, probabilities, weights, fitted_rows=counted)


def shift_prior(
    classes: tuple[Any, ...],
    prior: Floats,
    probabilities: Floats,
    weights: Floats | None = None,
    *,
    fitted_rows: float = np.inf,
) -> PriorShift:
    """Estimate the class shares of rows from their probabilities.

    Parameters
    ----------
    classes : tuple
        The classes.
    prior : ndarray, shape (C,)
        The prior that the probabilities were computed with.
    probabilities : ndarray, shape (n, C)
        The probabilities of the rows.
    weights : ndarray, shape (n,), optional
        The weights of the rows.
    fitted_rows : float
        The number of rows that the prior was counted in; infinite for a prior that was set.

    Notes
    -----
    The p-value is that of a score test: with the prior, the mean of each probability divided by its prior is 1. Its
    covariance is that of the new rows, plus that of the prior as a share of the fitted rows.

    Examples
    --------
    >>> sure = np.array([[0.99, 0.01]] * 30 + [[0.01, 0.99]] * 70)
    >>> found = shift_prior(("no", "yes"), np.array([0.5, 0.5]), sure)
    >>> [round(share, 3) for share in found.shares], f"{found.p:.0e}"
    ([0.296, 0.704], '6e-05')
    """
    weights = np.ones(len(probabilities)) if weights is None else weights
    total, base, shares = weights.sum(), np.maximum(prior, _TINY), prior
    for _ in range(_STEPS):
        ratio = shares / base
        density = np.maximum(probabilities @ ratio, _TINY)  # of each row, relative to its density under the prior
        new = ratio * ((weights / density) @ probabilities) / total
        still = np.abs(new - shares).max() < _STILL
        shares = new / new.sum()
        if still:
            break
    p = _score_test(base, probabilities, weights, fitted_rows)
    return PriorShift(classes, tuple(prior.tolist()), tuple(shares.tolist()), p, len(probabilities))


def _score_test(prior: Floats, probabilities: Floats, weights: Floats, fitted_rows: float) -> float:
    """Return the p-value of "the prior still holds"."""
    free = prior[:-1]  # the last share is what the others leave
    scores = probabilities[:, :-1] / free - (probabilities[:, -1] / prior[-1])[:, None]  # (n, C - 1)
    total, information = weights @ scores, (scores * weights[:, None]).T @ scores
    of_prior = (np.diag(free) - np.outer(free, free)) / fitted_rows
    covariance = information + information @ of_prior @ information
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if not rank:  # all probabilities are the prior
        return 1.0
    return float(scipy.stats.chi2.sf(total @ np.linalg.pinv(covariance, hermitian=True) @ total, rank))
