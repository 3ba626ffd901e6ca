"""Numbers that were read from dates and times, written as dates and times again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

__all__ = ["NumberFormat"]

_FIRST = datetime(1970, 1, 1)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)  # months between round dates
_DAYS = (1, 2, 7, 14)
_SECONDS = (1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800)


@dataclass(frozen=True)
class NumberFormat:
    """How a column's numbers are written: days since 1970 as dates, seconds as times.

    Examples
    --------
    >>> NumberFormat("dates").text(19809.0), NumberFormat("timestamps").text(19809.5), NumberFormat("times").text(52740)
    ('2024-03-27', '2024-03-27 12:00', '14:39')
    >>> NumberFormat("times").of_range("3600 to 7205")
    '1:00 to 2:00:05'
    """

    kind: Literal["dates", "timestamps", "times"]

    def text(self, x: float) -> str:
        """Return a number as a date or a time, if a calendar has it."""
        if self.kind == "times":
            return _clock(x) if math.isfinite(x) else f"{x:.6g}"
        try:
            moment = _FIRST + timedelta(minutes=round(x * 1440))
        except (OverflowError, ValueError):
            return f"{x:.6g}"
        whole = moment.isoformat(" ", "minutes").removesuffix(" 00:00")
        return whole[:10] if self.kind == "dates" else whole

    def of_range(self, text: str) -> str:
        """Return a number or a range as dates or times; other text unchanged."""
        try:
            ends = [float(end) for end in text.split(" to ")]
        except ValueError:
            return text
        # The ends are rounded to six digits: enough for a date, but not for its hour.
        plain = NumberFormat("dates") if self.kind == "timestamps" else self
        return " to ".join(dict.fromkeys(plain.text(end) for end in ends))

    @property
    def expression(self) -> str:
        """The label of an axis, as an expression of Vega."""
        if self.kind == "times":
            clock = "floor(datum.value / 3600) + ':' + pad(floor(datum.value / 60) % 60, 2, '0', 'left')"
            return f"({clock}) + (datum.value % 60 ? ':' + pad(round(datum.value % 60), 2, '0', 'left') : '')"
        return "utcFormat(datum.value * 86400000, '%Y-%m-%d')"

    def ticks(self, low: float, high: float, most: int) -> tuple[float, ...]:
        """Return at most some round dates or times between two, or both ends.

        Examples
        --------
        >>> days = NumberFormat("dates")
        >>> [days.text(x) for x in days.ticks(19716, 20061, 5)]
        ['2024-01-01', '2024-04-01', '2024-07-01', '2024-10-01']
        """
        found = self._seconds(low, high, most) if self.kind == "times" else _round_dates(low, high, most)
        return found or (low, high)

    @staticmethod
    def _seconds(low: float, high: float, most: int) -> tuple[float, ...]:
        step = next((one for one in _SECONDS if (high - low) / one <= most - 1), 0)
        return () if not step else tuple(float(k * step) for k in range(math.ceil(low / step), int(high // step) + 1))


def _clock(x: float) -> str:
    sign, whole = "−" if x < 0 else "", abs(round(x))
    hours, minutes, seconds = whole // 3600, whole // 60 % 60, whole % 60
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds:02}" if seconds else "")


def _round_dates(low: float, high: float, most: int) -> tuple[float, ...]:
    day = next((one for one in _DAYS if (high - low) / one <= most - 1), 0)
    if day:
        return tuple(float(k * day) for k in range(math.ceil(low / day), int(high // day) + 1))
    months = next((one for one in _MONTHS if (high - low) / (30.4 * one) <= most - 1), _MONTHS[-1])
    try:
        first, last = ((_FIRST + timedelta(days=end)).date() for end in (low, high))
    except OverflowError:
        return ()
    start = (first.year * 12 + first.month - 1) // months
    starts = (divmod(k * months, 12) for k in range(start, (last.year * 12 + last.month) // months + 1))
    days = (float((date(year, month + 1, 1) - _FIRST.date()).days) for year, month in starts if 0 < year < 10_000)
    return tuple(x for x in days if low <= x <= high)
