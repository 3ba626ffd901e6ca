"""The model's quality on unseen rows: figures beside the baseline's, curves, and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.categories import encode
from tallybayes.display.tables import Grid, Result, number
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, wanted
from tallybayes.evaluation import Evaluation, OperatingPoint, Reliability, calibration, evaluate, headline, majority
from tallybayes.evaluation.inputs import position
from tallybayes.evaluation.roc import RocCurve
from tallybayes.events.inputs import Floats
from tallybayes.model import Model
from tallybayes.reporting.first_pass import FirstPass
from tallybayes.validation import Validation

# The costs of a false positive and of a false negative, from left to right on the slider.
_TIMES = (100, 50, 20, 10, 5, 3, 2)
COSTS = (*((float(k), 1.0) for k in _TIMES), (1.0, 1.0), *((1.0, float(k)) for k in reversed(_TIMES)))
_LOO_ROWS = 50  # with more, weights of columns are fitted on the rows left out, which flatters them
NEW_ROWS = "new rows"


class Figure(NamedTuple):
    """One figure, for the model and for the majority-class baseline.

    Attributes
    ----------
    name : str
        The name of the figure.
    value, low, high : float
        The measured value and its 95 % interval; NaN where there is none.
    deviation : float
        The standard deviation over folds; NaN without folds.
    plain, plain_low, plain_high : float
        The same value and interval for the majority-class baseline.
    """

    name: str
    value: float
    low: float
    high: float
    deviation: float
    plain: float
    plain_low: float
    plain_high: float


class CostStep(NamedTuple):
    """A position of the slider: error costs, and the cheapest threshold for them."""

    # false_positive, false_negative: the costs of the two errors
    false_positive: float
    false_negative: float
    point: OperatingPoint  # the cheapest threshold, with its error rates and cost
    # the ends of the equal-cost line at the edges of the chart, as false and true positive rates
    line: tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, eq=False, repr=False)
class Performance(Result):
    """The quality of the model on rows that it has not seen.

    Attributes
    ----------
    how : str
        How rows were held out, or "new rows" for rows that the model has never learned.
    rows : int
        The number of rows that were scored.
    evaluation : Evaluation
        The evaluation of their probabilities.
    figures : tuple of Figure
        The headline figures.
    majority : object
        The most frequent class.
    positive : object or None
        The positive class: the named one, or the second of two.
    before, after : Reliability
        The calibration of plain and of calibrated scores: of the positive class's probabilities, if there is one.
    calibrated : bool
        Whether scores were calibrated, so that the two differ.
    costs : dict
        The steps of the slider, for each class that has a ROC curve.
    losses : ndarray, shape (rows,)
        −log P(true class) of each row; NaN if the row was not scored.
    true, decided : ndarray of int, shape (rows,)
        The position of the true and of the decided class in `evaluation.classes`.
    notes : tuple of str
        Notes on the figures.
    above_prior : float
        By how much the mean log-loss exceeds that of the class shares alone; below 0 the model is better.
    above_prior_error : float
        The standard error of that difference, row by row.
    """

    how: str
    rows: int
    evaluation: Evaluation
    figures: tuple[Figure, ...]
    majority: Any
    positive: Any
    before: Reliability
    after: Reliability
    calibrated: bool
    costs: dict[Any, tuple[CostStep, ...]]
    losses: Floats
    true: npt.NDArray[np.intp]
    decided: npt.NDArray[np.intp]
    notes: tuple[str, ...] = ()
    above_prior: float = float("nan")
    above_prior_error: float = float("nan")

    @property
    def worse_than_prior(self) -> bool:
        """Whether the log-loss is higher than that of the class shares alone, by more than its error."""
        return not self.above_prior <= self.above_prior_error and not np.isnan(self.above_prior)

    def __getitem__(self, name: str) -> Figure:
        return next(one for one in self.figures if one.name == name)

    def shown(self) -> Grid:
        """Return a table of figures with intervals, spread over folds, and baseline."""
        folds = any(not np.isnan(one.deviation) for one in self.figures)
        heads = ("", "value", "95 % interval", *(["sd of folds"] * folds), f"always {self.majority}")
        rows = tuple(
            (one.name, number(one.value), interval_of(one), *([number(one.deviation)] * folds), number(one.plain))
            for one in self.figures
        )
        return Grid(f"By {self.how}, {self.rows:,} rows", heads, rows, (*self.evaluation.notes, *self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, without those of single rows."""
        reliability = {"before": self.before, "after": self.after}
        figures = self._named(
            "how", "rows", "majority", "positive", "above_prior", "above_prior_error", figures=self.figures
        )
        return figures | self._named("evaluation", reliability=reliability, costs=self.costs, notes=self.notes)


