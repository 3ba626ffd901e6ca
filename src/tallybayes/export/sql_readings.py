"""Readings in SQL: texts such as '$1,200', '2:39 PM', 'Y' or '04/05/2024' become numbers, words and parts of dates.

A column is cast to text first, so that it may be text or have the type already. A text that `predict` would refuse
marks its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tallybayes.errors import BadOption, wanted
from tallybayes.export.readings import (
    MONTH_NAMES,
    DatePattern,
    clock_of_text,
    currency,
    date_pattern,
    number_of_text,
    unit_of_text,
)
from tallybayes.export.sql_dialect import Dialect, number
from tallybayes.export.sql_scores import select
from tallybayes.export.sql_text import WITH_WORDS, spaces
from tallybayes.schema.schema import Schema
from tallybayes.sources.missing import markers_of_numbers
from tallybayes.sources.reading import HOURS, ISO, MONTHS, NO, WEEKDAYS, YES, Reading

__all__ = ["SqlReadings"]

_DAY = 86_400_000_000  # microseconds
_FIRST_DAY = 2_440_588  # the Julian day of 1970-01-01


@dataclass
class SqlReadings:
    """The steps that read columns.

    Attributes
    ----------
    first : list of str
        The columns of the table, as expressions for the first step.
    steps : dict of str to list of str
        What each further step adds.
    wrong : list of str
        The columns that say whether a text could not be read.
    """

    schema: Schema
    sql: Dialect
    first: list[str] = field(default_factory=list)
    steps: dict[str, list[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        columns = {name: f"raw_{k}" for k, name in enumerate(self.schema.columns)}
        for step in ("trimmed", "parsed", "dated", "read"):
            self.steps[step] = []
        for j, name in enumerate(self.schema.inputs):
            reading = self.schema.readings.get(name)
            if reading is None:
                self.first.append(f"{self.sql.name(name)} AS {columns[name]}")
                continue
            if self.sql.key not in WITH_WORDS:
                do = "Convert the column before you fit, or use to_json, to_html or tb.register_duckdb"
                want = f"a dialect with regular expressions ({', '.join(WITH_WORDS)}) to read {reading.spec}"
                raise BadOption(wanted(f"column {name!r}", want, repr(self.sql.key), do))
            self._read(j, name, reading, columns)

    def queries(self, before: str, passed: Sequence[str]) -> list[tuple[str, str]]:
        """Return the steps after `before`, whose columns are `passed` and those that are read."""
        made, columns = [], [*passed, *(one.rsplit(" AS ", 1)[1] for one in self.first)]
        for step, added in self.steps.items():
            if added:
                made.append((step, select([*columns, *added], before)))
                before, columns = step, [*columns, *(one.rsplit(" AS ", 1)[1] for one in added)]
        return made

    def _read(self, j: int, name: str, reading: Reading, columns: dict[str, str]) -> None:
        sql = self.sql
        self.first.append(f"{sql.to_text(sql.name(name))} AS source_{j}")
        trimmed = sql.replace_all(f"source_{j}", f"^[{spaces(sql)}]+|[{spaces(sql)}]+$", "")
        markers = ", ".join(map(sql.value, markers_of_numbers(self.schema.missing_values)))
        lacks = f"{trimmed} IN ({markers})" if markers else "FALSE"
        self.steps["trimmed"].append(f"CASE WHEN {lacks} THEN NULL ELSE {trimmed} END AS text_{j}")
        self.wrong.append(f"wrong_{j}")
        if reading.kind == "dates":
            self._read_dates(j, reading, [columns.get(part, "") for part in reading.columns(name)])
            return
        if reading.kind == "numbers":
            value = self._number(f"text_{j}", reading)
        else:
            value = self._time(f"text_{j}") if reading.kind == "times" else self._word(j, reading)
        self.steps["parsed"].append(f"{value} AS value_{j}")
        self.steps["read"].append(f"value_{j} AS {columns[name]}")
        self.steps["read"].append(f"(text_{j} IS NOT NULL AND value_{j} IS NULL) AS wrong_{j}")

    def _number(self, text: str, reading: Reading) -> str:
        """Return the number of a text, NULL where it is none."""
        sql, decimal, unit = self.sql, reading.options[0], reading.unit
        bare = sql.replace_all(text, unit_of_text(unit) if unit else currency(), "")
        bare = sql.replace_all(bare, r"^\((.*)\)$", "-" + sql.group(1))
        bare = f"REPLACE({bare}, '−', '-')"
        bare = sql.replace_all(bare, f"[^0-9eE+{decimal}-]", "")
        bare = f"REPLACE({bare}, ',', '.')" if decimal == "," else bare
        cast = f"CAST({sql.replace_all(bare, '^[+]', '')} AS {sql.double})"
        return f"CASE WHEN {sql.matches(text, number_of_text(decimal, unit))} THEN {cast} END"

    def _time(self, text: str) -> str:
        """Return the seconds of a time of day or a duration, NULL where a text is neither."""
        sql, (whole, half) = self.sql, clock_of_text()

        def part(pattern: str, group: int) -> str:
            found = sql.replace_all(text, pattern, sql.group(group))
            return f"COALESCE(CAST(NULLIF({found}, '') AS {sql.double}), 0)"

        def total(pattern: str, hour: str) -> str:
            return f"3600e0 * ({hour}) + 60e0 * {part(pattern, 2)} + {part(pattern, 3)}"

        later = f"CASE WHEN LOWER({sql.replace_all(text, half, sql.group(4))}) = 'p' THEN 12 ELSE 0 END"
        hour = f"CASE WHEN {part(half, 1)} = 12 THEN 0 ELSE {part(half, 1)} END + {later}"
        # A column of numbers holds seconds already.
        plain = ("^-?[0-9]+(?:[.][0-9]*)?(?:[eE][-+]?[0-9]+)?$", f"CAST({text} AS {sql.double})")
        cases = ((whole, total(whole, part(whole, 1))), (half, total(half, hour)), plain)
        return f"CASE {' '.join(f'WHEN {sql.matches(text, one)} THEN {sum_}' for one, sum_ in cases)} END"

    def _word(self, j: int, reading: Reading) -> str:
        """Return the model's word for yes or no."""
        no, yes = map(self.sql.value, reading.options)
        cases = [(("1", *YES), yes), (("0", *NO), no)]  # a boolean is 1 or 0 in some databases
        told = (f"WHEN LOWER(text_{j}) IN ({', '.join(map(self.sql.value, some))}) THEN {word}" for some, word in cases)
        return f"CASE {' '.join(told)} END"

    def _read_dates(self, j: int, reading: Reading, columns: Sequence[str]) -> None:
        """Add year, month, day and microseconds, then the Julian day, then the parts."""
        sql, text = self.sql, f"text_{j}"
        # What has the type already is written as 2024-05-04, whatever the format of texts.
        patterns = list(dict.fromkeys([date_pattern(reading.options[0]), date_pattern(ISO)]))
        for name, of in (("year", _year), ("month", _month), ("day", _day), ("micros", _micros)):
            cases = " ".join(f"WHEN {sql.matches(text, one.pattern)} THEN {of(one, text, sql)}" for one in patterns)
            self.steps["parsed"].append(f"CASE {cases} END AS {name}_{j}")
        y, m, d, us = (f"{name}_{j}" for name in ("year", "month", "day", "micros"))
        early = f"FLOOR((14 - {m}) / 12e0)"
        y_, m_ = f"({y} + 4800 - {early})", f"({m} + 12 * {early} - 3)"
        julian = (
            f"{d} + FLOOR((153 * {m_} + 2) / 5e0) + 365 * {y_} + FLOOR({y_} / 4e0) - FLOOR({y_} / 100e0)"
            f" + FLOOR({y_} / 400e0) - 32045"
        )
        long = f"CASE WHEN {m} IN (4, 6, 9, 11) THEN 30 WHEN {m} = 2 THEN 29 ELSE 31 END"
        valid = f"{m} BETWEEN 1 AND 12 AND {d} BETWEEN 1 AND {long} AND {us} < {number(float(_DAY))}"
        self.steps["dated"].append(f"CASE WHEN {valid} THEN {julian} END AS julian_{j}")
        self.steps["read"].append(f"({text} IS NOT NULL AND julian_{j} IS NULL) AS wrong_{j}")
        weekday = f"julian_{j} - 7 * FLOOR(julian_{j} / 7e0)"
        made = {
            "year": f"{y} + 0e0",
            "month": _named(m, 1, MONTHS, sql),
            "weekday": _named(weekday, 0, WEEKDAYS, sql),
            "hour": _named(f"FLOOR({us} / 3600e6)", 0, HOURS, sql),
            "days": f"((julian_{j} - {_FIRST_DAY}) * {number(float(_DAY))} + {us}) / {number(float(_DAY))}",
        }
        for part, column in zip(reading.options[1:], columns, strict=True):
            if column:
                self.steps["read"].append(f"{made[part]} AS {column}")


