"""Calibration: how often events happen that were given probability p."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.display.tables import Grid, Result, number
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.evaluation.inputs import numbers, row_weights
from tallybayes.evaluation.proportions import wilson
from tallybayes.evaluation.rates import divided
from tallybayes.evaluation.ties import CLOSE
from tallybayes.events.inputs import Floats

Bins = int | Sequence[float]

BINS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Result):
    """Rows binned by their predicted probability, with the observed frequency in each bin.

    Attributes
    ----------
    edges : ndarray, shape (B + 1,)
        The edges of the bins; a bin contains its right edge (the first also its left), up to rounding.
    count : ndarray, shape (B,)
        The number (weight) of rows in each bin.
    confidence : ndarray, shape (B,)
        The mean predicted probability; NaN in an empty bin, as are `observed`, `low` and `high`.
    observed : ndarray, shape (B,)
        The share of rows where the event happened.
    low, high : ndarray, shape (B,)
        Wilson's 95 % interval for that share.
    """

    edges: Floats
    count: Floats
    confidence: Floats
    observed: Floats
    low: Floats
    high: Floats

    @property
    def ece(self) -> float:
        """The expected calibration error: mean distance of confidence from observed share, over rows."""
        return float(self._gaps() @ self.count / self.count.sum())

    @property
    def largest(self) -> float:
        """The largest distance of confidence from observed share in any bin."""
        return float(self._gaps().max())

    def _columns(self) -> dict[str, Any]:
        bins = {"from": self.edges[:-1], "to": self.edges[1:], "rows": self.count}
        return bins | {"mean": self.confidence, "observed": self.observed, "low": self.low, "high": self.high}

    def shown(self) -> Grid:
        """Return a table of the bins that have rows."""
        rows = []
        for b in np.flatnonzero(self.count):
            range_ = f"{self.edges[b]:.3g} to {self.edges[b + 1]:.3g}"
            interval = f"{self.low[b]:.4f} to {self.high[b]:.4f}"
            rows.append(
                (range_, number(self.count[b]), f"{self.confidence[b]:.4f}", f"{self.observed[b]:.4f}", interval)
            )
        columns = ("probability", "rows", "mean", "observed", "95 % interval")
        return Grid(f"Calibration error {self.ece:.4f}", columns, tuple(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the error, and the bins (None where one is empty)."""
        return self._named("ece", "largest", "edges", "count", "confidence", "observed", "low", "high")

    def points(self) -> list[dict[str, float]]:
        """Return the records that the chart draws: the bins that have rows."""
        columns = (self.confidence, self.observed, self.low, self.high, self.count)
        filled = [row for row in zip(*columns, strict=True) if row[-1] > 0]
        names = ("given", "observed", "low", "high", "rows")
        return [dict(zip(names, map(float, row), strict=True)) for row in filled]

    def chart(self, of: str = "the event") -> Any:
        """Return an Altair chart of observed shares by predicted probability."""
        from tallybayes.display.charts.reliability import reliability_chart

        return reliability_chart([{"when": "predicted", **point} for point in self.points()], ["predicted"], of)

    def _gaps(self) -> Floats:
        return np.where(self.count > 0, np.abs(self.confidence - self.observed), 0.0)


def calibration(happened: Any, probabilities: Any, *, weights: Any = None, bins: Bins = BINS) -> Reliability:
    """Return the calibration of the probabilities of an event.

    Parameters
    ----------
    happened : array_like of bool, shape (n,)
        Whether the event happened.
    probabilities : array_like, shape (n,)
        The predicted probability of the event.
    weights : array_like, shape (n,), optional
        The weight of each row; 2 is the row twice.
    bins : int or sequence of float
        The number of equally wide bins, or the edges of the bins, rising from 0 to 1.

    Examples
    --------
    >>> seen = calibration([True, True, False, False], [0.9, 0.8, 0.8, 0.3], bins=2)
    >>> seen.count.tolist(), seen.observed.round(4).tolist()
    ([1.0, 3.0], [0.0, 0.6667])
    >>> round(seen.ece, 4)                              # 1/4 · |0.3 − 0| + 3/4 · |0.8333 − 0.6667|
    0.2
    """
    p = numbers(probabilities, "probabilities")
    y = numbers(happened, "happened")
    if len(p) == 0:
        raise BadData(wanted("probabilities", "at least one row", "none"))
    if len(y) != len(p):
        raise BadData(wanted("happened", f"{len(p)} rows, as many as probabilities", f"{len(y)}"))
    for where, good, values in (("happened", (y == 0) | (y == 1), y), ("probabilities", (p >= 0) & (p <= 1), p)):
        if not good.all():
            row = int(np.argmin(good))
            want = "true or false" if where == "happened" else "numbers from 0 to 1"
            raise BadData(wanted(where, want, f"{values[row]:g} (row {row + 1})"))
    return binned(y > 0, p, row_weights(weights, len(p)), bin_edges(bins))


def binned(happened: npt.NDArray[np.bool_], p: Floats, weights: Floats | None, edges: Floats) -> Reliability:
    """Return the calibration of checked arrays."""
    # Only the inner edges are compared: a float32 sum may exceed 1 by its last digit. And 4/5 is on the edge at 0.8,
    # even if its last bit is one too high.
    bins, size = np.searchsorted(edges[1:-1], p * (1 - CLOSE), side="left"), len(edges) - 1
    w = np.ones(len(p)) if weights is None else weights
    count = np.bincount(bins, w, size).astype(np.float64)
    confidence = divided(np.bincount(bins, w * p, size), count)
    observed = divided(np.bincount(bins, w * happened, size), count)
    return Reliability(edges, count, confidence, observed, *wilson(observed, count))


def bin_edges(bins: Bins) -> Floats:  # (B + 1,)
    """Return the edges of the bins."""
    if isinstance(bins, int | np.integer):
        if bins < 1:
            raise BadOption(wanted("bins", "at least one", repr(bins)))
        return np.linspace(0.0, 1.0, int(bins) + 1)
    edges = numbers(bins, "bins")
    if len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or not (np.diff(edges) > 0).all():
        raise BadOption(wanted("bins", "a number of bins, or their ends rising from 0 to 1", f"{edges.tolist()}"))
    return edges
