"""The reading of a column: how its texts become numbers, times, booleans or the parts of a date.

A reading is chosen once, from the first rows, and stored in the model, so that later rows are read in the same way. It
takes values that have the type already as they are, so reading twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.display.number_format import NumberFormat
from tallybayes.sources.clock import seconds
from tallybayes.sources.steps import without

Kind: TypeAlias = Literal["numbers", "times", "booleans", "dates"]
Part: TypeAlias = Literal["year", "month", "weekday", "hour", "days"]

PARTS: tuple[Part, ...] = get_args(Part)
ISO = ""  # the format of dates such as 2024-05-04 and 2024-05-04 10:30:00
# In several languages; single letters only where no other word of these begins with them.
YES = ("yes", "y", "true", "t", "ja", "j", "wahr", "oui", "vrai", "sí", "si", "sì", "verdadero", "vero", "sim", "tak")
NO = ("no", "n", "false", "f", "nein", "falsch", "non", "faux", "falso", "não", "nao", "nee", "nej", "nei", "nie")
CURRENCY = r"(?:[$€£¥₹₩₽]|USD|EUR|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CAD|AUD|INR|CNY|BRL|MXN|kr|zł|Fr\.)"
_GAP = r"[\s\x{00A0}\x{202F}]?"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# The values of parts of dates: numbered, so that they sort.
MONTHS = tuple(f"{k:02} {name}" for k, name in enumerate(_MONTHS, 1))
WEEKDAYS = tuple(f"{k} {name}" for k, name in enumerate(_DAYS, 1))
HOURS = tuple(f"{hour:02}" for hour in range(24))
_SECONDS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # units in a second
_DAY = 86_400_000_000  # microseconds
_FIRST_DAY, _LAST_DAY = -719_162.0, 2_932_896.0  # of the calendar: the years 1 to 9999, in days since 1970
# What may stand behind a number as its unit: cm, km/h, °C, m², Std., inches; no gap and no digit.
UNIT = r"[\pL°µΩ″\"][\pL°µΩ²³/·.″\"]{0,11}"


def number_pattern(decimal: str, unit: str = "") -> str:
    """Return the regular expression of a written number: 1234.5, $4,419.00, 31%, (1,200), 1e-3, or 158 cm.

    A separator of thousands stands between groups of three digits only, so '17,87' is no number with a decimal point.
    The unit is a regular expression, too, and takes the place of signs such as $ and %.
    """
    group = r"[,'\s\x{00A0}\x{202F}]" if decimal == "." else r"[.'\s\x{00A0}\x{202F}]"
    point = r"\." if decimal == "." else ","
    digits = rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)(?:{point}\d*)?|{point}\d+"
    if unit:
        return rf"^[-+−]?(?:{digits})(?:[eE][-+]?\d+)?{_GAP}(?:{unit})$"
    signed = rf"[-+−]?{_GAP}{CURRENCY}?{_GAP}[-+−]?(?:{digits})(?:[eE][-+]?\d+)?{_GAP}(?:%|{CURRENCY})?"
    return rf"^(?:{signed}|\({CURRENCY}?(?:{digits})\))$"


def unit_pattern(unit: str) -> str:
    """Return the regular expression of a unit, which may be left out."""
    return unit.replace(".", "[.]") + "|"


class Unreadable(ValueError):
    """A text that a reading cannot take: its row in the array, and the text."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(text)
        self.row, self.text = row, text


