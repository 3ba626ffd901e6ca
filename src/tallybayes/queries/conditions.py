"""Conditions: where a term of a query holds in a column of text, numbers, booleans or dates."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.errors import BadOption, wanted
from tallybayes.plain_values import kind, plain
from tallybayes.queries.language import Term

Mask = npt.NDArray[np.bool_]
_COMPARE = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
# Characters that are not part of a word in any script.
_BETWEEN = r"[^\pL\pM\pN_]"
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def holds(term: Term, column: pa.Array) -> Mask | None:  # (n,)
    """Return where the term holds; None if a column of this type cannot hold its value.

    Examples
    --------
    >>> holds(Term("age", ">", "50"), pa.array([49, None, 51]))
    array([False, False,  True])
    >>> holds(Term("text", "~", "prince"), pa.array(["The Prince writes", "princes"]))
    array([ True, False])
    """
    type_ = column.type
    if pa.types.is_null(type_):
        return np.zeros(len(column), bool)
    if term.operator == "~":
        _need(pa.types.is_string(type_), term, "a column of text", type_)
        words = [re.escape(word) for word in term.value.split()]
        if not words:
            raise BadOption(wanted(f"query {str(term)!r}", "words after '~'", "none"))
        return _mask(pc.match_substring_regex(column, f"(?i)(^|{_BETWEEN}){f'{_BETWEEN}+'.join(words)}($|{_BETWEEN})"))
    if term.operator not in ("=", "!="):
        _need(not (pa.types.is_string(type_) or pa.types.is_boolean(type_)), term, "numbers or dates", type_)
    value = as_kind(term.value, type_)
    if value is None:
        return None
    compare = _COMPARE[term.operator]
    try:
        return _mask(compare(column, value))
    except pa.ArrowInvalid:  # a whole number beyond 2^53 beside a double
        return _mask(compare(column.cast(pa.float64(), safe=False), value.cast(pa.float64(), safe=False)))


def plain_column(column: pa.Array) -> pa.Array:
    """Return the column as text, numbers, booleans or dates, with null for NaN.

    Times of day are text, such as 14:30:00, and durations are numbers of seconds.
    """
    if pa.types.is_time(column.type):
        column = pc.replace_substring_regex(column.cast(pa.string()), r"\.0+$", "")
    elif pa.types.is_duration(column.type):
        column = pc.divide(column.cast(pa.duration("us")).cast(pa.int64()).cast(pa.float64()), 1e6)
    column = plain(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(column.type) else column


def missing_in(column: pa.Array) -> Mask:  # (n,)
    """Return where a plain column has no value."""
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))


def as_kind(text: str, type_: pa.DataType) -> pa.Scalar | None:
    """Convert text to a scalar of a column type; None if it cannot be converted.

    Examples
    --------
    >>> as_kind("True", pa.bool_()).as_py(), as_kind("2.5", pa.int64()).as_py(), as_kind("old", pa.int64())
    (True, 2.5, None)
    """
    if pa.types.is_string(type_):
        return pa.scalar(text)
    if pa.types.is_boolean(type_):
        found = _BOOLEANS.get(text.lower())
        return None if found is None else pa.scalar(found)
    try:
        if pa.types.is_integer(type_) or pa.types.is_floating(type_):
            return pa.scalar(_number(text))
        return pa.scalar(text).cast(type_)
    except (ValueError, pa.ArrowInvalid, OverflowError):
        return None


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _mask(result: Any) -> Mask:
    return np.asarray(pc.fill_null(result, False).to_numpy(zero_copy_only=False))


def _need(fits: bool, term: Term, want: str, type_: pa.DataType) -> None:
    if not fits:
        got = f"column {term.column!r} of {kind(type_)}"
        raise BadOption(wanted(f"query {str(term)!r}", f"{want} for {term.operator!r}", got))
