"""The mean of several ROC curves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.arguments import instance, whole_number
from tallybayes.arguments import listed as items
from tallybayes.display.tables import Grid, Result, number
from tallybayes.errors import BadData, wanted
from tallybayes.evaluation.roc import RocCurve
from tallybayes.events.inputs import Floats

_MOST_POINTS = 1_000_000  # of a grid: more than a picture or a mean can use


@dataclass(frozen=True, eq=False, repr=False)
class AverageRoc(Result):
    """The true positive rate at each false positive rate, averaged over curves.

    Attributes
    ----------
    fpr : ndarray, shape (G,)
        The grid of false positive rates, from 0 to 1.
    tpr, spread : ndarray, shape (G,)
        The mean over the curves, and their standard deviation (NaN for a single curve).
    aucs : ndarray, shape (K,)
        The area under each curve.
    """

    fpr: Floats
    tpr: Floats
    spread: Floats
    aucs: Floats

    @property
    def auc(self) -> float:
        """The mean of the areas."""
        return float(self.aucs.mean())

    @property
    def auc_spread(self) -> float:
        """The standard deviation of the areas; NaN for a single curve."""
        return float(_deviation(self.aucs[:, None])[0])

    def _columns(self) -> dict[str, Any]:
        return {"fpr": self.fpr, "tpr": self.tpr, "spread": self.spread}

    def shown(self) -> Grid:
        """Return the curve at every tenth of the false positive rate, as a table."""
        at = np.unique(np.searchsorted(self.fpr, np.linspace(0, 1, 11) - 1e-9))
        rows = tuple(tuple(map(number, row)) for row in zip(self.fpr[at], self.tpr[at], self.spread[at], strict=True))
        title = f"Mean of {len(self.aucs)} ROC curves: AUC {number(self.auc)} ± {number(self.auc_spread)}"
        return Grid(title, ("fpr", "tpr", "±"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; the spread of a single curve is None."""
        return self._named("fpr", "tpr", "spread", "aucs", "auc", "auc_spread")


def average_roc(curves: Iterable[RocCurve], *, grid: int = 101) -> AverageRoc:
    """Average ROC curves vertically.

    At each false positive rate, the result has the mean of the true positive rates.

    Parameters
    ----------
    curves : iterable of RocCurve
        The curves, such as one for each repeat.
    grid : int
        The number of false positive rates, equally spaced from 0 to 1.

    Notes
    -----
    Between two points a curve is interpolated linearly; a vertical segment counts with its upper end (Fawcett 2006).

    Examples
    --------
    >>> from tallybayes.evaluation import roc
    >>> good, bad = roc([0, 1], [0.1, 0.9]), roc([0, 1], [0.5, 0.5])         # perfect, and the diagonal
    >>> mean = average_roc([good, bad], grid=3)
    >>> mean.tpr.tolist(), mean.auc
    ([0.5, 0.75, 1.0], 0.75)
    """
    want = "curves, as `roc` returns them"
    listed = [instance("curves", one, RocCurve, want) for one in items("curves", curves, want)]
    if not listed:
        raise BadData(wanted("curves", "at least one", "none"))
    if len({repr(curve.positive) for curve in listed}) > 1:
        first, other = listed[0].positive, next(c.positive for c in listed if c.positive != listed[0].positive)
        raise BadData(wanted("curves", f"all of one positive class, {first!r}", f"one of {other!r}"))
    fpr = np.linspace(0.0, 1.0, whole_number("grid", grid, least=2, most=_MOST_POINTS))
    # np.interp takes the last of several points with the same x, which is the upper end.
    heights = np.stack([np.interp(fpr, curve.fpr, curve.tpr) for curve in listed])  # (K, G)
    return AverageRoc(fpr, heights.mean(axis=0), _deviation(heights), np.array([curve.auc for curve in listed]))


def _deviation(values: Floats) -> Floats:
    """Return the standard deviation over the first axis; NaN, without a warning, for one value."""
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1:], np.nan)
