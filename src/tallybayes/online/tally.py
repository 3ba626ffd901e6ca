"""A tally: the rows learned so far, which changes in place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from tallybayes.categories import Categories
from tallybayes.errors import BadData, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.model import Model
from tallybayes.schema.schema import Schema

__all__ = ["Row", "Tally", "changed", "complete", "is_plain_class", "one_row", "plain_type"]

Row = dict[str, Any]
_LARGEST = 1 << 63  # whole numbers have 64 bits
_KINDS = {"text": str, "whole numbers": int, "booleans": bool}


class Tally(ABC):
    """Rows learned so far."""

    @property
    @abstractmethod
    def classes(self) -> tuple[Any, ...]:
        """The classes that have rows, sorted."""

    @abstractmethod
    def change(self, row: Row, label: Any, weight: float, *, minus: bool) -> None:
        """Add a row, or take one away; raise, and change nothing, if that is impossible."""

    @abstractmethod
    def predict_proba(self, row: Row) -> Floats:  # (C,)
        """Return the probability of each class."""

    @abstractmethod
    def model(self) -> Model:
        """Return the model of the rows."""


def is_plain_class(label: Any, classes: Categories) -> bool:
    """Return whether a label is of the same kind as the classes, and of a type that needs no conversion."""
    if type(label) is not _KINDS.get(classes.kind):
        return False
    return not isinstance(label, int) or -_LARGEST <= label < _LARGEST


def plain_type(kind: str) -> type | None:
    """Return the Python type of values of a kind; None if they need a conversion."""
    return _KINDS.get(kind)


def complete(row: Mapping[str, Any], schema: Schema, label: Any, weight: float) -> Row:
    """Return a row with every column of a schema, None where it has no value.

    Raise if it has none of them.
    """
    whole = {name: row.get(name) for name in schema.columns}
    if not any(name in row for name in schema.columns):
        have = next(iter(row), "")
        do = did_you_mean(str(have), schema.columns)
        raise BadData(wanted("row", "values of the columns of the model", "none of them", do))
    whole[schema.label] = label
    if schema.weight is not None:
        whole[schema.weight] = weight
    return whole


def changed(model: Model, row: Mapping[str, Any], label: Any, weight: float, *, minus: bool) -> Model:
    """Return a model that has learned, or forgotten, one row of any kind."""
    rows = [complete(row, model.schema, label, weight)]
    change = model.forget if minus else model.learn
    return change(rows) if weight == 1 or model.schema.weight is not None else change(rows, weights=[weight])


def one_row(model: Model, row: Mapping[str, Any]) -> Floats:  # (C,)
    """Return a model's probabilities for one row."""
    return np.asarray(model.predict_proba([row])[0])
