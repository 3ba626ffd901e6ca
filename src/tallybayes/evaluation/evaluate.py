"""Everything known about predicted probabilities against true classes, in one object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.display.tables import Result, Sheet
from tallybayes.errors import BadOption, wanted
from tallybayes.evaluation.confusion import Averages, Confusion, counted
from tallybayes.evaluation.figures import positive_f1
from tallybayes.evaluation.inputs import (
    Places,
    class_names,
    cost_matrix,
    places,
    position,
    probability_rows,
    row_weights,
)
from tallybayes.evaluation.losses import LogLoss, brier, log_loss, true_probabilities
from tallybayes.evaluation.operating_point import OperatingPoint
from tallybayes.evaluation.proportions import LEVEL, wilson
from tallybayes.evaluation.rates import Rates
from tallybayes.evaluation.reliability import BINS, Bins, Reliability, bin_edges, binned
from tallybayes.evaluation.roc import RocCurve, curve_of
from tallybayes.evaluation.summary import remarks, sheet
from tallybayes.events.inputs import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """The quality of predicted probabilities: decisions, losses, calibration and ROC curves.

    Attributes
    ----------
    confusion : Confusion
        The number of rows for each pair of true class and decided class.
    loss : LogLoss
        The log-loss, and the number of rows that make it infinite.
    brier : float
        The Brier score: the mean squared distance of the probabilities from the truth.
    calibration : Reliability
        The probability of the most probable class in bins, and how often that class was the true one.
    curves : dict
        The ROC curve of each class against the others; with two classes, only of the positive one. A class that no row
        or every row has is left out.
    cost : float or None
        The mean cost of a decision; None if no costs were given.
    costs : ndarray, shape (C, C), or None
        The costs, decided × true.
    positive : object
        The positive class of two; None of more.
    """

    confusion: Confusion
    loss: LogLoss
    brier: float
    calibration: Reliability
    curves: Mapping[Any, RocCurve]
    cost: float | None = None
    costs: Floats | None = None
    positive: Any = None

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of all per-class figures."""
        return self.confusion.classes

    @property
    def rows(self) -> float:
        """The number (weight) of rows."""
        return self.confusion.total

    @property
    def accuracy(self) -> float:
        """The share of rows decided correctly."""
        return self.confusion.accuracy

    def accuracy_interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return Wilson's confidence interval for the accuracy."""
        low, high = wilson(self.accuracy, self.rows, level)
        return float(low), float(high)

    def __getitem__(self, name: Any) -> Rates:
        """Return sensitivity, specificity, precision, ... of one class."""
        return self.confusion[name]

    @property
    def sensitivity(self) -> Floats:  # (C,)
        """The share of each class's rows that was found; NaN without such rows."""
        return np.asarray(self.confusion.rates.sensitivity)

    @property
    def recall(self) -> Floats:  # (C,)
        """Another name for sensitivity."""
        return self.sensitivity

    @property
    def specificity(self) -> Floats:  # (C,)
        """The share of the other classes' rows that was not taken for this class."""
        return np.asarray(self.confusion.rates.specificity)

    @property
    def precision(self) -> Floats:  # (C,)
        """The share of rows decided for a class that belong to it; NaN if none."""
        return np.asarray(self.confusion.rates.precision)

    @property
    def f1(self) -> Floats:  # (C,)
        """The harmonic mean of precision and sensitivity."""
        return np.asarray(self.confusion.rates.f1)

    @property
    def macro(self) -> Averages:
        """Sensitivity, specificity, precision and F1, averaged with equal weight for each class."""
        return self.confusion.macro

    @property
    def weighted(self) -> Averages:
        """The same figures, averaged with each class weighted by its number of rows."""
        return self.confusion.weighted

    @property
    def mcc(self) -> float:
        """Matthews' correlation of truth and decision."""
        return self.confusion.mcc

    @property
    def kappa(self) -> float:
        """Cohen's κ."""
        return self.confusion.kappa

    @property
    def log_loss(self) -> float:
        """The mean of −log P(true class); infinite if any such P is 0."""
        return self.loss.mean

    @property
    def impossible(self) -> int:
        """The number of rows with probability 0 for their true class."""
        return self.loss.impossible

    @property
    def ece(self) -> float:
        """The expected calibration error."""
        return self.calibration.ece

    @property
    def auc(self) -> float:
        """The area under the ROC curve; the mean over all curves if there are several."""
        return float(np.mean([curve.auc for curve in self.curves.values()])) if self.curves else float("nan")

    @property
    def average_precision(self) -> float:
        """The average precision; the mean over all curves if there are several."""
        curves = self.curves.values()
        return float(np.mean([curve.average_precision for curve in curves])) if curves else float("nan")

    @property
    def roc(self) -> RocCurve:
        """The ROC curve of the positive class; two classes only."""
        if len(self.curves) != 1:
            do = "Name the class, as in evaluation.curves['a']" if self.curves else "It needs rows of both classes"
            raise BadOption(wanted("roc", "the curve of two classes", f"{len(self.curves)} curves", do))
        return next(iter(self.curves.values()))

    def operating_point(self, *, ratio: float | None = None, costs: Any = None) -> OperatingPoint:
        """Return the cheapest threshold, as `RocCurve.operating_point`; two classes only.

        The default costs are those that the evaluation was made with, else 1 for each error.
        """
        if costs is None:
            costs = (1.0, 1.0) if self.costs is None else self._error_costs(self.costs)
        return self.roc.operating_point(ratio=ratio, costs=costs)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about figures that are undefined or infinite, with the reason."""
        return remarks(self.confusion, self.loss, self.curves)

    def shown(self) -> Sheet:
        """Return tables: figures overall and by class, confusion matrix, calibration."""
        return sheet(self)

    def chart(self) -> Any:
        """Return an Altair chart of how far the probabilities can be trusted."""
        return self.calibration.chart("the most probable class")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values.

        A figure that is undefined (0 / 0) or infinite is None; `impossible` and `notes` give the reason.
        """
        figures = self._named("classes", "rows", "accuracy", accuracy_interval=self.accuracy_interval())
        figures |= self._named("log_loss", "impossible", log_loss_of_the_rest=self.loss.rest)
        figures |= self._named(
            "brier", "ece", "auc", "average_precision", f1=positive_f1(self), macro=self.macro._asdict()
        )
        figures |= self._named("mcc", "kappa", "cost", "confusion", "calibration")
        return figures | self._named(roc=self.curves.values(), notes=self.notes)

    def _error_costs(self, costs: Floats) -> tuple[float, float]:
        """Return the costs of the two errors, less those of the correct decisions."""
        p = position(self.roc.positive, self.classes, "positive")
        q = 1 - p
        return float(costs[p, q] - costs[q, q]), float(costs[q, p] - costs[p, p])


