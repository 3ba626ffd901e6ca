"""True and false positives and negatives, and the rates derived from them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tallybayes.display.tables import plain


@dataclass(frozen=True, eq=False)
class Rates:
    """True and false positives and negatives of one class, or arrays for all classes.

    A share of nothing, such as the sensitivity of a class without rows, is NaN.

    Examples
    --------
    >>> seen = Rates(tp=60, fp=80, tn=20, fn=30)
    >>> round(seen.sensitivity, 4), seen.specificity
    (0.6667, 0.2)
    """

    tp: Any
    fp: Any
    tn: Any
    fn: Any

    @property
    def sensitivity(self) -> Any:
        """The share of positives that was found: TP / (TP + FN)."""
        return divided(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> Any:
        """The share of negatives not called positive: TN / (TN + FP)."""
        return divided(self.tn, self.tn + self.fp)

    @property
    def precision(self) -> Any:
        """The share of rows called positive that are: TP / (TP + FP)."""
        return divided(self.tp, self.tp + self.fp)

    @property
    def f1(self) -> Any:
        """The harmonic mean of precision and sensitivity: 2TP / (2TP + FP + FN)."""
        return divided(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def recall(self) -> Any:
        """Another name for sensitivity."""
        return self.sensitivity

    @property
    def tpr(self) -> Any:
        """Another name for sensitivity: the y-coordinate in ROC space."""
        return self.sensitivity

    @property
    def fpr(self) -> Any:
        """The share of negatives called positive: the x-coordinate in ROC space."""
        return divided(self.fp, self.tn + self.fp)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the four counts, sensitivity, specificity, precision, F1 and FPR."""
        names = ("sensitivity", "specificity", "precision", "f1", "fpr")
        return dict(plain({**asdict(self), **{name: getattr(self, name) for name in names}}))


def divided(part: Any, whole: Any) -> Any:
    """Divide part by whole, 0 / 0 giving NaN; return a Python number for numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.divide(part, whole)
    return share if share.ndim else float(share)
