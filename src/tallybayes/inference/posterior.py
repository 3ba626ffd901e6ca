"""The one normaliser: from log joint probabilities to probabilities, shifted so that nothing underflows.

In a calibrated model the temperature is applied first, so that probabilities match observed frequencies.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tallybayes import kernels
from tallybayes.errors import BadData, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.text.token_cells import TokenWeights

__all__ = ["ImpossibleRowWarning", "Temperature", "Tempering", "normalise", "normalise_possible", "refuse_nan"]


class ImpossibleRowWarning(UserWarning):
    """Some rows have probability zero under every class, which only happens without smoothing."""


@dataclass(frozen=True)
class Temperature:
    """The factor t = a·(L + 1)^b for scores of rows of length L; an empty row keeps the prior.

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
        """Whether the temperature depends on the length of a row."""
        return self.b != 0

    def at(self, sizes: Floats) -> Floats:  # (n,)
        """Return the temperature for rows of the given lengths."""
        return np.where(sizes > 0, self.a * kernels.power(sizes + 1.0, self.b), 1.0)

    def factors(self, log_joint: Floats, log_prior: Floats, sizes: Floats | None = None) -> Floats:  # (n,)
        """Return the temperature of each row; without sizes, `a`, or 1 where the score is the prior."""
        if sizes is not None:
            return self.at(sizes)
        factors = np.full(len(log_joint), self.a)
        same = np.flatnonzero(log_joint[:, 0] == log_prior[0])  # few rows are left to compare in full
        factors[same[(log_joint[same] == log_prior).all(axis=1)]] = 1.0
        return factors

    def to_dict(self) -> dict[str, float]:
        """Return the two numbers."""
        return {"a": self.a, "b": self.b}

    def apply(self, log_joint: Floats, log_prior: Floats, sizes: Floats | None = None) -> None:
        """Multiply scores by the temperature, in place."""
        log_joint *= self.factors(log_joint, log_prior, sizes)[:, None]


Tempering: TypeAlias = Temperature | TokenWeights


def normalise(log_joint: Floats, log_prior: Floats, *, first: int = 0) -> Floats:
    """Turn log joint probabilities into probabilities, in place.

    Parameters
    ----------
    log_joint : ndarray, shape (n, C)
        Becomes the probabilities.
    log_prior : ndarray, shape (C,)
        The answer for a row that is impossible under every class.
    first : int
        The number of rows before these, for the warning.

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
        refuse_nan(log_total, first)
        impossible = np.isneginf(log_total)
        log_joint[impossible] = kernels.exp(log_prior)
        rows = np.flatnonzero(impossible)
        warnings.warn(
            f"{len(rows)} of these rows (first: row {first + rows[0] + 1}) have probability zero under every class; "
            "their answer is the class prior. Smooth (alpha above 0, estimate='bayes') to avoid this.",
            ImpossibleRowWarning,
            stacklevel=2,
        )
    return log_total


def normalise_possible(log_joint: Floats) -> bool:
    """Do as `normalise` and return True; False where a row is impossible or undefined, and nothing is to be read."""
    return bool(np.isfinite(kernels.softmax(log_joint)).all())


def refuse_nan(scores: Floats, first: int = 0) -> None:
    """Raise if a score is NaN, as where infinities cancel; `first` rows came before these."""
    undefined = np.isnan(scores)
    if undefined.any():
        row = first + int(np.argmax(undefined.reshape(len(scores), -1).any(axis=1))) + 1
        do = "Scale weights, values or alpha"
        raise BadData(wanted("scores", "log-probabilities", f"an overflow (row {row})", do))