def evaluate(
    labels: Any,
    probabilities: Any,
    classes: Iterable[Any],
    *,
    weights: Any = None,
    positive: Any = None,
    costs: Any = None,
    bins: Bins = BINS,
) -> Evaluation:
    """Evaluate predicted probabilities against the true classes.

    Parameters
    ----------
    labels : array_like, shape (n,)
        The true class of each row.
    probabilities : array_like, shape (n, C)
        The probability of each class, summing to 1 in each row.
    classes : sequence
        The classes, in the order of the columns.
    weights : array_like, shape (n,), optional
        The weight of each row; 2 is the row twice, 0 leaves it out.
    positive : object, optional
        The positive class, if there are two; by default the second.
    costs : array_like, shape (C, C), optional
        ``costs[i][j]`` is the cost of deciding for class i when class j is true. Each row is then decided for the class
        of least expected cost instead of the most probable one.
    bins : int or sequence of float
        The number of equally wide calibration bins, or the edges of the bins.

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]]
    >>> seen = evaluate(["ham", "ham", "spam", "spam"], p, ["ham", "spam"])
    >>> seen.accuracy, seen["spam"].sensitivity, seen.auc
    (0.75, 0.5, 0.75)
    >>> seen.confusion.matrix.tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    names = class_names(classes)
    true = places(labels, names)
    p = probability_rows(probabilities, len(true), names)
    w = row_weights(weights, len(true))
    if w is not None and not w.all():
        true, p, w = true[w > 0], p[w > 0], w[w > 0]
    if positive is not None and len(names) > 2:
        raise BadOption(wanted("positive", "two classes", f"{len(names)}", "Leave it out: every class has its curve"))
    positive_at = 1 if positive is None else position(positive, names, "positive")
    prices = None if costs is None else cost_matrix(costs, len(names))
    most = _largest(p)
    decided = most if prices is None else np.argmin(p @ prices.T, axis=1)
    edges = bin_edges(bins)
    confidence = np.minimum(true_probabilities(most, p), 1.0)
    return Evaluation(
        counted(true, decided, names, w),
        log_loss(true_probabilities(true, p), w),
        brier(true, p, w),
        binned(most == true, confidence, w, edges),
        _curves(true, p, names, w, [positive_at] if len(names) == 2 else list(range(len(names)))),
        None if prices is None else float(np.average(prices[decided, true], weights=w)),
        prices,
        names[positive_at] if len(names) == 2 else None,
    )


def _largest(p: Floats) -> Places:  # (n,)
    """Return the first of the most probable classes of each row."""
    # For two classes one comparison does; it is ten times as fast as argmax.
    return (p[:, 1] > p[:, 0]).astype(np.intp) if p.shape[1] == 2 else np.argmax(p, axis=1)


def _curves(
    true: Places, p: Floats, names: tuple[Any, ...], weights: Floats | None, of: list[int]
) -> dict[Any, RocCurve]:
    has_rows = np.bincount(true, minlength=len(names)) > 0
    if has_rows.sum() < 2:
        return {}
    return {names[c]: curve_of(true == c, p[:, c], names[c], weights, rounded=True) for c in of if has_rows[c]}
