"""Columns are read as a person would read them, for a reason that is told."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.schema.find_ids import looks_like_id
from tallybayes.schema.find_readings import find_reading
from tallybayes.sources.clock import seconds
from tallybayes.sources.reading import Reading

POINT, COMMA = Reading("numbers", (".",)), Reading("numbers", (",",))
MANY = [f"{k}.5" for k in range(30)]


def days(format_: str) -> list[str]:
    first = datetime.date(2023, 11, 20)
    return [(first + datetime.timedelta(days=k)).strftime(format_) for k in range(40)]


@pytest.mark.parametrize(
    ("values", "reading", "reason"),
    [
        (["$4,419.00", "$12.50"], POINT, "money such as '$4,419.00'"),
        (["€ 80", "7 €"], POINT, "money such as '€ 80'"),
        (["31%", "4.5 %"], POINT, "percent such as '31%'"),
        (["1,234", "56"], POINT, "numbers such as '1,234', with separators"),
        (["17,87", "3"], COMMA, "numbers such as '17,87', with a decimal comma"),
        (["1.234,56", "1.000"], COMMA, "numbers such as '1.234,56', with a decimal comma"),
        (["17,87", "1,234"], COMMA, "numbers such as '17,87', with a decimal comma"),
        (["3 500,25 EUR", "4,1 EUR"], COMMA, "money such as '3 500,25 EUR', with a decimal comma"),
        (["(1,200)", "300"], POINT, "numbers such as '(1,200)', with separators"),
        (["4", "-", "5"], POINT, "numbers, written as text"),
        (MANY, POINT, "numbers, written as text"),
        (["158 cm", "1,702 cm", "n/a"], Reading("numbers", (".", "cm")), "numbers in cm, such as '158 cm'"),
        (
            ["4,5km/h", "12 km/h"],
            Reading("numbers", (",", "km/h")),
            "numbers in km/h, such as '4,5km/h', with a decimal comma",
        ),
        (["-3 °C", "21 °C"], Reading("numbers", (".", "°C")), "numbers in °C, such as '-3 °C'"),
        (["3 Std.", "7 Std."], Reading("numbers", (".", "Std.")), "numbers in Std., such as '3 Std.'"),
        (["Yes", "no", "y"], Reading("booleans", ("no", "Yes")), "yes or no, written 'Yes', 'no', 'y'"),
        (["t", "f", "n/a", "f"], Reading("booleans", ("f", "t")), "yes or no, written 't', 'f'"),
    ],
)
def test_texts_are_read_as_numbers_or_booleans(values: list[str], reading: Reading, reason: str) -> None:
    found = find_reading(pa.array(values), "auto")
    assert found is not None
    assert (found.reading, found.reason) == (reading, reason)


@pytest.mark.parametrize(
    "values",
    [
        ["sunny", "rainy"],
        ["yes", "no"],  # one spelling each: names like any others
        ["m", "f"],
        ["1", "2", "3"],  # few digits as text: names
        [f"{k:05}" for k in range(100)],  # zip codes
        [str(10**20 + k) for k in range(100)],  # ids
        ["2024-05-04", "2024-05-05"],  # few dates: names
        ["12 High Street", "7 Low Road"],
        ["A-1", "B-2"],
        ["158 cm", "1.7 m"],  # other units: no number says which is more
        ["158 cm", "164 cm", "170"],  # nobody says in what
        ["8 AM", "9 AM", "12 AM"],  # too few to be times, and no twelve
        ["5 kg", "5 kg"],
        ["007 kg", "012 kg"],
        [None, None],
        ["?", "-"],
    ],
)
def test_other_texts_are_taken_as_they_are(values: list[str | None]) -> None:
    assert find_reading(pa.array(values, pa.string()), "auto") is None


@pytest.mark.parametrize(
    ("written", "format_"),
    [
        ("%Y-%m-%d", ""),
        ("%Y-%m-%dT10:%M:00", ""),
        ("%d/%m/%Y", "%d/%m/%Y"),
        ("%m/%d/%Y", "%m/%d/%Y"),
        ("%d.%m.%Y", "%d.%m.%Y"),
        ("%d/%m/%Y 08:30", "%d/%m/%Y %H:%M"),
        ("%d %B %Y", "%d %B %Y"),
        ("%b %d, %Y", "%b %d, %Y"),
        ("%Y/%m/%d", "%Y/%m/%d"),
        ("%m/%d/%Y 4:%M PM", "%m/%d/%Y %I:%M %p"),
        ("%Y-%m-%d 11:%M:30 am", "%Y-%m-%d %I:%M:%S %p"),
    ],
)
def test_dates_are_read_by_the_format_that_all_of_them_have(written: str, format_: str) -> None:
    found = find_reading(pa.array(days(written)), "auto")
    assert found is not None
    assert found.reading.kind == "dates"
    assert found.reading.options[0] == format_
    assert ("hour" in found.reading.options) == (":" in written)


def test_a_date_that_may_be_read_in_two_ways_is_said_to_be() -> None:
    values = [f"{day:02}/{month:02}/2024" for day in range(1, 5) for month in range(1, 5)]
    found = find_reading(pa.array(values), "auto")
    assert found is not None
    assert found.reading.options[0] == "%m/%d/%Y"
    assert found.reason.endswith("month first (day first would fit too)")


def test_only_numbers_will_do_where_they_are_declared() -> None:
    assert find_reading(pa.array(["1", "2"]), "auto", numbers=True).reading == POINT  # type: ignore[union-attr]
    assert find_reading(pa.array(days("%d/%m/%Y")), "auto", numbers=True) is None


def test_durations_are_seconds() -> None:
    span = pa.array([datetime.timedelta(minutes=2), None])
    found = find_reading(span, "auto")
    assert found is not None
    assert found.reading.apply(span, [])[0].to_pylist() == [120.0, None]


@pytest.mark.parametrize(
    ("name", "values", "is_id"),
    [
        ("customer_id", range(50), True),
        ("PassengerId", range(50), True),
        ("ID", [f"c{k}" for k in range(50)], True),
        ("key", [f"{10**20 + k}" for k in range(50)], True),
        ("age", range(50), False),
        ("paid", range(0, 4850, 97), False),
        ("visitor", range(1, 51), True),
        ("customer_id", [k % 40 for k in range(50)], False),
        ("customer_id", range(5), False),
        ("code", [f"n{k}" for k in range(50)], True),
        ("code", [f"{97 * k}" for k in range(50)], False),
        ("code", [f"{k}" for k in range(50)], True),
        ("title", [f"No {k}" for k in range(50)], False),
        ("code", [f"n{k}" for k in range(10)], False),
    ],
)
def test_a_column_that_names_each_row_is_an_id(name: str, values: Any, is_id: bool) -> None:
    assert bool(looks_like_id(name, pa.array(list(values)))) is is_id
    assert bool(looks_like_id(name, pa.array([str(value) for value in values]).dictionary_encode())) is is_id


@pytest.mark.parametrize("how", ["csv", "texts", "times"])
def test_times_of_day_and_durations_are_seconds(tmp_path: Any, how: str) -> None:
    clock = [f"{k % 24:02}:{7 * k % 60:02}" for k in range(80)]
    took = [f"{k % 3}:{k % 60:02}:{11 * k % 60:02}" for k in range(80)]
    rows: dict[str, Any] = {"clock": clock, "took": took, "y": ["a" if k % 24 < 12 else "b" for k in range(80)]}
    source: Any = rows
    if how == "csv":
        source = tmp_path / "times.csv"
        source.write_text("clock,took,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(*rows.values(), strict=True)))
    elif how == "times":
        times = [datetime.time(int(one[:2]), int(one[3:])) for one in clock]
        source = pa.table({**rows, "clock": times})
    model = tb.fit(source, "y")
    assert model.schema.events() == {"clock": "histogram", "took": "histogram"}
    assert model.schema.readings["clock"].spec == "times, in seconds"
    assert list(model.predict([{"clock": "03:30"}, {"clock": "19:15", "took": "1:00:59"}])) == ["a", "b"]
    assert list(model.predict([{"clock": "3:30 AM"}, {"clock": "7:15 p.m."}])) == ["a", "b"]
    assert model.table("clock").counts.sum() == 80


def test_times_of_half_a_day_are_read_to_the_second() -> None:
    texts = ["12:00 AM", "12:59:59 am", "1 a.m.", "11:30\u202fAM", "12 PM", "2:39PM", "11:59:59.5 p.m.", None]
    assert seconds(pa.array(texts)).to_pylist() == [0.0, 3599.0, 3600.0, 41400.0, 43200.0, 52740.0, 86399.5, None]
    assert seconds(pa.array(["13:00 PM", "0:30 AM", "14:60", "PM", "2:39 XM"])).null_count == 5
    found = find_reading(pa.array([f"{1 + k % 12}:{k:02} {'AP'[k % 2]}M" for k in range(40)]), "auto")
    assert found is not None
    assert (found.reading.kind, found.reason) == ("times", "times such as '1:00 AM', in seconds")


def test_a_number_in_another_unit_is_refused_and_one_without_is_taken() -> None:
    rows = {"height": [f"{150 + k} cm" for k in range(40)], "sex": ["f" if k < 20 else "m" for k in range(40)]}
    model = tb.fit(rows, "sex")
    assert model.schema.events() == {"height": "histogram"}
    assert list(model.predict([{"height": "152cm"}, {"height": "188"}])) == ["f", "m"]
    assert list(model.predict([{"height": 151}])) == ["f"]
    with pytest.raises(
        tb.errors.BadData, match=r"column 'height': wanted numbers in cm, as in the first rows, got '1.7 m'"
    ):
        model.predict([{"height": "1.7 m"}])
    inches = {"height": [f"{60 + k} in" for k in range(40)], "sex": rows["sex"]}
    with pytest.raises(
        tb.errors.CannotMerge, match="left has column 'height' as numbers in cm, right as numbers in in"
    ):
        model + tb.fit(inches, "sex")
    as_names = tb.fit(rows, "sex", events={"height": "categorical"})
    assert as_names.schema.events() == {"height": "categorical"}


def test_a_total_without_a_class_does_not_make_names_of_numbers(tmp_path: Any) -> None:
    path = tmp_path / "sales.csv"
    lines = [f"{k % 9},{k % 50} kg,{'ab'[k % 2]}" for k in range(60)]
    path.write_text("\n".join(["pieces,mass,kind", *lines, "Total,all 1470 kg,"]) + "\n")
    with pytest.warns(tb.errors.LeftOutWarning, match="1 of 61 rows has no class"):
        model = tb.fit(path, "kind")
    assert model.schema.events() == {"pieces": "histogram", "mass": "histogram"}
    path.write_text("\n".join(["pieces,mass,kind", "Total,all 1470 kg,", "4,3 kg,b", "x,3 kg,b"]) + "\n")
    with pytest.raises(tb.errors.BadData, match=r"'pieces': wanted numbers, as in the first rows, got 'x' \(row 3\)"):
        model.learn(path)