@dataclass(frozen=True)
class Reading:
    """How the values of a column are read.

    Attributes
    ----------
    kind : {"numbers", "times", "booleans", "dates"}
        What they become; times are seconds.
    options : tuple of str
        For numbers the decimal mark, and their unit if all have the same; for times none; for booleans the words for
        no and yes; for dates the format (empty for 2024-05-04 and the like) and the parts that become columns.

    Examples
    --------
    >>> Reading("numbers", (",",)).apply(pa.array(["1.234,50 €", "17,87", "-"]), ["-"])[0].to_pylist()
    [1234.5, 17.87, None]
    >>> Reading("numbers", (".", "cm")).apply(pa.array(["158 cm", "1,702cm"]), [])[0].to_pylist()
    [158.0, 1702.0]
    >>> Reading("booleans", ("no", "yes")).apply(pa.array(["Y", "no", "N"]), [])[0].to_pylist()
    ['yes', 'no', 'no']
    >>> when = Reading("dates", ("%d/%m/%Y", "month", "weekday"))
    >>> when.columns("when"), [part.to_pylist() for part in when.apply(pa.array(["04/05/2024"]), [])]
    (('when.month', 'when.weekday'), [['05 May'], ['6 Sat']])
    """

    kind: Kind
    options: tuple[str, ...]

    @property
    def spec(self) -> str:
        """The reading in a few words."""
        if self.kind == "dates":
            return f"dates as {', '.join(self.options[1:])}"
        if self.kind == "booleans":
            return f"{self.options[0]} or {self.options[1]}"
        if self.kind == "times":
            return "times, in seconds"
        unit = f" in {self.unit}" if self.unit else ""
        return f"numbers{unit}{' with a decimal comma' if self.options[0] == ',' else ''}"

    @property
    def one_value(self) -> str:
        """What a value is called in messages."""
        return {"numbers": "a number", "times": "a time", "booleans": "yes or no", "dates": "a date"}[self.kind]

    @property
    def unit(self) -> str:
        """The unit behind each number, "" if there is none."""
        return self.options[1] if self.kind == "numbers" and len(self.options) > 1 else ""

    @property
    def valid(self) -> bool:
        """Whether the options are of its kind; a model file may hold anything."""
        if self.kind == "numbers":
            return self.options[:1] in ((".",), (",",)) and (len(self.options) == 1 or _is_unit(self.options[1:]))
        if self.kind == "times":
            return not self.options
        if self.kind == "booleans":
            return len(self.options) == 2
        return self.kind == "dates" and len(self.options) > 1 and set(self.options[1:]) <= set(PARTS)

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the names of the columns that it makes of a column."""
        return tuple(f"{name}.{part}" for part in self.options[1:]) if self.kind == "dates" else (name,)

    def number_format(self, name: str, column: str) -> NumberFormat | None:
        """Return how numbers of one of these columns are written, None if plainly.

        Examples
        --------
        >>> when = Reading("dates", ("%d/%m/%Y", "year", "days"))
        >>> when.number_format("when", "when.days"), when.number_format("when", "when.year")
        (NumberFormat(kind='dates'), None)
        """
        if self.kind == "times" and column == name:
            return NumberFormat("times")
        if self.kind == "dates" and column == f"{name}.days":
            return NumberFormat("timestamps" if "hour" in self.options else "dates")
        return None

    def write(self, numbers: pa.Array) -> pa.Array:
        """Return days or seconds as texts that this reads: the inverse, but for the last digits.

        Examples
        --------
        >>> Reading("dates", ("%d.%m.%Y", "month", "days")).write(pa.array([19809.2, None])).to_pylist()
        ['27.03.2024', None]
        >>> TIMES.write(pa.array([52740.3])).to_pylist()
        ['14:39']
        """
        if self.kind == "times":
            format_ = NumberFormat("times")
            return pa.array(
                [None if x is None else format_.text(max(x, 0.0)) for x in numbers.to_pylist()], pa.string()
            )
        day, has_hours = 86_400, "hour" in self.options
        calendar = pc.min_element_wise(
            pc.max_element_wise(numbers, _FIRST_DAY, skip_nulls=False), _LAST_DAY, skip_nulls=False
        )
        seconds_ = pc.round(pc.multiply(calendar, float(day)) if has_hours else calendar)
        seconds_ = seconds_.cast(pa.int64()) if has_hours else pc.multiply(seconds_.cast(pa.int64()), day)
        iso = "%Y-%m-%d %H:%M:%S" if has_hours else "%Y-%m-%d"
        return pc.strftime(seconds_.cast(pa.timestamp("s")), self.options[0] or iso)

    def types(self, given: pa.DataType) -> tuple[pa.DataType, ...]:
        """Return the types of these columns, if the column has the given type."""
        if self.kind == "dates":
            return tuple(pa.float64() if part in ("year", "days") else pa.string() for part in self.options[1:])
        if self.kind == "booleans":
            return (pa.string(),)
        return (given,) if _is_number(given) else (pa.float64(),)

    def apply(self, column: pa.Array, missing: Sequence[str]) -> list[pa.Array]:
        """Return the columns that it makes of a column; `missing` are the texts that stand for no value.

        Raises
        ------
        Unreadable
            If a text is neither such a value nor missing.
        """
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            trimmed = pc.utf8_trim_whitespace(column)
            column = without(trimmed, missing) if missing else trimmed
        read: Callable[[pa.Array], list[pa.Array]] = {
            "numbers": self._numbers,
            "times": self._times,
            "booleans": self._booleans,
            "dates": self._dates,
        }[self.kind]
        return read(column)

    def _numbers(self, column: pa.Array) -> list[pa.Array]:
        kind = column.type
        if _is_number(kind):
            return [column]
        if pa.types.is_null(kind):
            return [column.cast(pa.float64())]
        if not _is_text(kind):
            raise _unreadable(column, column.is_valid())
        return [_parse_numbers(column, self.options[0], self.unit)]

    def _times(self, column: pa.Array) -> list[pa.Array]:
        kind = column.type
        if pa.types.is_duration(kind):
            return [pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), _SECONDS[kind.unit])]
        if pa.types.is_time(kind):
            ticks = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
            return [pc.divide(ticks.cast(pa.float64()), _SECONDS[kind.unit])]
        if not _is_text(kind):
            return NUMBERS._numbers(column)
        made = seconds(column)
        wrong = pc.and_(column.is_valid(), made.is_null())
        if pc.any(wrong, min_count=0).as_py():
            raise _unreadable(column, wrong)
        return [made]

    def _booleans(self, column: pa.Array) -> list[pa.Array]:
        no, yes = self.options
        if pa.types.is_null(column.type):
            return [column.cast(pa.string())]
        if _is_text(column.type):
            word = pc.utf8_lower(column)
            is_yes, is_no = (pc.is_in(word, pa.array(words, word.type)) for words in (YES, NO))
        elif pa.types.is_boolean(column.type):
            is_yes, is_no = column, pc.invert(column)
        elif _is_number(column.type):
            is_yes, is_no = pc.equal(column, 1), pc.equal(column, 0)
        else:
            is_yes = is_no = pa.array(np.zeros(len(column), bool))
        known = pc.fill_null(pc.or_(is_yes, is_no), False)
        wrong = pc.and_(column.is_valid(), pc.invert(known))
        if pc.any(wrong, min_count=0).as_py():
            raise _unreadable(column, wrong)
        words = pc.if_else(pc.fill_null(is_yes, False), yes, no).cast(pa.string())
        return [pc.if_else(known, words, pa.scalar(None, pa.string()))]

    def _dates(self, column: pa.Array) -> list[pa.Array]:
        time = to_time(column, self.options[0])
        wrong = pc.and_(column.is_valid(), time.is_null())
        if pc.any(wrong, min_count=0).as_py():
            raise _unreadable(column, wrong)
        return [_part(time, part) for part in self.options[1:]]


NUMBERS, TIMES = Reading("numbers", (".",)), Reading("times", ())


def to_time(column: pa.Array, format_: str) -> pa.Array:
    """Return dates as times in microseconds, null where a text is no such date."""
    unit = pa.timestamp("us")
    if pa.types.is_null(column.type) or pa.types.is_temporal(column.type):
        return column.cast(unit, safe=False)
    if not _is_text(column.type):
        return pa.nulls(len(column), unit)
    if format_ != ISO:
        return pc.strptime(column, format_, "us", error_is_null=True)
    for kind in (unit, pa.timestamp("us", "UTC")):
        try:
            return column.cast(kind).cast(unit)
        except pa.ArrowInvalid:
            continue
    return pa.array([_iso(text) for text in column.to_pylist()], unit)  # only to name the text that is no date


def _iso(text: str | None) -> object:
    try:
        return pa.scalar(text).cast(pa.timestamp("us")).as_py()
    except (pa.ArrowInvalid, OverflowError):
        return None


def _part(time: pa.Array, part: str) -> pa.Array:
    if part == "year":
        return pc.year(time).cast(pa.float64())
    if part == "days":  # since 1970
        # Not every microsecond before 1684 or after 2255 is a double; days are.
        return pc.divide(time.cast(pa.int64()).cast(pa.float64(), safe=False), float(_DAY))
    if part == "hour":
        return pa.array(HOURS).take(pc.hour(time))
    if part == "month":
        return pa.array(MONTHS).take(pc.subtract(pc.month(time), 1))
    return pa.array(WEEKDAYS).take(pc.day_of_week(time))


def _parse_numbers(column: pa.Array, decimal: str, unit: str) -> pa.Array:
    if unit:
        wrong = pc.invert(pc.match_substring_regex(column, number_pattern(decimal, unit_pattern(unit))))
        if pc.any(wrong, min_count=0).as_py():
            raise _unreadable(column, wrong)
        column = pc.replace_substring_regex(column, rf"{_GAP}(?:{unit_pattern(unit)})$", "")
    if decimal == ".":
        try:
            return column.cast(pa.float64())
        except pa.ArrowInvalid:
            pass
    wrong = pc.invert(pc.match_substring_regex(column, number_pattern(decimal)))
    if pc.any(wrong, min_count=0).as_py():
        raise _unreadable(column, wrong)
    bare = pc.replace_substring_regex(column, CURRENCY, "")
    bare = pc.replace_substring_regex(bare, r"^\((.*)\)$", r"-\1")
    bare = pc.replace_substring(bare, "−", "-")
    bare = pc.replace_substring_regex(bare, r"[^0-9eE+\-" + ("." if decimal == "." else ",") + "]", "")
    if decimal == ",":
        bare = pc.replace_substring(bare, ",", ".")
    return pc.replace_substring_regex(bare, r"^\+", "").cast(pa.float64())


def _unreadable(column: pa.Array, wrong: pa.Array) -> Unreadable:
    row = pc.index(wrong, True).as_py()  # a missing value is neither right nor wrong
    return Unreadable(row, str(column[row].as_py()))


def _is_unit(texts: Sequence[str]) -> bool:
    return len(texts) == 1 and bool(pc.match_substring_regex(pa.array(texts), f"^{UNIT}$")[0].as_py())


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(kind: pa.DataType) -> bool:
    is_ = pa.types
    return bool(is_.is_integer(kind) or is_.is_floating(kind) or is_.is_decimal(kind) or is_.is_boolean(kind))
