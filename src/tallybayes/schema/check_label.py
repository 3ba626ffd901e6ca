"""Refuse a label of measured numbers, which naive Bayes would take for as many classes."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.errors import BadData, wanted
from tallybayes.schema.find_readings import find_reading
from tallybayes.sources import MissingValues
from tallybayes.sources.missing import markers_of_numbers
from tallybayes.sources.steps import holds_text

__all__ = ["MANY_CLASSES", "check_label", "is_numeric"]

MANY_CLASSES = 50  # fewer distinct numbers among the first rows may be grades or codes of classes
_SPARSE = 10  # whole numbers that span this many times their number are amounts: codes of classes are numbered densely
_OFTEN = 10  # rows for each class, on average, that make even such numbers classes


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether a label of this type may be a measurement."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def check_label(name: str, column: pa.Array, missing: MissingValues = "auto") -> None:
    """Raise if the label looks like a measurement: many numbers, few of them repeated.

    Numbers may be written with signs and units, as in a column that is read as numbers.

    Parameters
    ----------
    name : str
        The label's name.
    column : pyarrow.Array
        Its values in the first rows.
    missing : sequence of str, or "auto"
        The texts that stand for a missing value.

    Examples
    --------
    >>> check_label("grade", pa.array([1, 2, 3] * 20))
    >>> try:
    ...     check_label("price", pa.array([100 * k for k in range(60)]))
    ... except BadData as error:
    ...     print(str(error).partition(' Put')[0])
    label 'price': wanted classes, got 60 different numbers in the first 60 rows.
    """
    if holds_text(column.type):
        column = _written_numbers(column, missing)
    kind = column.type
    if not is_numeric(kind):
        return
    present = column.drop_null()
    distinct = pc.count_distinct(present).as_py()
    if distinct <= MANY_CLASSES:
        return
    ends = pc.min_max(present)
    span = float(ends["max"].as_py()) - float(ends["min"].as_py())
    fractional = not pa.types.is_integer(kind) and bool(pc.any(pc.not_equal(present, pc.floor(present))).as_py())
    sparse = fractional or span > _SPARSE * distinct
    if distinct * 2 > len(present) if not sparse else distinct * _OFTEN > len(present):
        got = f"{distinct:,} different numbers in the first {len(column):,} rows"
        do = "Put them in bins, such as low and high, or choose label_as_is=True to take each number as a class"
        raise BadData(wanted(f"label {name!r}", "classes", got, do))


def _written_numbers(column: pa.Array, missing: MissingValues) -> pa.Array:
    """Return many different texts as the numbers or times that they stand for; others as they are."""
    texts = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if pc.count_distinct(texts).as_py() <= MANY_CLASSES:
        return texts
    found = find_reading(texts, missing)
    if found is None or found.reading.kind not in ("numbers", "times"):
        return texts
    return found.reading.apply(texts, markers_of_numbers(missing))[0]
