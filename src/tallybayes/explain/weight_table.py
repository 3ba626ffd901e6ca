"""The weights of columns: how much of each column's evidence a calibrated model counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tallybayes.display.tables import Grid, Result
from tallybayes.events.inputs import Floats
from tallybayes.model import Model

__all__ = ["WeightTable", "weight_table"]

_SHOWN_COLUMNS, _SHOWN_CLASSES = 50, 6


@dataclass(frozen=True, eq=False, repr=False)
class WeightTable(Result):
    """The weight of each column, highest first, and the bias of each class.

    Attributes
    ----------
    columns : tuple of str
        The columns.
    weights : ndarray, shape (F,)
        The factor of each column's log-likelihood in a whole row; 1 is plain naive Bayes, below 1 the column repeats
        other columns.
    classes : tuple
        The classes.
    bias : ndarray, shape (C,)
        What is added to the log of each class's prior in a whole row.
    """

    columns: tuple[str, ...]
    weights: Floats
    classes: tuple[Any, ...]
    bias: Floats

    def _columns(self) -> dict[str, Any]:
        return {"column": self.columns, "weight": self.weights}

    def shown(self) -> Grid:
        """Return a table with one row per column, and the bias below."""
        pairs = zip(self.columns[:_SHOWN_COLUMNS], self.weights, strict=False)
        rows = tuple((name, f"{weight:.2f}".replace("-", "−")) for name, weight in pairs)
        more, other = len(self.columns) - _SHOWN_COLUMNS, len(self.classes) - _SHOWN_CLASSES
        added = zip(self.classes[:_SHOWN_CLASSES], self.bias, strict=False)
        biases = ", ".join(f"{name} {bias:+.2f}".replace("-", "−") for name, bias in added)
        notes = (
            *([f"and {more:,} more columns"] if more > 0 else []),
            "1 counts a column in full, as plain naive Bayes does; below 1 it repeats other columns.",
            f"Bias, added to the log of the prior: {biases}{', ...' if other > 0 else ''}.",
        )
        return Grid("Weights of columns", ("column", "weight"), rows, notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the weights by column and the bias by class."""
        return {
            "columns": dict(zip(self.columns, self.weights.tolist(), strict=True)),
            "bias": dict(zip(map(str, self.classes), self.bias.tolist(), strict=True)),
        }


def weight_table(model: Model) -> WeightTable | None:
    """Return the weights of a model's columns; None if it has none.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"a": ["p", "p", "q", "q"] * 9, "b": ["p", "p", "q", "q"] * 9, "y": ["no", "no", "no", "yes"] * 9}
    >>> table = weight_table(tb.fit(rows, "y"))
    >>> table.columns, bool((table.weights < 1).all())  # each repeats the other
    (('a', 'b'), True)
    >>> weight_table(tb.fit(rows, "y", calibrate=None)) is None
    True
    """
    found = model._weights
    if found is None:
        return None
    names = tuple(model.schema.columns)
    weights = found.of(names)
    order = np.argsort(-weights, kind="stable")
    bias = found.bias_of(model.evidence.classes)
    return WeightTable(tuple(names[f] for f in order), weights[order], model.classes, bias)
