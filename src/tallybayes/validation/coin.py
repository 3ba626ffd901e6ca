"""How slowly a coin's estimate settles, and how many rows would be needed to do without independence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.display.tables import Grid, Result, number, plain
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.evaluation import wilson
from tallybayes.evaluation.proportions import LEVEL
from tallybayes.events.inputs import Floats

__all__ = ["RunningEstimate", "rows_needed", "running_estimate"]

# So many flips are shown in a table: 1, 2, 5, 10, 20, 50, ...
_SHOWN = (1, 2, 5)
# So many are drawn at most: more than a chart has columns of pixels to show.
_DRAWN = 500


@dataclass(frozen=True, eq=False, repr=False)
class RunningEstimate(Result):
    """The share of heads after each flip, and its interval.

    Attributes
    ----------
    estimate, low, high : ndarray, shape (n,)
        The share so far, and the ends of its interval.
    level : float
        How often such an interval holds the truth.
    """

    estimate: Floats
    low: Floats
    high: Floats
    level: float

    def shown(self) -> Grid:
        """The estimate after 1, 2, 5, 10, ... flips, and after the last."""
        n = len(self.estimate)
        at = sorted({m * 10**k for k in range(len(str(n))) for m in _SHOWN if m * 10**k <= n} | {n})
        rows = [tuple(map(number, (i, self.estimate[i - 1], self.low[i - 1], self.high[i - 1]))) for i in at]
        title = f"Share of ones so far, with its {100 * self.level:g} % interval"
        return Grid(title, ("flips", "estimate", "low", "high"), tuple(rows))

    def points(self) -> list[dict[str, Any]]:
        """Plain records of some hundred numbers of flips, evenly spread on a log axis: what a chart draws."""
        at = np.unique(np.geomspace(1, len(self.estimate), _DRAWN).round().astype(int))
        figures = {"flips": at, "estimate": self.estimate[at - 1], "low": self.low[at - 1], "high": self.high[at - 1]}
        return [dict(zip(figures, plain(one), strict=True)) for one in zip(*figures.values(), strict=True)]

    def chart(self, truth: float | None = None) -> Any:
        """An Altair chart of the estimate and its interval; ``chart().save("coin.png")`` writes it.

        Parameters
        ----------
        truth : float, optional
            The true value, drawn as a dashed line.
        """
        from tallybayes.display.charts.running import running_chart

        if truth is not None and not 0 <= truth <= 1:
            raise BadOption(wanted("truth", "a probability between 0 and 1", repr(truth)))
        return running_chart(self.points(), self.level, truth)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists."""
        return dict(plain({"estimate": self.estimate, "low": self.low, "high": self.high, "level": self.level}))

    def __repr__(self) -> str:
        last = f"{self.estimate[-1]:.4f} ({self.low[-1]:.4f} to {self.high[-1]:.4f})"
        return f"<RunningEstimate: {last} after {len(self.estimate)} flips>"


def running_estimate(flips: npt.ArrayLike, *, level: float = LEVEL) -> RunningEstimate:
    """The estimate of a probability after each flip, with Wilson's interval.

    Parameters
    ----------
    flips : array_like of bool or 0 and 1, shape (n,)
        What came up.
    level : float
        How often such an interval holds the truth.

    Examples
    --------
    >>> seen = running_estimate([1, 0, 1, 1])
    >>> seen.estimate.round(3).tolist()
    [1.0, 0.5, 0.667, 0.75]
    >>> seen.low[-1].round(2).item(), seen.high[-1].round(2).item()
    (0.3, 0.95)
    """
    try:
        values = np.asarray(flips, np.float64)
    except (TypeError, ValueError):
        raise BadData(wanted("flips", "zeros and ones", repr(flips))) from None
    if values.ndim != 1 or not len(values):
        raise BadData(wanted("flips", "at least one flip, in a list", f"an array of shape {values.shape}"))
    bad = (values != 0) & (values != 1)
    if bad.any():
        at = int(np.argmax(bad))
        raise BadData(wanted("flips", "zeros and ones", f"{values[at]:g} (flip {at + 1})"))
    n = np.arange(1, len(values) + 1)
    share = np.cumsum(values) / n
    low, high = wilson(share, n, level)
    return RunningEstimate(share, low, high, level)


def rows_needed(columns: int, rows_each: int = 1) -> int:
    """How many rows it takes to see each combination of yes-or-no columns so often, were they not independent.

    Parameters
    ----------
    columns : int
        How many columns, d.
    rows_each : int
        How many rows for each combination, n.

    Notes
    -----
    n · 2^d. Naive Bayes looks at one column at a time and needs some n · 2 · d.

    Examples
    --------
    >>> rows_needed(10, 100), f"{rows_needed(100, 100):.7e}"
    (102400, '1.2676506e+32')
    """
    for name, value in (("columns", columns), ("rows_each", rows_each)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise BadOption(wanted(name, "a whole number not below 0", repr(value)))
    return int(rows_each << columns)
