"""Learning curves equal refitting on each prefix, with logistic regression on the same rows."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

import tallybayes as tb
from tallybayes.validation import split

from .refitted import fitted

curves = import_module("tallybayes.validation.learning_curve")  # the package has a function of this name


def some(n: int = 120) -> pa.Table:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    x = rng.normal([{"a": 0.0, "b": 1.0, "c": 2.0}[c] for c in y])
    town = np.where(rng.random(n) < 0.6, y, "d")
    said = [f"{c} word{rng.integers(3)} and more" for c in y]
    gaps = pa.array(x, mask=rng.random(n) < 0.1)
    return pa.table({"x": gaps, "town": town, "said": said, "label": y, "w": rng.choice([0.5, 1.0, 2.0], n)})


@pytest.mark.parametrize("options", [{"alpha": 1.0, "calibrate": None}, {"alpha": 1.0, "calibrate": "loo"}])
def test_each_size_equals_refitting_on_that_many_rows(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    table, shuffled = some(), []
    plain = curves._Shuffle.naive

    def noted(self: Any, sizes: np.ndarray) -> Any:
        shuffled.append(self)
        return plain(self, sizes)

    monkeypatch.setattr(curves._Shuffle, "naive", noted)
    events, sizes = {"said": "text"}, [12, 40, 80]
    curve = tb.learning_curve(
        table, "label", weights="w", events=events, sizes=sizes, shuffles=2, compare=(), **options
    )
    for s, one in enumerate(shuffled):
        assert not set(one.held) & set(one.order)
        held = table.take(pa.array(one.held))
        for k, size in enumerate(curve.sizes):
            model = fitted(table.take(pa.array(one.order[:size])), events, **options)
            true, weights = held.column("label").to_pylist(), held.column("w").to_numpy()
            seen = tb.evaluate(true, model.predict_proba(held), model.classes, weights=weights)
            assert curve.accuracy[0, k, s] == pytest.approx(seen.accuracy, rel=1e-12)
            assert curve.log_loss[0, k, s] == pytest.approx(seen.log_loss, rel=1e-9)


def test_every_beginning_has_the_shares_of_the_classes() -> None:
    strata = np.repeat([0, 1, 2], [60, 30, 10]).astype(np.int32)
    order = curves._shuffle(strata, np.ones(100, bool), np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    for size in (20, 50, 80):
        counts = np.bincount(strata[order[:size]], minlength=3)
        assert np.abs(counts - size * np.array([0.6, 0.3, 0.1])).max() <= 2


def test_tables_texts_arrays_and_sparse_rows_have_partners() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 90)
    counts = rng.poisson(1.0 + y[:, None], (90, 5))
    for source, label in (
        (some(), "label"),
        (counts.astype(float), y),
        (sp.csr_matrix(counts), y),
        (["see you"] * 90, y),
    ):
        curve = tb.learning_curve(source, label, sizes=[20, 50], shuffles=2)
        assert curve.models == ("naive Bayes", "ridge", "lasso")
        assert curve.accuracy.shape == (3, 2, 2)
        assert np.isfinite(curve.accuracy).all()


def test_the_partner_is_scikit_learns_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 90)
    X = rng.normal(y[:, None], 1.0, (90, 3))
    curve = tb.learning_curve(X, y, sizes=[60], shuffles=1, compare=["ridge"])
    held = split.holdout(y.astype(np.int32), 1 / 3, rng := np.random.default_rng([0, 0])) == 0
    order = curves._shuffle(y.astype(np.int32), ~held, rng)
    scale = StandardScaler().fit(X[order[:60]])
    model = LogisticRegression(max_iter=1000).fit(scale.transform(X[order[:60]]), y[order[:60]])
    assert curve.accuracy[1, 0, 0] == pytest.approx(model.score(scale.transform(X[held]), y[held]))


def test_sizes_grow_by_half_until_all_rows_are_learned() -> None:
    curve = tb.learning_curve(some(), "label", shuffles=2, compare=())
    assert curve.sizes.tolist() == [12, 18, 27, 41, 62, 80]


def test_the_curve_is_plain_data_text_and_a_chart(tmp_path: Path) -> None:
    curve = tb.learning_curve(some(), "label", sizes=[12, 40, 80], shuffles=3, compare=["ridge"])
    kept = json.loads(json.dumps(curve.to_dict()))
    assert kept["sizes"] == [12, 40, 80]
    assert len(kept["points"]) == 2 * 2 * 3
    low, high = curve.band("accuracy")
    assert (low <= curve.mean("accuracy")).all()
    assert (high >= curve.mean("accuracy")).all()
    assert "Learning curve: 40 rows held out, mean of 3 shuffles, seed 0" in str(curve)
    assert repr(curve) == str(curve)
    curve.chart().save(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_a_seed_gives_the_same_curve() -> None:
    one, again, other = (tb.learning_curve(some(), "label", shuffles=2, compare=(), seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.log_loss, again.log_loss)
    assert (one.log_loss != other.log_loss).any()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sizes": [0, 5]}, "sizes: wanted whole numbers from 1 to 80, the rows not held out, got [0, 5]."),
        ({"sizes": [81]}, "sizes: wanted whole numbers from 1 to 80"),
        ({"shuffles": 0}, "shuffles: wanted a whole number from 1, got 0."),
        ({"holdout": 1.0}, "holdout: wanted a number above 0 and below 1, got 1.0."),
        (
            {"compare": ["tree"]},
            "compare: wanted some of ridge, lasso, forest, lightgbm, xgboost, catboost, ebm, got 'tree'.",
        ),
        (
            {"compare": "ridge"},
            "compare: wanted some of ridge, lasso, forest, lightgbm, xgboost, catboost, ebm, got 'ridge'.",
        ),
        ({"alfa": 1}, "option: wanted one of this function or of fit, got 'alfa'."),
    ],
)
def test_what_makes_no_curve_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tb.errors.BadOption) as caught:
        tb.learning_curve(some(), "label", **options)
    assert sentence in str(caught.value)
