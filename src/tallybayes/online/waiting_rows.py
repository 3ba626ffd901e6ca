"""Rows that wait to be counted together: checked when they come, so that counting them is sure to succeed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tallybayes.categories import Categories
from tallybayes.encoding.few_rows import takes_plain_rows
from tallybayes.events.event import Event
from tallybayes.events.inputs import Dense
from tallybayes.events.text.text import Text
from tallybayes.evidence.evidence import Evidence, count_encoded
from tallybayes.kernels import NumberRows
from tallybayes.model import Model
from tallybayes.online.tally import Row, complete, plain_type
from tallybayes.schema.schema import Block, Schema

__all__ = ["WaitingRows", "is_text", "waiting_rows"]

_NUMBERS = (float, int, bool)
_LARGEST = 1 << 63  # whole numbers have 64 bits
_LARGEST_NUMBER = 1e300  # a number beyond is left to the check of a count


class WaitingRows(ABC):
    """Rows with classes that are known to be plain."""

    @abstractmethod
    def add(self, row: Row, label: Any, weight: float, evidence: Evidence) -> bool:
        """Keep a row; False if counting it might fail, given the evidence so far, and nothing is done."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def counted(self, model: Model) -> Model:
        """Return the model with the rows, and keep none of them."""


def waiting_rows(schema: Schema) -> WaitingRows:
    """Return an empty list of rows for a schema."""
    return _Numbers(schema) if _Numbers.serves(schema) else _Dicts(schema)


class _Numbers(WaitingRows):
    """Rows of one block of numbers, any of which will do: an array, counted as it is."""

    def __init__(self, schema: Schema) -> None:
        self._rows = NumberRows(tuple(schema.blocks[0].columns), _LARGEST_NUMBER)

    @staticmethod
    def serves(schema: Schema) -> bool:
        """Return whether rows of a schema are numbers only."""
        if len(schema.blocks) != 1:
            return False
        event = schema.blocks[0].event
        any_number = event.input == "dense" and type(event).invalid is Event.invalid
        plain = schema.missing == "skip" and not schema.products and schema.weight is None
        return any_number and plain and takes_plain_rows(schema)

    def add(self, row: Row, label: Any, weight: float, evidence: Evidence) -> bool:
        return self._rows.append(row, label)

    def __len__(self) -> int:
        return len(self._rows)

    def counted(self, model: Model) -> Model:
        evidence = count_encoded(model.schema, [Dense(self._rows.values())], self._rows.labels())
        assert evidence is not None  # the classes are plain
        model = model._with(model.evidence + evidence)
        self._rows.clear()  # last: somebody may interrupt a count, and rows must not be lost by that
        return model


class _Dicts(WaitingRows):
    """Rows of any columns, as they came."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._rows: list[Row] = []

    def add(self, row: Row, label: Any, weight: float, evidence: Evidence) -> bool:
        schema = self._schema
        if schema.missing != "skip" or schema.products:
            return False
        pairs = zip(schema.blocks, evidence.statistics, strict=True)
        if not all(_is_plain_block(row, block, statistic.labels) for block, statistic in pairs):
            return False
        self._rows.append(complete(row, schema, label, weight))
        return True

    def __len__(self) -> int:
        return len(self._rows)

    def counted(self, model: Model) -> Model:
        model, self._rows = model.learn(self._rows), []
        return model


def _is_plain_block(row: Row, block: Block, labels: tuple[Any, ...]) -> bool:
    """Return whether a row's values in a block's columns are of the types that its event model takes."""
    if isinstance(block.event, Text):  # whatever a function does with a text is known only when it is called
        return block.event.tokenizer is None and all(is_text(row.get(name)) for name in block.columns)
    if block.event.input == "codes":
        return all(_is_known_kind(row.get(name), one) for name, one in zip(block.columns, labels, strict=True))
    values = [row.get(name) for name in block.columns]
    if not all(value is None or (type(value) in _NUMBERS and abs(value) < _LARGEST_NUMBER) for value in values):
        return False
    if type(block.event).invalid is Event.invalid:
        return True
    invalid = block.event.invalid(np.array(values, np.float64))
    return invalid is None or not invalid.any()


def is_text(value: Any) -> bool:
    """Return whether a value is missing, or a text that has a place in UTF-8."""
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
    return is_text(value) if isinstance(value, str) else isinstance(value, int) and -_LARGEST <= value < _LARGEST
