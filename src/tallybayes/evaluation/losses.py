"""Losses of predicted probabilities: log-loss and Brier score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallybayes.evaluation.inputs import Places
from tallybayes.events.inputs import Floats


class LogLoss(NamedTuple):
    """The mean of −log P(true class), and the rows that make it infinite.

    Attributes
    ----------
    mean : float
        The mean over all rows; infinite if any row has probability 0 for its true class.
    impossible : int
        The number of such rows.
    rest : float
        The mean over the other rows; NaN if there are none.
    error : float
        The standard error of `rest`; NaN for fewer than two rows.
    """

    mean: float
    impossible: int
    rest: float
    error: float


def true_probabilities(places: Places, probabilities: Floats) -> Floats:  # (n,)
    """Return the predicted probability of each row's true class."""
    return np.asarray(np.take_along_axis(probabilities, places[:, None], axis=1)[:, 0])


def log_loss(true: Floats, weights: Floats | None = None) -> LogLoss:
    """Return the log-loss, without clipping.

    A row with probability 0 for its true class makes the loss infinite, and is counted.

    Parameters
    ----------
    true : ndarray, shape (n,)
        The predicted probability of each row's true class.
    weights : ndarray, shape (n,), optional
        The weight of each row, above 0.

    Notes
    -----
    scikit-learn replaces a 0 by 2.2e-16, which costs 36 per row, so its average depends on the type of the array.

    Examples
    --------
    >>> round(log_loss(np.array([0.5, 0.25])).mean / 0.693147, 4)       # in bits: one, and two
    1.5
    >>> log_loss(np.array([1.0, 0.0, 1.0]))
    LogLoss(mean=inf, impossible=1, rest=0.0, error=0.0)
    """
    possible = true > 0
    impossible = len(true) - int(np.count_nonzero(possible))
    kept = true if not impossible else true[possible]
    w = weights if weights is None or not impossible else weights[possible]
    rest, error = _mean_and_error(-np.log(kept), w) if len(kept) else (float("nan"), float("nan"))
    return LogLoss(float("inf") if impossible else rest, impossible, rest, error)


def _mean_and_error(losses: Floats, weights: Floats | None) -> tuple[float, float]:
    mean = float(np.average(losses, weights=weights)) + 0.0
    rows = float(len(losses) if weights is None else weights.sum())
    if rows <= 1:
        return mean, float("nan")
    return mean, float(np.sqrt(np.average((losses - mean) ** 2, weights=weights) / (rows - 1)))


def brier(places: Places, probabilities: Floats, weights: Floats | None = None) -> float:
    """Return the Brier score.

    It is the mean squared distance of the probabilities from 1 for the true class and 0 for the others.

    Notes
    -----
    With two classes only the second is used, so the score is between 0 and 1. With more, the squared distances of all
    classes are summed, so it is between 0 and 2.

    Examples
    --------
    >>> brier(np.array([1, 0]), np.array([[0.25, 0.75], [0.5, 0.5]]))       # (0.0625 + 0.25) / 2
    0.15625
    """
    if probabilities.shape[1] == 2:
        return float(np.average((probabilities[:, 1] - (places == 1)) ** 2, weights=weights))
    distance = np.zeros(len(places))
    for c in range(probabilities.shape[1]):
        distance += (probabilities[:, c] - (places == c)) ** 2
    return float(np.average(distance, weights=weights))
