"""How far to believe scores: the temperature under which the classes of rows never seen are most probable.

Columns that say the same thing twice are counted twice, so the scores of naive Bayes are too sure of themselves, and
the surer the more there is to a row. The posterior ∝ exp(t · score) with t = a·(L + 1)^b, L how much a row says, puts
that right: it multiplies all scores of a row by one positive number, and so never changes which class is first.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats
from tallybayes.inference.posterior import Temperature

__all__ = ["Tempered", "fit_temper", "losses"]

_STEPS = 50
# Of more rows than this the search begins where it ends for one in eight of them: most steps are then cheap.
_MANY, _EACH, _NEAR = 8192, 8, 1e-3
_CLOSE = 1e-10
_UNSEEN = 1e-12  # of the loss: so little its roundings hide, and the step is the last
# Few rows must not be believed too far: log t at the mean size, and b, are drawn to 0 by a normal prior of this
# precision; and a t above 1 by one of that: naive Bayes is hardly ever not sure enough, but where some dozens of rows
# are all scored right, the surer is always the better, and the first row that is not has to pay for it.
_PRIOR, _PRIOR_ABOVE = 1.0, 30.0
_PRIOR_OF_FEW = 500.0  # over the number of rows: of a dozen, which way they err is a matter of luck
# A score so far below the greatest is as good as impossible; its products with 0 are 0, as those of −∞ are not.
_IMPOSSIBLE = -1e8


class Start(NamedTuple):
    """Where a search for the temperature ended, for the next to begin at."""

    u: float
    v: float


class Tempered(NamedTuple):
    """The temperature found, each row's loss under it, and where the search ended."""

    temperature: Temperature
    losses: Floats
    end: Start


def losses(scores: Floats, classes: npt.NDArray[np.integer]) -> Floats:  # (n,)
    """Minus the log-probability that each row's scores give its class; no more than a hundred million."""
    total = kernels.log_softmax(scores.copy())
    return np.asarray(np.minimum(total - scores[np.arange(len(scores)), classes], -_IMPOSSIBLE))


def fit_temper(
    scores: Floats,
    classes: npt.NDArray[np.integer],
    sizes: Floats,
    weights: Floats | None = None,
    *,
    start: Start | None = None,
    close: float = _CLOSE,
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
    start : Start, optional
        Where to begin: where a search on scores much like these ended.
    close : float
        How small the slope is to be in the end, as a share of the loss.

    Notes
    -----
    Newton's method for log a and b, each step halved until the loss falls.

    Examples
    --------
    >>> scores = np.log([[0.99, 0.01]] * 1000)      # said with 99 %, true of 7 in 10
    >>> temperature, *_ = fit_temper(scores, np.array([0] * 700 + [1] * 300), np.ones(1000))
    >>> round(temperature.a, 2), temperature.b      # 0.99^0.19 : 0.01^0.19 is nearly 7 : 3
    (0.19, 0.0)
    """
    shifted = np.maximum(scores - scores.max(axis=1, keepdims=True), _IMPOSSIBLE)
    own = shifted[np.arange(len(scores)), classes]
    heard = sizes > 0  # what says nothing keeps the prior, at any temperature
    logs = np.log1p(sizes)
    share = None if weights is None else weights[heard]
    centre = float(np.average(logs[heard], weights=share)) if heard.any() else 0.0
    flat = not heard.any() or np.ptp(logs[heard]) == 0
    least = _PRIOR + _PRIOR_OF_FEW / max(heard.sum() if share is None else float(share.sum()), 1.0)
    logs = np.where(heard, logs - centre, np.nan)  # centred, so that a and b can be told apart

    def value(at: _Place) -> tuple[float, _Sums, Floats]:
        loss = np.empty(len(scores))
        total, gu, gv, huu, huv, hvv = kernels.temper(shifted, own, logs, weights, *at, loss)
        drawn = max(_PRIOR_ABOVE, least) if at[0] > 0 else least
        prior = 0.5 * (drawn * at[0] ** 2 + least * at[1] ** 2)
        sums = gu + drawn * at[0], gv + least * at[1], huu + drawn, huv, hvv + least
        return total + prior, sums, loss

    if start is None and len(scores) > _MANY:
        some = slice(None, None, _EACH)
        few = None if weights is None else weights[some].copy()
        start = fit_temper(scores[some], classes[some], sizes[some], few, close=_NEAR).end
    at = (0.0, 0.0) if start is None else (start.u, 0.0 if flat else start.v)
    here, sums, loss = value(at)
    for _ in range(_STEPS):
        if max(abs(sums[0]), 0.0 if flat else abs(sums[1])) <= close * (1 + here):
            break
        step, shorter = _newton(sums, flat), 1.0
        there = value(_moved(at, step, shorter))
        if sums[0] * step[0] + sums[1] * step[1] <= _UNSEEN * (1 + here):  # the loss cannot tell whether it fell
            at, (here, sums, loss) = _moved(at, step, shorter), there
            break
        while not there[0] < here and shorter > 1e-6:
            shorter /= 2
            there = value(_moved(at, step, shorter))
        if not there[0] < here:
            break
        at, (here, sums, loss) = _moved(at, step, shorter), there
    return Tempered(Temperature(float(np.exp(at[0] - at[1] * centre)), at[1]), loss, Start(*at))


_Place: TypeAlias = tuple[float, float]
_Sums: TypeAlias = tuple[float, float, float, float, float]
_FARTHEST = 2.0  # a step changes a by a factor of e² at most


def _newton(sums: _Sums, flat: bool) -> _Place:
    """Newton's step; where the loss is not convex, one down its slope."""
    gu, gv, huu, huv, hvv = sums
    determinant = huu * hvv - huv * huv
    if flat or not (huu > 0 and determinant > 1e-12 * huu * abs(hvv)):
        du, dv = gu / max(abs(huu), 1.0), 0.0 if flat else gv / max(abs(hvv), 1.0)
    else:
        du, dv = (hvv * gu - huv * gv) / determinant, (huu * gv - huv * gu) / determinant
    scale = min(1.0, _FARTHEST / max(abs(du), abs(dv), 1e-300))
    return scale * du, scale * dv


def _moved(at: _Place, step: _Place, shorter: float) -> _Place:
    return at[0] - shorter * step[0], at[1] - shorter * step[1]
