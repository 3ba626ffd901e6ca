"""Find how the columns of a table are to be read, from the values in its first rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.sources.clock import seconds
from tallybayes.sources.missing import markers_of_numbers
from tallybayes.sources.reading import ISO, NO, NUMBERS, PARTS, TIMES, UNIT, YES, Reading, number_pattern, to_time
from tallybayes.sources.steps import holds_text, without

__all__ = ["LOOK_ROWS", "Found", "find_reading", "units_of"]

# Rows that decide. All engines look at the same ones, so that they read alike.
LOOK_ROWS = 5000
# Distinct values. Dates that repeat so often are names, as are texts of digits.
_FEW_DATES, _FEW_NUMBERS = 10, 20
_TIME = r"(?:[ T]\d{1,2}:\d{2}(?::\d{2})?(?: ?[aApP][mM])?)?"
# The shape of a date, and its formats: the first that fits all values is taken.
_DATES = (
    (r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?:Z|[-+]\d{2}:?\d{2})?", (ISO,)),
    (r"\d{4}-\d{1,2}-\d{1,2}", ("%Y-%m-%d",)),  # with the hours of half a day, or without zeros
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%m/%d/%Y", "%d/%m/%Y")),
    (r"\d{1,2}/\d{1,2}/\d{2}", ("%m/%d/%y", "%d/%m/%y")),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", ("%d.%m.%y",)),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%d-%m-%Y", "%m-%d-%Y")),
    (r"\d{1,2}[ -][A-Z][a-z]{2}[ -]\d{4}", ("%d %b %Y", "%d-%b-%Y")),
    (r"\d{1,2} [A-Z][a-z]{3,8} \d{4}", ("%d %B %Y",)),
    (r"[A-Z][a-z]{2} \d{1,2}, \d{4}", ("%b %d, %Y",)),
    (r"[A-Z][a-z]{3,8} \d{1,2}, \d{4}", ("%B %d, %Y",)),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_PLAIN = r"^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$"
_UNIT_AT_END = rf"(?P<unit>{UNIT})$"
_NO_UNITS = ("am", "pm", "a.m.", "p.m.", "e")  # halves of the day: 12 AM is no twelve; and an exponent without digits
_CODE = r"^[-+]?0\d|^\d{19,}$"  # digits that are no number: a code with leading zeros, or an id


@dataclass(frozen=True)
class Found:
    """The reading of a column, and why it was chosen."""

    reading: Reading
    reason: str


def find_reading(
    column: pa.Array, missing: sources.MissingValues, *, numbers: bool = False, mixed: bool = False
) -> Found | None:
    """Return how a column of these values is read; None if as it is.

    Parameters
    ----------
    column : pyarrow.Array
        Its values in the first rows.
    missing : sequence of str, or "auto"
        The texts that stand for a missing value.
    numbers : bool
        Whether its event model takes numbers, so that only numbers will do.
    mixed : bool
        Whether rows that were left out may be why a column of few whole numbers came as text.

    Examples
    --------
    >>> find_reading(pa.array(["$1,200", "$80", None]), "auto").reason
    "money such as '$1,200'"
    >>> find_reading(pa.array(["sunny", "rainy"]), "auto") is None
    True
    """
    column = column.slice(0, LOOK_ROWS)
    kind = column.type
    if pa.types.is_duration(kind):
        return Found(TIMES, "durations, in seconds")
    if pa.types.is_time(kind):
        return Found(TIMES, "times of day, in seconds")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return None if numbers or _is_few(pc.unique(column), _FEW_DATES) else _dates(column, ISO, "")
    if not holds_text(kind):
        return None
    texts = column.dictionary_decode() if pa.types.is_dictionary(kind) else column
    texts = pc.utf8_trim_whitespace(texts)
    present = without(texts, markers_of_numbers(missing)).drop_null()
    values = pc.unique(present)
    if not len(values):
        return None
    if not _is_few(values, _FEW_DATES) and _are_times(values.slice(0, 20)) and _are_times(values):
        return Found(TIMES, f"times such as {values[0].as_py()!r}, in seconds")
    marked = mixed or len(present) < len(texts) - texts.null_count
    found = _numbers(values, marked=marked or numbers)
    return found if found or numbers else _booleans(texts, present, values, marked=marked) or _text_dates(values)


def _is_few(values: pa.Array, most: int) -> bool:
    return bool(len(values) - values.null_count <= most)


def _all_match(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _are_times(values: pa.Array) -> bool:
    return bool(seconds(values).null_count == 0)


def _numbers(values: pa.Array, *, marked: bool) -> Found | None:
    if not _all_match(values.slice(0, 20), r"\d") or not _all_match(values, r"\d"):
        return None
    if pc.any(pc.match_substring_regex(values, _CODE)).as_py():
        return None
    if _all_match(values, _PLAIN):
        whole = _all_match(values, r"^[-+]?\d+$")
        if whole and _is_few(values, _FEW_NUMBERS) and not marked:
            return None
        return Found(NUMBERS, "numbers, written as text")
    for decimal in (".", ","):
        if _all_match(values, number_pattern(decimal)):
            return Found(Reading("numbers", (decimal,)), _number_reason(values, decimal))
    return _numbers_with_unit(values)


def _numbers_with_unit(values: pa.Array) -> Found | None:
    """Return the reading of numbers that all have the same unit."""
    units = units_of(values)
    if len(units) != 1 or units[0].lower() in _NO_UNITS or len(values) < 2:
        return None
    decimal = "." if _all_match(values, number_pattern(".", UNIT)) else ","
    comma = ", with a decimal comma" if decimal == "," else ""
    return Found(
        Reading("numbers", (decimal, units[0])), f"numbers in {units[0]}, such as {values[0].as_py()!r}{comma}"
    )


def units_of(values: pa.Array) -> list[str]:
    """Return the different units of numbers such as 158 cm, none if a value is no such number.

    Examples
    --------
    >>> units_of(pa.array(["158 cm", "1.7 m", "164cm"])), units_of(pa.array(["158 cm", "tall"]))
    (['cm', 'm'], [])
    """
    if not any(_all_match(values, number_pattern(decimal, UNIT)) for decimal in (".", ",")):
        return []
    return [
        str(unit) for unit in pc.unique(pc.struct_field(pc.extract_regex(values, _UNIT_AT_END), "unit")).to_pylist()
    ]


def _number_reason(values: pa.Array, decimal: str) -> str:
    def first(pattern: str) -> str | None:
        hits = values.filter(pc.match_substring_regex(values, pattern))
        return str(hits[0].as_py()) if len(hits) else None

    comma = ", with a decimal comma" if decimal == "," else ""
    for what, pattern in (("percent", "%"), ("money", r"[^\d\s.,'%+\-−()eE\x{00A0}\x{202F}]")):
        if (such := first(pattern)) is not None:
            return f"{what} such as {such!r}{comma}"
    such = first(r",\d" if comma else r"\d[^\d.]\d") or str(values[0].as_py())
    return f"numbers such as {such!r}{comma or ', with separators'}"


def _booleans(texts: pa.Array, present: pa.Array, values: pa.Array, *, marked: bool) -> Found | None:
    """Return the reading of yes and no, where spellings vary or are mixed with markers."""
    words = pc.utf8_lower(values)
    if len(values) > len(YES + NO) * 3 or not pc.all(pc.is_in(words, pa.array(YES + NO, words.type))).as_py():
        return None
    spelled: dict[bool, str] = {}
    for one in sorted(pc.value_counts(present).to_pylist(), key=lambda one: (-one["counts"], one["values"])):
        spelled.setdefault(one["values"].lower() in YES, one["values"])
    if len(spelled) < 2 or (len(values) == 2 and not marked and len(pc.unique(texts.drop_null())) == 2):
        return None
    listed = ", ".join(repr(value) for value in values.to_pylist()[:4])
    return Found(Reading("booleans", (spelled[False], spelled[True])), f"yes or no, written {listed}")


def _text_dates(values: pa.Array) -> Found | None:
    if _is_few(values, _FEW_DATES):
        return None
    first = str(values[0].as_py())
    for shape, formats in _DATES:
        if not re.fullmatch(shape if formats == (ISO,) else shape + _TIME, first):
            continue
        fitting = _fitting(values, formats)
        if fitting:
            order = ", month first (day first would fit too)" if len(fitting) > 1 and fitting[0][:2] == "%m" else ""
            order = ", day first (month first would fit too)" if len(fitting) > 1 and fitting[0][:2] == "%d" else order
            return _dates(values, fitting[0], f" such as {first!r}{order}")
    return None


def _fitting(values: pa.Array, formats: Sequence[str]) -> list[str]:
    """Return the formats that all values fit."""
    full = [format_ + time for format_ in formats for time in (_TIMES if format_ != ISO else ("",))]
    return [format_ for format_ in full if to_time(values, format_).null_count == 0]


def _dates(values: pa.Array, format_: str, such: str) -> Found:
    time = to_time(values, format_)
    timed = pc.any(pc.not_equal(time, pc.floor_temporal(time, unit="day"))).as_py()
    parts = tuple(part for part in PARTS if part != "hour" or timed)
    return Found(Reading("dates", (format_, *parts)), f"{'times' if timed else 'dates'}{such}")
