"""The frozen `Model`: evidence, the choices made, and what follows from the two."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.display.tables import Column, Grid, Sheet, html, number
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats
from tallybayes.evidence.count import choose_all, count_all
from tallybayes.evidence.evidence import Evidence, class_codes, row_weights
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.inference.calibration import Calibration, calibrate
from tallybayes.inference.decide import ABSTAIN, decide
from tallybayes.inference.estimate import Belief, Choices, estimate
from tallybayes.inference.posterior import Temperature, normalise
from tallybayes.inference.score import leave_one_out
from tallybayes.inference.scorer import Scorer
from tallybayes.inference.uncertainty import Intervals, intervals, lead, z_of
from tallybayes.kernels import log_softmax
from tallybayes.model_reasons import Why
from tallybayes.schema.schema import Schema

if TYPE_CHECKING:
    from tallybayes.validation import Validation

__all__ = ["Model"]

T = TypeVar("T")
# So many classes and columns are listed where a model is shown.
_SUMMED = 12
_Part: TypeAlias = tuple[pa.RecordBatch, RowBatch, ClassCodes, Weights]


@dataclass(frozen=True, eq=False)
class Model(Why):
    """Evidence, and what is believed of it.

    A model never changes: `learn`, `forget`, `with_` and `+` give a new one.

    Where `predict` and its like are given a Dask or a Spark collection, they give back the same collection with what
    they say as further columns ("predicted"; "P(yes)" for a class "yes"), computed where the rows lie when it is asked
    for.

    Attributes
    ----------
    evidence : Evidence
        The exact counts and sums of the rows learned.
    choices : Choices
        How belief is made of them.
    calibration : Calibration or None
        What of that was chosen by rows left out: smoothings, and how far scores are believed.
    """

    evidence: Evidence
    choices: Choices
    calibration: Calibration | None = field(default_factory=lambda: None)

    @property
    def schema(self) -> Schema:
        """What each column is."""
        return self.evidence.schema

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, sorted; the order of the columns of all arrays of probabilities."""
        return self.evidence.classes.values

    @cached_property
    def resolved(self) -> Choices:
        """The choices with every smoothing a number."""
        return self.choices.resolved(self.evidence, {} if self.calibration is None else self.calibration.alphas)

    @cached_property
    def belief(self) -> Belief:
        """The class prior and the likelihood of each block."""
        return estimate(self.evidence, self.resolved)

    @property
    def temperature(self) -> Temperature | None:
        """How far scores are believed when probabilities are made of them; None: as they are."""
        return None if self.calibration is None or self.choices.calibrate is None else self.calibration.temperature

    @cached_property
    def contrast(self) -> Belief:
        """Belief less what it says of all classes alike: what probabilities and reasons are made of."""
        return self.belief.contrasted()

    @property
    def prior(self) -> dict[Any, float]:
        """The probability of each class before a row is looked at."""
        return dict(zip(self.classes, np.exp(self.belief.log_prior).tolist(), strict=True))

    def __repr__(self) -> str:
        events = sorted({block.event.name for block in self.schema.blocks})
        total = self.evidence.rows.sum().to_float()
        stale = ", calibrated before the last change" if self.calibration is not None and self.calibration.stale else ""
        return (
            f"<tallybayes.Model of {self.schema.label!r}: {len(self.classes)} classes, {len(self.schema.columns)} "
            f"columns ({', '.join(events)}), {total:g} rows{stale}>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: what is told, the classes, and what each column is."""
        return html(self._summary())

    def _summary(self) -> Sheet:
        counts = zip(self.classes, self.evidence.rows.to_float(), self.prior.values(), strict=True)
        classes = tuple((str(name), number(n), f"{p:.4f}") for name, n, p in counts)
        columns = tuple((name, self.schema.event(name).spec) for name in self.schema.columns[:_SUMMED])
        return Sheet(
            repr(self).strip("<>"),
            (
                Grid("", (self.schema.label, "rows", "prior"), classes[:_SUMMED], _more(classes, "classes")),
                Grid(
                    "",
                    ("column", Column("event model", right=False)),
                    columns,
                    _more(self.schema.columns, "columns"),
                ),
            ),
        )

    def log_joint(self, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
        """The log of prior times likelihood: of each row, with each class.

        Parameters
        ----------
        rows : anything `fit` takes
            Rows with the columns of the training data; a label among them is not looked at.
        threads : int, optional
            How many threads score; one per core by default.
        """
        partitions = engines.opened(rows)
        if partitions is not None:
            return self._beside(partitions, "log_joint", {})  # type: ignore[no-any-return]
        return self._scored(rows, threads, normalised=False)

    def predict_proba(self, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
        """The probability of each class for each row, in the order of `classes`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
        >>> model.predict_proba([{"x": "p"}]).round(4)      # 2/3 against 1/3
        array([[0.6667, 0.3333]])
        """
        partitions = engines.opened(rows)
        if partitions is not None:
            return self._beside(partitions, "predict_proba", {})  # type: ignore[no-any-return]
        return self._scored(rows, threads, normalised=True)

    def predict_log_proba(self, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
        """The logarithm of `predict_proba`, which does not underflow."""
        partitions = engines.opened(rows)
        if partitions is not None:
            return self._beside(partitions, "predict_log_proba", {})  # type: ignore[no-any-return]
        scores = self._scored(rows, threads, normalised=False, with_temperature=True)
        scores[np.isneginf(log_softmax(scores))] = self.belief.log_prior
        return scores

    def predict(
        self,
        rows: Any,
        *,
        costs: npt.ArrayLike | None = None,
        threshold: Mapping[Any, float] | None = None,
        abstain: float | None = None,
        confidence: float | None = None,
        threads: int | None = None,
    ) -> npt.NDArray[Any]:  # (n,)
        """The class of each row: the most probable, the cheapest, one past a threshold, or None.

        Parameters
        ----------
        rows : anything `fit` takes
            Rows with the columns of the training data.
        costs : array_like, shape (C, C), optional
            ``costs[i][j]`` is what it costs to decide for class i when class j is true.
        threshold : mapping, optional
            Decide for a class when its probability reaches the number given.
        abstain : float, optional
            Answer None where the probability of the chosen class is below this.
        confidence : float, optional
            Answer None where too little was counted to say, at this level (such as 0.95), that the most probable class
            is more probable than every other.
        threads : int, optional
            How many threads score.
        """
        partitions = engines.opened(rows)
        if partitions is not None:
            asked = {"costs": costs, "threshold": threshold, "abstain": abstain, "confidence": confidence}
            return self._beside(partitions, "predict", asked)  # type: ignore[no-any-return]
        ahead = None
        if confidence is None:
            probabilities = self.predict_proba(rows, threads=threads)
        else:
            probabilities, scores, variances, _ = self._scores_and_variances(rows, threads)
            ahead = lead(scores, variances)
        chosen = decide(
            probabilities,
            self.evidence.classes,
            costs=costs,
            threshold=threshold,
            abstain=abstain,
            confidence=confidence,
            lead=ahead,
        )
        names = self.evidence.classes.to_numpy()
        if abstain is None and confidence is None:
            return names[chosen]
        answers = names.astype(object)[chosen]
        answers[chosen == ABSTAIN] = None
        return answers

    def predict_interval(self, rows: Any, *, level: float = 0.95, threads: int | None = None) -> Intervals:
        """The probability of each class for each row, between which bounds, and on how many rows that rests.

        Parameters
        ----------
        rows : anything `fit` takes
            Rows with the columns of the training data.
        level : float
            How probable it is to be that the bounds hold.
        threads : int, optional
            How many threads score.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p"] * 8 + ["q"] * 8, "y": ["no", "yes", "yes", "yes"] * 4}, "y", calibrate=None)
        >>> model.predict_interval([{"x": "p"}]).of(0)      # 8 rows with p, 6 of them yes; and the prior
        'yes 0.75 (0.38 to 0.94, rests on 9 rows)'
        """
        z_of(level)
        partitions = engines.opened(rows)
        if partitions is not None:
            return self._beside(partitions, "predict_interval", {"level": level})  # type: ignore[no-any-return]
        return intervals(self.classes, *self._scores_and_variances(rows, threads), level)

    def log_likelihood(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> float:
        """The log-probability of labelled rows under the model: the sum of each row's log joint with its own class.

        Parameters
        ----------
        rows : anything `fit` takes
            Labelled rows.
        label, weights : str or array_like, optional
            As in `fit`; by default the columns that were given there.
        threads : int, optional
            How many threads score.
        """
        total = 0.0
        for batch, _, codes, w in self._labelled_parts(rows, label, weights):
            scores = self._scorer(normalised=False).many([batch], engines.default_threads(threads))
            own = np.where(codes < 0, -np.inf, np.take_along_axis(scores, codes[:, None], axis=1)[:, 0])
            total += float(own.sum() if w is None else (own * w)[w > 0].sum())
        return total

    def leave_one_out(self, rows: Any, label: Any = None, *, weights: Any = None) -> Floats:  # (n, C)
        """The log joint of each row with each class, had that row never been learned.

        Parameters
        ----------
        rows : anything `fit` takes
            Labelled rows that the model was fitted on.
        label, weights : str or array_like, optional
            As in `fit`; by default the columns that were given there.
        """
        parts = []
        for _, part, codes, w in self._labelled_parts(rows, label, weights):
            if (codes < 0).any():
                raise BadData(wanted("leave-one-out", "rows that were learned", "a class that was not"))
            parts.append(leave_one_out(self.evidence, self.resolved, part, codes, w))
        return np.concatenate(parts) if parts else np.zeros((0, len(self.classes)))

    def learn(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Model:
        """This model with further rows: evidence the same, to the bit, as that of all of them at once.

        The calibration stays as it was, and says that it is stale; `calibrate` makes a new one.
        """
        return self._with(self.evidence + self._count(rows, label, weights, threads))

    def forget(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Model:
        """This model without rows that it has learned: evidence the same, to the bit, as if it never saw them."""
        return self._with(self.evidence - self._count(rows, label, weights, threads))

    def __add__(self, other: Model) -> Model:
        if not isinstance(other, Model):
            return NotImplemented
        mine = other.calibration if self.calibration is None else self.calibration | other.calibration
        return replace(self, calibration=mine)._with(self.evidence + other.evidence)

    def calibrate(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Model:
        """This model with smoothings and temperature chosen anew, as far as its choices leave them open.

        Parameters
        ----------
        rows : anything `fit` takes
            Labelled rows that the model has learned: all of them, or enough to go by.
        label, weights : str or array_like, optional
            As in `fit`; by default the columns that were given there.
        threads : int, optional
            How many threads read and score.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": list("ppqqpq"), "y": ["no", "no", "yes", "yes", "yes", "yes"]}
        >>> model = tb.fit(rows, "y").learn({"x": ["p"], "y": ["no"]})
        >>> model.calibration.stale, model.calibrate({key: [*rows[key], *more] for key, more in
        ...                                           {"x": ["p"], "y": ["no"]}.items()}).calibration.stale
        (True, False)
        """
        return self.calibrated(self.choose(rows, label, weights=weights, threads=threads), threads)

    def choose(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> BottomKSample:
        """Of labelled rows those by which a model is calibrated: at most 50,000, chosen by their content."""

        def chosen(types: open_rows.Types | None) -> BottomKSample:
            source, schema = self._labelled(rows, label, weights, types)
            return choose_all(schema, source, engines.default_threads(threads))

        return open_rows.reading(chosen)

    def calibrated(self, chosen: BottomKSample, threads: int | None = None) -> Model:
        """This model calibrated by rows that were chosen before."""
        if not self.choices.open(self.schema):
            return replace(self, calibration=None)
        return replace(self, calibration=calibrate(self.evidence, self.choices, chosen, threads))

    def _with(self, evidence: Evidence) -> Model:
        stale = None if self.calibration is None else self.calibration.outdated()
        return replace(self, evidence=evidence, calibration=stale)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        same = self.choices == other.choices and self.calibration == other.calibration
        return same and self.evidence == other.evidence

    __hash__ = None  # type: ignore[assignment]

    def with_(self, **choices: Any) -> Model:
        """The same evidence under other choices: estimate, alpha, prior, variance, floor, unseen or calibrate.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
        >>> model.with_(estimate="mle").table("x").values.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        known = [field.name for field in fields(Choices)]
        for name in choices:
            if name not in known:
                raise BadOption(wanted("with_", f"one of {', '.join(known)}", name, did_you_mean(name, known)))
        new = replace(self.choices, **choices)
        new.check(self.schema)
        if self.calibration is None or set(choices) <= {"calibrate"}:
            return replace(self, choices=new)
        return replace(self, choices=new, calibration=self.calibration.outdated())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one safe file; equal models give equal bytes."""
        from tallybayes.storage.model_file import save

        save(self, path)

    def validate(self, source: Any, label: Any = None, how: str = "10-fold", **options: Any) -> Validation:
        """How good a model of this schema and these choices is on rows that it has not seen.

        What this model has learned so far is not looked at: the given rows are counted, and held out in turn.

        Parameters
        ----------
        source : anything `fit` takes
            Labelled rows.
        label : str or array_like, optional
            As in `fit`; by default the column that was given there.
        how : str
            As in `tallybayes.validate`.
        **options
            weights, seed, groups, folds, order and threads, as in `tallybayes.validate`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": ["p", "p", "q", "q"], "y": ["no", "no", "yes", "yes"]}
        >>> tb.fit(rows, "y").validate(rows, how="2-fold").evaluation.accuracy
        1.0
        """
        from tallybayes.validation import validate_model

        return validate_model(self, source, label, how, **options)

    def _labelled(
        self, rows: Any, label: Any, weights: Any, types: open_rows.Types | None
    ) -> tuple[sources.Source, Schema]:
        """Labelled rows, and the schema with the names that label and weights have there."""
        return open_rows.as_in(self.schema, rows, label, weights, types)

    def _labelled_parts(self, rows: Any, label: Any, weights: Any) -> Iterator[_Part]:
        """Labelled rows batch by batch: as Arrow, as rows, the place of their classes among ours, and their weights."""
        source, schema = self._labelled(rows, label, weights, None)
        first = 0
        for batch in source:
            part = RowBatch(batch, first, schema.missing)
            codes, found = class_codes(part, schema.label)
            place = self.evidence.classes.find(found.array, where=f"label {schema.label!r}").astype(np.int32)
            yield batch, part, place[codes], row_weights(part, schema.weight)
            first += len(part)

    def _count(self, rows: Any, label: Any, weights: Any, threads: int | None) -> Evidence:
        def counted(types: open_rows.Types | None) -> Evidence:
            source, schema = self._labelled(rows, label, weights, types)
            return count_all(schema, source, engines.default_threads(threads))

        return replace(open_rows.reading(counted), schema=self.schema)

    def _scorer(self, *, normalised: bool, with_temperature: bool = False) -> Scorer:
        if normalised or with_temperature:
            return Scorer(self.schema, self.contrast, self.choices, normalised, self.temperature)
        return Scorer(self.schema, self.belief, self.choices, normalised=False)

    def _scored(self, rows: Any, threads: int | None, *, normalised: bool, with_temperature: bool = False) -> Floats:
        rows = open_rows.one_row(rows)
        scorer = self._scorer(normalised=normalised, with_temperature=with_temperature)
        few = scorer.few(rows)
        if few is not None:
            return few
        workers = engines.default_threads(threads)
        return self._read(rows, lambda source, partial: scorer.many(source, workers, partial=partial))

    def _beside(self, partitions: engines.Partitioned, method: str, options: Mapping[str, Any]) -> Any:
        """Rows that lie elsewhere, with what a method says of them beside them."""
        from tallybayes.predictions import beside

        return beside(self, partitions, method, options)

    def _scores_and_variances(self, rows: Any, threads: int | None) -> tuple[Floats, Floats, Floats, Floats]:
        """Probabilities, the scores they are made of, the variance of each, (n, C), and each row's temper, (n,)."""
        scorer, workers = self._scorer(normalised=True), engines.default_threads(threads)
        scores, variances, temperature = self._read(
            open_rows.one_row(rows),
            lambda source, partial: scorer.scores_and_variances(source, workers, partial=partial),
        )
        probabilities = scores * temperature[:, None]
        normalise(probabilities, self.belief.log_prior)
        return probabilities, scores, variances, temperature

    def _read(self, rows: Any, work: Callable[[sources.Source, bool], T]) -> T:
        """What `work` makes of the rows, opened, and of whether they may lack columns."""
        partial = open_rows.are_named_cells(rows)
        return open_rows.reading(lambda types: work(open_rows.to_score(rows, self.schema, types), partial))


def _more(things: Sequence[Any], kind: str) -> tuple[str, ...]:
    left = len(things) - _SUMMED
    return (f"and {left:,} more {kind}",) if left > 0 else ()
