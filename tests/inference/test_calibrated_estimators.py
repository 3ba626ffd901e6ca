"""NaiveBayes and TextNB calibrate further batches as one fit on all rows would; the drop-ins do not calibrate."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes import model
from tallybayes.evidence import row_sample
from tallybayes.inference import calibrate
from tallybayes.storage.model_file import dump

from .rows import EVENTS, table


def features(rows: pa.Table) -> tuple[pa.Table, list[str]]:
    return rows.drop_columns("label"), rows["label"].to_pylist()


def documents(rows: pa.Table) -> tuple[list[str], list[str]]:
    return [text or "" for text in rows["prose"].to_pylist()], rows["label"].to_pylist()


KINDS = {
    "NaiveBayes": (lambda **options: tb.NaiveBayes(EVENTS, **options), features),
    "TextNB": (tb.TextNB, documents),
}
each_kind = pytest.mark.parametrize(("new", "given"), KINDS.values(), ids=KINDS)


@pytest.fixture(autouse=True, params=[50_000, 40], ids=["all rows", "40 rows"])
def _room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_sample, "MOST_ROWS", request.param)


@each_kind
@pytest.mark.parametrize("alpha", ["auto", "loo", "evidence", 0.5])
def test_further_batches_equal_one_fit_on_all_rows(new: Any, given: Any, alpha: Any) -> None:
    rows = table()
    whole = new(alpha=alpha).fit(*given(rows))
    parts = new(alpha=alpha)
    for k in range(0, len(rows), 25):
        parts.partial_fit(*given(rows[k : k + 25]))
    assert parts.model_ == whole.model_
    assert dump(parts.model_) == dump(whole.model_)
    assert not parts.model_.calibration.stale
    np.testing.assert_array_equal(parts.predict_proba(given(rows)[0]), whole.predict_proba(given(rows)[0]))


@each_kind
def test_predictions_between_batches_change_nothing(new: Any, given: Any) -> None:
    rows = table()
    parts = new().partial_fit(*given(rows[:60]))
    parts.predict_proba(given(rows)[0])
    parts.partial_fit(*given(rows[60:]))
    assert parts.model_ == new().fit(*given(rows)).model_


@each_kind
def test_another_batch_is_not_calibrated_before_a_prediction(
    new: Any, given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table()
    parts = new().fit(*given(rows[:60]))
    calls = []

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return calibrate.calibrate(*arguments)

    monkeypatch.setattr(model, "calibrate", counted)
    for k in range(60, 120, 10):
        parts.partial_fit(*given(rows[k : k + 10]))
    assert not calls
    parts.predict(given(rows)[0])
    parts.predict(given(rows)[0])
    assert len(calls) == 1


@each_kind
def test_forgetting_rows_equals_never_learning_them_when_all_rows_calibrate(
    new: Any, given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_sample, "MOST_ROWS", 50_000)
    rows = table()
    left = new().fit(*given(rows)).forget(*given(rows[70:]))
    assert left.model_ == new().fit(*given(rows[:70])).model_


@each_kind
def test_two_estimators_add_to_one_of_all_rows(new: Any, given: Any) -> None:
    rows = table()
    both = new().fit(*given(rows[:50])) + new().fit(*given(rows[50:]))
    assert both.model_ == new().fit(*given(rows)).model_


@each_kind
def test_a_pickle_has_the_calibration_and_not_the_rows(new: Any, given: Any) -> None:
    rows = table()
    fitted = new().fit(*given(rows[:60])).partial_fit(*given(rows[60:]))
    again = pickle.loads(pickle.dumps(fitted))
    assert again._learned.sample is None
    assert again.model_ == fitted.model_
    assert not again.model_.calibration.stale
    more = again.partial_fit(*given(table(20, seed=9)))
    assert more.model_.calibration.stale
    assert not fitted.partial_fit(*given(table(20, seed=9))).model_.calibration.stale


@each_kind
def test_weights_are_those_of_a_fit(new: Any, given: Any) -> None:
    rows, weights = table(), np.random.default_rng(0).choice([0.5, 1.0, 2.0], 120)
    whole = new().fit(*given(rows), sample_weight=weights)
    parts = new().partial_fit(*given(rows[:50]), sample_weight=weights[:50])
    parts.partial_fit(*given(rows[50:]), sample_weight=weights[50:])
    assert parts.model_ == whole.model_


@each_kind
def test_switched_off_nothing_is_calibrated_and_no_row_is_kept(new: Any, given: Any) -> None:
    rows = table()
    plain = new(calibrate=None, alpha=1.0).fit(*given(rows))
    assert plain.model_.calibration is None
    assert plain._learned.sample is None
    calibrated = new(alpha=1.0).fit(*given(rows))
    np.testing.assert_array_equal(plain.predict(given(rows)[0]), calibrated.predict(given(rows)[0]))


def test_the_estimator_has_the_model_that_fit_gives() -> None:
    rows = table()
    X, y = features(rows)
    mine, theirs = tb.NaiveBayes(EVENTS).fit(X, y).model_, tb.fit(X, y, events=EVENTS)
    assert mine.calibration == theirs.calibration
    np.testing.assert_array_equal(mine.predict_proba(X), theirs.predict_proba(X))


def test_the_drop_ins_are_not_calibrated() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    joint = tb.GaussianNB().fit(X, y).predict_joint_log_proba(X)
    plain = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(tb.GaussianNB().fit(X, y).predict_proba(X), plain)
