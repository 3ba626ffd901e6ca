"""Methods of `Model` that score rows: probabilities, decisions, and rows as if never learned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes import engines, sources
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, wanted
from tallybayes.events.inputs import Floats
from tallybayes.inference.calibrated_belief import CalibratedBelief
from tallybayes.inference.decide import ABSTAIN, decide
from tallybayes.inference.leave_one_out import leave_one_out as scores_left_out
from tallybayes.inference.posterior import normalise
from tallybayes.inference.scorer import Scorer, Uncertain
from tallybayes.inference.uncertainty import Intervals, intervals, lead, z_of
from tallybayes.kernels import log_softmax
from tallybayes.methods.rows import labelled_batches, rows_to_score

if TYPE_CHECKING:
    from tallybayes.model import Model

__all__ = [
    "leave_one_out",
    "log_joint",
    "log_likelihood",
    "predict",
    "predict_interval",
    "predict_log_proba",
    "predict_proba",
]


def log_joint(self: Model, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
    """Return log(prior × likelihood) of each row with each class.

    A label column is ignored.
    """
    return _scored(self, rows, threads, _Call("log_joint"), normalised=False)


def predict_proba(self: Model, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
    """Return the probability of each class for each row, in the order of `classes`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
    >>> model.predict_proba([{"x": "p"}]).round(4)      # 2/3 against 1/3
    array([[0.6667, 0.3333]])
    """
    return _scored(self, rows, threads, _Call("predict_proba"))


def predict_log_proba(self: Model, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
    """Return the logarithm of `predict_proba`, which does not underflow."""

    def normalised(scores: Floats) -> Floats:
        scores[np.isneginf(log_softmax(scores))] = self.belief.log_prior
        return scores

    call = _Call("predict_log_proba", then=normalised)
    return _scored(self, rows, threads, call, normalised=False, calibrated=True)


def predict(
    self: Model,
    rows: Any,
    *,
    costs: npt.ArrayLike | None = None,
    threshold: Mapping[Any, float] | None = None,
    abstain: float | None = None,
    confidence: float | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]:  # (n,)
    """Return the class of each row: most probable, cheapest, above a threshold, or None.

    Parameters
    ----------
    costs : array_like, shape (C, C), optional
        ``costs[i][j]`` is the cost of deciding for class i when class j is true.
    threshold : mapping, optional
        Decide for a class when its probability reaches this number.
    abstain : float, optional
        Return None where the probability of the decided class is below this.
    confidence : float, optional
        Return None where the evidence does not show, at this level (such as 0.95), that the most probable class is
        more probable than every other.
    """
    options = {"costs": costs, "threshold": threshold, "abstain": abstain, "confidence": confidence}
    if not any(value is not None for value in options.values()):
        names = self.evidence.classes.to_numpy()
        best = _Call("predict", options, lambda codes: names[codes])
        return _scored(self, rows, threads, best, few=Scorer.best_of_few, many=Scorer.best_of_many)

    def decided(probabilities: Floats, ahead: Floats | None = None) -> npt.NDArray[Any]:
        codes = decide(probabilities, self.evidence.classes, lead=ahead, **options)  # type: ignore[arg-type]
        names = self.evidence.classes.to_numpy()
        if abstain is None and confidence is None:
            return names[codes]
        answers = names.astype(object)[codes]
        answers[codes == ABSTAIN] = None
        return answers

    if confidence is None:
        return _scored(self, rows, threads, _Call("predict", options, decided))
    call = _Call("predict", options, lambda p, scores, variances, _: decided(p, lead(scores, variances)))
    return _scores_and_variances(self, rows, threads, call)  # type: ignore[no-any-return]


def predict_interval(self: Model, rows: Any, *, level: float = 0.95, threads: int | None = None) -> Intervals:
    """Return the probability of each class for each row, with its bounds.

    Parameters
    ----------
    level : float
        The probability that the bounds hold.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p"] * 8 + ["q"] * 8, "y": ["no", "yes", "yes", "yes"] * 4}, "y", alpha=1)
    >>> model.predict_interval([{"x": "p"}]).of(0)      # 8 rows with p, 6 of them yes; and the prior
    'yes 0.75 (0.38 to 0.94, rests on 9 rows)'
    """
    z_of(level)

    def bounded(probabilities: Floats, scores: Floats, variances: Floats, counted: Floats) -> Intervals:
        return intervals(self.classes, probabilities, scores, variances, counted, level)

    call = _Call("predict_interval", {"level": level}, bounded)
    return _scores_and_variances(self, rows, threads, call)  # type: ignore[no-any-return]


def log_likelihood(
    self: Model, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None
) -> float:
    """Return the log-probability of labelled rows with their classes."""
    total = 0.0
    scorer, workers = _scorer(self, normalised=False), engines.default_threads(threads)
    for batch, part, codes, w in labelled_batches(self, rows, label, weights):
        scores = scorer.many([batch], workers, first=part.first)
        own = np.where(codes < 0, -np.inf, np.take_along_axis(scores, codes[:, None], axis=1)[:, 0])
        total += float(own.sum() if w is None else (own * w)[w > 0].sum())
    return total


def leave_one_out(self: Model, rows: Any, label: Any = None, *, weights: Any = None) -> Floats:  # (n, C)
    """Return the log joint of each learned row, as if it had not been learned."""
    parts = []
    for _, part, codes, w in labelled_batches(self, rows, label, weights):
        if (codes < 0).any():
            raise BadData(wanted("leave-one-out", "rows that were learned", "a class that was not"))
        if w is not None and (w > self.evidence.rows.to_float()[codes]).any():
            raise BadData(wanted("leave-one-out", "rows that were learned", "a weight that was not"))
        parts.append(scores_left_out(self._viewed, self._resolved_choices, part, codes, w))
        if np.isnan(parts[-1]).any():
            raise BadData(wanted("leave-one-out", "rows that were learned, with their weights", "others"))
    return np.concatenate(parts) if parts else np.zeros((0, len(self.classes)))


class _Call(NamedTuple):
    """A method and its options, to repeat on workers; and the function that turns scores into its answer."""

    method: str
    options: Mapping[str, Any] = {}
    then: Callable[..., Any] = lambda scores: scores

    def columns(self, model: Model) -> Callable[[], engines.Columns]:
        """Return a function that makes the columns of a model's answers."""

        def make() -> engines.Columns:
            from tallybayes.predictions import Answers

            return Answers(model, (self.method,), {self.method: {**self.options, "threads": 1}})

        return make


