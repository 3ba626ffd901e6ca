"""Parse command-line texts into classes, rows, thresholds and costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tallybayes.cli.options import pairs
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.model import Model
from tallybayes.sources.reading import Unreadable


def as_type(text: str, kind: pa.DataType, where: str) -> Any:
    """Return the text as a value of an Arrow type.

    Examples
    --------
    >>> as_type("5", pa.int64(), "--label"), as_type("true", pa.bool_(), "--label")
    (5, True)
    """
    try:
        return pa.scalar(text).cast(kind).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise BadOption(wanted(where, f"a value of type {kind}", repr(text))) from None


def class_of(model: Model, text: str | None, where: str) -> Any:
    """Return the model's class with this text; None for None."""
    return one_of(model.classes, text, where, f"a class of {model.schema.label!r}")


def one_of(classes: Sequence[Any], text: str | None, where: str, want: str = "a class") -> Any:
    """Return the class with this text; None for None.

    Examples
    --------
    >>> one_of([0, 1], "1", "--positive"), one_of([False, True], "true", "--positive")
    (1, True)
    """
    if text is None:
        return None
    found = {_written(one): one for one in classes}
    if text not in found:
        raise BadOption(wanted(where, want, repr(text), did_you_mean(text, found)))
    return found[text]


def row_of(model: Model, given: Sequence[str], where: str = "the row") -> Any:
    """Parse a row: NAME=VALUE for some columns, a JSON object or a text."""
    text = " ".join(given)
    if text.lstrip().startswith("{"):
        try:
            row = json.loads(text)
        except ValueError as error:
            raise BadData(wanted(where, "a JSON object", f"{text[:60]!r} ({error})")) from None
        return {
            name: value if not isinstance(value, str) else _value(model, name, value, where)
            for name, value in row.items()
        }
    columns = model.schema.columns
    named = [one for one in given if "=" in one and one.split("=")[0].strip() in model.schema.inputs]
    if len(columns) == 1 and model.schema.texts and not named:
        return {columns[0]: text}
    return {name: _value(model, name, value, where) for name, value in pairs(given, where).items()}


def _value(model: Model, name: str, text: str, where: str) -> Any:
    """Return the text as a value of a model's column."""
    if name in model.schema.readings:
        return _readable(model, name, text, where) or None  # the model reads it, as those that it learned from
    if name not in model.schema.columns:
        raise BadOption(wanted(where, "columns of the model", repr(name), did_you_mean(name, model.schema.inputs)))
    b, f = model.schema.place(name)
    takes = model.schema.blocks[b].event.input
    where = f"{where}, column {name!r}"
    if text == "":
        return None
    if takes == "text":
        return text
    if takes in ("dense", "bag"):
        return as_type("1" if text.lower() == "true" else "0" if text.lower() == "false" else text, pa.float64(), where)
    labels = model.evidence.statistics[b].labels[f]
    values = {_written(one): one for one in labels.values}
    return values[text] if text in values else as_type(text, labels.array.type, where)


def _readable(model: Model, name: str, text: str, where: str) -> str:
    """Return the text if the model can read it as a value of a column."""
    reading = model.schema.readings[name]
    try:
        reading.apply(pa.array([text]), (*model.schema.reader.missing, ""))
    except Unreadable:
        want = f"{reading.one_value}, as in the training data"
        raise BadOption(wanted(f"{where}, column {name!r}", want, repr(text))) from None
    return text


def thresholds_of(model: Model, given: Sequence[str] | None) -> Mapping[Any, float] | None:
    """Parse the CLASS=P thresholds."""
    if not given:
        return None
    found = pairs(given, "--threshold")
    return {class_of(model, name, "--threshold"): _number(value, "--threshold") for name, value in found.items()}


def costs_of(text: str | None) -> list[list[float]] | None:
    """Parse costs such as ``0,5;1,0``: a row per decision, a column per true class.

    Examples
    --------
    >>> costs_of("0,5;1,0")
    [[0.0, 5.0], [1.0, 0.0]]
    """
    if text is None:
        return None
    rows = [[_number(cell, "--costs") for cell in row.split(",")] for row in text.split(";")]
    if len({len(row) for row in rows}) > 1:
        raise BadOption(wanted("--costs", "rows of the same length, as in '0,5;1,0'", repr(text)))
    return rows


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadOption(wanted(where, "numbers", repr(text))) from None


def _written(value: Any) -> str:
    """Return a value as files spell it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
