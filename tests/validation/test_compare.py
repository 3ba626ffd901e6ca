"""Comparison of candidates on the same folds, with a recommendation that is not chance."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import tallybayes as tb
from tallybayes.validation.design import Design
from tallybayes.validation.partners import PARTNERS, default_partners


def pay(n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = np.repeat(["low", "high"], n // 2)
    return {"pay": np.exp(rng.normal(np.where(y == "low", 0.0, 1.0), 1.0)), "y": y}


def test_each_candidate_is_what_validate_says_of_its_options() -> None:
    rows = pay()
    found = tb.compare(rows, "y", "5-fold", seed=3, partners=("ridge",))
    for one in found.candidates:
        if one.kind not in ("partner", "prior"):
            seen = tb.validate(rows, "y", "5-fold", seed=3, **one.options).evaluation
            assert (one.accuracy, one.log_loss, one.auc) == (seen.accuracy, seen.log_loss, seen.auc), one.name
    losses = [one.log_loss for one in found.candidates]
    assert losses == sorted(losses)


def test_the_shape_of_the_numbers_is_found() -> None:
    assert tb.compare(pay(), "y", partners=()).recommended.name == "as inferred"  # histograms have any shape
    found = tb.compare(pay(), "y", estimate="map", partners=())
    named, best = found["lognormal numbers"], found.recommended
    assert named.ahead > 2 * named.error
    assert named.log_loss < found["exponential numbers"].log_loss
    assert best in (named, found["histogram numbers"])  # which of the two depends on the draw
    assert found.recommendation.startswith(f"Take '{best.name}' ({best.option}): log-loss 0.")


def test_the_difference_and_its_error_are_those_of_the_rows() -> None:
    rows = pay()
    found = tb.compare(rows, "y", partners=())["lognormal numbers"]
    true = np.where(rows["y"] == "high", 0, 1)  # classes in their order: high, low
    losses = []
    for options in ({}, found.options):
        p = tb.validate(rows, "y", **options).probabilities
        losses.append(-np.log(p[np.arange(len(true)), true]))
    apart = losses[0] - losses[1]
    assert found.ahead == pytest.approx(apart.mean())
    assert found.error == pytest.approx(apart.std(ddof=1) / np.sqrt(len(apart)))


def test_the_default_is_recommended_for_noise() -> None:
    rng = np.random.default_rng(1)
    rows = {"x": rng.normal(size=300), "y": rng.integers(0, 2, 300)}
    found = tb.compare(rows, "y", partners=("ridge",))
    assert found.recommended is found.default
    assert "nothing else is surely better" in found.recommendation
    assert "no better than the class prior alone" in found.recommendation


def test_the_partner_is_scikit_learns_on_the_same_folds() -> None:
    rows = pay()
    found = tb.compare(rows, "y", "4-fold", partners=("ridge",))["logistic regression (ridge)"]
    folds = tb.validate(rows, "y", "4-fold").folds
    p = np.empty((len(folds), 2))
    for k in range(4):
        train, test = (rows["pay"][mask, None] for mask in (folds != k, folds == k))
        scaler = StandardScaler().fit(train)
        model = LogisticRegression(max_iter=1000).fit(scaler.transform(train), rows["y"][folds != k])
        p[folds == k] = model.predict_proba(scaler.transform(test))
    seen = tb.evaluate(rows["y"], p, ["high", "low"])
    assert found.log_loss == pytest.approx(seen.log_loss, rel=1e-6)
    assert found.accuracy == seen.accuracy


def test_the_partner_is_reported_as_better_if_columns_depend_on_each_other() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 3000)
    x = y + rng.normal(size=3000) * 0.5
    noise = rng.normal(size=3000) * 3
    rows = {"sum": x + noise, "noise": noise, "y": y}
    found = tb.compare(rows, "y", partners=("ridge",), structure="naive")
    assert "which is better: columns depend on each other given the class" in found.recommendation


def test_words_are_compared_in_other_bags_and_several_changes_together(data: Path) -> None:
    found = tb.compare(data / "titanic" / "titanic_passengers.csv.gz", "label", "5-fold", partners=())
    names = {one.name for one in found.candidates}
    assert {"words present or absent", "lognormal numbers", "Poisson numbers", "whole numbers as categories"} <= names
    several = [one for one in found.candidates if one.kind == "several"]
    for one in several:
        seen = tb.validate(data / "titanic" / "titanic_passengers.csv.gz", "label", "5-fold", **one.options)
        assert one.log_loss == seen.evaluation.log_loss


def test_given_options_hold_for_all_candidates() -> None:
    rows = pay() | {"id": np.arange(400)}
    found = tb.compare(rows, "y", events={"id": "ignore"}, partners=())
    assert all(one.options["events"]["id"] == "ignore" for one in found.candidates if "events" in one.options)
    alone = tb.compare(pay(), "y", partners=())
    assert found["lognormal numbers"].log_loss == alone["lognormal numbers"].log_loss


def test_weights_count_in_the_difference() -> None:
    rows = pay(200)
    twice = {name: np.repeat(values, 2) for name, values in rows.items()} | {"w": np.tile([1.0, 0.0], 200)}
    found, want = (tb.compare(one, "y", "5-fold", weights=w, partners=()) for one, w in ((twice, "w"), (rows, None)))
    assert {one.name for one in found.candidates} == {one.name for one in want.candidates}
    assert found["the class prior alone"].log_loss == pytest.approx(want["the class prior alone"].log_loss, rel=0.02)


def test_repeats_are_averaged_and_plain_values_are_plain() -> None:
    found = tb.compare(pay(100), "y", "2x5", partners=())
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["recommended"] == found.recommended.name
    assert told["candidates"][0]["log_loss"] == found.candidates[0].log_loss
    assert str(found).splitlines()[-1] == found.recommendation
    assert repr(found) == str(found)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"how": "loo"}, "how: wanted folds"),
        ({"partners": ("tree",)}, "partners: wanted some of ridge, lasso"),
        ({"evnts": "gaussian"}, "option: wanted one of this function or of fit"),
    ],
)
def test_what_cannot_be_compared_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tb.errors.BadOption, match=sentence):
        tb.compare(pay(100), "y", **options)


def test_rows_name_their_option_and_infinite_losses_are_not_compared() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 60)
    rows = {
        "kind": [f"{'ab'[c]}{k % 9}" if k else f"{'ba'[c]}1" for k, c in enumerate(y)],
        "size": rng.normal(y),
        "y": y,
    }
    found = tb.compare(rows, "y", "5-fold", partners=())
    assert found["smoothing by leave-one-out"].option == "--alpha loo"
    assert found["no calibration"].option == "--no-calibrate"
    assert found["gaussian numbers"].option == "--event size=gaussian"
    text = str(found)
    assert "nats per row; the gain is over 'as inferred', the baseline" in text
    assert np.isinf(found["maximum likelihood"].log_loss)
    assert "Infinite log-loss, not compared: 'maximum likelihood'" in text
    row = next(line for line in text.splitlines() if line.strip().startswith("maximum likelihood"))
    assert row.split()[-7:-5] == ["–", "–"]


def test_where_the_default_is_infinite_the_lowest_finite_loss_is_recommended() -> None:
    y = list("ab" * 30)  # the first row has a value that only rows of the other class have
    rows = {"kind": ["b1", *(f"{c}{k % 3}" for k, c in enumerate(y[1:]))], "y": y}
    found = tb.compare(rows, "y", "5-fold", partners=("ridge",), estimate="mle", calibrate=None)
    assert np.isinf(found.default.log_loss)
    assert np.isfinite(found.recommended.log_loss)
    assert not found.recommended.surely_better or np.isfinite(found.recommended.ahead)


def xor(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    left, right = rng.choice(["up", "down"], n), rng.choice(["up", "down"], n)
    noise = rng.random(n) < 0.1
    return {"left": left, "right": right, "y": np.where((left == right) ^ noise, "same", "other")}


def test_the_lowest_rung_that_is_as_good_as_the_best_is_recommended() -> None:
    found = tb.compare(xor(400), "y", "5-fold", partners=("forest",))
    rungs = {one.options["structure"]: one for one in found.candidates if one.kind == "structure"}
    assert set(rungs) == {"pairs", "tan", "aode", "auto"}
    best = min((one for one in found.candidates if one.kind != "partner"), key=lambda one: one.log_loss)
    assert (best.above_best, best.above_best_error) == (0.0, 0.0)
    near = [rung for rung in ("pairs", "tan", "aode", "auto") if rungs[rung].above_best <= rungs[rung].above_best_error]
    assert found.recommended.options == {"structure": near[0]}
    assert found.recommended.option == f"--structure {near[0]}"
    assert "Take " in found.recommendation
    assert found["random forest"].accuracy > 0.85
    assert all(one.seconds > 0 for one in found.candidates)


def test_a_structure_that_is_given_is_kept() -> None:
    kinds = {one.kind for one in tb.compare(xor(100), "y", "2-fold", partners=(), structure="tan").candidates}
    assert "structure" not in kinds
    texts = {"text": ["good film", "bad film"] * 20, "y": ["yes", "no"] * 20}
    assert "structure" not in {one.kind for one in tb.compare(texts, "y", "2-fold", partners=()).candidates}


@pytest.mark.parametrize("package", ["lightgbm", "xgboost", "catboost", "interpret"])
def test_boosted_trees_are_partners_where_they_are_installed(package: str) -> None:
    name = "ebm" if package == "interpret" else package
    title = PARTNERS[name].title
    if importlib.util.find_spec(package) is None:
        with pytest.raises(tb.errors.BadOption, match=f"pip install {package}"):
            tb.compare(xor(60), "y", "2-fold", partners=(name,))
        assert name not in default_partners()
    else:
        found = tb.compare(xor(200), "y", "2-fold", partners=(name,))
        assert found[title].accuracy > 0.7
        assert name in default_partners()


def test_partners_take_numbers_whose_squares_are_infinite() -> None:
    rows = {"x": [1e300, -2e300, 3e300, None], "y": ["p", "q", "p", "q"]}
    found = Design(tb.fit(rows, "y", calibrate=None).schema).fit(pa.RecordBatch.from_pydict(rows))
    np.testing.assert_allclose(found.mean(), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.std(), 1.0)