def _named(x: str, first: int, names: Sequence[str], sql: Dialect) -> str:
    cases = " ".join(f"WHEN {k} THEN {sql.value(name)}" for k, name in enumerate(names, first))
    return f"CASE {x} {cases} END"


def _field(name: str, date: DatePattern, text: str, sql: Dialect, kind: str) -> str:
    """Return a part of a date as a number, 0 where it has none."""
    if name not in date.fields:
        return "0"
    found = sql.replace_all(text, date.pattern, sql.group(date.fields.index(name) + 1))
    return f"COALESCE(CAST(NULLIF({found}, '') AS {kind}), 0)"


def _year(date: DatePattern, text: str, sql: Dialect) -> str:
    if "year" in date.fields:
        return _field("year", date, text, sql, sql.integer)
    short = _field("short year", date, text, sql, sql.integer)
    return f"{short} + CASE WHEN {short} < 69 THEN 2000 ELSE 1900 END"


def _month(date: DatePattern, text: str, sql: Dialect) -> str:
    if "month" in date.fields:
        return _field("month", date, text, sql, sql.integer)
    name = f"LOWER({sql.replace_all(text, date.pattern, sql.group(date.fields.index('month name') + 1))})"
    cases = (
        f"WHEN {name} IN ({sql.value(one[:3])}, {sql.value(one)}) THEN {k}" for k, one in enumerate(MONTH_NAMES, 1)
    )
    return f"CASE {' '.join(cases)} END"