def interval_of(one: Figure) -> str:
    """Format the interval of a figure."""
    return "–" if np.isnan(one.low) else f"{one.low:.4f} to {one.high:.4f}"


def default_how(rows: int) -> str:
    """Choose leave-one-out for few rows, ten-fold for more."""
    return "loo" if rows <= _LOO_ROWS else "10-fold"


def answer_by(seen: Validation, positive: Any = None) -> Performance:
    """Return the quality measured by a cross-validation."""
    positive = _positive(seen.classes, positive)
    seen = replace(seen, positive=positive if len(seen.classes) == 2 else None)
    probabilities, raw, places = seen.probabilities, replace(seen, calibrated=None).probabilities, seen.class_codes
    scored = np.asarray(seen.scored).reshape(seen.repeats, -1).any(axis=0)
    if seen.repeats > 1:  # charts show a row's mean over the repeats; figures are over all repeats together
        probabilities, raw = (np.nanmean(one, axis=0) for one in (probabilities, raw))
    some = scored & (places >= 0)
    by_fold = [headline(one, positive) for one in seen.by_fold]
    return _answer(
        seen.how,
        seen.evaluation,
        seen.classes,
        np.where(some, places, -1).astype(np.intp),
        probabilities,
        raw,
        seen.weights,
        {name: np.array([fold[name].value for fold in by_fold]) for name in (by_fold[0] if by_fold else ())},
        seen.notes,
        positive=positive,
        calibrated=seen.calibrated is not None,
    )


def answer_on_new(model: Model, scan: FirstPass, threads: int | None, positive: Any = None) -> Performance:
    """Return the quality of a model on rows that it has not learned."""
    places = np.concatenate([_places(model, batch, scan) for batch in scan.source])
    source, schema = open_rows.as_in(model.schema, scan.source, scan.label, scan.weight)
    weights = None
    if schema.weight is not None:
        weights = np.concatenate([batch.column(schema.weight).to_numpy(zero_copy_only=False) for batch in source])
    probabilities = model.predict_proba(scan.source, threads=threads)
    raw = probabilities
    if model._has_calibrated_scores:
        raw = model.with_(calibrate=None).predict_proba(scan.source, threads=threads)
    names = model.evidence.classes.to_numpy()
    positive = _positive(model.classes, positive)
    of = positive if len(model.classes) == 2 else None
    seen = evaluate(names[places], probabilities, model.classes, weights=weights, positive=of)
    return _answer(
        NEW_ROWS,
        seen,
        model.classes,
        places,
        probabilities,
        raw,
        weights,
        {},
        (),
        positive=positive,
        calibrated=model._has_calibrated_scores,
    )


def _places(model: Model, batch: pa.RecordBatch, scan: FirstPass) -> npt.NDArray[np.intp]:
    codes, found = encode(batch.column(scan.label))
    place = model.evidence.classes.find(found.array, where=f"label {scan.label!r}").astype(np.intp)
    if (place < 0).any() or (codes < 0).any():
        unknown = [value for value, at in zip(found.values, place, strict=True) if at < 0] or [None]
        want = f"classes of the model ({', '.join(map(str, model.classes[:5]))})"
        raise BadData(wanted(f"label {scan.label!r}", want, repr(unknown[0]), "Fit a model to these rows instead"))
    return place[codes]


