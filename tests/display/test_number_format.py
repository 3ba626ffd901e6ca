"""Numbers of days and seconds are written as the dates and times that they were read from."""

from __future__ import annotations

import datetime

import pytest

import tallybayes as tb
from tallybayes.display.number_format import NumberFormat

FIRST = datetime.date(1970, 1, 1)
DATES, TIMES = NumberFormat("dates"), NumberFormat("times")


@pytest.mark.parametrize("day", ["1684-02-29", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31"])
def test_a_number_of_days_is_its_date(day: str) -> None:
    days = float((datetime.date.fromisoformat(day) - FIRST).days)
    assert DATES.text(days) == day
    assert NumberFormat("timestamps").text(days + 0.75) == f"{day} 18:00"
    assert NumberFormat("timestamps").text(days) == day


def test_numbers_that_no_calendar_or_clock_has_stay_numbers() -> None:
    assert [DATES.text(x) for x in (1e9, float("inf"), float("nan"))] == ["1e+09", "inf", "nan"]
    assert TIMES.text(float("-inf")) == "-inf"
    assert [TIMES.text(x) for x in (0, 59.7, 3600, 86399, 360000, -90)] == [
        *("0:00", "0:01", "1:00", "23:59:59", "100:00", "−0:01:30"),
    ]
    assert [one.of_range("mean") for one in (DATES, TIMES)] == ["mean", "mean"]


@pytest.mark.parametrize("span", [3, 20, 90, 400, 4000, 40_000, 300_000])
def test_ticks_are_round_dates_inside_the_range(span: int) -> None:
    ticks = DATES.ticks(17_003.0, 17_003.0 + span, 9)
    assert 2 <= len(ticks) <= 9
    assert all(17_003 <= tick <= 17_003 + span for tick in ticks)
    if span > 100:
        assert all(DATES.text(tick).endswith("-01") for tick in ticks)


@pytest.mark.parametrize("span", [4.0, 50.0, 4000.0, 86_000.0, 500_000.0])
def test_ticks_of_times_are_round(span: float) -> None:
    ticks = TIMES.ticks(100.0, 100.0 + span, 9)
    assert 2 <= len(ticks) <= 9
    assert all(100 <= tick <= 100 + span for tick in ticks)


def test_explanations_tables_and_nomograms_show_dates_and_times() -> None:
    rows = {
        "sold on": [str(FIRST + datetime.timedelta(days=19_000 + 11 * k)) for k in range(80)],
        "at": [f"{7 + k % 12}:{k % 60:02}" for k in range(80)],
        "kind": ["old" if k < 40 else "new" for k in range(80)],
    }
    model = tb.fit(rows, "kind")
    why = model.explain({"sold on": "2022-03-01", "at": "9:05 PM"})
    values = {part.column: part.value for part in why.parts}
    assert values["sold on.days"] == "2022-03-01"
    assert values["at"] == "21:05"
    assert "2022-03-01" in str(why)
    assert any(bar["what"] == "sold on.days = 2022-03-01" for bar in why.points())
    change = why.counterfactual
    assert change is not None
    assert str(change.changes[0].new)[:2] == "20"
    assert model.table("sold on.days").rows[0].startswith("2022-01-08")
    assert model.table("sold on.days").chart().to_dict()["layer"][1]["encoding"]["x"]["axis"]["labelExpr"] == (
        DATES.expression
    )
    nomogram = model.nomogram()
    labels = {scale.column: scale.labels for scale in nomogram.scales}
    assert "2023-01-01" in labels["sold on.days"]
    assert "12:00" in labels["at"]
    assert "2023-01-01" in str(nomogram)
    ticks = next(scale.values for scale in nomogram.scales if scale.column == "sold on.days")
    assert nomogram.points("sold on.days", ticks[0]) == pytest.approx(
        next(scale.points[0] for scale in nomogram.scales if scale.column == "sold on.days")
    )
