"""Find columns that name each row, which tell nothing about rows to come."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.sources.steps import holds_text

__all__ = ["find_ids", "looks_like_id", "may_be_id"]

# Rows. With fewer, distinct values may be chance.
_LEAST_ROWS = 20
# Rows of a running number that is not called an id: in a smaller table, 1 to 20 may be doses or steps.
_LEAST_RUNNING = 30
# Of the whole numbers between the lowest and the highest, the share that a running number has: a random two thirds of
# a table, as for training, still look like one. Twenty drawn at random from thirty are distinct in 1 of 5,000 cases,
# and more in fewer, so measurements hardly do: prices, populations and milliseconds have gaps or repeat.
_DENSE = 2 / 3
# What ids are called: customer_id, ID, PassengerId, Kundennr, lfd. Nr.; and what pandas writes for an index.
_WORDS = (
    "id|uid|uuid|guid|rowid|idx|key|pk|nr|no|num|number|nro|ident|identifier|identifiant|identificador|kennung|nummer"
    "|numer|numero|numéro|número|schlüssel|clé|clave|chiave|chave|matricule|serial|rownum|rownames|unnamed: 0"
)
# These are compiled when first asked for: most tables have no column of distinct values.
_NAME = (
    rf"(?:^|[\W_\d])(?i:{_WORDS})\.?$|(?i:nr|nummer|number)\.?$|[a-z](?:I[dD]|No|Num|Key)$|(?i:^(?:row[\W_]?)?index$)"
    r"|^[#№]$|[Nn][°º]$"
)
# A table may have one row for each year or minute, and where in time a row is may tell its class.
_TIME = (
    r"(?:^|[\W_\d])(?i:t|years?|yr|jahre?|années?|annee|an|años?|anno|ano|jaar|months?|monate?|mois|mes|weeks?|wochen?|kw"
    r"|semaine|semana|days?|tage?|jour|día|dia|giorno|hours?|stunden?|heure|hora|minutes?|seconds?|time|timestamp|zeit"
    r"|temps|tiempo|tempo|when|wann|quand|date|datum|fecha|epoch|quarter|season|age|alter)$"
    r"|[a-z](?:Year|Month|Week|Day|Hour|Time|Date)$"
)
_LONG = r"^\d{19,}$"  # a whole number that no computer counts with
_WHOLE = r"^\d{1,18}$"
_WORD = r"^\S*\pL\S*$"  # some letter, and no gap: one of several words may come again
_UUID = r"^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$"


def find_ids(batch: pa.RecordBatch, able: Iterable[pa.Field]) -> dict[str, str]:
    """Return the columns among these that seem to name each row, and why.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        The first rows.
    able : iterable of pyarrow.Field
        The columns that may be left out.

    Examples
    --------
    >>> rows = pa.record_batch({"nr": list(range(7, 57)), "x": [k % 7 for k in range(50)]})
    >>> list(find_ids(rows, rows.schema))
    ['nr']
    """
    looked = {one.name: looks_like_id(one.name, batch.column(one.name)) for one in able if may_be_id(one)}
    return {name: reason for name, reason in looked.items() if reason}


def may_be_id(field: pa.Field) -> bool:
    """Return whether a column's type allows an id, before its values are looked at."""
    kind = field.type
    return bool(holds_text(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind))


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
    >>> looks_like_id("customer_id", pa.array([k * k for k in range(100)]))
    'a different value in each row, and called an id'
    >>> looks_like_id("customer", pa.array(range(100, 200)))
    'a running number: new rows have others'
    >>> [looks_like_id(name, pa.array(range(1900, 2000))) for name in ("year", "Jahr")]
    ['', '']
    """
    values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    present = values.drop_null()
    if len(present) < _LEAST_ROWS or not _are_whole_or_text(present):
        return ""
    if any(pc.count_distinct(some).as_py() < len(some) for some in (present.slice(0, _LEAST_ROWS), present)):
        return ""
    if re.search(_NAME, name):
        return "a different value in each row, and called an id"
    if holds_text(column.type):
        for what, pattern in (("a whole number of 19 digits or more", _LONG), ("a UUID", _UUID)):
            if _all_match(present, pattern):
                return f"{what} in each row"
        if not _all_match(present, _WHOLE):
            return "another word in each row" if _all_match(present, _WORD) else ""
        present = present.cast(pa.int64())
    return "" if re.search(_TIME, name) or not _is_dense(present) else "a running number: new rows have others"


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _are_whole_or_text(values: pa.Array) -> bool:
    """Return whether values are texts or whole numbers; a column of numbers with gaps may hold them as floats."""
    if not pa.types.is_floating(values.type):
        return True
    return all(pc.all(pc.equal(pc.floor(some), some)).as_py() for some in (values.slice(0, _LEAST_ROWS), values))


def _is_dense(values: pa.Array) -> bool:
    """Return whether distinct whole numbers fill most of their range."""
    ends = pc.min_max(values).as_py()
    return len(values) >= _LEAST_RUNNING and bool(len(values) >= _DENSE * (float(ends["max"]) - float(ends["min"]) + 1))
