"""What a model is, as JSON: its columns with their values or ranges, its classes and its calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.buckets import Buckets
from tallybayes.categories import Categories
from tallybayes.display.tables import plain
from tallybayes.events.statistic import Statistic
from tallybayes.model import Model
from tallybayes.schema.schema import Block

__all__ = ["describe"]

_MOST_VALUES = 1000  # listed; a person does not choose among more


def describe(model: Model) -> dict[str, Any]:
    """Return what a form for rows of the model needs, and what is known of the model.

    Examples
    --------
    >>> import tallybayes as tb
    >>> said = describe(tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y"))
    >>> said["columns"]
    [{'name': 'x', 'kind': 'category', 'event': 'categorical', 'values': ['p', 'q'], 'more_values': 0}]
    """
    calibration, rows = model.calibration, model.evidence.rows.to_float()
    prior = model.prior
    return {
        "label": model.schema.label,
        "weight": model.schema.weight,
        "rows": float(rows.sum()),
        "classes": [
            {"value": plain(one), "rows": float(n), "prior": plain(prior[one])}
            for one, n in zip(model.classes, rows, strict=True)
        ],
        "columns": _columns(model),
        "choices": {"estimate": model.choices.estimate, "structure": model.choices.structure},
        "calibration": None if calibration is None else {"rows": calibration.rows, "stale": calibration.stale},
        "validation": _validation(model),
    }


def _validation(model: Model) -> dict[str, Any] | None:
    """Return the figures that the model file has.

    They are those of its validation; without one, the log-loss of rows left out one at a time to calibrate it.
    """
    if model.validation is not None:
        return {**model.validation.to_dict(), "stale": False}  # a change of the model drops them
    found = model.calibration
    if found is None or found.after is None:
        return None
    return {"how": "leave-one-out", "rows": found.rows, "log_loss": plain(found.after), "stale": found.stale}


def _columns(model: Model) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for block, statistic in zip(model.schema.blocks, model.evidence.statistics, strict=True):
        if not block.event.product:
            for f, name in enumerate(block.columns):
                found[name] = {"name": name, **_column(model, block, statistic, f)}
    columns = []
    for name in model.schema.inputs:
        reading = model.schema.readings.get(name)
        if reading is None:
            columns.append(found[name])
        else:  # a text that is read as something else, such as a date
            columns.append({"name": name, "kind": "text", "event": "text", "reads": reading.kind})
    return columns


def _column(model: Model, block: Block, statistic: Statistic, f: int) -> dict[str, Any]:
    said: dict[str, Any] = {"kind": "text", "event": block.event.spec}
    if block.event.input == "text":
        return said
    labels = statistic.labels[f] if statistic.labels else None
    if isinstance(labels, Categories) and block.event.input == "codes":
        values = [plain(one) for one in labels.values if one is not None]
        return said | {
            "kind": "category",
            "values": values[:_MOST_VALUES],
            "more_values": max(0, len(values) - _MOST_VALUES),
        }
    return said | {"kind": "number", **_numbers(model, block.columns[f], labels)}


def _numbers(model: Model, name: str, labels: object) -> dict[str, Any]:
    """Return the observed range of a column of numbers, as far as the evidence has it, and a typical number."""
    if not model.classes:
        return {"min": None, "max": None, "typical": None, "whole": False}
    table = model.table(name)
    values = np.asarray(table.profile.values, np.float64)
    density = table.density @ np.array(list(model.prior.values()))
    low, high, whole = float(values.min()), float(values.max()), False
    if isinstance(labels, Buckets) and len(labels.keys):
        low, high = float(labels.low[0]), float(labels.high[-1])
        whole = labels.shift == 0 and bool((labels.low == np.round(labels.low)).all())
    mass = np.cumsum(np.nan_to_num(density) * np.gradient(values)) if len(values) > 1 else np.ones(1)
    typical = float(values[int(np.searchsorted(mass, mass[-1] / 2))])
    typical = min(max(typical, low), high)
    return {
        "min": plain(low),
        "max": plain(high),
        "typical": plain(round(typical) if whole else typical),
        "whole": whole,
    }
