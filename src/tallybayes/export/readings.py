"""The readings of columns as regular expressions, for languages that have no other way to read a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tallybayes.sources.clock import CLOCK, HALF_DAY
from tallybayes.sources.reading import CURRENCY, ISO, number_pattern, unit_pattern

__all__ = ["MONTH_NAMES", "DatePattern", "clock_of_text", "currency", "date_pattern", "number_of_text", "unit_of_text"]

MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

_SPACE = r"\t\n\f\r "  # what \s is in RE2; elsewhere it has more
_TWO = r"([0-9]{1,2})"
_FIELDS = {
    "%Y": ("year", r"([0-9]{1,4})"),
    "%y": ("short year", _TWO),
    "%m": ("month", _TWO),
    "%b": ("month name", r"([A-Za-z]{3,9})"),
    "%B": ("month name", r"([A-Za-z]{3,9})"),
    "%d": ("day", _TWO),
    "%H": ("hour", _TWO),
    "%I": ("hour", _TWO),
    "%p": ("half", r"([AaPp])[Mm]"),
    "%M": ("minute", _TWO),
    "%S": ("second", _TWO),
}
_ISO_FIELDS = ("year", "month", "day", "hour", "minute", "second", "zone")
_ISO_PATTERN = (
    r"^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?)?)?"
    r"(Z|[-+][0-9]{2}(?::?[0-9]{2})?)?$"
)


@dataclass(frozen=True)
class DatePattern:
    """A regular expression of a date, and what its groups are."""

    pattern: str
    fields: tuple[str, ...]


def date_pattern(format_: str) -> DatePattern:
    """Return the regular expression of dates in a format of `strptime`, or of 2024-05-04 10:30 if it is empty.

    Examples
    --------
    >>> date_pattern("%d.%m.%y").fields
    ('day', 'month', 'short year')
    """
    if format_ == ISO:
        return DatePattern(_ISO_PATTERN, _ISO_FIELDS)
    parts = re.split(r"(%[A-Za-z])", format_)
    fields = tuple(_FIELDS[part][0] for part in parts if part in _FIELDS)
    return DatePattern(
        f"^{''.join(_FIELDS[part][1] if part in _FIELDS else _literal(part) for part in parts)}$", fields
    )


def _literal(text: str) -> str:
    # To strptime, a space is any number of spaces. No other character of a format is a sign of regular expressions
    # but the dot.
    return text.replace(".", "[.]").replace(" ", f"[{_SPACE}]*")


def number_of_text(decimal: str, unit: str = "") -> str:
    """Return the regular expression of a written number, without what languages spell differently."""
    return _plain(number_pattern(decimal, unit_pattern(unit) if unit else ""))


def unit_of_text(unit: str) -> str:
    """Return the regular expression of a unit behind a number."""
    return f"(?:{unit_pattern(unit)})$"


def clock_of_text() -> tuple[str, str]:
    """Return the regular expressions of times: of a day and of half a day, their groups hour, minute, second, half."""
    whole, half = (re.sub(r"\?P<\w+>", "", _plain(pattern)) for pattern in (CLOCK, HALF_DAY))
    return whole, half


def currency() -> str:
    """Return the regular expression of a currency."""
    return _plain(CURRENCY)


def _plain(pattern: str) -> str:
    found = pattern.replace(r"\d", "[0-9]").replace(r"\s", _SPACE)
    return re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda code: chr(int(code[1], 16)), found)
