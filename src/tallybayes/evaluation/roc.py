"""The ROC curve: true against false positive rate at each threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes.cached_property import cached_property
from tallybayes.display.tables import Grid, Result, number
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.evaluation.auc import Area, area, average_precision, interval
from tallybayes.evaluation.convex_hull import corners, upper_hull
from tallybayes.evaluation.inputs import distinct, places, position, row_weights, scores_of
from tallybayes.evaluation.operating_point import OperatingPoint, cheapest
from tallybayes.evaluation.proportions import LEVEL
from tallybayes.evaluation.ties import last_of_each
from tallybayes.events.inputs import Floats

_POINTS = 512  # a picture shows no more, so JSON need not hold all of a curve of a million rows
_LINES = 12  # of a printed table; more are not read


class Hull(NamedTuple):
    """The upper convex hull of a curve, and the area under it."""

    fpr: Floats
    tpr: Floats
    thresholds: Floats
    auc: float


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Result):
    """True against false positive rate, over all thresholds.

    Attributes
    ----------
    positive : object
        The positive class.
    fp, tp : ndarray, shape (T,)
        The number (weight) of negatives and of positives called positive at each threshold, from none to all. Points
        on the line between their neighbours are left out.
    thresholds : ndarray, shape (T,)
        A row is called positive at this score or above; the first threshold is infinite, and no row reaches it.
    area : Area
        The area under the curve, DeLong's variance of it, and the degrees of freedom of the variance.
    reversed : bool
        Whether decisions are reversed: a row is then called positive *below* the threshold.
    average_precision : float
        The precision averaged over the positives: at each, the share of positives among the rows that score as high.
        A detector that knows nothing has the share of positives among all rows.
    flipped_precision : float
        The same of the flipped detector.
    """

    positive: Any
    fp: Floats
    tp: Floats
    thresholds: Floats
    area: Area
    reversed: bool = False
    average_precision: float = float("nan")
    flipped_precision: float = float("nan")

    @property
    def auc(self) -> float:
        """The area: the probability that a positive scores above a negative, ties counting half."""
        return self.area.auc

    @property
    def variance(self) -> float:
        """DeLong's variance of the area."""
        return self.area.variance

    @property
    def positives(self) -> float:
        """The number (weight) of positive rows."""
        return float(self.tp[-1])

    @property
    def negatives(self) -> float:
        """The number (weight) of negative rows."""
        return float(self.fp[-1])

    @cached_property
    def fpr(self) -> Floats:  # (T,)
        """The false positive rate at each threshold."""
        return np.asarray(self.fp / self.fp[-1])

    @cached_property
    def tpr(self) -> Floats:  # (T,)
        """The true positive rate at each threshold."""
        return np.asarray(self.tp / self.tp[-1])

    @property
    def recall(self) -> Floats:  # (T,)
        """The share of positives found at each threshold: another name for the true positive rate."""
        return self.tpr

    @cached_property
    def precision(self) -> Floats:  # (T,)
        """The share of positives among rows called positive at each threshold.

        It is 1 where none is.

        Examples
        --------
        >>> curve = roc([1, 0, 1, 0], [4, 3, 2, 1])
        >>> curve.recall.tolist(), curve.precision.round(3).tolist()
        ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.667, 0.5])
        >>> round(curve.average_precision, 4)               # (1 + 2/3) / 2
        0.8333
        """
        called = self.tp + self.fp
        return np.divide(self.tp, called, out=np.ones(len(called)), where=called > 0)

    @cached_property
    def hull(self) -> Hull:
        """The upper convex hull: the thresholds optimal for some class ratio and costs.

        Examples
        --------
        >>> curve = roc([1, 0, 0, 1, 0], [5, 4, 3, 2, 1])
        >>> curve.hull.thresholds.tolist()
        [inf, 5.0, 2.0, 1.0]
        """
        at = upper_hull(self.fp, self.tp)
        fpr, tpr = self.fpr[at], self.tpr[at]
        return Hull(fpr, tpr, self.thresholds[at], float(np.diff(fpr) @ (tpr[1:] + tpr[:-1]) / 2))

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return a confidence interval for the area.

        It uses DeLong's variance and Student's t on the log-odds scale.
        """
        return interval(self.area, min(self.positives, self.negatives), level)

    def operating_point(self, *, ratio: float | None = None, costs: Any = (1.0, 1.0)) -> OperatingPoint:
        """Return the cheapest point, where a line of equal cost touches the hull.

        Parameters
        ----------
        ratio : float, optional
            The expected number of negatives per positive; by default the ratio of these rows.
        costs : pair of float
            The costs of a false positive and of a false negative.

        Examples
        --------
        >>> curve = roc([1, 0, 0, 1, 0], [5, 4, 3, 2, 1])
        >>> curve.operating_point(costs=(1, 1)).threshold             # one of five missed
        5.0
        >>> curve.operating_point(costs=(1, 5)).threshold             # two false alarms are cheaper than a miss
        2.0
        """
        ratio = self.negatives / self.positives if ratio is None else ratio
        fpr, tpr, thresholds, _ = self.hull
        at, cost, slope = cheapest(fpr, tpr, ratio, costs)
        return OperatingPoint(float(thresholds[at]), float(fpr[at]), float(tpr[at]), cost, slope, self.reversed)

    def flipped(self) -> RocCurve:
        """Return the curve of the detector with every decision reversed.

        It runs as far above the diagonal as this curve runs below it.

        Examples
        --------
        >>> wrong = roc([1, 1, 0, 0], [0.1, 0.4, 0.3, 0.9])
        >>> wrong.auc, wrong.flipped().auc, wrong.flipped().reversed
        (0.25, 0.75, True)
        """
        fp, tp = (self.negatives - self.fp)[::-1], (self.positives - self.tp)[::-1]
        thresholds, size = self.thresholds[::-1], self.area._replace(auc=1 - self.auc)
        turned = replace(self, average_precision=self.flipped_precision, flipped_precision=self.average_precision)
        return replace(turned, fp=fp, tp=tp, thresholds=thresholds, area=size, reversed=not self.reversed)

    def upright(self) -> RocCurve:
        """Return this curve, or the flipped one if the area is below one half."""
        return self if self.auc >= 0.5 else self.flipped()

    def thinned(self, points: int = _POINTS) -> RocCurve:
        """Return the curve at a limited number of points, preferring those of the hull.

        Area and variance do not change.
        """
        if len(self.fp) <= points:
            return self
        at = upper_hull(self.fp, self.tp)
        if len(at) > points:
            at = at[np.linspace(0, len(at) - 1, points).astype(np.intp)]
        at = np.union1d(at, np.linspace(0, len(self.fp) - 1, max(points - len(at), 0)).astype(np.intp))
        return replace(self, fp=self.fp[at], tp=self.tp[at], thresholds=self.thresholds[at])

    def _columns(self) -> dict[str, Any]:
        return {"threshold": self.thresholds, "fpr": self.fpr, "tpr": self.tpr, "fp": self.fp, "tp": self.tp}

    def shown(self) -> Grid:
        """Return a table of the points of the hull, and the area."""
        hull, (low, high) = self.hull, self.interval()
        at = np.unique(np.linspace(0, len(hull.fpr) - 1, _LINES).round().astype(np.intp))
        rule = "score <" if self.reversed else "score ≥"
        title = f"ROC of {self.positive}: AUC {self.auc:.4f} ({low:.4f} to {high:.4f})"
        rows = zip(hull.thresholds[at], hull.fpr[at], hull.tpr[at], strict=True)
        points = f"{len(at)} of the {len(hull.fpr)} points on the convex hull, of {len(self.fp)} in all"
        notes = (f"{points}; the area under the hull is {hull.auc:.4f}.", *self.notes())
        return Grid(title, (rule, "fpr", "tpr"), tuple(tuple(map(number, row)) for row in rows), notes)

    def notes(self) -> tuple[str, ...]:
        """Return notes on the curve: whether it is reversed or below the diagonal."""
        if self.reversed:
            return ("Decisions are reversed: a row is called positive below the threshold.",)
        if self.auc < 0.5:
            better = f"reversing its decisions would give {1 - self.auc:.4f}"
            return (f"The detector of {self.positive!r} is below the diagonal: AUC {self.auc:.4f}, {better}.",)
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: area, interval, hull, and at most 512 points of the curve.

        An infinite threshold is None.
        """
        low, high = self.interval()
        figures = self._named("positive", "reversed", "auc", low=low, high=high)
        figures |= self._named("variance", "positives", "negatives", "average_precision")
        return figures | self.thinned()._named(
            "fpr", "tpr", "precision", "thresholds", hull=self.hull, notes=self.notes()
        )


