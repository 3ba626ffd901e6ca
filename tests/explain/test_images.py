"""Class averages as images, and each pixel's log-odds of two classes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.display.shades import shaded
from tallybayes.events.inputs import Dense

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 80)
X = RNG.poisson(1.0 + 3 * Y[:, None] * np.arange(6) / 6, (80, 6)).astype(float) + 0.0


def fitted(event: str, **how: Any) -> tb.Model:
    values = X + 0.5 if event == "lognormal" else X
    return tb.fit(values, Y, events=event, calibrate=None, **how)


@pytest.mark.parametrize(
    ("event", "unit"),
    [
        ("bernoulli(threshold=1)", "probability of 1"),
        ("gaussian", "mean"),
        ("lognormal", "median"),
        ("poisson", "rate"),
        ("exponential", "mean"),
        ("multinomial", "share"),
        ("complement", "share"),
        ("categorical", "mean"),
    ],
)
def test_the_averages_are_those_of_the_rows(event: str, unit: str) -> None:
    seen = fitted(event, estimate="mle").picture((2, 3))
    assert (seen.unit, seen.average.shape, seen.classes) == (unit, (2, 2, 3), (0, 1))
    by_class = [X[c == Y] for c in (0, 1)]
    if event == "lognormal":
        truth = [np.exp(np.log(x + 0.5).mean(axis=0)) for x in by_class]
    elif unit == "share":
        truth = [x.sum(axis=0) / x.sum() for x in by_class]
    else:
        truth = [(x > 1).mean(axis=0) if "bernoulli" in event else x.mean(axis=0) for x in by_class]
    np.testing.assert_allclose(seen.average.reshape(2, 6), truth, rtol=1e-9)


@pytest.mark.parametrize("event", ["gaussian", "poisson", "exponential", "bernoulli", "multinomial", "complement"])
@pytest.mark.parametrize("rule", ["map", "bayes"])
def test_the_log_odds_of_all_pixels_are_the_difference_of_two_scores(event: str, rule: str) -> None:
    """Compare a row of ones with a row of zeros: their scores differ by the sum of all pixels."""
    x = (X > 1).astype(float) if event == "bernoulli" else X
    model = tb.fit(x, Y, events=event, estimate=rule, calibrate=None)
    mean = x.mean(axis=0)
    rate = (x.sum(axis=0) + 0.5) / (len(x) + 1)
    dark, lit = {
        "gaussian": (mean - x.std(axis=0), mean + x.std(axis=0)),
        "poisson": (np.maximum(rate - np.sqrt(rate), 0), rate + np.sqrt(rate)),
        "exponential": (0 * mean, 2 * mean),
    }.get(event, (np.zeros(6), np.ones(6)))
    scores = model.belief.likelihoods[0].log_prob(Dense(np.stack([lit, dark])))
    seen = model.picture((2, 3)).against(1, 0)
    assert seen.lit.sum() - seen.dark.sum() == pytest.approx(np.diff(scores, axis=1)[0, 0] - np.diff(scores)[1, 0])
    np.testing.assert_allclose(seen.log_odds, seen.lit - seen.dark)
    np.testing.assert_allclose(model.picture((2, 3)).against(0, 1).log_odds, -seen.log_odds)


def test_columns_are_chosen_by_glob_and_by_name_in_the_order_of_the_pixels() -> None:
    rows = {"p0": [1, 0, 1, 0], "age": [3.0, 4.0, 5.0, 6.0], "p1": [0, 1, 1, 1], "y": list("abab")}
    model = tb.fit(rows, "y", events={"p*": "bernoulli"}, estimate="mle")
    assert model.picture((1, 2), columns="p?").average.tolist() == [[[1.0, 0.5]], [[0.0, 1.0]]]
    assert model.picture((2, 1), columns=["p1", "p0"]).average.tolist() == [[[0.5], [1.0]], [[1.0], [0.0]]]
    assert model.picture((1, 2), columns="p?", classes=["b"]).classes == ("b",)


def test_booleans_are_pixels_and_text_is_not() -> None:
    rows = {"on": [True, False, True, True], "word": list("pqpq"), "y": list("abab")}
    model = tb.fit(rows, "y", estimate="mle")
    assert model.picture((1, 1), columns="on").average.ravel().tolist() == [1.0, 0.5]
    with pytest.raises(tb.errors.BadData, match="column 'word': wanted numbers or booleans, got values of another"):
        model.picture((1, 2))
    texts = tb.fit(["cheap pills", "see you"], ["spam", "ham"])
    with pytest.raises(tb.errors.BadData, match="column 'text': wanted a column that is a pixel, got text"):
        texts.picture((1, 1))


def test_what_is_impossible_is_drawn_as_far_as_the_scale_goes() -> None:
    rows = {"p0": [1, 1, 0, 0], "p1": [1, 0, 1, 0], "p2": [0, 0, 0, 0], "y": list("aabb")}
    seen = tb.fit(rows, "y", events="bernoulli", estimate="mle").picture((1, 3)).against("a", "b")
    assert seen.log_odds[0, 0] == np.inf
    assert np.isnan(seen.log_odds[0, 2])  # lit is impossible in both
    assert [point["log_odds"] for point in seen.points()] == [1.0, 0.0, None]
    assert json.loads(json.dumps(seen.to_dict()))["log_odds"] == [[None, 0.0, None]]
    seen.chart().to_dict()
    assert "∞" in str(seen)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ({"shape": (2, 2)}, "wanted height and width of 6 pixels, one for each column, got (2, 2) of 4 pixels. (2, 3)"),
        ({"shape": 6}, "picture shape: wanted height and width of 6 pixels, one for each column, got 6."),
        ({"shape": (0, 6)}, "got (0, 6) of 0 pixels"),
        ({"shape": (1, 1), "columns": "pixel*"}, "picture columns: wanted a glob or names of columns, got 'pixel*'."),
        ({"shape": (1, 1), "columns": ["x9"]}, "picture columns: wanted columns of the model, got 'x9'."),
        ({"shape": (2, 3), "classes": ()}, "picture classes: wanted at least one class, got none."),
        ({"shape": (2, 3), "classes": (0, 7)}, "picture classes: wanted a class, got 7. There are '0' and '1'."),
    ],
)
def test_columns_that_form_no_picture_are_refused_in_one_sentence(call: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tb.errors.TallyError) as refused:
        fitted("gaussian").picture(**call)
    assert sentence in str(refused.value)


def test_pixels_of_two_kinds_are_refused() -> None:
    rows = {"on": [1, 0, 1], "grey": [0.2, 0.4, 0.1], "y": list("aab")}
    with pytest.raises(tb.errors.BadData, match="wanted columns of one kind, got mean and probability of 1"):
        tb.fit(rows, "y", events={"on": "bernoulli"}).picture((1, 2))


def test_a_picture_is_shown_in_shades_and_given_as_plain_values() -> None:
    corners = {"p0": [1, 0], "p1": [0, 1], "p2": [0, 1], "p3": [1, 0], "y": ["down", "up"]}
    seen = tb.fit(corners, "y", events="bernoulli", estimate="mle").picture((2, 2))
    lines = [line.rstrip() for line in str(seen).splitlines()]
    assert lines[0] == "Class averages, 2 × 2"
    assert "██       ██" in lines[4]
    assert "  ██   ██" in lines[5]
    assert json.loads(json.dumps(seen.to_dict()))["average"] == [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    assert len(seen.points()) == 8
    assert seen.points() in seen.chart().to_dict()["datasets"].values()
    assert repr(seen) == str(seen)


def test_large_images_are_averaged_down_to_a_line() -> None:
    image = np.zeros((1, 90, 100))
    image[0, :, 50:] = 1.0
    [lines] = shaded(image)
    assert {len(line) for line in lines} == {34}
    assert len(lines) == 15
    assert lines[0] == " " * 16 + "░" + "█" * 17
