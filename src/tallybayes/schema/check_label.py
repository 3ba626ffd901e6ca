"""Refuse a label of measured numbers, which naive Bayes would take for as many classes."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.errors import BadData, wanted

__all__ = ["check_label", "is_numeric"]

# Distinct numbers among the first rows; fewer may be grades or codes of classes.
_MANY = 50
_SPARSE = 10  # whole numbers that span this many times their number are amounts: codes of classes are numbered densely
_OFTEN = 10  # rows for each class, on average, that make even such numbers classes


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether a label of this type may be a measurement."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def check_label(name: str, column: pa.Array) -> None:
    """Raise if the label looks like a measurement: many different numbers, few of them repeated.

    Parameters
    ----------
    name : str
        The label's name.
    column : pyarrow.Array
        Its values in the first rows.

    Examples
    --------
    >>> check_label("grade", pa.array([1, 2, 3] * 20))
    >>> try:
    ...     check_label("price", pa.array([100 * k for k in range(60)]))
    ... except BadData as error:
    ...     print(str(error).partition(' Put')[0])
    label 'price': wanted classes, got 60 different numbers in the first 60 rows.
    """
    kind = column.type
    if not is_numeric(kind):
        return
    present = column.drop_null()
    distinct = pc.count_distinct(present).as_py()
    if distinct <= _MANY:
        return
    ends = pc.min_max(present)
    span = float(ends["max"].as_py()) - float(ends["min"].as_py())
    fractional = not pa.types.is_integer(kind) and bool(pc.any(pc.not_equal(present, pc.floor(present))).as_py())
    sparse = fractional or span > _SPARSE * distinct
    if distinct * 2 > len(present) if not sparse else distinct * _OFTEN > len(present):
        got = f"{distinct:,} different numbers in the first {len(column):,} rows"
        do = "Put them in bins, such as low and high, or choose label_as_is=True to take each number as a class"
        raise BadData(wanted(f"label {name!r}", "classes", got, do))
