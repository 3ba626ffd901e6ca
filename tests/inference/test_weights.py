"""Weights of columns: what they promise."""

from __future__ import annotations

import warnings
from functools import partialmethod
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import logsumexp

import tallybayes as tb
from tallybayes.errors import WorseThanPriorWarning
from tallybayes.inference.column_terms import ColumnTerms
from tallybayes.storage.model_file import dump, parse_bytes


def mixed(n: int, seed: int = 0, *, gaps: float = 0.1) -> pa.Table:
    """Rows of two classes: one column that tells, one that repeats it, numbers, noise; some values are missing."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    tells = np.where(rng.random(n) < 0.8, label, ~label)
    columns: dict[str, Any] = {
        "tells": np.where(tells, "a", "b"),
        "again": np.where(tells, "c", "d"),
        "size": rng.normal(label * 1.5, 1.0),
        "noise": rng.choice(list("pqrs"), n),
    }
    masked = {name: pa.array(values, mask=rng.random(n) < gaps) for name, values in columns.items()}
    return pa.table({**masked, "label": np.where(label, "yes", "no")})


def loss(model: tb.Model, rows: pa.Table) -> float:
    places = np.searchsorted(model.classes, rows.column("label").to_pylist())
    return float(-np.mean(model.predict_log_proba(rows)[np.arange(len(rows)), places]))


@pytest.fixture(scope="module")
def model() -> tb.Model:
    return tb.fit(mixed(1000), "label")


def test_columns_that_repeat_each_other_weigh_less(model: tb.Model) -> None:
    weights = {name: one.weight for name, one in model.calibration.weights.columns.items()}
    assert weights["tells"] + weights["again"] < 1.5
    assert loss(model, mixed(4000, seed=1)) < loss(model.with_(calibrate=None), mixed(4000, seed=1)) - 0.02


@pytest.mark.parametrize("row", [{"tells": "a"}, {"size": 0.3}, {"noise": "q"}, {"again": "never"}, {}], ids=str)
def test_a_row_that_names_one_column_is_answered_by_its_counts(model: tb.Model, row: dict[str, Any]) -> None:
    types = mixed(1).drop_columns(["label"]).schema
    rows = pa.table({one.name: pa.array([row.get(one.name)], type=one.type) for one in types})
    np.testing.assert_allclose(model.predict_proba(rows), model.with_(calibrate=None).predict_proba(rows), rtol=1e-12)


@pytest.mark.parametrize("dropped", [0, 1, 2, 3])
def test_with_columns_dropped_the_loss_is_never_above_the_plain_one(model: tb.Model, dropped: int) -> None:
    rows, rng = mixed(6000, seed=2, gaps=0.0), np.random.default_rng(0)
    gone = np.argsort(rng.random((len(rows), 4)), axis=1) < dropped
    kept = {
        name: pa.array(rows.column(name).to_pylist(), mask=gone[:, k]) for k, name in enumerate(model.schema.columns)
    }
    partial = pa.table({**kept, "label": rows.column("label")})
    assert loss(model, partial) <= loss(model.with_(calibrate=None), partial) + 0.002


def test_weights_of_columns_that_only_tell_together_fade_sooner() -> None:
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 2, (2000, 8))
    together = tb.fit({**{f"x{k}": parts[:, k] for k in range(8)}, "y": parts.sum(axis=1) >= 4}, "y")
    label = rng.random(2000) < 0.5
    seen = np.where(rng.random(2000) < 0.8, label, ~label)
    repeated = tb.fit({**{f"x{k}": seen for k in range(8)}, "y": label}, "y")
    assert together.calibration.weights.fading > repeated.calibration.weights.fading == 1
    plain, some = together.with_(calibrate=None), np.argsort(rng.random((2000, 8)), axis=1)
    for known in (2, 4, 6):
        rows = [{f"x{k}": int(row[k]) for k in kept[:known]} for row, kept in zip(parts, some, strict=True)]
        truth = (np.arange(2000), (parts.sum(axis=1) >= 4).astype(int))
        fitted, counted = (-np.log(one.predict_proba(rows)[truth]).mean() for one in (together, plain))
        assert fitted < counted + 0.002


def test_terms_times_weights_add_up_to_the_log_odds(model: tb.Model) -> None:
    rows = mixed(200, seed=3, gaps=0.3)
    found = model.contributions(rows.drop_columns(["label"]), of="yes")
    p = model.predict_proba(rows)
    np.testing.assert_allclose(found.log_odds, np.log(p[:, 1] / p[:, 0]), rtol=1e-9, atol=1e-9)
    for i in (0, 7, 50):
        row = {k: v for k, v in rows.slice(i, 1).to_pylist()[0].items() if k != "label"}
        explained = model.explain(row, of="yes")
        assert explained.log_odds == pytest.approx(found.log_odds[i])
        assert model.nomogram().probability(model.nomogram().total(row)) == pytest.approx(p[i, 1])


def test_the_weights_do_not_depend_on_order_batches_or_threads() -> None:
    rows = mixed(700)
    want = dump(tb.fit(rows, "label"))
    shuffled = rows.take(pa.array(np.random.default_rng(5).permutation(len(rows))))
    cut = pa.concat_tables([rows.slice(a, b - a) for a, b in pairwise([0, 13, 400, 700])])
    for other in (shuffled, cut):
        for threads in (1, 3):
            assert dump(tb.fit(other, "label", threads=threads)) == want


@pytest.mark.parametrize("kind", ["float64", "str"])
@pytest.mark.parametrize("structure", ["naive", "auto"])
def test_a_column_without_any_value_changes_nothing(kind: str, structure: Any) -> None:
    rows = mixed(300)
    nothing = pa.nulls(300, pa.float64() if kind == "float64" else pa.string())
    event = {"void": "histogram" if kind == "float64" else "categorical"}
    with_void = tb.fit(rows.append_column("void", nothing), "label", events=event, structure=structure)
    p = with_void.predict_proba(mixed(50, seed=2).append_column("void", nothing.slice(0, 50)))
    assert np.isfinite(p).all()
    assert with_void.calibration.weights.columns["void"].table.shape[1] == 2


@pytest.mark.parametrize(("partial", "close"), [(False, 1e-3), (True, 0.05)])  # each copy drops columns of its own
def test_a_row_of_weight_two_is_two_rows(partial: bool, close: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ColumnTerms, "to_fit", partialmethod(ColumnTerms.to_fit, partial=partial))
    rows = mixed(300)
    twice = pa.concat_tables([rows, rows.slice(0, 100)])
    weights = np.where(np.arange(300) < 100, 2.0, 1.0)
    one, two = tb.fit(twice, "label"), tb.fit(rows, "label", weights=weights)
    for name, column in one.calibration.weights.columns.items():
        assert two.calibration.weights.columns[name].weight == pytest.approx(column.weight, abs=close)


def test_what_is_saved_is_what_is_loaded(model: tb.Model) -> None:
    again = parse_bytes(dump(model))
    assert again == model
    assert dump(again) == dump(model)
    np.testing.assert_array_equal(again.predict_proba(mixed(50)), model.predict_proba(mixed(50)))


def test_new_classes_and_values_keep_the_weights_of_the_others(model: tb.Model) -> None:
    more = pa.table({"tells": ["z"], "again": ["c"], "size": [2.0], "noise": ["p"], "label": ["maybe"]})
    learned = model.learn(more)
    assert learned.calibration.stale
    p = learned.predict_proba(mixed(50, seed=6))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert parse_bytes(dump(learned)) == learned


def test_one_weight_is_between_none_and_one_for_each_column() -> None:
    rows, others = mixed(1000), mixed(4000, seed=1)
    none, one, each = (loss(tb.fit(rows, "label", calibrate=how), others) for how in (None, "one", "auto"))
    assert each < one < none


def test_leave_one_out_validation_weighs_the_terms_of_rows_left_out(model: tb.Model) -> None:
    rows = mixed(300)
    seen = tb.validate(rows, "label", "loo")
    of_all = tb.fit(rows, "label")
    normalised = seen.calibrated - logsumexp(seen.calibrated, axis=1, keepdims=True)
    np.testing.assert_allclose(seen.probabilities, np.exp(normalised), rtol=1e-12)
    # leaving one of 300 rows out hardly changes an answer, but never makes it exactly the same
    np.testing.assert_allclose(seen.probabilities, of_all.predict_proba(rows), atol=0.05)
    assert not np.array_equal(seen.probabilities, of_all.predict_proba(rows))


def test_without_smoothing_what_is_impossible_stays_so() -> None:
    rows = {"x": list("aabbab"), "z": list("ccddcd"), "y": ["no", "no", "yes", "yes", "no", "yes"]}
    model = tb.fit(rows, "y", estimate="mle")
    assert model.predict_proba([{"x": "a", "z": "c"}])[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_few_rows_give_finite_answers(n: int) -> None:
    rows = mixed(n, seed=11)
    if len(set(rows.column("label").to_pylist())) < 2:
        rows = pa.concat_tables([rows, mixed(30, seed=12).slice(0, 6)])
    p = tb.fit(rows, "label").predict_proba(mixed(100, seed=13))
    assert np.isfinite(p).all()


def test_fit_warns_where_columns_do_not_predict_the_class() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 20)), rng.integers(0, 2, 200)
    with pytest.warns(WorseThanPriorWarning, match=r"new rows will be less probable .* \(log-loss 0\.6\d\d\)"):
        tb.fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tb.fit(x + y[:, None] / 2, y)
        tb.fit(x[:50], y[:50])  # too few to be sure


def test_weights_are_shown_in_one_line_however_many_columns() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    for width in (1, 10, 12):
        weights = tb.fit(rng.normal(size=(300, width)) + y[:, None], y).calibration.weights
        shown = repr(weights)
        assert shown.startswith(f"<weights of {width} column{'s' * (width > 1)}: x0 {weights.columns['x0'].weight:.3g}")
        assert ("and 2 more" in shown) == (width == 12)
        assert "\n" not in shown
        assert len(shown) < 200