def roc(labels: Any, scores: Any, *, positive: Any = None, weights: Any = None) -> RocCurve:
    """Return the ROC curve of a score that should be high for one class.

    Parameters
    ----------
    labels : array_like, shape (n,)
        The true class of each row.
    scores : array_like, shape (n,)
        Probabilities, log-odds or any other score that is higher for the positive class.
    positive : object, optional
        The positive class, against all others. With two classes the default is the greater one: 1 of 0 and 1, True of
        False and True, "yes" of "no" and "yes".
    weights : array_like, shape (n,), optional
        The weight of each row; 2 is the row twice.

    Examples
    --------
    >>> curve = roc(["no", "yes", "no", "yes"], [0.1, 0.4, 0.4, 0.8])
    >>> curve.auc                                           # three pairs of four in order, and one tied
    0.875
    >>> curve.fpr.tolist(), curve.tpr.tolist(), curve.thresholds.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0], [inf, 0.8, 0.4, 0.1])
    """
    names = distinct(labels)
    if len(names) < 2:
        raise BadData(wanted("ROC curve", "rows of two classes", f"only {names[0]!r}"))
    if positive is None and len(names) > 2:
        do = "Name the positive class with positive="
        raise BadOption(wanted("ROC curve", "two classes", f"{len(names)}", do))
    at = len(names) - 1 if positive is None else position(positive, names, "positive")
    codes = places(labels, names)
    w = row_weights(weights, len(codes))
    return curve_of(codes == at, scores_of(scores, len(codes)), names[at], w)


