"""The uncertainty of probabilities that comes from limited counts: intervals, and the lead of the best class.

Each score is a log-probability with a variance over the posterior of the parameters. The log-odds of a class, its score
less the log-sum-exp of the others, are taken to be normally distributed about their estimate. The interval of a
probability is that of its log-odds, so it stays between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.arguments import between_0_and_1
from tallybayes.display.tables import Column, Grid, Result, plain
from tallybayes.events.inputs import Floats
from tallybayes.kernels import log_softmax

__all__ = ["Intervals", "intervals", "lead", "z_of"]

# Rows printed at most: the arrays hold all of them.
_SHOWN = 20
# Larger numbers of rows are printed as "over 1,000,000".
_MANY = 1_000_000


@dataclass(frozen=True, repr=False)
class Intervals(Result):
    """The probability of each class for each row, with bounds and an equivalent number of rows.

    Attributes
    ----------
    classes : tuple
        The classes, in the order of the columns below.
    probability : ndarray, shape (n, C)
        The probabilities of `predict_proba`.
    low, high : ndarray, shape (n, C)
        The bounds; 0 and 1 where some value of the row was never counted and there is no prior for it.
    rows : ndarray, shape (n, C)
        The number of rows like this one, counted by class, that would leave the probability this uncertain.
    level : float
        The probability that the bounds hold, if the columns are independent given the class.

    Examples
    --------
    >>> import tallybayes as tb
    >>> table = {"light": ["on"] * 14 + ["off"] * 6, "home": ["yes"] * 12 + ["no"] * 8}
    >>> found = tb.fit(table, "home", estimate="mle", calibrate=None).predict_interval([{"light": "on"}])
    >>> found.probability.round(4), found.rows.round()      # the light was on in 14 rows, 12 of them yes
    (array([[0.1429, 0.8571]]), array([[14., 14.]]))
    >>> print(found)
    row   class   probability
    ───────────────────────────────────────────────────
      1   yes     0.86 (0.53 to 0.97, rests on 14 rows)
    """

    classes: tuple[Any, ...]
    probability: Floats
    low: Floats
    high: Floats
    rows: Floats
    level: float

    def __len__(self) -> int:
        return len(self.probability)

    def of(self, i: int) -> str:
        """Return the most probable class of row i, with its interval, as text."""
        c = int(np.argmax(self.probability[i]))
        return f"{self.classes[c]} {self._phrase(i, c)}"

    def _columns(self) -> dict[str, Any]:
        parts = {"P": self.probability, "low": self.low, "high": self.high, "rows": self.rows}
        return {f"{what}({name})": of[:, c] for what, of in parts.items() for c, name in enumerate(self.classes)}

    def shown(self) -> Grid:
        """Return the most probable class of each of the first rows."""
        best = self.probability[:_SHOWN].argmax(axis=1)
        cells = tuple((str(i + 1), str(self.classes[c]), self._phrase(i, c)) for i, c in enumerate(best))
        more = (f"and {len(self) - _SHOWN:,} rows more",) if len(self) > _SHOWN else ()
        columns = (Column("row"), Column("class", right=False), Column("probability", right=False))
        return Grid("", columns, cells, more)

    def to_dict(self) -> dict[str, Any]:
        """Return the intervals as plain lists and numbers; an infinite number of rows is None."""
        names = ("classes", "probability", "low", "high", "rows", "level")
        return {name: plain(getattr(self, name)) for name in names}

    def _phrase(self, i: int, c: int) -> str:
        p, low, high, rows = (float(part[i, c]) for part in (self.probability, self.low, self.high, self.rows))
        count = "1 row" if 0.5 <= rows < 1.5 else f"{rows:,.0f} rows" if rows < _MANY else f"over {_MANY:,} rows"
        return f"{p:.2f} ({low:.2f} to {high:.2f}, rests on {count})"


def intervals(
    classes: tuple[Any, ...], probability: Floats, scores: Floats, variances: Floats, counted: Floats, level: float
) -> Intervals:
    """Return the intervals of probabilities, given their scores and the scores' variances.

    Parameters
    ----------
    classes : tuple
        The classes.
    probability : ndarray, shape (n, C)
        The normalised scores.
    scores, variances : ndarray, shape (n, C)
        Log joint probabilities, up to a constant that all classes share, and their variances.
    counted : ndarray, shape (n, C)
        The variances before calibration.
    level : float
        Above 0 and below 1.

    Notes
    -----
    The log-odds of class c change by one with its own score, and by −p_k / (1 − p_c) with that of class k (the delta
    method): Var = V_c + Σ_k (p_k / (1 − p_c))² V_k. Calibration multiplies log-odds and their standard deviations. It
    does not change the counts, so the number of rows follows from the variance before it.

    Examples
    --------
    >>> even, variances = np.zeros((1, 2)), np.full((1, 2), 0.02)
    >>> found = intervals(("no", "yes"), even + 0.5, even, variances, variances, 0.95)
    >>> found.low.round(3), found.high.round(3)      # log-odds 0 ± 1.96 · 0.2
    (array([[0.403, 0.403]]), array([[0.597, 0.597]]))
    >>> found.rows.round().tolist()      # 1/50 and 1/50: about a coin thrown a hundred times
    [[101.0, 101.0]]
    """
    from scipy.special import expit  # slow to import, and only needed for intervals

    z = z_of(level)
    unknown = np.asarray(np.isinf(counted).any(axis=1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        known = (np.where(unknown[:, None], 0.0, one) for one in (variances, counted))
        middle, variance, before = _log_odds(scores, *known)
        reach = z * np.sqrt(variance)
        low, high = expit(middle - reach), expit(middle + reach)
        rows = _rows(expit(middle) * expit(-middle), before)
    low[unknown], high[unknown], rows[unknown] = 0.0, 1.0, 0.0
    return Intervals(classes, probability, np.minimum(low, probability), np.maximum(high, probability), rows, level)


def lead(scores: Floats, variances: Floats) -> Floats:  # (n,)
    """Return the standard deviations by which the best class leads every other; NaN where undefined.

    Examples
    --------
    >>> lead(np.array([[0.0, 3.0, -8.0]]), np.array([[0.5, 0.5, 9.5]]))      # 3/1 and 11/√10
    array([3.])
    """
    top = scores.argmax(axis=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = np.take_along_axis(scores, top, axis=1) - scores
        ahead /= np.sqrt(np.take_along_axis(variances, top, axis=1) + variances)
    np.put_along_axis(ahead, top, np.inf, axis=1)
    return np.asarray(ahead.min(axis=1))


def z_of(level: float, where: str = "level") -> float:
    """Return the number of standard deviations to either side that hold a share of a normal distribution.

    Examples
    --------
    >>> round(z_of(0.95), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri((1 + between_0_and_1(where, level)) / 2))


