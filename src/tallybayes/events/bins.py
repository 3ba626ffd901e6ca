"""Bins: a real column cut into k bins, of equal frequency or of equal width.

Counted are the buckets of `histogram`. The cuts follow from all classes together, when a belief is estimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, get_args

import numpy as np

from tallybayes.buckets import Buckets
from tallybayes.errors import BadOption, wanted
from tallybayes.events.families.binned_event import MOST_BINS, BinnedEvent, between
from tallybayes.events.inputs import Floats
from tallybayes.events.options import is_number, shown

__all__ = ["Bins"]

Equal = Literal["frequency", "width"]


@dataclass(frozen=True)
class Bins(BinnedEvent):
    """A number as one of k bins, each with its own share in each class.

    Parameters
    ----------
    k : int
        The number of bins, from 2 to 254. Fewer are cut where a column has fewer distinct values.
    equal : {"frequency", "width"}
        Whether bins hold about as many rows, or are about as wide.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 95.0, 96.0, 100.0], "y": list("aaaabbbb")}
    >>> tb.fit(rows, "y", events="bins(2)").table("x").rows
    ('below 3.5', '3.5 or more')
    >>> tb.fit(rows, "y", events="bins(2, equal='width')").table("x").rows
    ('below 50', '50 or more')
    """

    k: int = 10
    equal: Equal = "frequency"

    name: ClassVar[str] = "bins"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.k) or self.k != int(self.k) or not 2 <= self.k <= MOST_BINS:
            raise BadOption(wanted("bins k", f"a whole number from 2 to {MOST_BINS}", shown(self.k)))
        object.__setattr__(self, "k", int(self.k))
        if self.equal not in get_args(Equal):
            raise BadOption(wanted("bins equal", "'frequency' or 'width'", shown(self.equal)))

    def edges(self, buckets: Buckets, counts: Floats) -> Floats:
        """Return the edges between the bins of a column."""
        if len(buckets) < 2:
            return np.zeros(0)
        return self._by_frequency(buckets, counts) if self.equal == "frequency" else self._by_width(buckets)

    def _by_frequency(self, buckets: Buckets, counts: Floats) -> Floats:
        """Return edges midway between buckets, where the weight below is nearest to j/k of all."""
        below = np.cumsum(counts.sum(axis=1))[:-1]
        targets = np.arange(1, self.k) / self.k * counts.sum()
        after = np.searchsorted(below, targets).clip(0, len(below) - 1)
        before = np.maximum(after - 1, 0)
        nearer = np.where(targets - below[before] <= below[after] - targets, before, after)
        return np.array([between(buckets.high[v], buckets.low[v + 1]) for v in np.unique(nearer)])

    def _by_width(self, buckets: Buckets) -> Floats:
        """Return k − 1 edges at equal distances; one inside a bucket moves to the nearer end of it."""
        low, high, steps = buckets.low[0], buckets.high[-1], np.arange(1, self.k) / self.k
        edges = low * (1 - steps) + high * steps
        inside = np.searchsorted(buckets.low, edges, side="right") - 1
        split = (buckets.low[inside] < edges) & (edges <= buckets.high[inside])
        for j in np.flatnonzero(split):
            v = int(inside[j])
            ends = [buckets.low[v]] + ([buckets.low[v + 1]] if v + 1 < len(buckets) else [])
            edges[j] = min(ends, key=lambda end, edge=edges[j]: abs(end - edge))  # type: ignore[misc]
        return np.unique(edges[edges > low])

    @classmethod
    def test_variants(cls) -> list[Self]:
        """Return both kinds of bins."""
        return [cls(4), cls(3, "width")]
