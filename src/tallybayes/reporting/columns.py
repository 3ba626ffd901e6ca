"""Facts about the columns of a report, and remarks on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.display.number_format import NumberFormat
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.model import Model
from tallybayes.reporting.first_pass import FirstPass
from tallybayes.schema.find_ids import find_ids
from tallybayes.schema.find_readings import LOOK_ROWS
from tallybayes.schema.schema import Schema
from tallybayes.sources import plain_value

_DISTINCT, _FEWEST_ROWS = 0.95, 30  # share of distinct values that makes an id; with fewer rows it may be chance
_GIVEN_AWAY = 0.95  # share of the label's entropy; a column with more is rarely known before the class is
_FEW_VALUES = 6  # distinct whole numbers; no more than this may be codes rather than amounts
_MOSTLY_MISSING = 0.5  # share of rows
_FEW_OF_A_CLASS = 10  # rows


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about one column."""

    name: str
    kind: str  # the kind of its values: text, whole numbers, numbers, ...
    event: str
    missing: int  # the number of rows where it is missing
    distinct: int  # the number of distinct values in a sample of the rows
    known: int  # the number of rows of the sample that have a value
    # low, high: the smallest and the largest value of the sample, for numbers and dates
    low: Any = None
    high: Any = None
    common: tuple[str, ...] = ()  # the most frequent values of the sample, for other kinds
    format: NumberFormat | None = None  # how numbers that were read from dates and times are written


@dataclass(frozen=True)
class Remark:
    """A warning that a reader should know before trusting the figures."""

    kind: str
    column: str  # the column that it is about
    sentence: str


def not_used(scan: FirstPass, schema: Schema) -> list[str]:
    """Return a sentence about each column of the rows that looks like an id and is not in the model."""
    used = {*schema.columns, schema.label, schema.weight, scan.label, scan.weight}
    others = [one for one in scan.sample.schema if one.name not in used]
    found = find_ids(scan.sample.slice(0, LOOK_ROWS), others)
    return [f"Not used: {name!r}, which looks like an id ({reason})." for name, reason in found.items()]


def facts_of(scan: FirstPass, schema: Schema, columns: list[str]) -> tuple[ColumnFacts, ...]:
    """Return facts about columns, from a sample of the rows."""
    rows = RowBatch(scan.sample, 0, schema.missing)
    found = (_facts(name, rows.column(name), schema.event(name).spec, scan.missing.get(name, 0)) for name in columns)
    formats = {name: schema.number_format(name) for name in columns}
    return tuple(
        one if formats[one.name] is None else replace(one, kind="dates or times", format=formats[one.name])
        for one in found
    )


def _facts(name: str, column: pa.Array, event: str, missing: int) -> ColumnFacts:
    column = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())  # Arrow does not compare halves
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    present = column.drop_null()
    kind = _in_words(column.type)
    distinct = int(pc.count_distinct(present).as_py()) if len(present) else 0
    if kind in ("text", "yes or no"):
        counts = pc.value_counts(present)
        order = np.argsort(-counts.field("counts").to_numpy(), kind="stable")[:3]
        common = tuple(_short(counts.field("values")[int(k)].as_py()) for k in order)
        return ColumnFacts(name, kind, event, missing, distinct, len(present), common=common)
    ends = pc.min_max(present) if len(present) else {"min": pa.scalar(None), "max": pa.scalar(None)}
    return ColumnFacts(
        name, kind, event, missing, distinct, len(present), *map(plain_value, (ends["min"], ends["max"]))
    )


def _in_words(kind: pa.DataType) -> str:
    is_ = pa.types
    if is_.is_boolean(kind):
        return "yes or no"
    if is_.is_integer(kind):
        return "whole numbers"
    if is_.is_floating(kind) or is_.is_decimal(kind):
        return "numbers"
    if is_.is_temporal(kind):
        return "dates or times"
    return "text"