def _log_odds(scores: Floats, *variances: Floats) -> tuple[Floats, ...]:
    """Return the log-odds of each class against all others, and what each array of variances makes of theirs.

    For the most probable class the others are summed separately, since 1 − p would lose their digits; for every other
    class 1 − p is at least a half.
    """
    top = scores.argmax(axis=1)[:, None]
    log_p = scores.copy()
    log_p[np.isneginf(log_softmax(log_p))] = np.nan  # impossible under every class
    others = log_p.copy()
    np.put_along_axis(others, top, -np.inf, axis=1)
    share = others.copy()
    rest = log_softmax(share)[:, None]
    p = np.exp(log_p)
    against, away = np.log1p(-p), 1 - p
    share = np.where(np.isneginf(others), 0.0, np.exp(share))
    np.put_along_axis(against, top, rest, axis=1)
    of_log_odds = []
    for variance in variances:
        spread = p**2 * variance
        of_others = np.maximum(spread.sum(axis=1, keepdims=True) - spread, 0.0) / away**2
        np.put_along_axis(of_others, top, (share**2 * variance).sum(axis=1, keepdims=True), axis=1)
        of_log_odds.append(variance + of_others)
    return (log_p - against, *of_log_odds)


def _rows(either: Floats, variance: Floats) -> Floats:
    """Return the number of coin tosses that leave log-odds this uncertain; `either` is p (1 − p).

    After n tosses the variance is ψ₁(np) + ψ₁(n (1 − p)), and ψ₁(x) is close to 1/x + 1/(2x²): solved for n.
    """
    n = (1 + np.sqrt(1 + 2 * (1 - 2 * either) * variance)) / (2 * either * variance)
    return np.where(np.isnan(n), np.inf, n)
