"""What the first rows show of each column: its reading, missing values and why."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from tallybayes.schema.find_readings import Found
    from tallybayes.sources import MissingValues

_EXAMPLES = 3  # values per column
# Texts that are no number in a column of numbers: so few, and in so few rows, are rather marks of missing values.
_FEW_ODD, _MOSTLY = 3, 0.5
UNFIT = "cannot be used"  # a column of lists, records or bytes


@dataclass(frozen=True)
class ColumnLook:
    """A summary of one column in the first rows."""

    # name, event: its name, and the event model that `fit` would infer
    name: str
    event: str
    # distinct, missing: the number of distinct values, and of rows without a value
    distinct: int
    missing: int
    examples: tuple[Any, ...]  # the first values
    remark: str = ""  # how its values are read, or a possible problem; usually empty
    markers: dict[str, int] = field(default_factory=dict)  # the texts taken as missing, and how often


def infer_columns(
    first: pa.RecordBatch, raw: pa.RecordBatch, missing: MissingValues, label: str | None, where: str
) -> tuple[ColumnLook, ...]:
    """Summarise the columns of the first rows.

    Parameters
    ----------
    first : pyarrow.RecordBatch
        The first rows.
    raw : pyarrow.RecordBatch
        The same rows before any text was taken as missing.
    missing : sequence of str, or "auto"
        The texts that stand for a missing value.
    label : str or None
        The column of classes.
    where : str
        The name of the rows in messages.
    """
    import pyarrow as pa

    from tallybayes.schema.find_ids import find_ids
    from tallybayes.schema.find_readings import LOOK_ROWS, find_reading
    from tallybayes.schema.infer import infer
    from tallybayes.sources import ColumnReadings, read
    from tallybayes.sources.column_readings import rows_with_class
    from tallybayes.sources.missing import markers_of_numbers

    # As in `fit`, rows without a class do not count: a total below the table has other words among the numbers.
    classed = rows_with_class(first, label)
    mixed, named = len(classed) < len(first), [name for name in first.schema.names if name != label]
    looked = {name: find_reading(classed.column(name), missing, mixed=mixed) for name in named}
    found = {name: one for name, one in looked.items() if one is not None}
    readings = ColumnReadings({name: one.reading for name, one in found.items()}, markers_of_numbers(missing))
    # Only the rows that decide are read here: a later one may be refused, as `fit` will say.
    rows = next(iter(readings.read(read(classed.slice(0, LOOK_ROWS)))))
    unfit = [one.name for one in rows.schema if pa.types.is_nested(one.type) or pa.types.is_binary(one.type)]
    fields, other = pa.schema([one for one in rows.schema if one.name not in unfit]), label
    if other is None:  # one of the columns may be the class, but all are described
        other = "class"
        while other in fields.names:
            other += "_"
        fields = fields.append(pa.field(other, pa.string()))
    events: dict[str, str] = {}
    if len(fields.names) > 1:
        events = infer(fields, other, where=where, first=lambda: rows).events()
    events |= dict.fromkeys(unfit, UNFIT)
    ids = find_ids(rows, [one for one in fields if one.name not in (label, other)])
    ids = {} if len(ids) == len(fields.names) - 1 else ids  # `fit` uses them where there is nothing else
    return tuple(
        _column(name, first.column(name), raw.column(name), found.get(name), events, missing, label, ids.get(name, ""))
        for name in first.schema.names
    )


def _column(
    name: str,
    column: pa.Array,
    raw: pa.Array,
    found: Found | None,
    events: Mapping[str, str],
    missing: MissingValues,
    label: str | None,
    identified: str,
) -> ColumnLook:
    import pyarrow as pa
    import pyarrow.compute as pc

    from tallybayes.sources import plain_values
    from tallybayes.sources.steps import type_in_words

    markers = _markers(raw, missing, names=found is None and _is_text(column.type), label=name == label)
    written = found is not None and column.type in (pa.string(), pa.large_string())  # some markers are still there
    absent = sum(markers.values()) + raw.null_count if written else column.null_count
    present = column.drop_null()
    if written:
        present = present.filter(pc.invert(pc.is_in(present, pa.array(list(markers), present.type))))
    nested = pa.types.is_nested(column.type)  # lists cannot be compared
    distinct = 0 if nested or not len(present) else pc.count_distinct(present).as_py()
    event = "label" if name == label else events.get(name, "")
    remark = found.reason if found is not None else ""
    if found is not None and found.reading.kind == "dates":
        event = ", ".join(found.reading.options[1:])
    if name == label:
        remark = "← the class?"
    elif identified:
        event, remark = "not used", f"an id? {identified}"
    elif event == UNFIT:
        remark = f"{type_in_words(column.type)}: --drop {shlex.quote(name)}"
    elif not len(present):
        remark = "no values"
    elif distinct == 1:
        remark = "always the same"
    elif found is None and _is_text(column.type) and _has_leading_zeros(present):
        remark = "digits with leading zeros: kept as text"
    elif found is None and _is_text(column.type) and (odd := _odd_among_numbers(present, missing)):
        options = " ".join(f"--missing {shlex.quote(one)}" for one in ("auto", *odd))
        remark = f"numbers, but for {', '.join(map(repr, odd))}: if missing, {options}"
    elif found is None and _is_text(column.type) and len(units := _units(present)) > 1:
        listed = ", ".join(units[:_EXAMPLES]) + ", ..." * (len(units) > _EXAMPLES)
        remark = f"numbers in several units ({listed}): kept as names"
    some = present.slice(0, _EXAMPLES if nested else 100)
    examples = tuple(plain_values(some if nested else pc.unique(some))[:_EXAMPLES])
    return ColumnLook(name, event, distinct, absent, examples, remark, markers)


def _has_leading_zeros(values: pa.Array) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    digits = bool(pc.all(pc.match_substring_regex(texts, r"^\d+$")).as_py())
    return digits and bool(pc.any(pc.match_substring_regex(texts, r"^0\d")).as_py())


def _units(values: pa.Array) -> list[str]:
    import pyarrow as pa

    from tallybayes.schema.find_readings import units_of

    return units_of(values.dictionary_decode() if pa.types.is_dictionary(values.type) else values)


def _odd_among_numbers(values: pa.Array, missing: MissingValues) -> list[str]:
    """Return the texts that keep a column from being numbers, if few."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from tallybayes.sources.missing import markers_of_numbers
    from tallybayes.sources.reading import number_pattern
    from tallybayes.sources.steps import without

    texts = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    texts = without(texts, markers_of_numbers(missing)).drop_null()
    for decimal in (".", ","):
        is_number = pc.match_substring_regex(texts, number_pattern(decimal))
        odd = pc.unique(texts.filter(pc.invert(is_number))).to_pylist()
        if 0 < len(odd) <= _FEW_ODD and pc.sum(is_number).as_py() >= _MOSTLY * len(texts):
            return list(odd)
    return []


def _markers(raw: pa.Array, missing: MissingValues, *, names: bool, label: bool) -> dict[str, int]:
    """Return how often each text that is taken as missing occurs, the most frequent first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from tallybayes.sources.missing import Markers, markers_of_numbers

    if not _is_text(raw.type):
        return {}
    texts = Markers(missing, "x" if label else None).of("x") if names or label else markers_of_numbers(missing)
    values = raw.dictionary_decode() if pa.types.is_dictionary(raw.type) else raw
    hits = values.filter(pc.is_in(values, pa.array(texts, values.type)))
    counted = pc.value_counts(hits.drop_null()).to_pylist()
    return {one["values"]: one["counts"] for one in sorted(counted, key=lambda one: (-one["counts"], one["values"]))}


def _is_text(kind: pa.DataType) -> bool:
    from tallybayes.sources.steps import holds_text

    return holds_text(kind)
