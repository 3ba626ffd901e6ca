"""Row 5: the nominal weather data, its table as printed, and the day (sunny, cool, high, true)."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb

from .weather import NOMINAL

DAY = [{"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}]
# value: counts of yes and no, as on the slide
SLIDE = {
    "outlook": {"sunny": (2, 3), "overcast": (4, 0), "rainy": (3, 2)},
    "temperature": {"hot": (2, 2), "mild": (4, 2), "cool": (3, 1)},
    "humidity": {"high": (3, 4), "normal": (6, 1)},
    "windy": {"false": (6, 2), "true": (3, 3)},
}


@pytest.fixture(scope="module")
def model() -> tb.Model:
    return tb.fit(NOMINAL, "play", estimate="mle", calibrate=None)


@pytest.mark.parametrize("column", SLIDE)
def test_the_table_is_the_one_on_the_slide(model: tb.Model, column: str) -> None:
    table = model.table(column)
    assert table.classes == ("no", "yes")
    assert table.counts is not None
    counts = {value: (yes, no) for value, (no, yes) in zip(table.rows, table.counts.tolist(), strict=True)}
    assert counts == SLIDE[column]
    for value, (no, yes) in zip(table.rows, table.values.tolist(), strict=True):
        assert yes == pytest.approx(SLIDE[column][value][0] / 9, rel=1e-15)
        assert no == pytest.approx(SLIDE[column][value][1] / 5, rel=1e-15)


def test_the_prior_is_9_and_5_of_14(model: tb.Model) -> None:
    assert model.prior == pytest.approx({"yes": 9 / 14, "no": 5 / 14}, rel=1e-15)


def test_the_new_day(model: tb.Model) -> None:
    no, yes = np.exp(model.log_joint(DAY))[0]
    assert round(yes, 6) == 0.005291
    assert round(no, 6) == 0.020571
    assert round(float(model.predict_proba(DAY)[0, 0]), 6) == 0.795417
    assert model.predict(DAY).tolist() == ["no"]


def test_the_file_of_the_data_set_gives_the_same(data) -> None:
    from_file = tb.fit(data / "weather" / "weather_nominal.csv.gz", "label", estimate="mle", calibrate=None)
    rows = [{**DAY[0], "windy": True}]
    assert round(float(from_file.predict_proba(rows)[0, 0]), 6) == 0.795417
