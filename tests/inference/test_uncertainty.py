"""Intervals of probabilities, the rows that support them, and abstaining on too few counts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logit, softmax, zeta

import tallybayes as tb
from tallybayes.events.families.variance import trigamma
from tallybayes.inference.posterior import Temperature
from tallybayes.inference.uncertainty import intervals, lead

LIGHT = {"light": ["on"] * 14 + ["off"] * 6, "home": ["yes"] * 12 + ["no"] * 8}


def counted(*given: object, **options: object) -> tb.Model:
    """Fit a model without calibration."""
    return tb.fit(*given, **options, calibrate=None)


def of_scores(scores: np.ndarray, variances: np.ndarray, level: float = 0.95) -> tb.Intervals:
    p = softmax(scores, axis=1)
    return intervals(tuple(range(scores.shape[1])), p, scores, variances, variances, level)


def simulated(n: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return rows of four ternary columns, and the true log-probabilities (class, column, value)."""
    shares = rng.dirichlet(np.ones(3), (2, 4))
    label = np.arange(n) % 2
    drawn = (rng.random((n, 4, 1)) > shares[label].cumsum(axis=2)[..., :2]).sum(axis=2)
    columns = {f"c{f}": np.array(["x", "y", "z"])[drawn[:, f]] for f in range(4)}
    return {**columns, "label": label}, np.log(shares)


def test_intervals_hold_the_true_probability_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    held = []
    for _ in range(250):
        rows, log_shares = simulated(200, rng)
        values = rng.integers(0, 3, (8, 4))
        truth = softmax(log_shares[:, np.arange(4), values].sum(axis=2).T, axis=1)  # (8, 2)
        asked = {f"c{f}": np.array(["x", "y", "z"])[values[:, f]] for f in range(4)}
        found = counted(rows, "label", alpha=1, prior="uniform").predict_interval(asked, level=0.95)
        held.append((found.low <= truth) & (truth <= found.high))
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


def test_intervals_shrink_as_rows_grow() -> None:
    rng = np.random.default_rng(1)
    rows, _ = simulated(4000, rng)
    some = {name: values[:20] for name, values in rows.items()}
    widths, rests = [], []
    for n in (40, 200, 1000, 4000):
        found = counted({k: v[:n] for k, v in rows.items()}, "label", events="categorical").predict_interval(some)
        widths.append((found.high - found.low).mean())
        rests.append(found.rows.mean())
    assert widths == sorted(widths, reverse=True)
    assert rests == sorted(rests)


def test_counting_alone_rests_on_the_rows_counted() -> None:
    model = counted(LIGHT, "home", estimate="mle")
    found = model.predict_interval([{"light": "on"}])
    np.testing.assert_allclose(found.probability, [[2 / 14, 12 / 14]])
    np.testing.assert_allclose(found.rows, 14, rtol=0.03)


def test_a_row_without_values_has_the_uncertainty_of_the_prior_unless_it_was_given() -> None:
    nothing = [{"light": None}]
    learned = counted(LIGHT, "home").predict_interval(nothing)
    np.testing.assert_allclose(learned.rows, 20, rtol=0.03)
    for prior in ("uniform", {"yes": 0.5, "no": 0.5}):
        given_ = counted(LIGHT, "home", prior=prior).predict_interval(nothing)
        assert (given_.low == 0.5).all()
        assert (given_.high == 0.5).all()
        assert np.isinf(given_.rows).all()


def test_what_was_never_counted_and_has_no_prior_may_be_anything() -> None:
    found = counted(LIGHT, "home", estimate="mle").predict_interval([{"light": "off"}, {"light": "on"}])
    assert found.low[0].tolist() == [0.0, 0.0]  # no yes was ever counted with the light off
    assert found.high[0].tolist() == [1.0, 1.0]
    assert found.rows[0].tolist() == [0.0, 0.0]
    assert found.low[1, 1] > 0.5


def test_two_classes_have_mirrored_bounds() -> None:
    found = counted(LIGHT, "home").predict_interval(LIGHT)
    np.testing.assert_allclose(found.low[:, 0], 1 - found.high[:, 1], rtol=1e-12)
    np.testing.assert_allclose(found.rows[:, 0], found.rows[:, 1], rtol=1e-12)