def _answer(
    how: str,
    seen: Evaluation,
    classes: tuple[Any, ...],
    true: npt.NDArray[np.intp],
    probabilities: Floats,
    raw: Floats,
    weights: Floats | None,
    by_fold: dict[str, Floats],
    notes: Sequence[str],
    *,
    positive: Any,
    calibrated: bool,
) -> Performance:
    true = true if weights is None else np.where(weights > 0, true, -1)  # a row of weight 0 is left out
    some = true >= 0
    w = None if weights is None else weights[some]
    at = None if positive is None else classes.index(positive)
    names = np.array(classes, object)
    baseline = headline(majority(names[true[some]], classes, weights=w), positive)
    figures = tuple(
        Figure(name, *figure, _deviation(by_fold.get(name)), *baseline[name])
        for name, figure in headline(seen, positive).items()
    )
    losses = np.full(len(true), np.nan)
    with np.errstate(divide="ignore"):
        losses[some] = -np.log(np.take_along_axis(probabilities[some], true[some, None], axis=1)[:, 0])
    decided = np.full(len(true), -1, np.intp)
    decided[some] = np.argmax(probabilities[some], axis=1)
    before, after = (_reliability(true[some], one[some], w, at) for one in (raw, probabilities))
    return Performance(
        how,
        int(some.sum()),
        seen,
        figures,
        classes[int(np.argmax(seen.confusion.support))],
        positive,
        before,
        after,
        calibrated,
        {name: tuple(_step(curve, costs) for costs in COSTS) for name, curve in seen.curves.items()},
        losses,
        true,
        decided,
        tuple(notes),
        *_above_prior(losses[some], true[some], w, len(classes)),
    )


def _above_prior(
    losses: Floats, true: npt.NDArray[np.intp], weights: Floats | None, classes: int
) -> tuple[float, float]:
    """Return by how much the mean loss exceeds that of the class shares alone, and its standard error.

    Examples
    --------
    >>> more, error = _above_prior(np.log([4.0, 4.0]), np.array([0, 1]), None, 2)  # a quarter each, where half is due
    >>> round(more, 4), error
    (0.6931, 0.0)
    """
    w = np.ones(len(true)) if weights is None else weights
    shares = np.bincount(true, w, classes) / w.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = losses + np.log(shares[true])
    mean = float(np.average(difference, weights=w))
    if not np.isfinite(mean):
        return mean, float("nan")
    spread = float(np.average((difference - mean) ** 2, weights=w))
    return mean, float(np.sqrt(spread / max(1, len(difference) - 1)))


def _positive(classes: tuple[Any, ...], named: Any) -> Any:
    """Return the positive class: the named one, or the second of two."""
    if named is not None:
        return classes[position(named, classes, "positive")]
    return classes[1] if len(classes) == 2 else None


def _deviation(values: Floats | None) -> float:
    if values is None:
        return float("nan")
    finite = values[np.isfinite(values)]
    return float(np.std(finite, ddof=1)) if len(finite) > 1 else float("nan")


def _reliability(true: npt.NDArray[np.intp], p: Floats, weights: Floats | None, at: int | None) -> Reliability:
    if at is not None:
        return calibration(true == at, np.clip(p[:, at], 0.0, 1.0), weights=weights)
    return calibration(p.argmax(axis=1) == true, np.clip(p.max(axis=1), 0.0, 1.0), weights=weights)


def _step(curve: RocCurve, costs: tuple[float, float]) -> CostStep:
    point = curve.operating_point(costs=costs)
    return CostStep(*costs, point, _across(point.fpr, point.tpr, point.slope))


def _across(x: float, y: float, slope: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ends, in the unit square, of a rising line through a point.

    Examples
    --------
    >>> _across(0.0, 0.5, 1.0)
    ((0.0, 0.5), (0.5, 1.0))
    >>> _across(0.25, 0.5, float("inf"))
    ((0.25, 0.0), (0.25, 1.0))
    """
    if np.isinf(slope):
        return (x, 0.0), (x, 1.0)
    left = (0.0, y - slope * x) if y - slope * x >= 0 else (x - y / slope, 0.0)
    right = (1.0, y + slope * (1 - x)) if y + slope * (1 - x) <= 1 else (x + (1 - y) / slope, 1.0)
    return left, right
