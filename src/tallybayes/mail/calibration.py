"""Probabilities for the scores of mail: fitted on messages that were left out.

The log-odds of class c are slope · score_c / 2 + bias_c, normalised over the classes. With two classes the scores are
each other's negative, and the slope is that of a logistic regression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats

__all__ = ["ScoreCalibration", "fit_calibration", "margins", "threshold"]

SLOPE = 1.0  # of a filter that was never calibrated, and what a few messages are drawn to
_STRENGTH = 4.0  # how much a slope is drawn there, in messages scored at even odds
_FREE = 0.1  # and biases to 0
_STEPS, _GAIN = 200, 1e-12


@dataclass(frozen=True)
class ScoreCalibration:
    """How scores become probabilities.

    Attributes
    ----------
    messages : int
        How many messages were left out, one at a time, to fit it.
    slope : float
        What half a score is multiplied by.
    biases : dict of str to float
        What is added to the log-odds of each class; a class that is not listed has 0.
    threshold : float or None
        The margin above which a message is called spam; None: that of every other class.
    false_positives : float or None
        The share of other messages above it.
    log_loss : float
        The mean of −ln p over the messages left out, p the probability of their class.
    """

    messages: int = 0
    slope: float = SLOPE
    biases: Mapping[str, float] = field(default_factory=dict)
    threshold: float | None = None
    false_positives: float | None = None
    log_loss: float = 0.0

    def log_odds(self, scores: Floats, classes: Sequence[str]) -> Floats:  # (n, C)
        """Return the log-odds of classes, up to a constant for each message."""
        return np.asarray(scores * (self.slope / 2) + np.array([self.biases.get(name, 0.0) for name in classes]))

    def strict(self, threshold: float, false_positives: float) -> ScoreCalibration:
        """Return the calibration with a threshold for spam."""
        return replace(self, threshold=threshold, false_positives=false_positives)

    def rank(self) -> tuple[object, ...]:
        """Return what orders calibrations: of two, merged filters keep the one that more messages made."""
        limit = -np.inf if self.threshold is None else self.threshold
        return self.messages, limit, self.slope, self.log_loss, sorted(self.biases.items())


def threshold(margins: Floats, weights: Floats, share: float) -> float:
    """Return the lowest margin that at most this share of messages exceed.

    Examples
    --------
    >>> threshold(np.array([-2.0, 3.0, -5.0, 1.0]), np.ones(4), 0.25)      # one of four may exceed it
    1.0
    """
    order = np.argsort(-margins, kind="stable")
    above = np.cumsum(weights[order]) - weights[order]  # the weight of messages before each
    allowed = np.flatnonzero(above <= share * weights.sum() * (1 + 1e-12))
    return float(margins[order][allowed[-1]]) if len(order) else np.inf


def margins(log_odds: Floats, c: int) -> Floats:  # (n,)
    """Return the log-odds of one class against all others."""
    others = np.delete(log_odds, c, axis=1)
    top = others.max(axis=1, initial=-np.inf, keepdims=True)
    with np.errstate(invalid="ignore"):
        rest = top[:, 0] + np.log(np.exp(others - top).sum(axis=1))
    return np.asarray(log_odds[:, c] - rest)


def fit_calibration(
    scores: Floats, own: npt.NDArray[np.integer], classes: Sequence[str], weights: Floats
) -> ScoreCalibration:
    """Return the slope and biases under which the classes of messages left out are most probable.

    Parameters
    ----------
    scores : ndarray, shape (n, C)
        Scores of messages, each without itself.
    own : ndarray of int, shape (n,)
        Their classes.
    classes : sequence of str, length C
        The names of the classes.
    weights : ndarray, shape (n,)
        How many messages each stands for.

    Examples
    --------
    >>> scores = np.array([[3.0, -3.0]] * 90 + [[-3.0, 3.0]] * 10)      # right nine times in ten
    >>> own = np.array([0] * 81 + [1] * 9 + [0] * 1 + [1] * 9)
    >>> calibration = fit_calibration(scores, own, ["ham", "spam"], np.ones(100))
    >>> 0.7 < calibration.slope < 0.8
    True
    """
    n, C = scores.shape
    halves, rows = scores / 2, np.arange(n)

    def loss(at: Floats) -> tuple[float, Floats]:
        slope, biases = np.exp(at[0]), at[1:]
        log_odds = slope * halves + biases
        log_odds -= log_odds.max(axis=1, keepdims=True)
        p = np.exp(log_odds)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        value = weights @ (np.log(total[:, 0]) - log_odds[rows, own])
        p[rows, own] -= 1
        p *= weights[:, None]
        drawn = np.concatenate([[at[0] - np.log(SLOPE)], biases])
        strength = np.concatenate([[_STRENGTH], np.full(C, _FREE)])
        gradient = np.concatenate([[slope * (p * halves).sum()], p.sum(axis=0)]) + strength * drawn
        return float(value + 0.5 * (strength * drawn**2).sum()), gradient

    start = np.concatenate([[np.log(SLOPE)], np.zeros(C)])
    found = kernels.minimise(loss, start, *loss(start), kernels.Limits(_STEPS, _GAIN, 1.0))
    calibration = ScoreCalibration(n, float(np.exp(found[0])), dict(zip(classes, map(float, found[1:]), strict=True)))
    log_odds = calibration.log_odds(scores, classes)
    top = log_odds.max(axis=1, keepdims=True)
    lost = np.log(np.exp(log_odds - top).sum(axis=1)) + top[:, 0] - log_odds[rows, own]
    return replace(calibration, log_loss=float(np.average(lost, weights=weights)))
