"""Probabilities from a model: queries of its joint distribution."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.cli.demo import WEATHER
from tallybayes.errors import BadData, BadOption

MLE = tb.fit(WEATHER, "play", estimate="mle", calibrate=None)
SMOOTH = tb.fit(WEATHER, "play", calibrate=None)
MIXED = tb.fit(
    {
        "x": ["p", "q", "p", "q", "q", "p"],
        "on": [1, 0, 1, 1, 0, 0],
        "n": [0, 1, 2, 3, 1, 4],
        "height": [1.0, 1.5, 2.0, 2.5, 3.0, 3.5],
        "y": [0, 0, 0, 1, 1, 1],
    },
    "y",
    events={"on": "bernoulli", "n": "poisson", "height": "gaussian"},
    calibrate=None,
)


def test_a_day_has_the_probability_of_the_lecture() -> None:
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
    assert float(MLE.probability("play=no", day)) == pytest.approx(0.795417, abs=5e-7)
    assert float(MLE.probability("no | sunny, cool, high, windy=true")) == pytest.approx(0.795417, abs=5e-7)
    joint = MLE.probability("play=yes, sunny, cool, high, windy=true")
    assert float(joint) == pytest.approx(0.005291, abs=5e-7)


def test_classes_given_a_row_are_as_scored() -> None:
    for model in (MLE, SMOOTH):
        for k in range(14):
            row = {name: WEATHER[name][k] for name in ("outlook", "windy")}
            want = model.predict_proba([row])[0, 1]
            assert float(model.probability("yes", row)) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("model", [MLE, SMOOTH])
def test_all_questions_are_about_one_distribution(model: tb.Model) -> None:
    values = {name: sorted(set(WEATHER[name])) for name in ("outlook", "humidity", "play")}
    total = 0.0
    for a, b, c in itertools.product(*values.values()):
        joint = float(model.probability(f"outlook={a}, humidity={b}, play={c}"))
        total += joint
        given = f"humidity={b}, play={c}"
        assert joint == pytest.approx(
            float(model.probability(f"outlook={a} | {given}")) * float(model.probability(given))
        )
    assert total == pytest.approx(1.0)
    marginal = sum(float(model.probability(f"outlook=sunny, play={c}")) for c in values["play"])
    assert float(model.probability("outlook=sunny")) == pytest.approx(marginal)
    assert float(model.probability("outlook!=sunny")) == pytest.approx(1 - marginal)
    assert float(model.probability("outlook=sunny | outlook=rainy")) == 0.0
    assert float(model.probability("outlook=sunny | outlook=sunny")) == 1.0


def test_marginals_of_a_model_are_those_counted() -> None:
    for query in ("sunny", "sunny | yes", "humidity=high, no", "play!=no"):
        assert float(MLE.probability(query)) == pytest.approx(float(tb.probability(WEATHER, query)))
    # and not the value under conditional independence: 3/5 of 3/9 of 9/14, and so on
    windy = float(MLE.probability("sunny, windy=true"))
    assert windy == pytest.approx(9 / 14 * 2 / 9 * 3 / 9 + 5 / 14 * 3 / 5 * 3 / 5)
    assert float(tb.probability(WEATHER, "sunny, windy=true")) == pytest.approx(2 / 14)


def test_numbers_may_be_conditions_and_booleans_and_counts_queried() -> None:
    given = {"height": 2.0, "on": 1}
    want = MIXED.predict_proba([given])[0]
    assert float(MIXED.probability("y=1", given)) == pytest.approx(want[1], rel=1e-12)
    assert float(MIXED.probability("y>0", given)) == pytest.approx(want[1], rel=1e-12)
    assert float(MIXED.probability("on=true")) + float(MIXED.probability("on!=1")) == pytest.approx(1.0)
    assert float(MIXED.probability("x=p | height=2.0, on=0")) == pytest.approx(
        sum(MIXED.predict_proba([{"height": 2.0, "on": 0}])[0] * MIXED.table("x").values[0])
    )
    assert sum(float(MIXED.probability(f"n={k}")) for k in range(200)) == pytest.approx(1.0)


def test_the_interval_of_a_class_is_that_of_the_row() -> None:
    row = {"outlook": "sunny", "windy": "true"}
    found, bounds = SMOOTH.probability("play=yes", row, level=0.9), SMOOTH.predict_interval([row], level=0.9)
    assert (found.low, found.high, found.level) == (bounds.low[0, 1], bounds.high[0, 1], 0.9)
    assert SMOOTH.probability("outlook=sunny").low is None
    assert SMOOTH.probability("yes").low is None


def test_a_calibrated_model_answers_from_its_tables() -> None:
    tempered = tb.fit(WEATHER, "play")
    assert tempered._has_calibrated_scores
    asked, plain = tempered.probability("yes | sunny"), SMOOTH.probability("yes | sunny")
    assert replace(asked, notes=()) == plain
    told = tempered.predict_proba([{"outlook": "sunny"}])[0, 1]
    assert asked.notes == (f"Calibrated, as in predict_proba: {told:.4f}.",)


def test_what_was_never_seen_says_nothing_if_smoothed_and_is_refused_if_not() -> None:
    found = SMOOTH.probability("yes | outlook=foggy")
    assert float(found) == pytest.approx(9 / 14)
    assert found.notes == ("outlook=foggy was never seen: treated as missing.",)
    foggy_and_windy = SMOOTH.probability("yes | outlook=foggy, windy=true")
    assert float(foggy_and_windy) == pytest.approx(float(SMOOTH.probability("yes | windy=true")))
    assert foggy_and_windy.low == SMOOTH.probability("yes | windy=true").low
    assert float(SMOOTH.probability("sunny | outlook=foggy")) == 0.0
    with pytest.raises(BadData, match=r"got outlook=foggy, of probability 0 in every class\. Smooth the model"):
        MLE.probability("yes | outlook=foggy")
    with pytest.raises(BadData, match="a value seen in training"):
        SMOOTH.with_(unseen="error").probability("yes | outlook=foggy")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("outlook=suny", r"wanted a value of 'outlook', got 'suny'\. Did you mean 'sunny'\?"),
        ("play=maybe", "wanted a value of 'play', got 'maybe'"),
        ("suny | yes", r"wanted a value of some column, got 'suny'\. Did you mean 'sunny'\?"),
        ("yes | outlok=sunny", r"wanted columns of the model, got 'outlok'\. Did you mean 'outlook'\?"),
        ("yes | outlook~sunny", "wanted = and text for a model, got outlook~sunny. Query the rows"),
        ("outlook>sunny", "wanted numbers or dates for '>', got column 'outlook' of text"),
        ("yes |", "wanted a column or a value, got its end"),
    ],
)
def test_queries_that_a_model_cannot_answer_are_refused(query: str, sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        SMOOTH.probability(query)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            "height=2.0 | y=1",
            r"a class or columns of values before '\|', got 'height', which is gaussian\. Put it after",
        ),
        ("n>2", "got 'n', which is poisson"),
        ("y=1 | height>2", r"wanted one '=' for column 'height' \(gaussian\), got height>2"),
        ("y=1 | height=1, height=2", "wanted one '=' for column 'height'"),
        ("y=1 | height=tall", "wanted numbers for column 'height', got 'tall'"),
        ("on=2", "wanted = or != and 0 or 1 for bernoulli, got on=2"),
    ],
)
def test_numbers_are_allowed_only_as_conditions(query: str, sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        MIXED.probability(query)


def test_a_value_of_two_columns_is_not_guessed_at() -> None:
    rows: dict[str, list[Any]] = {"a": ["p", "q"], "b": ["q", "r"], "y": [0, 1]}
    with pytest.raises(BadOption, match=r"wanted 'q' in one column, got it in 2\. Write 'a=q' or 'b=q'"):
        tb.fit(rows, "y").probability("y=1 | q")


def test_text_may_be_a_condition() -> None:
    model = tb.fit(["cheap pills now", "lunch at noon"], ["spam", "ham"], calibrate=None)
    want = model.predict_proba(["cheap lunch, cheap"])[0, 1]
    assert float(model.probability("spam", {"text": "cheap lunch, cheap"})) == pytest.approx(want)


def test_parameters_are_counted_for_every_kind_of_column() -> None:
    count = MIXED.parameters()
    # in each of two classes: x 1, on 1, n 1, height 2; counts have no one joint model with the others
    assert (count.prior, count.naive, count.joint, count.undefined) == (1, 10, None, ("n",))
    assert "No full joint model is defined for n." in str(count)
    cells = tb.fit({"height": [1.0, 1.5, 2.0, 2.5, 3.0], "y": [0, 0, 1, 1, 1]}, "y").parameters()
    assert (cells.joint, cells.undefined) == (None, ("height",))  # nor do the cells of histograms
    bag = tb.fit(np.eye(3), [0, 1, 1], events="multinomial").parameters()
    assert bag.naive == 2 * 2
    words = tb.fit(["cheap pills", "lunch noon"], ["spam", "ham"], events="text(bag='bernoulli')").parameters()
    assert words.naive == 2 * 4
    wide = tb.fit(np.eye(20_000, dtype=bool)[:4], [0, 1, 0, 1]).parameters()
    assert wide.joint == 2 * (2**20_000 - 1)
    assert wide.to_dict()["joint"] is None
    assert "e+6020" in str(wide)
