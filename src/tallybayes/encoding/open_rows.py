"""Opening what the user gave: rows to learn from, with label and weights among them, or rows to score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.engines import Partitioned
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.schema.column_names import NumberedNames
from tallybayes.schema.schema import Schema

__all__ = [
    "Labelled",
    "Types",
    "are_named_cells",
    "as_in",
    "beside",
    "labelled",
    "one_row",
    "reading",
    "to_score",
    "widened",
    "without_ignored",
]

T = TypeVar("T")
Types = Mapping[str, pa.DataType]


class Labelled(NamedTuple):
    """Rows, and which of their columns are the label and the weights."""

    rows: Partitioned
    label: str
    weight: str | None


def labelled(
    source: Any,
    label: Any,
    weights: Any,
    reading: sources.ReadOptions = sources.PLAIN_OPTIONS,
    types: Types | None = None,
) -> Labelled:
    """Open a source with label and weights among its columns, whether they are names or arrays."""
    if reading.where is not None and not all(isinstance(column, str | None) for column in (label, weights)):
        do = "Put it among the columns of the rows"
        raise BadOption(wanted("where", "label and weights by the names of their columns", "an array", do))
    rows = engines.read(source, reading, types=types)
    rows, label = beside(rows, "label", label)
    if weights is not None:
        rows, weights = beside(rows, "weight", weights)
    return Labelled(rows, label, weights)


def without_ignored(
    rows: Partitioned, source: Any, schema: Schema, reading: sources.ReadOptions, types: Types | None
) -> Partitioned:
    """The rows of a source without the columns that the schema ignores, which then are not read from files at all."""
    if not sources.is_path(source) or reading.connection is not None:
        return rows
    used = {*schema.columns, schema.label, schema.weight}
    kept = [field.name for field in rows.schema if field.name in used or sources.kind_of(field) != "column"]
    return rows if len(kept) == len(rows.schema) else engines.read(source, reading, columns=kept, types=types)


def as_in(
    schema: Schema, source: Any, label: Any, weights: Any, types: Types | None = None
) -> tuple[Partitioned, Schema]:
    """Labelled rows like those of a schema, and the schema with the names that label and weights have there.

    By default they have the names that they have in the schema.
    """
    weights = schema.weight if weights is None and label is None else weights
    rows, name, weight = labelled(source, schema.label if label is None else label, weights, types=types)
    return rows, replace(schema, label=name, weight=weight)


def beside(rows: Partitioned, name: str, column: Any) -> tuple[Partitioned, str]:
    """Return the rows with a column given as values, and the name it has there; or as they are, if it is a name."""
    return (rows, column) if isinstance(column, str) else rows.attach(name, column)


def to_score(rows: Any, schema: Schema, types: Types | None = None) -> Partitioned:
    """The columns that a model wants, of rows whose label (if any) is not looked at.

    The columns of an array have no names: they are taken to be the model's, in the order of its training data.
    """
    source = engines.read(rows, types=types)
    fields = source.schema
    if len(schema.columns) == 1 and sources.is_prose(fields[0]) and fields[0].name != schema.columns[0]:
        return engines.read({schema.columns[0]: rows})  # a list of texts for a model of one column
    if len(fields) == 1 and sources.kind_of(fields[0]) != "column" and not isinstance(schema.columns, NumberedNames):
        if sources.names_of(fields[0]) is None and sources.width_of(fields[0]) == len(schema.columns):
            return engines.read(rows, names=schema.columns)
        return source
    useful = [f.name for f in fields if sources.kind_of(f) != "column" or f.name in schema.columns]
    if not useful:
        have = [f.name for f in fields]
        raise BadData(
            wanted(source.name, "the columns of the model", "none of them", did_you_mean(have[0], schema.columns))
        )
    if not sources.is_path(rows) or len(useful) == len(fields):
        return source
    return engines.read(rows, columns=useful, types=types)


def are_named_cells(rows: Any) -> bool:
    """Whether each row names its own values, as a dict does: what is not named is then missing, not a mistake."""
    return isinstance(rows, list | tuple) and len(rows) > 0 and isinstance(rows[0], Mapping)


def one_row(rows: Any) -> Any:
    """A single row given as a dict of plain values, as a list of one row; anything else as it is."""
    if (
        isinstance(rows, Mapping)
        and rows
        and not any(hasattr(v, "__len__") and not isinstance(v, str) for v in rows.values())
    ):
        return [rows]
    return rows


def reading(work: Callable[[Types | None], T], types: Types | None = None) -> T:
    """Do work that reads a source; start over where a text file needs a wider type than its first rows showed.

    `types` are those of which that is known already.
    """
    types = dict(types or {})
    while True:
        try:
            return work(types or None)
        except sources.LateType as late:
            types = widened(types, late)


def widened(types: Types, late: sources.LateType) -> dict[str, pa.DataType]:
    """Return the types with which to start over; raise where they are known already."""
    if late.types.items() <= types.items():
        raise late
    return {**types, **late.types}