def _scorer(model: Model, *, normalised: bool, calibrated: bool = False) -> Scorer:
    if normalised or calibrated:
        return Scorer(model._calibrated_belief, normalised)
    return Scorer(CalibratedBelief(model.schema, model.choices, model.belief), normalised=False)


def _scored(
    model: Model,
    rows: Any,
    threads: int | None,
    call: _Call,
    *,
    normalised: bool = True,
    calibrated: bool = False,
    few: Callable[[Scorer, Any], npt.NDArray[Any] | None] = Scorer.few,
    many: Callable[..., npt.NDArray[Any]] = Scorer.many,
) -> npt.NDArray[Any]:
    """Apply a call to what a scorer returns for the rows, in a few plain rows or in many."""
    rows = open_rows.one_row(rows, model.schema)
    scorer = _scorer(model, normalised=normalised, calibrated=calibrated)
    found = few(scorer, rows)
    if found is not None:
        return call.then(found)  # type: ignore[no-any-return]
    workers = engines.default_threads(threads)

    def work(source: sources.Source) -> Any:
        partial = open_rows.may_lack(source.schema)
        return call.then(many(scorer, source, workers, partial=partial, first=source.before))

    types: open_rows.Types = {}
    while True:
        try:
            return rows_to_score(model, rows, types).map(work, call.columns(model))
        except sources.LateType as late:
            types = open_rows.widened(types, late)


def _scores_and_variances(model: Model, rows: Any, threads: int | None, call: _Call) -> Any:
    """Apply a call to probabilities, scores, their variances, and those before calibration, all (n, C)."""
    rows = open_rows.one_row(rows, model.schema)
    scorer, workers = _scorer(model, normalised=True), engines.default_threads(threads)

    def answer(found: Uncertain) -> Any:
        probabilities = found.scores.copy()
        normalise(probabilities, model.belief.log_prior)
        return call.then(probabilities, *found)

    few = scorer.few_with_variances(rows)
    if few is not None:
        return answer(few)

    def work(source: sources.Source) -> Any:
        partial = open_rows.may_lack(source.schema)
        return answer(scorer.scores_and_variances(source, workers, partial=partial, first=source.before))

    return open_rows.reading(lambda types: rows_to_score(model, rows, types).map(work, call.columns(model)))
