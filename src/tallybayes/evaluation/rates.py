"""Four counts, true and false positives and negatives, and the shares that they make."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tallybayes.display.tables import plain

__all__ = ["Rates", "divided"]


@dataclass(frozen=True, eq=False)
class Rates:
    """True and false positives and negatives: of one class as numbers, or of all of them as arrays.

    A share of nothing (the sensitivity of a class that no row has) is NaN.

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
        """Of the positives, the share that was found: TP / (TP + FN)."""
        return divided(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> Any:
        """Of the negatives, the share that was left alone: TN / (TN + FP)."""
        return divided(self.tn, self.tn + self.fp)

    @property
    def precision(self) -> Any:
        """Of those called positive, the share that was: TP / (TP + FP)."""
        return divided(self.tp, self.tp + self.fp)

    @property
    def f1(self) -> Any:
        """The harmonic mean of precision and sensitivity: 2TP / (2TP + FP + FN)."""
        return divided(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def recall(self) -> Any:
        """Another name of sensitivity."""
        return self.sensitivity

    @property
    def tpr(self) -> Any:
        """Another name of sensitivity: the height of a point in ROC space."""
        return self.sensitivity

    @property
    def fpr(self) -> Any:
        """Of the negatives, the share called positive: where a point stands in ROC space from left to right."""
        return divided(self.fp, self.tn + self.fp)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the four counts, sensitivity (recall), specificity, precision, F1 and false positive rate."""
        names = ("sensitivity", "specificity", "precision", "f1", "fpr")
        return dict(plain({**asdict(self), **{name: getattr(self, name) for name in names}}))


def divided(part: Any, whole: Any) -> Any:
    """The share, NaN of nothing; a Python number where numbers were given."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.divide(part, whole)
    return share if share.ndim else float(share)
