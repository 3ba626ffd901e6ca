"""A tally for every event model: rows are checked at once, counted in batches, and believed a little later."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.categories import Categories
from tallybayes.events.event import Event
from tallybayes.events.inputs import Floats
from tallybayes.events.text.text import Text
from tallybayes.model import Model
from tallybayes.online.tally import Row, Tally, changed, complete, is_plain_class, one_row, plain_type
from tallybayes.schema.schema import Block

__all__ = ["BatchTally"]

# Rows counted at a time: more would take memory, fewer the fixed cost of a count for each row.
_MOST_WAITING = 1024
_NUMBERS = (float, int, bool)
_LARGEST = 1 << 63  # whole numbers have 64 bits
_LARGEST_NUMBER = 1e300  # a number beyond is left to the check of a count


class BatchTally(Tally):
    """Rows of any model.

    Parameters
    ----------
    model : Model
        The model to continue; its calibration is kept.
    refresh : float
        The belief is estimated again once the rows that changed are more than this share of all.
    """

    def __init__(self, model: Model, refresh: float) -> None:
        self._refresh = refresh
        self._counted, self._believed = model, model
        self._waiting: list[Row] = []
        self._changed = 0
        self._rows = float(model.evidence.rows.sum().to_float()) if len(model.classes) else 0.0
        self._new: set[Any] = set()  # classes since the last estimate

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that have rows, sorted; those of the waiting rows included."""
        return self.model().classes if self._new else self._counted.classes

    def change(self, row: Row, label: Any, weight: float, *, minus: bool) -> None:
        """Let a plain row wait to be counted; count any other at once, after those that wait."""
        schema = self._counted.schema
        if minus or (weight != 1 and schema.weight is None) or not self._is_plain(row, label):
            self._counted = changed(self.model(), row, label, weight, minus=minus)
        else:
            self._waiting.append(complete(row, schema, label, weight))
            if len(self._waiting) >= _MOST_WAITING:
                self._count_waiting()
        self._changed += 1
        self._rows += -weight if minus else weight
        if label not in self._believed.evidence.classes.positions:
            self._new.add(label)

    def _is_plain(self, row: Row, label: Any) -> bool:
        """Return whether counting the row later is sure to succeed."""
        schema, evidence = self._counted.schema, self._counted.evidence
        if schema.missing != "skip" or schema.products or not is_plain_class(label, evidence.classes):
            return False
        pairs = zip(schema.blocks, evidence.statistics, strict=True)
        return all(_plain_block(row, block, statistic.labels) for block, statistic in pairs)

    def _count_waiting(self) -> None:
        if self._waiting:
            self._counted, self._waiting = self._counted.learn(self._waiting), []

    def predict_proba(self, row: Row) -> Floats:  # (C,)
        """Return the probability of each class, given all rows up to the last estimate."""
        if self._changed and (self._new or self._changed > self._refresh * (self._rows - self._changed)):
            self._believed, self._changed, self._new = self.model(), 0, set()
        return one_row(self._believed, row)

    def model(self) -> Model:
        """Return the model of all rows."""
        self._count_waiting()
        return self._counted


def _plain_block(row: Row, block: Block, labels: tuple[Any, ...]) -> bool:
    """Return whether a row's values in a block's columns are of the types that its event model takes."""
    if isinstance(block.event, Text):  # whatever a function does with a text is known only when it is called
        return block.event.tokenizer is None and all(_is_text(row.get(name)) for name in block.columns)
    if block.event.input == "codes":
        return all(_is_known_kind(row.get(name), one) for name, one in zip(block.columns, labels, strict=True))
    values = [row.get(name) for name in block.columns]
    if not all(value is None or (type(value) in _NUMBERS and abs(value) < _LARGEST_NUMBER) for value in values):
        return False
    if type(block.event).invalid is Event.invalid:
        return True
    invalid = block.event.invalid(np.array(values, np.float64))
    return invalid is None or not invalid.any()


def _is_text(value: Any) -> bool:
    if value is None:
        return True
    if type(value) is not str:
        return False
    try:
        return value.isascii() or bool(value.encode())
    except UnicodeEncodeError:  # half of a pair
        return False


def _is_known_kind(value: Any, labels: Categories) -> bool:
    """Return whether a value is missing, or of the kind that a column has shown before."""
    if value is None:
        return True
    if type(value) is not plain_type(labels.kind):
        return False
    return _is_text(value) if isinstance(value, str) else isinstance(value, int) and -_LARGEST <= value < _LARGEST
