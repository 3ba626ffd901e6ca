"""The frozen `Model`: evidence, choices, and the belief computed from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.arguments import check_keywords
from tallybayes.cached_property import cached_property
from tallybayes.display.tables import Column, Grid, Sheet, html, number
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Floats
from tallybayes.events.text.token_cells import TokenWeights
from tallybayes.evidence.count import count, sample
from tallybayes.evidence.evidence import Evidence, class_codes, count_few, row_weights
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.inference.calibrated_belief import CalibratedBelief
from tallybayes.inference.calibration import Calibration, calibrate
from tallybayes.inference.choices import Choices
from tallybayes.inference.decide import ABSTAIN, decide
from tallybayes.inference.estimate import Belief, estimate
from tallybayes.inference.leave_one_out import leave_one_out
from tallybayes.inference.posterior import Tempering, normalise
from tallybayes.inference.scorer import Scorer, Uncertain
from tallybayes.inference.text_view import viewed
from tallybayes.inference.uncertainty import Intervals, intervals, lead, z_of
from tallybayes.inference.validation_record import ValidationRecord
from tallybayes.inference.weights import ColumnWeights
from tallybayes.kernels import log_softmax
from tallybayes.schema.schema import Schema

if TYPE_CHECKING:
    from onnx import ModelProto

    from tallybayes.drift.result import Drift
    from tallybayes.explain.contributions import Contributions, Shapley
    from tallybayes.explain.explanation import Explanation
    from tallybayes.explain.images import Picture
    from tallybayes.explain.importance import Importance
    from tallybayes.explain.nomogram import Nomogram
    from tallybayes.explain.parameter_count import Parameters
    from tallybayes.explain.tables import Table, Tables
    from tallybayes.export.sql_parameters import Script
    from tallybayes.queries.probability import Probability
    from tallybayes.structure.dependence import Dependence
    from tallybayes.validation import Validation

_SUMMED = 12  # classes and columns listed in a notebook
_Part: TypeAlias = tuple[pa.RecordBatch, RowBatch, ClassCodes, Weights]


@dataclass(frozen=True, eq=False)
class Model:
    """A naive Bayes model: evidence and the belief computed from it.

    A model never changes: `learn`, `forget`, `with_` and `+` return a new one.

    Given a Dask or a Spark collection, `predict` and the like return the same collection with further columns
    ("predicted"; "P(yes)" for a class "yes"), computed lazily by the workers.

    Arguments of one name are the same in all methods: `rows` are anything that `fit` takes, with the columns of the
    training data; `label` and `weights` are as in `fit`, by default the columns used there; `threads` is the number of
    threads, one per core by default.

    Attributes
    ----------
    evidence : Evidence
        The exact counts and sums of the rows learned.
    choices : Choices
        How belief is computed from them.
    calibration : Calibration or None
        The smoothings and the temperature chosen by leave-one-out.
    validation : ValidationRecord or None
        The figures of a validation of this evidence and these choices; see `with_validation`.
    """

    evidence: Evidence
    choices: Choices
    calibration: Calibration | None = field(default_factory=lambda: None)
    validation: ValidationRecord | None = field(default_factory=lambda: None)

    @property
    def schema(self) -> Schema:
        """The label, and the event model of each column."""
        return self.evidence.schema

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, sorted; the order of the columns of all arrays of probabilities."""
        return self.evidence.classes.values

    @cached_property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of a csv file to read as text, even where they look like numbers: texts, codes and dates."""
        found = [*self.schema.readings, *self.schema.texts]
        for block, statistic in zip(self.schema.blocks, self.evidence.statistics, strict=True):
            if block.event.input == "codes" and not block.event.product:
                kinds = zip(block.columns, statistic.labels, strict=True)
                found += [name for name, labels in kinds if labels.array.type == pa.string()]
        return tuple(self.schema.reader.inputs(found))

    @cached_property
    def _resolved_choices(self) -> Choices:
        """The choices with every smoothing as a number."""
        return self.choices.resolved(self._viewed, {} if self.calibration is None else self.calibration.alphas)

    @cached_property
    def _viewed(self) -> Evidence:
        """The evidence in the bag that was chosen for a text whose bag is "auto"; otherwise the evidence itself."""
        return viewed(self.evidence, None if self.calibration is None else self.calibration.view)

    @cached_property
    def belief(self) -> Belief:
        """The class prior and the likelihood of each block."""
        if not self.classes:
            raise BadData(wanted("model", "rows it has learned", "none: it knows nothing", "Let it learn some first"))
        return estimate(self._viewed, self._resolved_choices)

    @property
    def alphas(self) -> dict[str, float]:
        """The weight of the prior in each column, as set or as chosen by leave-one-out or marginal likelihood.

        Examples
        --------
        >>> import tallybayes as tb
        >>> tb.fit({"x": ["p", "q"], "z": [1.0, 2.0], "y": ["no", "yes"]}, "y", alpha={"x": 0.5}).alphas
        {'x': 0.5, 'z': 1.0}
        """
        own = (block for block in self.schema.blocks if not block.event.product)
        blocks = ((block, self._resolved_choices.alphas(block)) for block in own)
        return {name: float(a) for block, each in blocks for name, a in zip(block.columns, each, strict=True)}

    @cached_property
    def _calibrated_belief(self) -> CalibratedBelief:
        """The belief with its calibration, without what is equal in all classes, for probabilities and reasons."""
        belief, weights = self._token_belief, self._weights
        plain = CalibratedBelief(self.schema, self.choices, belief.contrasted(), temperature=self._temperature)
        if weights is None:
            return plain
        weighted = weights.apply(belief, self.schema, self.evidence.classes).contrasted()
        return replace(plain, weighted=weighted, fading=weights.fading)

    @property
    def _has_calibrated_scores(self) -> bool:
        """Whether calibrated scores differ from plain ones."""
        return self._weights is not None or self._temperature is not None

    @property
    def _weights(self) -> ColumnWeights | None:
        """The weights of columns in use, if any."""
        return None if self.calibration is None or self.choices.calibrate is None else self.calibration.weights

    @property
    def _temperature(self) -> Tempering | None:
        """The temperature in use, if any."""
        return None if self.calibration is None or self.choices.calibrate is None else self.calibration.temperature

    @property
    def _token_weights(self) -> TokenWeights | None:
        """The weights of tokens; None for other models than those of one column of texts."""
        return self._temperature if isinstance(self._temperature, TokenWeights) else None

    @cached_property
    def _token_belief(self) -> Belief:
        """The belief with the weights of tokens: what the temperature applies to."""
        return self.belief if self._token_weights is None else self.belief.weighted(self._token_weights)

    @property
    def prior(self) -> dict[Any, float]:
        """The prior probability of each class."""
        if not self.classes:
            return {}
        return dict(zip(self.classes, np.exp(self.belief.log_prior).tolist(), strict=True))

    def __repr__(self) -> str:
        events = sorted({block.event.name for block in self.schema.blocks})
        total = self.evidence.rows.sum().to_float()
        classes, columns = _number_of(len(self.classes), "class"), _number_of(len(self.schema.columns), "column")
        if not self.classes:
            return f"<tallybayes.Model of {self.schema.label!r}: knows nothing, {columns}>"
        stale = ", calibrated before the last change" if self.calibration is not None and self.calibration.stale else ""
        seen = "" if self.validation is None else f", {self.validation}"
        what = f"{classes}, {columns} ({', '.join(events)}), {_number_of(float(total), 'row')}{stale}{seen}"
        return f"<tallybayes.Model of {self.schema.label!r}: {what}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: label, classes and event models."""
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
                    "", ("column", Column("event model", right=False)), columns, _more(self.schema.columns, "columns")
                ),
            ),
        )

    def log_joint(self, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
        """Return the log of prior times likelihood of each row with each class; a label column is ignored."""
        return self._scored(rows, threads, _Call("log_joint"), normalised=False)

    def predict_proba(self, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
        """Return the probability of each class for each row, in the order of `classes`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
        >>> model.predict_proba([{"x": "p"}]).round(4)      # 2/3 against 1/3
        array([[0.6667, 0.3333]])
        """
        return self._scored(rows, threads, _Call("predict_proba"))

    def predict_log_proba(self, rows: Any, *, threads: int | None = None) -> Floats:  # (n, C)
        """Return the logarithm of `predict_proba`, which does not underflow."""

        def normalised(scores: Floats) -> Floats:
            scores[np.isneginf(log_softmax(scores))] = self.belief.log_prior
            return scores

        call = _Call("predict_log_proba", then=normalised)
        return self._scored(rows, threads, call, normalised=False, calibrated=True)

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
        """Return the class of each row: the most probable, the cheapest, one above a threshold, or None.

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
            return self._scored(rows, threads, best, few=Scorer.best_of_few, many=Scorer.best_of_many)

        def decided(probabilities: Floats, ahead: Floats | None = None) -> npt.NDArray[Any]:
            codes = decide(probabilities, self.evidence.classes, lead=ahead, **options)  # type: ignore[arg-type]
            names = self.evidence.classes.to_numpy()
            if abstain is None and confidence is None:
                return names[codes]
            answers = names.astype(object)[codes]
            answers[codes == ABSTAIN] = None
            return answers

        if confidence is None:
            return self._scored(rows, threads, _Call("predict", options, decided))
        call = _Call("predict", options, lambda p, scores, variances, _: decided(p, lead(scores, variances)))
        return self._scores_and_variances(rows, threads, call)  # type: ignore[no-any-return]

    def predict_interval(self, rows: Any, *, level: float = 0.95, threads: int | None = None) -> Intervals:
        """Return the probability of each class for each row, with bounds and effective number of rows.

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
        return self._scores_and_variances(rows, threads, call)  # type: ignore[no-any-return]

    def log_likelihood(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> float:
        """Return the log-probability of labelled rows: the sum of each row's log joint with its class."""
        total = 0.0
        scorer, workers = self._scorer(normalised=False), engines.default_threads(threads)
        for batch, part, codes, w in self._labelled_parts(rows, label, weights):
            scores = scorer.many([batch], workers, first=part.first)
            own = np.where(codes < 0, -np.inf, np.take_along_axis(scores, codes[:, None], axis=1)[:, 0])
            total += float(own.sum() if w is None else (own * w)[w > 0].sum())
        return total

    def leave_one_out(self, rows: Any, label: Any = None, *, weights: Any = None) -> Floats:  # (n, C)
        """Return the log joint of each learned row with each class, as if that row had never been learned."""
        parts = []
        for _, part, codes, w in self._labelled_parts(rows, label, weights):
            if (codes < 0).any():
                raise BadData(wanted("leave-one-out", "rows that were learned", "a class that was not"))
            if w is not None and (w > self.evidence.rows.to_float()[codes]).any():
                raise BadData(wanted("leave-one-out", "rows that were learned", "a weight that was not"))
            parts.append(leave_one_out(self._viewed, self._resolved_choices, part, codes, w))
            if np.isnan(parts[-1]).any():
                raise BadData(wanted("leave-one-out", "rows that were learned, with their weights", "others"))
        return np.concatenate(parts) if parts else np.zeros((0, len(self.classes)))

    def learn(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Model:
        """Return this model with further rows; its evidence equals, to the bit, that of a fit on all rows.

        The calibration is kept and marked as stale; `calibrate` computes a new one. The record of a validation is
        dropped.
        """
        return self._with(self.evidence + self._count(rows, label, weights, threads))

    def forget(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Model:
        """Return this model without rows it has learned; its evidence equals, to the bit, never seeing them."""
        return self._with(self.evidence - self._count(rows, label, weights, threads))

    def __add__(self, other: Model) -> Model:
        if not isinstance(other, Model):
            return NotImplemented
        mine = other.calibration if self.calibration is None else self.calibration | other.calibration
        return replace(self, calibration=mine)._with(self.evidence + other.evidence)

    def calibrate(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Model:
        """Return this model with new smoothings and temperature, where its choices leave them open.

        `rows` are those that the model has learned: all of them, or a large sample.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": list("ppqqpq"), "y": ["no", "no", "yes", "yes", "yes", "yes"]}
        >>> model = tb.fit(rows, "y").learn({"x": ["p"], "y": ["no"]})
        >>> both = {"x": [*rows["x"], "p"], "y": [*rows["y"], "no"]}
        >>> model.calibration.stale, model.calibrate(both).calibration.stale
        (True, False)
        """
        return self._calibrated(self._sample_rows(rows, label, weights=weights, threads=threads), threads)

    def _sample_rows(
        self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None
    ) -> BottomKSample:
        """Return a bottom-k sample of labelled rows for calibration: at most 50,000."""

        def work(types: open_rows.Types | None) -> BottomKSample:
            source, schema = self._labelled(rows, label, weights, types)
            return sample(schema, source, engines.default_threads(threads))

        return open_rows.reading(work)

    def _calibrated(self, rows: BottomKSample, threads: int | None = None) -> Model:
        """Return this model calibrated by a sample of rows."""
        if not self.choices.open(self.schema):
            return replace(self, calibration=None)
        return replace(self, calibration=calibrate(self.evidence, self.choices, rows, threads))

    def _with(self, evidence: Evidence) -> Model:
        stale = None if self.calibration is None else self.calibration.outdated()
        return replace(self, evidence=evidence, calibration=stale, validation=None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        same = self.choices == other.choices and self.calibration == other.calibration
        same = same and self.validation == other.validation
        return same and self.evidence == other.evidence

    __hash__ = None  # type: ignore[assignment]

    def with_(self, **choices: Any) -> Model:
        """Return the same evidence under other choices.

        Parameters
        ----------
        **choices
            estimate, alpha, prior, variance, floor, unseen or calibrate, as in `fit`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
        >>> model.with_(estimate="mle").table("x").values.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        names = [field.name for field in fields(Choices)]
        for name in choices:
            if name not in names:
                raise BadOption(wanted("with_", f"one of {', '.join(names)}", name, did_you_mean(name, names)))
        new = replace(self.choices, **choices)
        if new.structure != self.choices.structure:
            got = f"{choices['structure']!r} for a model of {self.choices.structure!r}"
            raise BadOption(wanted("structure", "that of the evidence", got, "Fit again: it needs the rows"))
        new.check(self.schema)
        validation = self.validation if new == self.choices else None
        if self.calibration is None or set(choices) <= {"calibrate"}:
            return replace(self, choices=new, validation=validation)
        return replace(self, choices=new, calibration=self.calibration.outdated(), validation=None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one safe file; equal models give equal bytes."""
        from tallybayes.storage.model_file import save

        save(self, path)

    def to_json(self) -> str:
        """Return what is needed to score rows as JSON; `tallybayes.from_json` and tally-score.js read it.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
        >>> tb.from_json(model.to_json()).predict_proba([{"x": "p"}]).round(4)
        array([[0.6667, 0.3333]])
        """
        from tallybayes.export.json import to_json
        from tallybayes.export.scorecard import scorecard_of

        return to_json(scorecard_of(self))

    def to_html(self) -> str:
        """Return one offline page that scores what a person types in, and says why.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"outlook": ["sunny", "rainy"], "play": ["no", "yes"]}, "play")
        >>> model.to_html().splitlines()[0]
        '<!DOCTYPE html>'
        """
        from tallybayes.export.html import to_html
        from tallybayes.export.scorecard import scorecard_of

        return to_html(scorecard_of(self))

    def to_sql(
        self,
        dialect: str = "duckdb",
        table: str = "rows",
        *,
        keep: Sequence[str] | None = None,
        contributions: bool = False,
        parameters: str = "auto",
        prefix: str = "tally",
    ) -> Script:
        """Return a query that scores the rows of a table: the class and P(class) beside each row.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite", "postgres", "mysql", "bigquery", "snowflake", "spark"}
            The language of the database.
        table : str
            The table; a schema before it is set off by a dot.
        keep : sequence of str, optional
            The table's columns to put beside the answers, such as a key; by default those of the model.
        contributions : bool
            Whether to add what each column adds to the score of each class, as "column: class".
        parameters : {"auto", "inline", "tables"}
            Where the numbers of the model are: in the query, or in tables that statements before the query make. By
            default they are in the query, up to 100,000 of them.
        prefix : str
            The first part of the names of such tables; a schema before it is set off by a dot.

        Returns
        -------
        Script
            A str. Its `statements` are the query alone, or the statements that make the tables and then the query.

        Examples
        --------
        >>> import duckdb, tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
        >>> rows = duckdb.sql("SELECT 'p' AS x")
        >>> duckdb.sql(model.to_sql("duckdb", "rows")).select('x, predicted, round("P(no)", 4)').fetchall()
        [('p', 'no', 0.6667)]
        """
        from tallybayes.export.scorecard import scorecard_of
        from tallybayes.export.sql import to_sql

        return to_sql(
            scorecard_of(self),
            dialect,
            table,
            keep=keep,
            contributions=contributions,
            parameters=parameters,
            prefix=prefix,
        )

    def to_onnx(self) -> ModelProto:
        """Return an ONNX graph in double precision, with an input (n, 1) for each column.

        Values that are text, dates or times are strings, and an empty string is a missing one; all other columns are
        doubles, and NaN is missing. Outputs are "label" (n,) and "probabilities" (n, C).

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
        >>> [one.name for one in model.to_onnx().graph.output]
        ['label', 'probabilities']
        """
        from tallybayes.export.onnx import to_onnx
        from tallybayes.export.scorecard import scorecard_of

        return to_onnx(scorecard_of(self))

    def validate(self, source: Any, label: Any = None, how: str = "10-fold", **options: Any) -> Validation:
        """Cross-validate this schema and these choices on rows.

        The evidence of this model is ignored: the given rows are counted, and held out in turn.

        Parameters
        ----------
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

        check_keywords("validate", validate_model, options)
        return validate_model(self, source, label, how, **options)

    def with_validation(self, found: Validation) -> Model:
        """Return this model with the figures of its validation, which it shows and saves.

        Raises BadOption unless exactly the rows and the choices of this model were validated. Another change of the
        model drops the figures: they would no longer be those of the model.

        Parameters
        ----------
        found : Validation
            What `validate` returned for the rows that this model has learned.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": ["p", "p", "q", "q"], "y": ["no", "no", "yes", "yes"]}
        >>> model = tb.fit(rows, "y")
        >>> model = model.with_validation(model.validate(rows, how="2-fold"))
        >>> model
        <tallybayes.Model of 'y': 2 classes, 1 column (categorical), 4 rows, accuracy 1.0000 by 2-fold>
        >>> model.learn(rows).validation is None
        True
        """
        from tallybayes.validation import record_of

        return replace(self, validation=record_of(self, found))

    def table(self, column: str) -> Table:
        """Return one column's table: a row per value or parameter, a column per class.

        Examples
        --------
        >>> import tallybayes as tb
        >>> table = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1).table("x")
        >>> table.rows, table.counts.tolist(), table.values.round(3).tolist()
        (('p', 'q'), [[1.0, 0.0], [0.0, 1.0]], [[0.667, 0.333], [0.333, 0.667]])
        """
        from tallybayes.explain.tables import table

        return table(self, column)

    def tables(self) -> Tables:
        """Return the prior and the tables of all columns.

        Examples
        --------
        >>> import tallybayes as tb
        >>> tables = tb.fit({"x": ["p", "q", "q"], "y": ["no", "yes", "yes"]}, "y").tables()
        >>> tables.prior.shares.round(3).tolist(), tables["x"].counts.tolist()
        ([0.333, 0.667], [[1.0, 0.0], [0.0, 2.0]])
        """
        from tallybayes.explain.tables import tables

        return tables(self)

    def nomogram(self, of: Any = None, against: Any = None) -> Nomogram:
        """Return points for each value of each column, to add up by hand and turn into a probability.

        Parameters
        ----------
        of, against : class, optional
            The class whose probability is read off, and the other. With two classes, the last one by default. With
            more, name both: the probability is then that of the first among the two.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": list("ppqq"), "z": list("rsss"), "y": ["no", "no", "yes", "yes"]}
        >>> chart = tb.fit(rows, "y", alpha=1, calibrate=None).nomogram()
        >>> points = chart.points("x", "q") + chart.points("z", "s")      # 100 + 50
        >>> points, round(chart.probability(points), 4)                   # 3/4 · 3/4 against 1/4 · 2/4
        (150.0, 0.8182)
        """
        from tallybayes.explain.nomogram import nomogram

        return nomogram(self, of, against)

    def explain(self, row: Any, *, of: Any = None, against: Any = None) -> Explanation:
        """Explain the prediction for one row: the log-odds each column or word adds, and its counts.

        Parameters
        ----------
        row : dict, text, one-dimensional array, or anything of one row that `predict` takes
            The row.
        of : class, optional
            The class to explain; by default the most probable.
        against : class, optional
            The class to compare with; by default all others.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy"], "play": ["no", "yes", "yes"]}
        >>> print(tb.fit(rows, "play", alpha=1).explain({"outlook": "rainy"}))      # log 2; log(3/4 ÷ 1/3)
        play = yes: probability 0.8182
        what       value   for yes   no   yes
        ─────────────────────────────────────
        prior               +0.693    1     2
        outlook    rainy    +0.811    0     2
        together            +1.504
        Log-odds of yes against no, with the training rows (or words) of each class behind them.
        """
        from tallybayes.explain.explanation import explain

        return explain(self, row, of, against)

    def importance(self, rows: Any = None, label: Any = None, *, weights: Any = None) -> Importance:
        """Return each column's importance: its mutual information, and the leave-one-out loss without it.

        Parameters
        ----------
        rows : anything `fit` takes, optional
            Labelled rows that the model has learned. Without them, only the mutual information is computed.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": list("ppqq") * 5, "z": list("rsrs") * 5, "y": ["no", "no", "yes", "yes"] * 5}
        >>> tb.fit(rows, "y", estimate="mle").importance().information.round(6).tolist()      # all, and nothing
        [1.0, 0.0]
        >>> tb.fit(rows, "y").importance(rows).ranking()
        ['x', 'z']
        """
        from tallybayes.explain.importance import importance

        return importance(self, rows, label, weights)

    def select(self, columns: Any = None, *, rows: Any = None, label: Any = None, weights: Any = None) -> Model:
        """Return the model of some columns; its evidence equals, to the bit, a fit without the others.

        Parameters
        ----------
        columns : int or sequence of str, optional
            How many to keep, or which. Without rows, those with the most mutual information are kept.
        rows : anything `fit` takes, optional
            Labelled rows that the model has learned, to choose by leave-one-out log-loss. With weights of columns,
            those are dropped without which it surely does not rise, except columns that are counted together with
            others (`structure`), which may tell only together; otherwise columns are added while it falls.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": list("ppqq") * 5, "z": list("rsrs") * 5, "y": ["no", "no", "yes", "yes"] * 5}
        >>> model = tb.fit(rows, "y", calibrate=None)
        >>> [list(model.select(*how, **by).schema.columns) for how, by in [((1,), {}), ((), {"rows": rows})]]
        [['x'], ['x']]
        """
        from tallybayes.explain.importance import select

        return select(self, columns, rows, label, weights)

    def contributions(
        self, rows: Any, *, of: Any = None, against: Any = None, threads: int | None = None
    ) -> Contributions:
        """Return the log-odds each column adds to each row; they sum to those of its probability.

        Parameters
        ----------
        of : class, optional
            The class to explain; by default the most probable of each row.
        against : class, optional
            The class to compare with; by default all others.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
        >>> found = model.contributions([{"x": "p"}])
        >>> found.prior, found.terms.round(4), found.probability.round(4)      # log(2/3) − log(1/3) = 0.6931
        (array([0.]), array([[0.6931]]), array([0.6667]))
        """
        from tallybayes.explain.contributions import contributions

        return contributions(self, rows, of, against, threads)

    def shapley(
        self, rows: Any, background: Any = None, *, of: Any = None, against: Any = None, threads: int | None = None
    ) -> Shapley:
        """Return each column's Shapley values: its shift of each row's log-odds from the background's.

        Parameters
        ----------
        background : anything `fit` takes, optional
            Rows whose mean is the reference; by default the same rows.
        of, against, threads
            As for `contributions`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
        >>> model.shapley([{"x": "p"}, {"x": "q"}], of="yes").values.round(4)      # about their mean, 0
        array([[-0.6931],
               [ 0.6931]])
        """
        from tallybayes.explain.contributions import shapley

        return shapley(self, rows, background, of, against, threads)

    def sample(
        self, n: int = 1, given: Any | Mapping[str, Any] = None, *, missing: bool = False, seed: int = 0
    ) -> pa.Table:
        """Draw rows from the model's distribution.

        Parameters
        ----------
        n : int
            The number of rows.
        given : class or mapping, optional
            The class of all rows; or a mapping of column names to fixed values, which may include the label. A class
            that is not given is drawn from the prior, or from its posterior given the values.
        missing : bool
            Whether values are missing as often as in training; otherwise none is.
        seed : int
            The random seed.

        Returns
        -------
        pyarrow.Table
            The columns of the training data in their order, then the label.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", estimate="mle")
        >>> model.sample(2, given="yes").to_pydict()
        {'x': ['q', 'q'], 'y': ['yes', 'yes']}
        """
        from tallybayes.queries.sample import sample

        return sample(self, n, given, missing=missing, seed=seed)

    def picture(
        self,
        shape: tuple[int, int],
        *,
        columns: str | Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Picture:
        """Return the class averages as images, where columns are pixels.

        Parameters
        ----------
        shape : tuple of two int
            Height and width; pixels are in row-major order.
        columns : str or sequence of str, optional
            A glob, or names in the order of the pixels; by default all columns in the order of the training data.
        classes : sequence, optional
            The classes, in order; by default all.

        Examples
        --------
        >>> import tallybayes as tb
        >>> strokes = {"left": [1, 1, 0], "right": [0, 1, 1], "digit": [5, 5, 6]}
        >>> seen = tb.fit(strokes, "digit", events="bernoulli").picture((1, 2))
        >>> seen.average.round(3).tolist()      # five: (2+1)/(2+2), (1+1)/(2+2); six: (0+1)/(1+2), (1+1)/(1+2)
        [[[0.75, 0.5]], [[0.333, 0.667]]]
        """
        from tallybayes.explain.images import picture

        return picture(self, shape, columns=columns, classes=classes)

    def dependence(self, rows: Any, label: Any = None, **options: Any) -> Dependence:
        """Measure which pairs of this model's columns break conditional independence in rows.

        Parameters
        ----------
        **options
            weights, columns, bins, values and threads, as in `tallybayes.dependence`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> xor = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": [0, 1, 1, 0] * 5}
        >>> tb.fit(xor, "y").dependence(xor).worst(1)[0].columns
        ('a', 'b')
        """
        from tallybayes.structure.dependence import of_model

        check_keywords("dependence", of_model, options)
        return of_model(self, rows, label, **options)

    def drift(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Drift:
        """Measure what has changed between the rows learned and new rows, labelled or not.

        Parameters
        ----------
        label : str or array_like, optional
            The classes of the new rows; by default the label column, if they have it.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q"] * 50, "y": ["no", "yes"] * 50}, "y")
        >>> found = model.drift({"x": ["p"] * 40 + ["q"] * 20})
        >>> [(one.column, round(one.distance, 4), round(one.p, 4)) for one in found.drifted()]
        [('x', 0.1667, 0.0399)]
        """
        from tallybayes.drift.drift import drift

        return drift(self, rows, label, weights=weights, threads=threads)

    def probability(
        self, query: str, given: str | Mapping[str, Any] | None = None, *, level: float = 0.95
    ) -> Probability:
        """Return the probability of a class or of values, given others; other columns are summed out.

        Parameters
        ----------
        query : str
            As in `tallybayes.probability`: "play=yes | outlook=sunny", "outlook=sunny, windy=true". Columns of numbers
            or text can only be conditions, with ``=``.
        given : str or mapping, optional
            More conditions: terms, or values by column, such as a row.
        level : float
            The probability that the bounds hold; only a class given values has bounds.

        Notes
        -----
        The answer follows from the joint distribution P(c) Π P(x | c), so P(a, b) = P(a | b) P(b) for all queries. The
        temperature, by which `predict_proba` corrects for dependent columns, is not applied.

        Examples
        --------
        >>> import tallybayes as tb
        >>> model = tb.fit({"x": ["p", "q", "q"], "y": ["no", "yes", "yes"]}, "y", estimate="mle")
        >>> float(model.probability("x=q")), float(model.probability("y=yes | x=q"))
        (0.6666666666666666, 1.0)
        """
        from tallybayes.queries.from_model import probability_from_model

        return probability_from_model(self, query, given, level=level)

    def parameters(self) -> Parameters:
        """Count this model's free parameters, and those of the model without independence.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {f"x{k}": [True, False] for k in range(10)} | {"y": [0, 1]}
        >>> count = tb.fit(rows, "y").parameters()
        >>> count.naive, count.joint      # 2 · 10, 2 · (2¹⁰ − 1)
        (20, 2046)
        """
        from tallybayes.explain.parameter_count import parameters

        return parameters(self)

    def _labelled(
        self, rows: Any, label: Any, weights: Any, types: open_rows.Types | None
    ) -> tuple[engines.Partitioned, Schema]:
        """Return labelled rows, and the schema with their names of label and weights."""
        return open_rows.as_in(self.schema, rows, label, weights, self._types(rows, types))

    def _types(self, rows: Any, types: open_rows.Types | None) -> open_rows.Types | None:
        """Return the types to read rows with: those given, and text wherever the model has text."""
        return {**dict.fromkeys(self.text_columns, pa.string()), **(types or {})} if sources.is_path(rows) else types

    def _to_score(self, rows: Any, types: open_rows.Types | None) -> engines.Partitioned:
        """Return rows to score, with the columns of this model."""
        return open_rows.to_score(rows, self.schema, self._types(rows, types))

    def _labelled_parts(self, rows: Any, label: Any, weights: Any) -> Iterator[_Part]:
        """Yield labelled rows batch by batch: Arrow, encoded rows, class codes (-1: unknown) and weights."""
        source, schema = self._labelled(rows, label, weights, None)
        first = 0
        for batch in source:
            part = RowBatch(batch, first, schema.missing)
            codes, found = class_codes(part, schema.label)
            place = self.evidence.classes.find(found.array, where=f"label {schema.label!r}").astype(np.int32)
            yield batch, part, place[codes], row_weights(part, schema.weight)
            first += len(part)

    def _count(self, rows: Any, label: Any, weights: Any, threads: int | None) -> Evidence:
        few = count_few(self.schema, rows) if label is None and weights is None else None
        if few is not None:
            return few

        def counted(types: open_rows.Types | None) -> Evidence:
            source, schema = self._labelled(rows, label, weights, types)
            return count(schema, source, engines.default_threads(threads)).evidence

        return replace(open_rows.reading(counted), schema=self.schema)

    def _scorer(self, *, normalised: bool, calibrated: bool = False) -> Scorer:
        if normalised or calibrated:
            return Scorer(self._calibrated_belief, normalised)
        return Scorer(CalibratedBelief(self.schema, self.choices, self.belief), normalised=False)

    def _scored(
        self,
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
        rows = open_rows.one_row(rows, self.schema)
        scorer = self._scorer(normalised=normalised, calibrated=calibrated)
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
                return self._to_score(rows, types).map(work, call.columns(self))
            except sources.LateType as late:
                types = open_rows.widened(types, late)

    def _scores_and_variances(self, rows: Any, threads: int | None, call: _Call) -> Any:
        """Apply a call to probabilities, scores, their variances, and those before calibration, all (n, C)."""
        rows = open_rows.one_row(rows, self.schema)
        scorer, workers = self._scorer(normalised=True), engines.default_threads(threads)

        def answer(found: Uncertain) -> Any:
            probabilities = found.scores.copy()
            normalise(probabilities, self.belief.log_prior)
            return call.then(probabilities, *found)

        few = scorer.few_with_variances(rows)
        if few is not None:
            return answer(few)

        def work(source: sources.Source) -> Any:
            partial = open_rows.may_lack(source.schema)
            return answer(scorer.scores_and_variances(source, workers, partial=partial, first=source.before))

        return open_rows.reading(lambda types: self._to_score(rows, types).map(work, call.columns(self)))


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


def _number_of(size: float, name: str) -> str:
    """Return a number of things in words, such as "1 class" or "2 classes"."""
    return f"{size:g} {name}{'' if size == 1 else 'es' if name.endswith('s') else 's'}"


def _more(things: Sequence[Any], kind: str) -> tuple[str, ...]:
    left = len(things) - _SUMMED
    return (f"and {left:,} more {kind}",) if left > 0 else ()
