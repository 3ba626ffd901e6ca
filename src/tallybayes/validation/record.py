"""The figures of a validation that the validated model keeps."""

from __future__ import annotations

from typing import Any

from tallybayes.arguments import instance
from tallybayes.errors import BadOption, wanted
from tallybayes.evaluation.figures import FIGURES
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.validation_record import ValidationRecord
from tallybayes.model import Model
from tallybayes.validation.result import Validation


def record_of(model: Model, found: Any) -> ValidationRecord:
    """Return the figures of a validation; raise unless it is one of this model's rows and choices."""
    where = "with_validation"
    found = instance(where, found, Validation, "what 'validate' returned")
    do = "Validate the rows that the model has learned: model.validate(rows)"
    if found.model is None or found.model.choices != model.choices:
        raise BadOption(wanted(where, "a validation with the choices of the model", "one with others", do))
    if _of_columns(found.model.evidence) != _of_columns(model.evidence):
        raise BadOption(wanted(where, "a validation of the rows of the model", "one of others", do))
    if model.calibration is not None and model.calibration.stale:
        got = "one that was calibrated before its last change"
        raise BadOption(wanted(where, "a calibrated model", got, "Calibrate it first: model.calibrate(rows)"))
    accuracy, loss = (float(FIGURES[name].of(found.evaluation)) for name in ("accuracy", "log_loss"))
    return ValidationRecord(found.how, found.seed, found.scored_rows, accuracy, loss)


def _of_columns(evidence: Evidence) -> Evidence:
    """Return the evidence without that of columns counted together, which each training set chooses anew."""
    schema = evidence.schema
    products = any(block.event.product for block in schema.blocks)
    return evidence.select(schema.columns) if products else evidence
