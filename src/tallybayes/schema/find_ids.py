"""Find columns that name each row, which tell nothing about rows to come."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.sources.steps import holds_text

__all__ = ["looks_like_id", "may_be_id"]

# Rows. With fewer, distinct values may be chance.
_LEAST_ROWS = 20
# customer_id, ID, PassengerId; and what pandas writes for an index.
_NAME = re.compile(r"(?:^|[\W_])(?i:id|uid|uuid|guid|rowid|index|unnamed: 0)$|[a-z]I[dD]$")
_LONG = r"^\d{19,}$"  # a whole number that no computer counts with
_WORD = r"^\S*\pL\S*$"  # some letter, and no gap: one of several words may come again
_UUID = r"^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$"


def may_be_id(field: pa.Field) -> bool:
    """Return whether a column's type and name allow an id, before its values are looked at."""
    kind = field.type
    return holds_text(kind) or bool(pa.types.is_integer(kind) and _NAME.search(field.name))


def looks_like_id(name: str, column: pa.Array) -> str:
    """Return why a column seems to name each row, "" if it does not.

    Parameters
    ----------
    name : str
        The column's name.
    column : pyarrow.Array
        Its values in the first rows.

    Examples
    --------
    >>> looks_like_id("customer_id", pa.array(range(100, 200)))
    'a different value in each row, and called an id'
    >>> looks_like_id("age", pa.array(range(100, 200)))
    ''
    """
    values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    present = values.drop_null()
    if len(present) < _LEAST_ROWS or pc.count_distinct(present).as_py() < len(present):
        return ""
    if _NAME.search(name):
        return "a different value in each row, and called an id"
    if holds_text(column.type):
        for what, pattern in (("a whole number of 19 digits or more", _LONG), ("a UUID", _UUID)):
            if pc.all(pc.match_substring_regex(present, pattern)).as_py():
                return f"{what} in each row"
        if pc.all(pc.match_substring_regex(present, _WORD)).as_py():
            return "another word in each row"
    return ""
