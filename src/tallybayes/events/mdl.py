"""MDL: a real column cut where that tells the classes apart, by minimum description length.

Counted are the buckets of `histogram`. Bins are cut in two, again and again, at the cut that leaves the least entropy
of the classes, as long as the gain pays for describing the cut (Fayyad and Irani 1993).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tallybayes.buckets import Buckets
from tallybayes.events.families.binned_event import MOST_BINS, BinnedEvent, between
from tallybayes.events.inputs import Floats

__all__ = ["Mdl"]


@dataclass(frozen=True)
class Mdl(BinnedEvent):
    """A number as one of the bins that tell the classes apart.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "z": [1.0, 2.0] * 4, "y": list("aaaabbbb")}
    >>> model = tb.fit(rows, "y", events="mdl")
    >>> model.table("x").rows, model.table("z").rows
    (('below 4.5', '4.5 or more'), ('any',))
    """

    name: ClassVar[str] = "mdl"

    def edges(self, buckets: Buckets, counts: Floats) -> Floats:
        """Return the edges between the bins of a column."""
        cuts = sorted(cut for cut, _ in zip(_cuts(counts), range(MOST_BINS - 1), strict=False))
        return np.array([between(buckets.high[v], buckets.low[v + 1]) for v in cuts], np.float64)


def _cuts(counts: Floats) -> Iterator[int]:
    """Yield the buckets (V, C) after which to cut, the whole column first, then its parts."""
    waiting = [(0, len(counts))]
    while waiting:
        first, last = waiting.pop(0)
        cut = _best_cut(counts[first:last])
        if cut is not None:
            yield first + cut
            waiting += [(first, first + cut + 1), (first + cut + 1, last)]


def _best_cut(counts: Floats) -> int | None:
    """Return the bucket (V, C) after which a cut leaves the least entropy; None if it does not pay.

    With N rows of k classes and entropy E, cut into parts of k₁ and k₂ classes, the gain has to be above
    (log₂(N − 1) + log₂(3ᵏ − 2) − kE + k₁E₁ + k₂E₂) / N bits.
    """
    whole = counts.sum(axis=0)
    total = whole.sum()
    if len(counts) < 2 or total <= 1:
        return None
    below = np.cumsum(counts, axis=0)[:-1]
    above = np.maximum(whole - below, 0.0)
    left, right = _entropy(below), _entropy(above)
    after = (below.sum(axis=1) * left + above.sum(axis=1) * right) / total
    at, entropy = int(np.argmin(after)), float(_entropy(whole[None])[0])
    k, k_left, k_right = (int(np.count_nonzero(part)) for part in (whole, below[at], above[at]))
    cost = np.log2(total - 1) + k * np.log2(3.0) + np.log1p(-2 * 3.0**-k) / np.log(2.0)
    cost += -k * entropy + k_left * left[at] + k_right * right[at]
    return at if entropy - after[at] > cost / total else None


def _entropy(counts: Floats) -> Floats:  # (n,)
    """Return the entropy of counts (n, C) in bits."""
    total = counts.sum(axis=1, keepdims=True)
    p = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return np.asarray(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=1))
