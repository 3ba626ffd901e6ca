"""The temperature of scores: the one under which the classes of rows left out are most probable.

Naive Bayes counts correlated columns twice, so its scores are too extreme, the more so the longer a row is. The
posterior ∝ exp(t · score) with t = a·(L + 1)^b, L the length of a row, corrects that. It multiplies all scores of a row
by one positive number, and so never changes which class is first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import engines, kernels
from tallybayes.events.inputs import Floats
from tallybayes.inference.posterior import Temperature

__all__ = ["Tempered", "fit_temper", "losses", "own_scores"]

_STEPS = 50
_SHARED = 1 << 16  # scores, looked at in a tenth of a millisecond: to wake a thread takes half as long
# With more rows than this the search starts where it ends for one row in eight: most steps are then cheap.
_MANY, _EACH, _NEAR = 8192, 8, 1e-3
_CLOSE = 1e-10
_UNSEEN = 1e-12  # relative to the loss: a smaller gain is hidden by rounding, and the step is the last
# Few rows must not move t far. A normal prior of precision _PRIOR pulls log t at the mean size, and b, to 0; a stronger
# one applies to t above 1. Naive Bayes is hardly ever too cautious, but if some dozens of rows are all scored right,
# the loss always falls with t, and the first row scored wrong would then cost a lot.
_PRIOR, _PRIOR_ABOVE = 1.0, 30.0
_PRIOR_OF_FEW = 500.0  # over the number of rows: the errors of a dozen rows are a matter of luck
# A score this far below the greatest counts as impossible; unlike −∞, its product with 0 is 0.
_IMPOSSIBLE = -1e8


class Start(NamedTuple):
    """The point where a search for the temperature ended, for the next one to start at."""

    u: float
    v: float


class Tempered(NamedTuple):
    """The temperature found, each row's loss under it, and where the search ended."""

    temperature: Temperature
    losses: Floats
    end: Start


def losses(scores: Floats, classes: npt.NDArray[np.integer]) -> Floats:  # (n,)
    """Return minus the log-probability of each row's class given its scores; at most 1e8."""
    total = kernels.log_norm(scores)
    return np.asarray(np.minimum(total - own_scores(scores, classes), -_IMPOSSIBLE))


def own_scores(scores: Floats, classes: npt.NDArray[np.integer]) -> Floats:  # (n,)
    """Return the score of each row's class.

    Examples
    --------
    >>> own_scores(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]))
    array([2., 3.])
    """
    # By one index: NumPy takes three times as long to look up pairs of them.
    return np.asarray(np.take(scores, np.arange(len(scores)) * scores.shape[1] + classes))


def fit_temper(
    scores: Floats,
    classes: npt.NDArray[np.integer],
    sizes: Floats,
    weights: Floats | None = None,
    *,
    start: Start | None = None,
    close: float = _CLOSE,
    threads: int = 1,
) -> Tempered:
    """Return the temperature under which the rows' classes are most probable.

    Parameters
    ----------
    scores : ndarray, shape (n, C)
        Leave-one-out log joint probabilities; that of a row's own class is finite.
    classes : ndarray of int, shape (n,)
        The rows' classes.
    sizes : ndarray, shape (n,)
        The length of each row.
    weights : ndarray, shape (n,), optional
        The rows' weights.
    start : Start, optional
        The end of a search on similar scores, to start at.
    close : float
        The slope at which the search ends, as a share of the loss.
    threads : int
        The number of threads.

    Notes
    -----
    Newton's method for log a and b, each step halved until the loss falls.

    Examples
    --------
    >>> scores = np.log([[0.99, 0.01]] * 1000)      # predicted at 99 %, true for 7 in 10
    >>> temperature, *_ = fit_temper(scores, np.array([0] * 700 + [1] * 300), np.ones(1000))
    >>> round(temperature.a, 2), temperature.b      # 0.99^0.19 : 0.01^0.19 is nearly 7 : 3
    (0.19, 0.0)
    """
    shifted = scores - scores.max(axis=1, keepdims=True)
    np.maximum(shifted, _IMPOSSIBLE, out=shifted)
    own = own_scores(shifted, classes)
    filled = sizes > 0  # an empty row keeps the prior at any temperature
    logs = kernels.log1p(sizes)
    share = None if weights is None else weights[filled]
    centre = float(np.average(logs[filled], weights=share)) if filled.any() else 0.0
    flat = not filled.any() or np.ptp(logs[filled]) == 0
    least = _PRIOR + _PRIOR_OF_FEW / max(filled.sum() if share is None else float(share.sum()), 1.0)
    logs = np.where(filled, logs - centre, np.nan)  # centred, so that a and b can be told apart

    def over(n: int, work: Callable[[slice], None]) -> None:
        parts = threads if scores.size > _SHARED else 1
        engines.map_rows(n, work, threads=parts, rows=max(1, -(-n // parts)))

    def value(at: _Place) -> tuple[float, _Sums, Floats]:
        loss = np.empty(len(scores))
        total, gu, gv, huu, huv, hvv = kernels.temper(shifted, own, logs, weights, *at, loss, over)
        precision = max(_PRIOR_ABOVE, least) if at[0] > 0 else least
        prior = 0.5 * (precision * at[0] ** 2 + least * at[1] ** 2)
        sums = gu + precision * at[0], gv + least * at[1], huu + precision, huv, hvv + least
        return total + prior, sums, loss

    if start is None and len(scores) > _MANY:
        some = slice(None, None, _EACH)
        few = None if weights is None else weights[some].copy()
        start = fit_temper(scores[some], classes[some], sizes[some], few, close=_NEAR, threads=threads).end
    at = (0.0, 0.0) if start is None else (start.u, 0.0 if flat else start.v)
    current, sums, loss = value(at)
    for _ in range(_STEPS):
        if max(abs(sums[0]), 0.0 if flat else abs(sums[1])) <= close * (1 + current):
            break
        step, shorter = _newton(sums, flat), 1.0
        trial = value(_moved(at, step, shorter))
        if sums[0] * step[0] + sums[1] * step[1] <= _UNSEEN * (1 + current):  # the loss cannot tell whether it fell
            at, (current, sums, loss) = _moved(at, step, shorter), trial
            break
        while not trial[0] < current and shorter > 1e-6:
            shorter /= 2
            trial = value(_moved(at, step, shorter))
        if not trial[0] < current:
            break
        at, (current, sums, loss) = _moved(at, step, shorter), trial
    temperature = Temperature(float(kernels.exp(at[0] - at[1] * centre)), float(at[1]))
    return Tempered(temperature, loss, Start(*at))


_Place: TypeAlias = tuple[float, float]
_Sums: TypeAlias = tuple[float, float, float, float, float]
_FARTHEST = 2.0  # a step changes a by a factor of e² at most


def _newton(sums: _Sums, flat: bool) -> _Place:
    """Return Newton's step; where the loss is not convex, a gradient step."""
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