def curve_of(
    is_positive: npt.NDArray[np.bool_], scores: Floats, positive: Any, weights: Floats | None, *, rounded: bool = False
) -> RocCurve:
    """Return the curve of checked arrays; `rounded` scores that differ by rounding only are tied."""
    order = np.argsort(-scores)
    falling = scores[order]
    # The last row of each distinct score.
    last = last_of_each(falling) if rounded else np.append(np.flatnonzero(np.diff(falling)), len(falling) - 1)
    hits = is_positive[order]
    if weights is None:
        found = np.cumsum(hits)[last].astype(np.float64)
        missed = last + 1 - found
    else:  # summed separately: a difference of rounded sums could make a count fall
        found, missed = (np.cumsum(weights[order] * kind)[last] for kind in (hits, ~hits))
    if not found[-1] or not missed[-1]:
        only = "no row of" if not found[-1] else "only rows of"
        raise BadData(wanted("ROC curve", "rows of two classes", f"{only} {positive!r}"))
    positives, negatives = np.diff(found, prepend=0.0), np.diff(missed, prepend=0.0)
    size = area(positives, negatives)
    precisions = average_precision(positives, negatives), average_precision(positives[::-1], negatives[::-1])
    fp, tp = np.concatenate([[0.0], missed]), np.concatenate([[0.0], found])
    new = np.append(True, (np.diff(fp) > 0) | (np.diff(tp) > 0))  # drops scores that only rows of weight 0 have
    fp, tp, thresholds = fp[new], tp[new], np.append(np.inf, falling[last])[new]
    kept = corners(fp, tp)
    return RocCurve(positive, fp[kept], tp[kept], thresholds[kept], size, False, *precisions)
