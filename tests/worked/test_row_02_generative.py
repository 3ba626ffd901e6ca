"""Row 2: the generative view: a plausible row, or a plausible message, is created by chance, given a class."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import tallybayes as tb
from tallybayes import sources

from .weather import NUMERIC


def test_days_drawn_from_the_weather_model_are_such_days_as_it_has_seen() -> None:
    model = tb.fit(NUMERIC, "play", estimate="map", alpha=0.0)
    days = model.sample(20_000, given="yes")
    assert days.column_names == list(NUMERIC)
    assert set(days.column("play").to_pylist()) == {"yes"}
    outlook = pc.value_counts(days.column("outlook")).to_pylist()
    shares = {pair["values"]: pair["counts"] / len(days) for pair in outlook}
    for value, of_nine in {"sunny": 2, "overcast": 4, "rainy": 3}.items():
        p = of_nine / 9
        assert shares[value] == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / len(days)))
    warmth, error = days.column("temperature").to_numpy(), 6.1644 * np.sqrt(8 / 9) / np.sqrt(len(days))
    assert warmth.mean() == pytest.approx(73, abs=5 * error)  # the mean of the notes; their deviation divides by n − 1
    assert warmth.std() == pytest.approx(6.1644 * np.sqrt(8 / 9), abs=5 * error)


def test_a_model_refitted_on_drawn_days_finds_the_shares_and_means_again() -> None:
    model = tb.fit(NUMERIC, "play", estimate="mle")
    again = tb.fit(model.sample(50_000), "play", estimate="mle")
    assert again.prior["yes"] == pytest.approx(9 / 14, abs=0.02)
    for column in ("outlook", "windy"):
        np.testing.assert_allclose(again.table(column).values, model.table(column).values, atol=0.02)
    for column in ("temperature", "humidity"):
        means, deviations = model.table(column).values[:2]
        found = again.table(column).values
        assert (np.abs(found[0] - means) < 5 * deviations / np.sqrt(17_000)).all()
        assert (np.abs(found[1] - deviations) < 5 * deviations / np.sqrt(2 * 17_000)).all()


def test_messages_drawn_given_spam_are_taken_for_spam(data) -> None:
    rows = pa.Table.from_batches(list(sources.read(data / "sms-spam" / "sms_spam.csv.gz")))
    model = tb.fit(rows, "label")
    drawn = {name: model.sample(2000, given=name) for name in ("spam", "ham")}
    for name, texts in drawn.items():
        assert (model.predict(texts) == name).mean() > 0.95
    spam, ham = (
        pc.mean(pc.list_value_length(pc.utf8_split_whitespace(drawn[name].column("text")))).as_py() for name in drawn
    )
    assert spam > 1.3 * ham  # spam is longer, and so is what is drawn
    again = tb.fit(model.sample(20_000), "label")
    assert again.prior["spam"] == pytest.approx(model.prior["spam"], abs=0.02)
    theirs = rows.filter(pc.equal(rows.column("label"), "spam"))
    assert (again.predict(theirs) == "spam").mean() > 0.9
