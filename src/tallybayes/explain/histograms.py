"""Histograms of a column of numbers by class, to draw behind its density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.display.tables import Grid, Result, number
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import class_codes, row_weights
from tallybayes.explain.number_axis import NumberAxis
from tallybayes.explain.tables import Table
from tallybayes.model import Model

BINS = 24


@dataclass(frozen=True, eq=False, repr=False)
class Histogram(Result):
    """A histogram of each class's rows in bins of equal width.

    Attributes
    ----------
    column : str
        The column.
    classes : tuple
        The classes.
    edges : ndarray, shape (B + 1,)
        The edges of the bins.
    counts : ndarray, shape (B, C)
        The weight of rows in each bin; rows outside all bins are in `totals` only.
    totals : ndarray, shape (C,)
        The weight of all rows that have a value.
    axis : NumberAxis or None
        The axis on which bins have equal width, if not a plain one.
    spike : ndarray, shape (C,), or None
        The share of each class's rows that have the number which the axis leaves out.
    """

    column: str
    classes: tuple[Any, ...]
    edges: Floats
    counts: Floats
    totals: Floats
    axis: NumberAxis | None = None
    spike: Floats | None = None

    @property
    def density(self) -> Floats:  # (B, C)
        """The share of rows per unit of the axis; 0 for a class without rows."""
        edges = self.edges if self.axis is None else self.axis.forward(self.edges)
        area = np.where(self.totals > 0, self.totals, 1.0) * np.diff(edges)[:, None]
        return np.asarray(self.counts / area)

    def points(self) -> list[dict[str, Any]]:
        """Return the records that the chart draws: one for each bin and class that has rows."""
        density = self.density
        return [
            {
                "from": float(self.edges[b]),
                "to": float(self.edges[b + 1]),
                "class": str(name),
                "density": float(density[b, c]),
                "rows": float(self.counts[b, c]),
            }
            for b in range(len(self.counts))
            for c, name in enumerate(self.classes)
            if self.counts[b, c] > 0
        ]

    def _columns(self) -> dict[str, Any]:
        counts = {f"n({name})": self.counts[:, c] for c, name in enumerate(self.classes)}
        return {"from": self.edges[:-1], "to": self.edges[1:], **counts}

    def shown(self) -> Grid:
        """Return a table of the rows in each bin."""
        bins = zip(self.edges[:-1], self.edges[1:], self.counts, strict=True)
        rows = tuple((f"{low:.4g} to {high:.4g}", *map(number, counts)) for low, high, counts in bins)
        return Grid(self.column, ("", *map(str, self.classes)), rows)


def histogram(model: Model, table: Table, rows: pa.RecordBatch, label: str, weight: str | None) -> Histogram | None:
    """Return a histogram of labelled rows over the range of a table; None unless numeric.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = pa.record_batch({"x": [0.0, 1.0, 1.0, 5.0, 6.0, 6.0], "y": ["no", "no", "no", "yes", "yes", "yes"]})
    >>> model = tb.fit(rows, "y")
    >>> found = histogram(model, model.table("x"), rows, "y", None)
    >>> found.counts.sum(axis=0).tolist(), float((found.density * np.diff(found.edges)[:, None]).sum().round(6))
    ([3.0, 3.0], 2.0)
    """
    if table.profile.kind not in ("numbers", "counts"):
        return None
    part = RowBatch(rows, 0, model.schema.missing)
    x = np.asarray(part.column(table.column).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    codes, found = class_codes(part, label)
    classes = model.evidence.classes.find(found.array).astype(np.intp)[codes]
    w = row_weights(part, weight)
    w = np.ones(len(x)) if w is None else w
    some = np.isfinite(x) & (classes >= 0)
    x, classes, w = x[some], classes[some], w[some]
    if not len(x):
        return None
    C, axis = len(model.classes), table.axis
    totals = np.bincount(classes, w, C).astype(np.float64)
    spike = None
    if axis is not None and axis.spike is not None:
        at = x == axis.spike
        spike = np.bincount(classes[at], w[at], C) / np.where(totals > 0, totals, 1.0)
        x, classes, w = x[~at], classes[~at], w[~at]
    whole = bool((x == np.floor(x)).all())
    edges = axis.cut(BINS) if axis is not None else _edges(x, np.asarray(table.profile.values, np.float64), whole=whole)
    counts = np.stack([np.histogram(x[classes == c], edges, weights=w[classes == c])[0] for c in range(C)], axis=1)
    return Histogram(table.column, model.classes, edges, counts.astype(np.float64), totals, axis, spike)


def _edges(x: Floats, drawn: Floats, *, whole: bool) -> Floats:
    """Return bin edges over the values both drawn and present; whole numbers are bin centres."""
    low, high = max(float(x.min()), float(drawn.min())), min(float(x.max()), float(drawn.max()))
    if not high > low:
        return np.array([low - 0.5, low + 0.5])
    if whole:
        step = max(1.0, float(np.ceil((high - low + 1) / BINS)))
        return np.asarray(np.arange(np.floor(low), np.ceil(high) + step + 0.5, step) - 0.5)
    return np.linspace(low, high, BINS + 1)
