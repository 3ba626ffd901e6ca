"""The one normaliser: from log joint probabilities to probabilities, shifted so that nothing underflows.

Before it, where a model is calibrated, the tempering that makes probabilities honest.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from tallybayes import kernels
from tallybayes.events.inputs import Floats

__all__ = ["ImpossibleRowWarning", "Temperature", "normalise"]


class ImpossibleRowWarning(UserWarning):
    """Some rows have probability zero under every class, which only happens without smoothing."""


@dataclass(frozen=True)
class Temperature:
    """How far scores are believed: by t = a·(L + 1)^b, L how much a row says; one that says nothing keeps the prior.

    Attributes
    ----------
    a, b : float
        The two numbers.

    Examples
    --------
    >>> scores = np.array([[0.0, -2.0]])
    >>> Temperature(0.5, 2.0).apply(scores, np.log([0.5, 0.5]), np.array([1.0])); scores      # t = 0.5 · (1 + 1)²
    array([[ 0., -4.]])
    """

    a: float
    b: float

    @property
    def by_size(self) -> bool:
        """Whether it matters how much a row says."""
        return self.b != 0

    def at(self, sizes: Floats) -> Floats:  # (n,)
        """By what the scores of rows that say so much are multiplied."""
        return np.where(sizes > 0, self.a * (sizes + 1) ** self.b, 1.0)

    def factors(self, log_joint: Floats, log_prior: Floats, sizes: Floats | None = None) -> Floats:  # (n,)
        """By what scores are multiplied; without sizes rows are as large, but for those whose score is the prior."""
        if sizes is not None:
            return self.at(sizes)
        factors = np.full(len(log_joint), self.a)
        same = np.flatnonzero(log_joint[:, 0] == log_prior[0])  # of the few rows left the other classes are looked at
        factors[same[(log_joint[same] == log_prior).all(axis=1)]] = 1.0
        return factors

    def apply(self, log_joint: Floats, log_prior: Floats, sizes: Floats | None = None) -> None:
        """Multiply scores in place."""
        log_joint *= self.factors(log_joint, log_prior, sizes)[:, None]


def normalise(log_joint: Floats, log_prior: Floats, *, first: int = 0) -> Floats:
    """Probabilities from log joint probabilities, in place.

    Parameters
    ----------
    log_joint : ndarray, shape (n, C)
        Becomes the probabilities.
    log_prior : ndarray, shape (C,)
        What is answered for a row that is impossible under every class: of its values nothing can be said.
    first : int
        How many rows came before these, for the warning.

    Returns
    -------
    ndarray, shape (n,)
        The log of each row's total, the log-probability of the row itself.

    Examples
    --------
    >>> scores = np.log([[0.005291, 0.020571]]) - 5000
    >>> _ = normalise(scores, np.log([0.5, 0.5])); scores.round(4)
    array([[0.2046, 0.7954]])
    """
    log_total = kernels.softmax(log_joint, log_joint)
    if not np.isfinite(log_total).all():
        impossible = np.isneginf(log_total)
        log_joint[impossible] = np.exp(log_prior)
        rows = np.flatnonzero(impossible)
        warnings.warn(
            f"{len(rows)} of these rows (first: row {first + rows[0] + 1}) have probability zero under every class; "
            "their answer is the class prior. Smooth (alpha above 0, estimate='bayes') to avoid this.",
            ImpossibleRowWarning,
            stacklevel=2,
        )
    return log_total
