"""Row 6: temperature and humidity as numbers, the normal density with the n − 1 variance."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.events.inputs import Dense

from .weather import NUMERIC

DAY = [{"outlook": "sunny", "temperature": 66, "humidity": 90, "windy": "true"}]


@pytest.fixture(scope="module")
def model() -> tb.Model:
    return tb.fit(NUMERIC, "play", estimate="mle", variance="n-1", calibrate=None)


def density(model: tb.Model, column: str, value: float) -> dict[str, float]:
    b, f = model.schema.place(column)
    row = np.full((1, len(model.schema.blocks[b].columns)), np.nan)
    row[0, f] = value
    log = model.belief.likelihoods[b].log_prob(Dense(row))
    return dict(zip(model.classes, np.exp(log)[0].tolist(), strict=True))


def test_mean_and_sd_of_temperature_given_yes(model: tb.Model) -> None:
    table = model.table("temperature")
    yes = table.classes.index("yes")
    assert table.rows == ("mean", "sd", "n")
    assert table.values[0, yes] == 73
    assert round(float(table.values[1, yes]), 4) == 6.1644


@pytest.mark.parametrize(
    ("column", "value", "yes", "no"), [("temperature", 66, 0.033964, 0.027918), ("humidity", 90, 0.022128, 0.037986)]
)
def test_the_densities(model: tb.Model, column: str, value: float, yes: float, no: float) -> None:
    got = density(model, column, value)
    assert round(got["yes"], 6) == yes
    assert round(got["no"], 6) == no


def test_the_new_day(model: tb.Model) -> None:
    no, yes = np.exp(model.log_joint(DAY))[0]
    assert round(yes, 9) == 0.000035787
    assert round(no, 9) == 0.000136347
    assert model.predict(DAY).tolist() == ["no"]
