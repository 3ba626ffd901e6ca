"""Plain values: one Arrow type for each kind of value that categories can have.

Values that are equal have one form: −0.0 is 0.0. A value that the type of its kind cannot hold (a whole number of 2⁶³,
a time within a microsecond) is refused in training and never seen in scoring.
"""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.errors import BadData, wanted

__all__ = [
    "as_kind",
    "cast_plain",
    "decoded",
    "kind",
    "outside_range",
    "plain",
    "plain_type",
    "plain_types",
    "where_lost",
]

_TIME = pa.timestamp("us")
_KINDS = {
    "text": pa.string(),
    "whole numbers": pa.int64(),
    "booleans": pa.bool_(),
    "dates": pa.date32(),
    "times": _TIME,
    "numbers": pa.float64(),
    "nothing": pa.null(),
}
# The values that each type can hold, in words; dates and times must be Python's as well.
_RANGES = {
    pa.int64(): "whole numbers from -2^63 to 2^63 - 1",
    pa.date32(): "whole days of the years 1 to 9999",
    _TIME: "times of the years 1 to 9999, in whole microseconds",
}
_LIMITS = {pa.date32(): (date.min, date.max), _TIME: (datetime.min, datetime.max)}


def kind(type_: pa.DataType) -> str:
    """Return the kind of values that an Arrow type holds, in words."""
    return next((name for name, plain_type in _KINDS.items() if plain_type == type_), str(type_))


def plain_types() -> dict[str, pa.DataType]:
    """Return the Arrow type used for each kind of value."""
    return dict(_KINDS)


def plain(array: pa.Array, *, where: str = "labels", first: int = 0) -> pa.Array:
    """Cast values to the Arrow type of their kind: text, int64, bool, date, time, float64.

    A dictionary array stays one, with its values cast.

    Parameters
    ----------
    array : pyarrow.Array
        Values of any kind that categories can have; BadData if the type of their kind cannot hold one.
    where : str
        The name of the values in messages.
    first : int
        The number of rows before these, for messages.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        values = plain(array.dictionary, where=where)
        return array if values is array.dictionary else pa.DictionaryArray.from_arrays(array.indices, values)
    values = cast_plain(array, plain_type(array.type))
    if values.null_count > array.null_count:
        at = int(np.argmax(where_lost(array, values)))
        raise outside_range(array, at, first + at + 1, where)
    return values


def decoded(array: pa.Array) -> pa.Array:
    """Return an array in one piece, without a dictionary."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def cast_plain(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Cast values without loss, to null where the type cannot hold one; −0.0 becomes 0.0."""
    fits = None
    try:
        values = array if array.type == type_ else array.cast(type_)
        if type_ == pa.bool_() != array.type:  # the cast takes 2 for true
            fits = _unchanged(array, values)
    except pa.ArrowInvalid:
        values = array.cast(type_, safe=False)
        fits = _unchanged(array, values)
    if type_ == pa.float64():
        values = pc.add(values, 0.0)
    elif type_ in _LIMITS:
        low, high = (pa.scalar(limit, type_) for limit in _LIMITS[type_])
        within = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
        fits = within if fits is None else pc.and_(fits, within)
    if fits is None or pc.all(fits, min_count=0).as_py():
        return values
    return pc.if_else(fits, values, pa.scalar(None, type_))


def _unchanged(given: pa.Array, cast: pa.Array) -> pa.Array:
    """Return where a cast that was not checked has kept the value."""
    same = pc.equal(cast.cast(given.type, safe=False), given)
    if given.type == pa.uint64():  # wraps, there and back
        same = pc.and_(same, pc.greater_equal(cast, 0))
    for side in (given, cast):
        if pa.types.is_floating(side.type):  # beyond int64, a cast gives different numbers on different processors
            same = pc.and_(same, pc.and_(pc.greater_equal(side, -(2.0**63)), pc.less(side, 2.0**63)))
    return same


def where_lost(given: pa.Array, cast: pa.Array) -> npt.NDArray[np.bool_]:
    """Return where a value became null."""
    if cast.null_count == given.null_count:
        return np.zeros(len(given), bool)
    return np.asarray(pc.and_(cast.is_null(), given.is_valid()).to_numpy(zero_copy_only=False))


def outside_range(array: pa.Array, at: int, row: int, where: str) -> BadData:
    """Return the error of a value that the type of its kind cannot hold."""
    want = _RANGES[plain_type(array.type)]
    got = f"{array.slice(at, 1).cast(pa.string())[0].as_py()} (row {row})"
    return BadData(wanted(where, want, got, "Round or convert it first"))


def plain_type(type_: pa.DataType) -> pa.DataType:
    """Return the Arrow type of the kind of values that a type holds."""
    is_ = pa.types
    if is_.is_null(type_):
        return type_
    if is_.is_string(type_) or is_.is_large_string(type_) or is_.is_string_view(type_):
        return pa.string()
    if is_.is_integer(type_):
        return pa.int64()
    if is_.is_boolean(type_):
        return type_
    if is_.is_date(type_):
        return pa.date32()
    if is_.is_timestamp(type_):
        return _TIME
    if is_.is_floating(type_) or is_.is_decimal(type_):
        return pa.float64()
    raise BadData(wanted("labels", "text, numbers, booleans or dates", str(type_), "Convert the column first"))


def as_kind(values: pa.Array, type_: pa.DataType, where: str) -> pa.Array:
    """Cast values to the categories' type, to null where none can be equal (3 and 3.0 are equal)."""
    own = plain_type(values.type)
    numeric = (pa.int64(), pa.float64(), pa.bool_())
    if own == type_:
        return cast_plain(values, own)
    if own in numeric and type_ in numeric:
        return cast_plain(cast_plain(values, own), type_)
    first = next(iter(cast_plain(values, own).drop_null().to_pylist()), None)
    raise BadData(wanted(where, f"{kind(type_)} as in training", f"{kind(own)} (first: {first!r})"))
