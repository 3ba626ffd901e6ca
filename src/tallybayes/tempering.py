"""How far to believe scores: the temperature under which the classes of rows never seen are most probable.

Columns that say the same thing twice are counted twice, so the scores of naive Bayes are too sure of themselves, and
the surer the more there is to a row. The posterior ∝ exp(t · score) with t = a·(L + 1)^b, L how much a row says, puts
that right: it multiplies all scores of a row by one positive number, and so never changes which class is first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.encoded import Floats
from tallybayes.posterior import Temper

__all__ = ["Tempered", "fit_temper", "losses"]

_STEPS = 50
_CLOSE = 1e-10
# Few rows must not be believed too far: the logarithm of a, and b, are drawn to 0 as if by a normal prior of width 1.
_PRIOR = 1.0
# A score so far below the greatest is as good as impossible; its products with 0 are 0, as those of −∞ are not.
_IMPOSSIBLE = -1e8


class Tempered(NamedTuple):
    """The temperature found, and each row's loss under it."""

    temper: Temper
    losses: Floats


def losses(scores: Floats, classes: npt.NDArray[np.integer]) -> Floats:  # (n,)
    """Minus the log-probability that each row's scores give its class."""
    total = kernels.log_softmax(scores.copy())
    return np.asarray(total - scores[np.arange(len(scores)), classes])


def fit_temper(
    scores: Floats, classes: npt.NDArray[np.integer], sizes: Floats, weights: Floats | None = None
) -> Tempered:
    """The temperature under which the rows' classes are most probable.

    Parameters
    ----------
    scores : ndarray, shape (n, C)
        Log joint probabilities of rows that had no part in them; that of a row's own class is finite.
    classes : ndarray of int, shape (n,)
        The rows' classes.
    sizes : ndarray, shape (n,)
        How much each row says.
    weights : ndarray, shape (n,), optional
        The rows' weights.

    Notes
    -----
    Newton's method for (log a, b), the Hessian without the terms that may be negative where it must be, each step
    halved until the loss falls.

    Examples
    --------
    >>> scores = np.log([[0.99, 0.01]] * 10)      # said with 99 %, true of 7 in 10
    >>> temper, _ = fit_temper(scores, np.array([0] * 7 + [1] * 3), np.ones(10))
    >>> bool(temper.a < 0.4), temper.b      # all rows say as much: there is no telling b
    (True, 0.0)
    """
    rows = np.arange(len(scores))
    shifted = np.maximum(scores - scores.max(axis=1, keepdims=True), _IMPOSSIBLE)
    own = shifted[rows, classes]
    w = np.ones(len(scores)) if weights is None else weights
    logs = np.log1p(sizes)
    centre = float(np.average(logs, weights=w)) if w.any() else 0.0
    design = np.stack([np.ones_like(logs), logs - centre])  # centred, so that a and b can be told apart
    if np.ptp(logs) == 0:
        design = design[:1]

    def value(at: Floats) -> tuple[float, Floats, Floats, Floats]:
        t = np.where(sizes > 0, np.exp(np.clip(at @ design, -50, 50)), 1.0)
        p = shifted * t[:, None]
        loss = kernels.softmax(p) - t * own
        first = (p * shifted).sum(axis=1)
        spread = (p * shifted**2).sum(axis=1) - first**2
        total = float((w * loss).sum() + 0.5 * _PRIOR * (at**2).sum())
        heard = t * (sizes > 0)  # what says nothing keeps the prior, at any temperature
        return total, loss, heard * (first - own), heard * t * spread

    at = np.zeros(len(design))
    here, loss, slope, bend = value(at)
    for _ in range(_STEPS):
        gradient = design @ (w * slope) + _PRIOR * at
        if np.abs(gradient).max() <= _CLOSE * (1 + here):
            break
        curve = (design * (w * (bend + np.maximum(slope, 0.0)))) @ design.T + _PRIOR * np.eye(len(at))
        step, shorter = np.linalg.solve(curve, gradient), 1.0
        there = value(at - step)
        while there[0] > here and shorter > 1e-6:
            shorter /= 2
            there = value(at - shorter * step)
        if there[0] >= here:
            break
        at, (here, loss, slope, bend) = at - shorter * step, there
    b = float(at[1]) if len(at) > 1 else 0.0
    return Tempered(Temper(float(np.exp(at[0] - b * centre)), b), loss)
