"""Hypothesis strategies for columns of every Arrow type that categories can have, extreme values included."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

SMALL = (-1, 0, 1, 2)
EDGES = (2**31 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), -719_163, 253_402_300_800_000_000)
REALS = (0.0, -0.0, 1.0, 2.0, 2.5, float("nan"), float("inf"), 1e300, 2.0**53, 2.0**63, -(2.0**63), 5e-324)
# The stored numbers of each type: a date is a number of days, a time one of its units.
STORED: dict[pa.DataType, tuple[pa.DataType, tuple[Any, ...]]] = {
    pa.int8(): (pa.int8(), (*SMALL, -128, 127)),
    pa.int64(): (pa.int64(), (*SMALL, *EDGES)),
    pa.uint8(): (pa.uint8(), (0, 1, 2, 255)),
    pa.uint64(): (pa.uint64(), (0, 1, 2, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)),
    pa.float32(): (pa.float32(), REALS[:7]),
    pa.float64(): (pa.float64(), REALS),
    pa.bool_(): (pa.bool_(), (False, True)),
    pa.date32(): (pa.int32(), (*SMALL, -719_162, -719_163, 2_932_896, 2_932_897, 2**31 - 1)),
    pa.date64(): (pa.int64(), (0, 86_400_000, 86_400_001, *EDGES)),
    **{
        pa.timestamp(unit, zone): (pa.int64(), (*SMALL, 1000, 1_000_000, *EDGES))
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC")
    },
    pa.decimal128(20, 2): (
        pa.decimal128(20, 2),
        tuple(map(Decimal, ("-1", "0.00", "1.00", "2.5", "9007199254740993"))),
    ),
    pa.string(): (pa.string(), ("", "0", "1", "a")),
    pa.large_string(): (pa.large_string(), ("", "0", "1", "a")),
}
_TICKS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1000, "ns": 1}  # nanoseconds


@st.composite
def columns(draw: Any, size: int, type_: pa.DataType | None = None) -> pa.Array:
    """A column of one type, plain or dictionary-encoded, some of its values missing."""
    type_ = type_ or draw(st.sampled_from(list(STORED)))
    stored, values = STORED[type_]
    given = draw(st.lists(st.one_of(st.none(), st.sampled_from(values)), min_size=size, max_size=size))
    column = pa.array(given, stored).view(type_)
    return column.dictionary_encode() if draw(st.booleans()) else column


def in_python(column: pa.Array) -> list[Any]:
    """Return the values as Python's; None if missing, an object equal to nothing if our types cannot hold one."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    stored = STORED[column.type][0]
    return [None if value is None else _in_python(value, column.type) for value in column.view(stored).to_pylist()]


def _in_python(value: Any, type_: pa.DataType) -> Any:
    try:
        if pa.types.is_date32(type_):
            return date(1970, 1, 1) + timedelta(days=value)
        if pa.types.is_date64(type_):
            return object() if value % 86_400_000 else date(1970, 1, 1) + timedelta(milliseconds=value)
        if pa.types.is_timestamp(type_):
            microseconds, rest = divmod(value * _TICKS[type_.unit], 1000)
            return object() if rest else datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    except OverflowError:
        return object()
    if type_ == pa.uint64() and value >= 2**63:
        return object()
    if isinstance(value, Decimal):
        return float(value)
    return None if isinstance(value, float) and math.isnan(value) else value