def test_a_higher_level_is_a_wider_interval() -> None:
    model = counted(LIGHT, "home")
    narrow, wide = (model.predict_interval(LIGHT, level=level) for level in (0.5, 0.99))
    assert (wide.low < narrow.low).all()
    assert (wide.high > narrow.high).all()


def test_the_variance_of_log_odds_is_that_of_scores_drawn() -> None:
    rng = np.random.default_rng(0)
    scores, variances = rng.normal(size=(6, 4)), np.full((6, 4), 1e-4) * rng.random((6, 4))
    found = of_scores(scores, variances)
    drawn = softmax(rng.normal(scores, np.sqrt(variances), (20_000, 6, 4)), axis=2)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(found.high - found.low, high - low, rtol=0.05)


def test_tempering_scales_log_odds_and_their_spread() -> None:
    rng = np.random.default_rng(5)
    rows, _ = simulated(80, rng)
    some = {**rows, "c0": np.where(np.arange(80) % 2, rows["c0"], None)}
    honest = tb.fit(rows, "label", events="categorical", prior="uniform")
    temperature = Temperature(0.4, 0.3)  # as older model files have it
    honest = replace(honest, calibration=replace(honest.calibration, weights=None, temperature=temperature))
    plain = honest.with_(calibrate=None)
    t = temperature.at(np.where(np.arange(80) % 2, 4.0, 3.0))[:, None]
    one, two = plain.predict_interval(some), honest.predict_interval(some)
    np.testing.assert_allclose(two.probability, honest.predict_proba(some), rtol=1e-12)
    for before, after in ((one.low, two.low), (one.high, two.high)):
        np.testing.assert_allclose(logit(after), t * logit(before), rtol=1e-9)
    assert (two.rows < one.rows * 1.5).all()  # no more rows than before
    assert plain.predict(rows, confidence=0.9).tolist() == honest.predict(rows, confidence=0.9).tolist()


numbers = st.floats(-1e4, 1e4) | st.just(-np.inf)
doubts = st.floats(0, 1e12) | st.just(np.inf)


@given(arrays(float, (3, 4), elements=numbers), arrays(float, (3, 4), elements=doubts), st.floats(0.001, 0.999))
def test_bounds_are_about_the_probability_and_from_0_to_1(
    scores: np.ndarray, variances: np.ndarray, level: float
) -> None:
    scores[:, 0] = np.maximum(scores[:, 0], -1e4)  # some class is possible
    found = of_scores(scores, variances, level)
    assert (found.low >= 0).all()
    assert (found.low <= found.probability).all()
    assert (found.probability <= found.high).all()
    assert (found.high <= 1).all()
    assert (found.rows >= 0).all()


@given(st.integers(0, 10_000))
def test_probabilities_are_those_of_predict_proba(seed: int) -> None:
    rows, _ = simulated(30, np.random.default_rng(seed))
    model = counted(rows, "label", events="categorical")
    found = model.predict_interval(rows)
    np.testing.assert_allclose(found.probability, model.predict_proba(rows), rtol=1e-12)
    assert found.classes == model.classes


def test_many_and_few_rows_and_threads_give_the_same() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20_000, 3)), rng.integers(0, 3, 20_000)
    model = counted(x, y)
    one, two = model.predict_interval(x, threads=1), model.predict_interval(x, threads=3)
    np.testing.assert_array_equal(one.low, two.low)
    np.testing.assert_allclose(model.predict_interval(x[:2]).high, one.high[:2], rtol=1e-12)
    assert len(model.predict_interval(x[:0])) == 0


