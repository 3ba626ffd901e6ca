"""The slow, obvious reference: a new model for each fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import tallybayes as tb
from tallybayes.fitting import FitOptions, begin
from tallybayes.inference.choices import Choices
from tallybayes.schema.infer import SchemaOptions


def fitted(table: pa.Table, events: Any, **choices: Any) -> tb.Model:
    """Fit a model of a table, also if it has a single class."""
    weights = "w" if "w" in table.column_names else None
    made = Choices(**{"alpha": 1.0, "calibrate": None} | choices)
    return begin(table, "label", FitOptions(columns=SchemaOptions(events), choices=made), weights=weights)[0]


def refitted(table: pa.Table, seen: tb.Validation, events: Any, *, before: bool = False, **choices: Any) -> np.ndarray:
    """Return each fold's scores under a model fitted on the other folds, or on earlier ones."""
    scores = np.full((seen.repeats, len(table), len(seen.classes)), np.nan)
    for out, folds in zip(scores, seen.folds.reshape(seen.repeats, -1), strict=True):
        for k in range(folds.max() + 1):
            others = table.filter(pa.array(folds < k if before else folds != k))
            if not len(others):
                continue
            model = fitted(others, events, **choices)
            here = np.flatnonzero(folds == k)
            place = [seen.classes.index(c) for c in model.classes]
            out[here] = -np.inf
            out[np.ix_(here, place)] = model.log_joint(table.take(pa.array(here)))
    return scores.reshape(seen.scores.shape)