def _short(value: Any, most: int = 40) -> str:
    text = str(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def remarks_on(
    scan: FirstPass, model: Model, facts: tuple[ColumnFacts, ...], bits: Mapping[str, float], *, inferred: bool
) -> tuple[Remark, ...]:
    """Return remarks on the label and the columns.

    `bits` is the mutual information of each column with the class; `inferred` says that event models were inferred from
    the values, not set by a given model.
    """
    return (
        *_on_label(model),
        *remarks_on_columns(facts, scan.rows, inferred=inferred),
        *_giving_away(model, facts, bits),
    )


def remarks_on_columns(facts: tuple[ColumnFacts, ...], rows: int, *, inferred: bool) -> tuple[Remark, ...]:
    """Return remarks on columns that hold little, or other things than they seem to."""
    return tuple(remark for one in facts for remark in _on_column(one, rows, inferred))


def _on_column(one: ColumnFacts, rows: int, inferred: bool) -> list[Remark]:
    name = one.name
    if one.known and _names_rows(one):
        text = f"{name!r} has a different value in nearly every row, like an id, so it cannot predict new rows"
        return [Remark("id", name, f"{text}. Leave it out (events={{{name!r}: 'ignore'}}).")]
    if one.distinct <= 1:
        values = "no value at all" if not one.known else "the same value in every row"
        return [Remark("constant", name, f"{name!r} has {values}, so it does not help to predict.")]
    found = []
    if one.missing > _MOSTLY_MISSING * rows:
        share = f"{one.missing:,} of {rows:,} rows"
        found.append(Remark("missing", name, f"{name!r} is missing in {share}, and is ignored there."))
    if inferred and one.kind == "whole numbers" and one.event == "gaussian" and one.distinct <= _FEW_VALUES:
        text = f"{name!r} has only {one.distinct} different numbers and was treated as a measurement"
        do = f"If they are codes, declare it (events={{{name!r}: 'categorical'}})."
        found.append(Remark("codes", name, f"{text}. {do}"))
    return found


def _names_rows(one: ColumnFacts) -> bool:
    if one.known < _FEWEST_ROWS or one.distinct < _DISTINCT * one.known or one.event.startswith("text"):
        return False
    if one.kind == "text":
        return True
    # Measurements are often all different too, but row numbers are whole and leave few gaps.
    return one.kind == "whole numbers" and one.distinct == one.known and one.high - one.low < 20 * one.known


def _on_label(model: Model) -> list[Remark]:
    label, counts = model.schema.label, model.evidence.rows.to_float()
    found = []
    total, classes = float(counts.sum()), len(model.classes)
    numeric = all(isinstance(name, int | float) and not isinstance(name, bool) for name in model.classes)
    if numeric and classes > 20 and classes > total / 50:
        text = f"{label!r} has {classes:,} different numbers: it looks like an amount rather than a class"
        found.append(
            Remark("classes", label, f"{text}. Each number is a class of its own; ranges would have more rows each.")
        )
    rare = [str(name) for name, n in zip(model.classes, counts, strict=True) if n < _FEW_OF_A_CLASS]
    if rare:
        named = ", ".join(repr(name) for name in rare[:5]) + (f" and {len(rare) - 5} more" if len(rare) > 5 else "")
        what = "Class" if len(rare) == 1 else "Classes"
        have = "has" if len(rare) == 1 else "have"
        text = f"{what} {named} {have} fewer than {_FEW_OF_A_CLASS} rows: too few to learn much about"
        found.append(Remark("rare", label, f"{text} {'it' if len(rare) == 1 else 'them'}."))
    if model.calibration is not None and model.calibration.stale:
        found.append(Remark("stale", label, "The model has changed since it was calibrated. Calibrate it again."))
    return found


def _giving_away(model: Model, facts: tuple[ColumnFacts, ...], bits: Mapping[str, float]) -> list[Remark]:
    shares = np.exp(model.belief.log_prior)
    entropy = float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())
    found = []
    label = model.schema.label
    for one in facts:
        own = bits[one.name]
        if entropy > 0 and own >= _GIVEN_AWAY * entropy and not _names_rows(one):
            text = f"{one.name!r} alone predicts {label!r} almost completely ({own:.2f} of {entropy:.2f} bits)"
            found.append(Remark("gives away", one.name, f"{text}. Is it known before {label!r} is?"))
    return found