def _day(date: DatePattern, text: str, sql: Dialect) -> str:
    return _field("day", date, text, sql, sql.integer)


def _micros(date: DatePattern, text: str, sql: Dialect) -> str:
    """Return the microseconds of the day; NULL for a time of another zone than that of Greenwich."""
    units = {"hour": 3600e6, "minute": 60e6, "second": 1e6}
    total = " + ".join(f"{number(unit)} * {_field(name, date, text, sql, sql.double)}" for name, unit in units.items())
    if "half" in date.fields:
        hour = _field("hour", date, text, sql, sql.double)
        later = f"LOWER({sql.replace_all(text, date.pattern, sql.group(date.fields.index('half') + 1))}) = 'p'"
        moved = f"CASE WHEN {hour} = 12 THEN -12 ELSE 0 END + CASE WHEN {later} THEN 12 ELSE 0 END"
        total = f"CASE WHEN {hour} BETWEEN 1 AND 12 THEN {total} + {number(units['hour'])} * ({moved}) END"
    if "zone" not in date.fields:
        return total
    zone = sql.replace_all(text, date.pattern, sql.group(date.fields.index("zone") + 1))
    here = ", ".join(map(sql.value, ("", "Z", "+00", "+00:00", "+0000", "-00:00", "-0000")))
    return f"CASE WHEN COALESCE({zone}, '') IN ({here}) THEN ROUND({total}) END"
