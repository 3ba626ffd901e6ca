"""Open the user's source: rows to learn from, with label and weights as columns, or rows to score."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.engines import Partitioned
from tallybayes.errors import BadData, BadOption, GuessedLayoutWarning, MissingColumnWarning, did_you_mean, wanted
from tallybayes.schema.column_names import NumberedNames
from tallybayes.schema.find_readings import LOOK_ROWS, find_reading
from tallybayes.schema.find_total import find_total
from tallybayes.schema.infer import SchemaOptions
from tallybayes.schema.schema import Schema
from tallybayes.sources.column_readings import rows_with_class
from tallybayes.sources.missing import markers_of_numbers
from tallybayes.sources.steps import holds_text

__all__ = [
    "Labelled",
    "Types",
    "are_named_cells",
    "as_in",
    "beside",
    "labelled",
    "may_lack",
    "one_row",
    "reading",
    "to_score",
    "widened",
    "without_ignored",
]

T = TypeVar("T")
Types = Mapping[str, pa.DataType]


class Labelled(NamedTuple):
    """Rows, and the names of their label and weight columns."""

    rows: Partitioned
    label: str
    weight: str | None


def labelled(
    source: Any,
    label: Any,
    weights: Any,
    reading: sources.ReadOptions = sources.PLAIN_OPTIONS,
    types: Types | None = None,
    *,
    columns: SchemaOptions | Schema | None = None,
) -> Labelled:
    """Open a source with label and weights as columns, whether given as names or as arrays.

    How columns are read follows from the first rows and the options of columns, or is that of a schema.
    """
    label, weights = (str(one) if type(one) is int else one for one in (label, weights))  # names of a frame's columns
    shape: tuple[int, ...] = getattr(label, "shape", ())
    if len(shape) > 1 and shape[1] > 1:
        do = "Pass the rows first, then the label"
        raise BadData(wanted("label", "one class for each row", f"a table of {shape[1]} columns", do))
    if reading.where is not None and not all(isinstance(column, str | None) for column in (label, weights)):
        do = "Add it to the rows as a column"
        raise BadOption(wanted("where", "label and weights by the names of their columns", "an array", do))
    columns = SchemaOptions() if columns is None else columns
    named = label if isinstance(label, str) else None
    rows = engines.read(source, reading, types=types, label=named, documents=columns.texts)
    rows, label = beside(rows, "label", label)
    if weights is not None:
        rows, weights = beside(rows, "weight", weights)
    if isinstance(columns, Schema):
        readings = columns.numbers(rows.schema)
    elif rows.readings is not None:  # opened before
        return Labelled(rows, label, weights)
    else:
        readings = _find_readings(rows, columns, label, {label, weights, *(types or ())})
    there = label if label in rows.schema.names else None  # if it is not, inference says so
    return Labelled(rows.read_as(replace(readings, label=there)), label, weights)


def _find_readings(
    rows: Partitioned, columns: SchemaOptions, label: str, fixed: Collection[str | None]
) -> sources.ColumnReadings:
    """Return how the columns are read, as their first rows show; those in `fixed` are taken as they are."""
    declared = columns.declared()
    open_ = []
    for field in rows.schema:
        if field.name in fixed or sources.kind_of(field) != "column" or sources.is_prose(field):
            continue
        if holds_text(field.type) or pa.types.is_temporal(field.type) or pa.types.is_duration(field.type):
            event = declared(field.name)
            if event is None or (not isinstance(event, str) and event.input in ("dense", "bag")):
                open_.append((field.name, event is not None))
    first = rows.head(LOOK_ROWS) if open_ else None
    missing, looked = rows.missing_values, {}
    if first is not None:
        classed = rows_with_class(first, label if label in first.schema.names else None)
        mixed = len(classed) < len(first)
        if len(first) < LOOK_ROWS and (total := find_total(classed)) is not None:
            warnings.warn(total.warning(rows.name), GuessedLayoutWarning, stacklevel=2)
        looked = {n: find_reading(classed.column(n), missing, numbers=dense, mixed=mixed) for n, dense in open_}
    found = {name: one.reading for name, one in looked.items() if one is not None}
    return sources.ColumnReadings(found, markers_of_numbers(missing))


def first_labels(source: Any, label: str, reading: sources.ReadOptions, types: Types | None) -> pa.Array | None:
    """Return the classes of the first rows of a file, and read no other column of it."""
    batch = engines.read(source, reading, types=types, columns=[label], label=label).head(LOOK_ROWS)
    return None if batch is None else batch.column(label)


def without_ignored(
    rows: Partitioned, source: Any, schema: Schema, reading: sources.ReadOptions, types: Types | None
) -> Partitioned:
    """Return the rows without the columns that the schema ignores, so that files need not read them."""
    if not sources.is_path(source) or reading.connection is not None:
        return rows
    used = {*schema.columns, schema.label, schema.weight}
    kept = [field.name for field in rows.schema if field.name in used or sources.kind_of(field) != "column"]
    if len(kept) == len(rows.schema):
        return rows
    readings = rows.readings or sources.AS_THEY_ARE
    how = {"columns": readings.inputs(kept), "label": schema.label, "documents": schema.texts}
    narrow = engines.read(source, reading, types=types, **how)
    return narrow.read_as(readings)


def as_in(
    schema: Schema, source: Any, label: Any, weights: Any, types: Types | None = None
) -> tuple[Partitioned, Schema]:
    """Open labelled rows of a schema; return them and the schema with their label and weight names.

    By default the names are those of the schema.
    """
    weights = schema.weight if weights is None and label is None else weights
    reading = sources.ReadOptions(schema.missing_values)
    named = schema.label if label is None else label
    rows, name, weight = labelled(source, named, weights, reading, types, columns=schema)
    return rows, replace(schema, label=name, weight=weight)


def beside(rows: Partitioned, name: str, column: Any) -> tuple[Partitioned, str]:
    """Return the rows and the name of a column, which is added first if given as values."""
    return (rows, column) if isinstance(column, str) else rows.attach(name, column)


def to_score(rows: Any, schema: Schema, types: Types | None = None) -> Partitioned:
    """Open rows to score, with the columns of a model; a label is ignored.

    The columns of an array have no names: they are taken as the model's, in the order of its training data.
    """
    if are_named_cells(rows) and not any(rows):  # rows of which nothing is known
        rows = [{schema.inputs[0]: None}] * len(rows)
    reading = sources.ReadOptions(schema.missing_values)

    def opened(**how: Any) -> Partitioned:
        found = engines.read(rows, reading, types=types, documents=schema.texts, **how)
        return found.read_as(schema.numbers(found.schema))

    source = opened()
    fields = source.schema
    if len(schema.columns) == 1 and sources.is_prose(fields[0]) and fields[0].name != schema.columns[0]:
        return engines.read({schema.columns[0]: rows})  # a list of texts for a model of one column
    if len(fields) == 1 and sources.kind_of(fields[0]) != "column" and not isinstance(schema.columns, NumberedNames):
        if sources.names_of(fields[0]) is None and sources.width_of(fields[0]) == len(schema.columns):
            return opened(names=schema.columns)
        return source
    known = schema.columns if isinstance(schema.columns, NumberedNames) else frozenset(schema.columns)
    useful = [f.name for f in fields if sources.kind_of(f) != "column" or f.name in known]
    if not useful:
        have = [f.name for f in fields]
        raise BadData(
            wanted(source.name, "the columns of the model", "none of them", did_you_mean(have[0], schema.inputs))
        )
    if not are_named_cells(rows) and may_lack(fields):
        _warn_of_absent(source, schema)
    if not sources.is_path(rows) or len(useful) == len(fields):
        return source
    return opened(columns=schema.reader.inputs(useful))


def are_named_cells(rows: Any) -> bool:
    """Return whether each row names its values, as a dict does: a name left out is then a missing value."""
    return isinstance(rows, list | tuple) and len(rows) > 0 and isinstance(rows[0], Mapping)


def may_lack(fields: pa.Schema) -> bool:
    """Return whether rows with these fields may lack a column of the model: each column of theirs has its name."""
    return all(sources.kind_of(field) == "column" for field in fields)


def _warn_of_absent(source: Partitioned, schema: Schema) -> None:
    """Say which columns of a model the rows lack; a cluster refuses such rows."""
    known = frozenset(source.schema.names)
    absent = [name for name in schema.columns if name not in known]
    if absent and source.may_lack_columns:
        listed = ", ".join(map(repr, schema.reader.inputs(absent)[:5])) + (", ..." if len(absent) > 5 else "")
        sentence = f"{source.name}: no column {listed}, which the model has; its values are taken as missing."
        warnings.warn(sentence, MissingColumnWarning, stacklevel=2)


def one_row(rows: Any, schema: Schema) -> Any:
    """Return a single row, a dict or a series of plain values, as a list.

    Anything else is returned unchanged.
    """
    if type(rows) is np.ndarray:
        return rows
    if hasattr(rows, "index") and hasattr(rows, "to_dict") and getattr(rows, "ndim", 0) == 1:  # a row of a DataFrame
        cells = {str(name): cell for name, cell in rows.to_dict().items()}
        rows = cells if not cells.keys().isdisjoint(schema.inputs) else rows
    if not isinstance(rows, Mapping) or sources.is_scipy_sparse(rows):
        return rows
    if len(rows) == 0:
        return [{schema.inputs[0]: None}]
    return rows if any(hasattr(v, "__len__") and not isinstance(v, str) for v in rows.values()) else [rows]


def reading(work: Callable[[Types | None], T], types: Types | None = None) -> T:
    """Run work that reads a source; restart it when a column needs a wider type.

    The types of a text file are those that its first rows showed.

    `types` are the wider types that are already known.
    """
    types = dict(types or {})
    while True:
        try:
            return work(types or None)
        except sources.LateType as late:
            types = widened(types, late)


def widened(types: Types, late: sources.LateType) -> dict[str, pa.DataType]:
    """Return the types to restart with; raise if they are already known."""
    if late.types.items() <= types.items():
        raise late
    return {**types, **late.types}