def test_an_impossible_row_may_be_anything() -> None:
    rows = {"x": ["p", "q"], "z": ["s", "t"], "y": ["no", "yes"]}
    with pytest.warns(tb.ImpossibleRowWarning, match="row 2"):
        found = counted(rows, "y", estimate="mle").predict_interval([{"x": "p", "z": "s"}, {"x": "p", "z": "t"}])
    assert found.probability[1].tolist() == [0.5, 0.5]
    assert (found.low[1].tolist(), found.high[1].tolist()) == ([0, 0], [1, 1])


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan"), "0.95", None, True])
def test_a_level_that_is_none_is_refused(level: object) -> None:
    model = counted(LIGHT, "home")
    refused = r": wanted a number between 0 and 1, such as 0\.95, got .*\.$"
    with pytest.raises(tb.errors.BadOption, match="^level" + refused):
        model.predict_interval(LIGHT, level=level)
    if level is not None:
        with pytest.raises(tb.errors.BadOption, match="^confidence" + refused):
            model.predict(LIGHT, confidence=level)


def test_a_decision_is_unsure_when_the_interval_contains_a_half() -> None:
    rng = np.random.default_rng(3)
    rows, _ = simulated(60, rng)
    model = counted(rows, "label", events="categorical")
    found, answers = model.predict_interval(rows), model.predict(rows, confidence=0.95)
    confidence = (found.low > 0.5).any(axis=1)
    assert 0 < confidence.sum() < 60
    assert [answer is not None for answer in answers] == confidence.tolist()
    assert (answers[confidence] == model.predict(rows)[confidence]).all()


def test_with_three_classes_the_first_must_be_ahead_of_each_other() -> None:
    scores = np.array([[0.0, 3.0, 2.9], [0.0, 3.0, -3.0]])
    np.testing.assert_allclose(lead(scores, np.full((2, 3), 0.5)), [0.1, 3.0])


def test_sure_goes_with_abstain_and_not_with_costs_or_a_threshold() -> None:
    model = counted(LIGHT, "home", alpha=1)
    rows = [{"light": "on"}, {"light": "off"}]
    assert model.predict(rows, confidence=0.5).tolist() == ["yes", "no"]
    assert model.predict(rows, confidence=0.5, abstain=0.9).tolist() == [None, None]
    assert model.predict(rows, abstain=0.8).tolist() == ["yes", "no"]
    for more, got in (({"costs": np.eye(2)}, "costs"), ({"threshold": {"yes": 0.5}}, "a threshold")):
        want = f"^confidence: wanted a decision for the most probable class, got {got}. Leave one of them out.$"
        with pytest.raises(tb.errors.BadOption, match=want):
            model.predict(rows, confidence=0.95, **more)


def test_intervals_can_be_read_and_written() -> None:
    found = counted(LIGHT, "home").predict_interval({"light": ["on"] * 30})
    assert str(found).splitlines()[2].split(maxsplit=2)[2] == found.of(0).removeprefix("yes ")
    assert str(found).endswith("and 10 rows more")
    written = json.loads(json.dumps(found.to_dict()))
    assert written["classes"] == ["no", "yes"]
    assert np.shape(written["low"]) == (30, 2)
    assert written["level"] == 0.95


@pytest.mark.parametrize("calibrate", ["auto", None])
def test_a_few_plain_rows_have_the_same_intervals_as_many(calibrate):
    rng = np.random.default_rng(3)
    rows = {
        "kind": rng.choice(["a", "b", "c"], 300).tolist(),
        "size": rng.normal(size=300).tolist(),
        "note": rng.choice(["red fox", "blue whale", "old red ship"], 300).tolist(),
        "y": rng.choice(["no", "yes", "maybe"], 300).tolist(),
    }
    model = tb.fit(rows, "y", events={"note": "text"}, calibrate=calibrate)
    asked = [
        {"kind": "a", "size": 0.5, "note": "red ship"},
        {"kind": "never", "size": None, "note": "unknown words"},
        {"size": -1e6},
    ]
    few = model.predict_interval(asked)
    many = model.predict_interval(pa.Table.from_pylist(asked))
    for name in ("probability", "low", "high", "rows"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name))


def test_the_variance_of_many_counts_is_that_of_each():
    counts = np.random.default_rng(0).poisson(2.0, (100_000, 2)) + 0.25
    counts[7] = 0.0
    np.testing.assert_array_equal(trigamma(counts), zeta(2.0, counts))
