"""The weight of the rows of each class."""

from __future__ import annotations

from tallybayes import kernels
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.exact.array import Exact

__all__ = ["class_totals"]


def class_totals(classes: ClassCodes, n_classes: int, weights: Weights) -> Exact:  # (C,)
    """Return the weight of the rows of each class."""
    if weights is None:
        return Exact.from_counts(kernels.count_classes(classes, n_classes))
    return Exact.from_limbs(kernels.power_sums((weights,), classes, n_classes, order=1).first).reshape((n_classes,))
