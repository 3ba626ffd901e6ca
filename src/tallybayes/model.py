"""The frozen `Model`: evidence, choices, and the belief computed from them.

Methods that score, explain, measure, ask or write a model are functions in `methods/`, by purpose.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tallybayes.cached_property import cached_property
from tallybayes.display.tables import notebook
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.events.text.token_cells import TokenWeights
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.inference.calibrate import calibrate
from tallybayes.inference.calibrated_belief import CalibratedBelief
from tallybayes.inference.calibration import Calibration
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import Belief, estimate
from tallybayes.inference.posterior import Tempering
from tallybayes.inference.text_view import viewed
from tallybayes.inference.validation_record import ValidationRecord
from tallybayes.inference.weights import ColumnWeights
from tallybayes.methods import explanation, export, measurement, prediction, query
from tallybayes.methods.rows import count_rows, sample_rows
from tallybayes.methods.summary import one_line, summary
from tallybayes.schema.schema import Schema

if TYPE_CHECKING:
    from tallybayes.validation import Validation


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
        """The columns of a csv file to read as text: texts, codes and dates.

        They are text even where they look like numbers.
        """
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
        """The weight of the prior in each column.

        It is set, or chosen by leave-one-out or marginal likelihood.

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
        return f"<{one_line(self)}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: label, classes and event models."""
        return notebook(summary(self))

    log_joint = prediction.log_joint
    predict_proba = prediction.predict_proba
    predict_log_proba = prediction.predict_log_proba
    predict = prediction.predict
    predict_interval = prediction.predict_interval
    log_likelihood = prediction.log_likelihood
    leave_one_out = prediction.leave_one_out

    def learn(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Model:
        """Return this model with further rows.

        Its evidence equals, to the bit, that of a fit on all rows. The calibration is kept and marked as stale;
        `calibrate` computes a new one. The record of a validation is dropped.
        """
        return self._with(self.evidence + count_rows(self, rows, label, weights, threads))

    def forget(self, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Model:
        """Return this model without rows that it has learned.

        Its evidence equals, to the bit, that of a fit without them.
        """
        return self._with(self.evidence - count_rows(self, rows, label, weights, threads))

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
        return self._calibrated(sample_rows(self, rows, label, weights=weights, threads=threads), threads)

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

    validate = measurement.validate
    dependence = measurement.dependence
    drift = measurement.drift

    table = explanation.table
    tables = explanation.tables
    nomogram = explanation.nomogram
    explain = explanation.explain
    importance = explanation.importance
    select = explanation.select
    contributions = explanation.contributions
    shapley = explanation.shapley
    picture = explanation.picture
    parameters = explanation.parameters

    probability = query.probability
    sample = query.sample

    save = export.save
    to_json = export.to_json
    to_html = export.to_html
    to_sql = export.to_sql
    to_onnx = export.to_onnx
