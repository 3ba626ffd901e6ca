"""Calibration by leave-one-out: deterministic, saved with the model, marked when stale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp

import tallybayes as tb
from tallybayes.events.families.empirical_bayes import empirical_bayes_alpha
from tallybayes.evidence import row_sample
from tallybayes.fitting import FitOptions, begin
from tallybayes.inference import calibrate, leave_one_out
from tallybayes.inference.calibration import Calibration
from tallybayes.inference.choices import Choices
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.inference.temperature import fit_temper
from tallybayes.storage.model_file import dump, parse_bytes

from .rows import EVENTS, cut, shuffled, table


def fit(rows: Any, **options: Any) -> tb.Model:
    return tb.fit(rows, "label", events=EVENTS, **options)


@pytest.fixture(params=[50_000, 40], ids=["all rows", "40 rows"])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(row_sample, "MOST_ROWS", request.param)
    return int(request.param)


@pytest.mark.parametrize("alpha", ["auto", "loo", {"colour": "loo", "prose": "loo", "*": "evidence"}], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_order_batches_and_threads_do_not_matter_to_the_bit(room: int, alpha: Any, weighted: bool) -> None:
    rows = table(weighted=weighted)
    options = {"alpha": alpha, "weights": "times" if weighted else None}
    model = fit(rows, **options)
    assert model.calibration is not None
    assert model.calibration.rows == min(room, len(rows))
    for seed, (size, threads) in enumerate([(120, 1), (7, 1), (1, 2), (50, 4)]):
        other = fit(cut(shuffled(rows, seed), size), **options, threads=threads)
        assert other.calibration == model.calibration
        assert dump(other) == dump(model)


@pytest.mark.parametrize("alpha", [1.0, "loo"], ids=str)
def test_neither_threads_nor_slices_of_the_rows_left_out_matter_to_the_bit(
    alpha: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table().drop(["prose"])
    model = tb.fit(rows, "label", alpha=alpha, events={"calls": "poisson"})
    monkeypatch.setattr(calibrate, "SCORED_ROWS", 7)
    for threads in (1, 2, 4):
        other = tb.fit(rows, "label", alpha=alpha, events={"calls": "poisson"}, threads=threads)
        assert other.calibration == model.calibration


@pytest.mark.parametrize("alpha", [1.0, "loo"], ids=str)
def test_nor_do_they_for_bags_whose_slices_share_a_table(alpha: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    counts, labels = csr_array(rng.poisson(0.7, (200, 9)).astype(float)), rng.integers(0, 3, 200)
    options = {"alpha": alpha, "events": "multinomial"}
    model = tb.fit(counts, labels, **options, threads=1)
    assert model.calibration is not None
    monkeypatch.setattr(leave_one_out, "_SLICE_ROWS", 7)
    for threads in (2, 4):
        assert tb.fit(counts, labels, **options, threads=threads).calibration == model.calibration


@pytest.mark.parametrize("room", [50_000], indirect=True)
def test_the_temperature_is_that_of_the_scores_of_rows_left_out(room: int) -> None:
    rows = table()
    model = fit(rows, alpha=1.0)
    calibration = model.calibration
    assert calibration is not None
    scores = model.leave_one_out(rows)
    places = np.searchsorted(model.classes, rows.column("label").to_pylist())
    # colour, size, twice, calls: one each; prose: its words
    size = (
        np.sum([~np.isnan(np.array(rows["size"])), [c is not None for c in rows["colour"].to_pylist()]], axis=0) + 2.0
    )
    size += [sum(len(word) > 1 for word in (text or "").split()) for text in rows["prose"].to_pylist()]
    temperature, left, _ = fit_temper(scores, places, size)
    assert (calibration.temperature.a, calibration.temperature.b) == pytest.approx(
        (temperature.a, temperature.b), rel=1e-6
    )
    assert calibration.after == pytest.approx(left.mean())
    assert calibration.before == pytest.approx(np.mean(logsumexp(scores, axis=1) - scores[np.arange(120), places]))
    assert calibration.after < calibration.before


@pytest.mark.parametrize("events", ["gaussian", "categorical"])
@pytest.mark.parametrize("n", [60, 600], ids=["one slice", "slices"])
def test_wide_rows_are_calibrated_where_they_are(events: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(n)
    y = rng.integers(0, 3, n)
    X = rng.integers(0, 3, (n, 4100)) + (y == 1)[:, None]
    X[1], y[1] = X[0], y[0]  # the same row twice
    order = rng.permutation(n)
    models = [
        tb.fit(X, y, events=events),
        tb.fit(X, y, events=events, threads=2),
        tb.fit(X[order], y[order], events=events),
    ]
    monkeypatch.setattr(SampledRows, "in_place", lambda *_: None)
    models.append(tb.fit(X, y, events=events))
    first, *others = (dump(model) for model in models)
    assert all(other == first for other in others)
    assert models[0].calibration == models[-1].calibration


def test_with_one_weight_probabilities_are_made_of_weighted_terms() -> None:
    rows = table().drop_columns(["prose", "colour", "size"])
    model = tb.fit(rows, "label", calibrate="one")
    assert model.calibration is not None
    assert model.calibration.weights is not None
    [weight] = {one.weight for one in model.calibration.weights.columns.values()}
    prior = model.belief.log_prior
    weighted = prior + weight * (model.log_joint(rows) - prior)
    np.testing.assert_allclose(
        np.log(model.predict_proba(rows)), weighted - logsumexp(weighted, axis=1, keepdims=True), atol=1e-9
    )
    np.testing.assert_allclose(model.predict_log_proba(rows), np.log(model.predict_proba(rows)), atol=1e-9)


@pytest.mark.parametrize("alpha", ["auto", "loo", "evidence", 1.0, {"colour": "loo", "*": 2.0}], ids=str)
def test_what_was_chosen_is_saved_with_the_model(tmp_path: Path, alpha: Any) -> None:
    rows = table()
    model = fit(rows, alpha=alpha)
    model.save(tmp_path / "m.tally")
    again = tb.load(tmp_path / "m.tally")
    assert again == model
    assert again.calibration == model.calibration
    assert dump(again) == dump(model)
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    stale = model.learn(rows[:3])
    assert parse_bytes(dump(stale)) == stale


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_learning_forgetting_and_adding_make_the_calibration_stale_until_recomputed(room: int, weighted: bool) -> None:
    rows = table(weighted=weighted)
    options = {"alpha": "loo", "weights": "times" if weighted else None}
    whole, first, rest = fit(rows, **options), fit(rows[:70], **options), fit(rows[70:], **options)
    assert whole.calibration is not None
    assert not whole.calibration.stale
    changed = {"learn": first.learn(rows[70:]), "+": first + rest, "forget": whole.forget(rows[70:])}
    for how, model in changed.items():
        assert model.calibration is not None, how
        assert model.calibration.stale, how
        assert "calibrated before the last change" in repr(model), how
    for how in ("learn", "+"):
        again = changed[how].calibrate(shuffled(rows, 3))
        assert dump(again) == dump(whole), how
        assert "calibrated before" not in repr(again)
    assert dump(changed["forget"].calibrate(rows[:70])) == dump(first)


def test_adding_keeps_the_calibration_of_more_rows_whichever_comes_first() -> None:
    rows = table()
    few, many = fit(rows[:40]), fit(rows[40:])
    assert few.calibration is not None
    assert many.calibration is not None
    assert few + many == many + few
    assert (few + many).calibration == many.calibration.outdated()


def test_other_choices_make_it_stale_and_switching_it_off_does_not() -> None:
    model = fit(table())
    assert model.calibration is not None
    for other in (model.with_(prior="uniform"), model.with_(estimate="map"), model.with_(alpha=2.0)):
        assert other.calibration == model.calibration.outdated()
    off = model.with_(calibrate=None)
    assert off.calibration == model.calibration
    assert off.with_(calibrate="loo") == model


def test_switched_off_it_gives_plain_probabilities_and_the_same_decisions() -> None:
    rows, others = table(), table(300, seed=1)
    model, plain = fit(rows, alpha=1.0), fit(rows, alpha=1.0, calibrate=None)
    off = model.with_(calibrate=None)
    assert plain.calibration is None
    assert not plain._has_calibrated_scores
    assert not off._has_calibrated_scores
    np.testing.assert_array_equal(off.predict_proba(others), plain.predict_proba(others))
    calibrated = model.predict_proba(others)
    assert not np.allclose(calibrated, plain.predict_proba(others))
    np.testing.assert_array_equal(calibrated.argmax(axis=1), plain.predict_proba(others).argmax(axis=1))
    np.testing.assert_array_equal(model.predict(others), plain.predict(others))
    np.testing.assert_array_equal(model.log_joint(others), plain.log_joint(others))


def test_calibration_makes_probabilities_of_further_rows_better() -> None:
    model, others = fit(table(400), alpha=1.0), table(2000, seed=1)
    places = np.searchsorted(model.classes, others.column("label").to_pylist())

    def loss(of: tb.Model) -> float:
        return float(-np.mean(of.predict_log_proba(others)[np.arange(len(others)), places]))

    assert loss(model) < loss(model.with_(calibrate=None)) - 0.05


@pytest.mark.parametrize("alpha", ["auto", "loo", 1.0])
def test_a_row_alone_in_its_class_is_counted_and_not_scored(alpha: Any) -> None:
    rows = table()
    alone = rows[:1].set_column(rows.column_names.index("label"), "label", pa.array(["perhaps"]))
    model = fit(pa.concat_tables([rows, alone]), alpha=alpha)
    assert model.calibration is not None
    assert (model.calibration.rows, model.calibration.unscored) == (121, 1)
    assert model.calibration.temperature is not None
    assert np.isfinite([model.calibration.before, model.calibration.after]).all()


def test_no_smoothing_or_temperature_is_fitted_if_every_row_is_alone_in_its_class() -> None:
    model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha="loo")
    assert model.calibration == Calibration({"*": 1.0}, None, 2, 2)
    assert parse_bytes(dump(model)) == model
    np.testing.assert_allclose(model.predict_proba([{"x": "p"}]), [[2 / 3, 1 / 3]])


def test_rows_of_weight_zero_count_as_no_rows() -> None:
    rows = table(weighted=True)
    nothing = table(30, seed=4).append_column("times", pa.array([0.0] * 30))
    both = pa.concat_tables([rows, nothing.select(rows.column_names)])
    assert dump(fit(both, weights="times", alpha="loo")) == dump(fit(rows, weights="times", alpha="loo"))


def test_weights_that_are_all_one_choose_as_none_do() -> None:
    rows = table()
    plain, weighted = fit(rows, alpha="loo"), fit(rows, alpha="loo", weights=np.ones(len(rows)))
    assert plain.calibration is not None
    assert weighted.calibration is not None
    one, other = plain.calibration, weighted.calibration
    assert one.alphas == other.alphas
    assert (one.temperature.a, one.temperature.b) == pytest.approx((other.temperature.a, other.temperature.b), rel=1e-6)
    assert (one.before, one.after) == pytest.approx((other.before, other.after), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_smoothing_is_the_nearest_to_one_that_the_rows_cannot_tell_from_the_best(seed: int) -> None:
    model = fit(table(300, seed=seed), alpha="loo")
    assert model.calibration is not None
    tried = {one.alpha: one for one in model.calibration.tried}
    best = min(tried.values(), key=lambda one: one.log_loss)
    found = tried[model.calibration.alphas["*"]]
    assert set(model.calibration.alphas) == {one.columns for one in tried.values()} == {"*"}
    assert min(best.alpha, 1.0) <= found.alpha <= max(best.alpha, 1.0)
    assert found.log_loss - best.log_loss <= best.error
    assert model.calibration.after == pytest.approx(found.log_loss)
    assert model._resolved_choices.alpha == found.alpha


def test_fewer_than_thirty_rows_leave_it_at_one() -> None:
    few, enough = fit(table(29), alpha="loo").calibration, fit(table(30), alpha="loo").calibration
    assert few is not None
    assert enough is not None
    assert (few.alphas, few.tried) == ({"*": 1.0}, ())
    assert few.temperature is not None
    assert enough.tried


def test_auto_chooses_for_texts_and_averages_for_categories() -> None:
    model, plain = fit(table()), tb.fit(table().drop_columns("prose"), "label")
    assert model.calibration is not None
    assert plain.calibration is not None
    assert model._resolved_choices.alpha == {"prose": model.calibration.alphas["*"], "colour": "average"}
    assert plain._resolved_choices.alpha == {"colour": "average"}
    assert plain.calibration.alphas == {}
    assert plain.calibration.tried == ()


def test_a_mapping_chooses_for_columns_and_globs_each_by_its_own_way() -> None:
    rows = table()
    model = fit(rows, alpha={"colour": "evidence", "pro*": "loo", "size": 3.0, "t*": "loo"})
    assert model.calibration is not None
    assert set(model.calibration.alphas) == {"pro*", "t*"} == {one.columns for one in model.calibration.tried}
    resolved = {block.columns: model._resolved_choices.alphas(block).tolist() for block in model.schema.blocks}
    alphas = {name: a for columns, each in resolved.items() for name, a in zip(columns, each, strict=True)}
    assert alphas == {
        "colour": pytest.approx(empirical_bayes_alpha(model.table("colour").counts.T)),
        "size": 3.0,
        "twice": model.calibration.alphas["t*"],
        "calls": 1.0,
        "prose": model.calibration.alphas["pro*"],
    }
    assert parse_bytes(dump(model)) == model


def test_a_glob_before_a_glob_goes_first_whichever_way_each_chooses() -> None:
    model = tb.fit(table().select(["colour", "label"]), "label", alpha={"col*": 2.0, "*": "evidence"}, calibrate=None)
    assert model._resolved_choices.alphas(model.schema.blocks[0]).tolist() == [2.0]
    model = model.with_(alpha={"*": "evidence", "col*": 2.0})
    assert model._resolved_choices.alphas(model.schema.blocks[0]).tolist() != [2.0]


@pytest.mark.parametrize("alpha", ["best", {"size": "auto"}, {"size": "best"}, -1.0, True], ids=str)
def test_a_smoothing_that_is_none_is_refused(alpha: Any) -> None:
    with pytest.raises(tb.errors.BadOption, match="alpha: wanted"):
        fit(table(), alpha=alpha)


def test_a_calibration_that_is_none_is_refused() -> None:
    with pytest.raises(tb.errors.BadOption, match="calibrate: wanted one of 'auto', 'loo', 'one', None, got 'sigmoid'"):
        fit(table(), calibrate="sigmoid")


def test_without_smoothing_rows_left_out_may_be_impossible_and_are_counted() -> None:
    rows = {"x": ["p", "p", "q", "q", "r"], "y": ["no", "no", "yes", "yes", "yes"]}
    model = tb.fit(rows, "y", estimate="mle")
    assert model.calibration is not None
    assert model.calibration.alphas == {}
    assert model.calibration.unscored == 1  # r is nowhere else


@pytest.mark.parametrize("calibrate", ["auto", "one"])
def test_no_more_rows_are_sampled_than_calibrating_takes(calibrate: Any) -> None:
    rng = np.random.default_rng(3)
    y = np.sort(rng.integers(0, 30, 20_000))  # each batch has other classes
    X = rng.integers(0, 9, (len(y), 20)) + y[:, None] % 3
    table = pa.table({**{f"x{f}": X[:, f].astype(float) for f in range(20)}, "y": y})
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=3000))
    options = FitOptions(choices=Choices(calibrate=calibrate))
    model, sample = begin(table, "y", options)
    few, smaller = begin(batches, "y", options, more_follow=False, threads=2)
    assert few == model == tb.fit(table, "y", calibrate=calibrate)
    assert smaller is not None
    assert sample is not None
    assert model.calibration.rows <= len(smaller.first()) < len(sample.first()) == len(y)
