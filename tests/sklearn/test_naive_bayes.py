"""NaiveBayes: mixed columns from any library, and incremental learning."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.model_selection import cross_val_score

import tallybayes as tb
from tallybayes.storage import model_file
from tests.examples import number_of
from tests.tables import tables

from .versions import recent

COLUMNS = {
    "outlook": ["sunny", "sunny", None, "rainy", "rainy", "rainy", "overcast", "sunny"],
    "windy": [True, False, False, None, True, False, True, False],
    "children": [0, 2, 1, 0, 3, 1, 2, 0],
    "humidity": [85.0, 90.0, 78.0, None, 80.0, 70.0, 65.0, 95.0],
}
PLAY = np.array(["no", "no", "yes", "yes", "yes", "no", "yes", "no"])
LIBRARIES = {
    "pandas": pd.DataFrame,
    "pandas with categories": lambda rows: pd.DataFrame(rows).astype({"outlook": "category"}),
    "pandas on Arrow": lambda rows: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "record batch": pa.RecordBatch.from_pydict,
}


def bytes_of(model: tb.NaiveBayes) -> bytes:
    return model_file.dump(model.model_)


def take(rows: slice) -> dict[str, list[Any]]:
    return {name: values[rows] for name, values in COLUMNS.items()}


@recent
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_of_any_library_gives_the_model_that_fit_gives(library: str) -> None:
    frame = LIBRARIES[library](COLUMNS)
    model = tb.NaiveBayes().fit(frame, PLAY)
    assert model.model_.schema.events() == {
        "outlook": "categorical",
        "windy": "categorical",
        "children": "histogram",
        "humidity": "histogram",
    }
    assert model.model_ == tb.fit(COLUMNS, PLAY)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    np.testing.assert_array_equal(model.predict_proba(frame), model.model_.predict_proba(COLUMNS))
    assert (model.predict(frame) == model.classes_[model.predict_proba(frame).argmax(axis=1)]).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(frame)), model.predict_proba(frame), rtol=1e-12)
    np.testing.assert_array_equal(model.predict_joint_log_proba(frame), model.model_.log_joint(COLUMNS))


def test_its_parameters_are_those_of_fit() -> None:
    wanted = inspect.signature(tb.fit).parameters
    got = inspect.signature(tb.NaiveBayes).parameters
    reading = {"errors", "bad_lines", "where", "connection", "checkpoint"}  # which an estimator does not
    reading |= {"encoding", "delimiter", "header"}
    own = {"class_weight"}  # scikit-learn's way to weigh rows
    assert set(got) - own == set(wanted) - {"source", "label", "weights", *reading}
    assert all(got[name].default == wanted[name].default for name in set(got) - own)


def test_its_parameters_reach_the_model() -> None:
    choices: dict[str, Any] = {
        "events": {"children": "poisson"},
        "estimate": "map",
        "alpha": {"outlook": 0.5},
        "prior": {"yes": 0.25, "no": 0.75},
        "variance": "n-1",
        "floor": 1e-6,
        "missing": "category",
        "unseen": "skip",
        "missing_values": ("sunny",),
        "threads": 1,
    }
    assert tb.NaiveBayes(**choices).fit(pa.table(COLUMNS), PLAY).model_ == tb.fit(pa.table(COLUMNS), PLAY, **choices)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_partial_fit_equals_fit_to_the_bit_with_new_classes_and_categories(library: str) -> None:
    frame = LIBRARIES[library]
    weights = np.array([1.0, 0.1, 0.7, 3.0, 0.3, 0.2, 1.0, 0.9])
    labels = np.array(["no", "no", "yes", "yes", "perhaps", "no", "zebra", "aardvark"])
    whole = tb.NaiveBayes().fit(frame(COLUMNS), labels, sample_weight=weights)
    for cuts in ([2, 4], [1, 7], [4]):
        model = tb.NaiveBayes()
        for part in np.split(np.arange(8), cuts):
            rows = slice(part[0], part[-1] + 1)
            model.partial_fit(frame(take(rows)), labels[rows], sample_weight=weights[rows])
        assert bytes_of(model) == bytes_of(whole)
        assert model.classes_.tolist() == ["aardvark", "no", "perhaps", "yes", "zebra"]


@settings(max_examples=number_of(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.data())
def test_any_table_cut_anywhere_gives_the_same_bytes(made: tuple[pa.Table, dict[str, str]], data: Any) -> None:
    table, events = made
    y, X = np.array(table["label"].to_pylist(), object), table.drop_columns("label")
    if not all(isinstance(label, str) for label in y):
        y = np.array(y.tolist())
    if y.dtype.kind == "O" and not isinstance(y[0], str):
        return  # scikit-learn knows no dates as classes
    cut = data.draw(st.integers(1, len(y) - 1))
    # The first rows decide what texts are: "7" alone is a number, beside "a" a name. So it is said here.
    events |= {name: "categorical" for name in X.column_names if pa.types.is_string(X.schema.field(name).type)}
    whole = tb.NaiveBayes(events or None).fit(X, y)
    model = tb.NaiveBayes(events or None).partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    assert bytes_of(model) == bytes_of(whole)
    other = tb.NaiveBayes(events or None).fit(X[cut:], y[cut:])
    assert bytes_of(tb.NaiveBayes(events or None).fit(X[:cut], y[:cut]) + other) == bytes_of(whole)
    assert bytes_of(model.forget(X[cut:], y[cut:])) == bytes_of(tb.NaiveBayes(events or None).fit(X[:cut], y[:cut]))


def test_a_column_read_as_numbers_is_not_added_to_one_of_names() -> None:
    numbers = tb.NaiveBayes().fit(pa.table({"x": ["7.5", "8.5", "7.5"]}), ["a", "b", "a"])
    names = tb.NaiveBayes().fit(pa.table({"x": ["p", "q", "p"]}), ["a", "b", "a"])
    with pytest.raises(tb.errors.CannotMerge, match="column 'x'"):
        numbers + names


def test_the_sum_of_two_is_a_third_that_leaves_both_as_they_were() -> None:
    left = tb.NaiveBayes(alpha=0.5).fit(pa.table(take(slice(0, 5))), PLAY[:5])
    right = tb.NaiveBayes(alpha=0.5).fit(pa.table(take(slice(5, 8))), PLAY[5:])
    before = bytes_of(left), bytes_of(right)
    both = left + right
    assert bytes_of(both) == bytes_of(tb.NaiveBayes(alpha=0.5).fit(pa.table(COLUMNS), PLAY))
    assert (bytes_of(left), bytes_of(right)) == before
    assert both.n_features_in_ == 4
    assert both.feature_names_in_.tolist() == list(COLUMNS)
    assert both.alpha == 0.5
    both.partial_fit(pa.table(COLUMNS), PLAY)
    assert bytes_of(left) == before[0]


def test_what_is_added_to_something_else_is_refused() -> None:
    model = tb.NaiveBayes().fit(pa.table(COLUMNS), PLAY)
    with pytest.raises(TypeError):
        model + 1
    with pytest.raises(tb.errors.CannotMerge, match="cannot merge"):
        model + tb.NaiveBayes({"children": "poisson"}).fit(pa.table(COLUMNS), PLAY)


def test_all_rows_can_be_forgotten_and_others_learned() -> None:
    model = tb.NaiveBayes().fit(pa.table(COLUMNS), PLAY).forget(pa.table(COLUMNS), PLAY)
    assert len(model.classes_) == 0
    with pytest.raises(tb.errors.BadData, match="wanted at least one class"):
        model.predict(pa.table(COLUMNS))
    model.partial_fit(pa.table(COLUMNS), PLAY)
    assert bytes_of(model) == bytes_of(tb.NaiveBayes().fit(pa.table(COLUMNS), PLAY))


def test_an_unseen_category_and_a_missing_value_raise_no_error() -> None:
    model = tb.NaiveBayes().fit(pd.DataFrame(COLUMNS), PLAY)
    new = pd.DataFrame({"outlook": ["hail", None], "windy": [None, True], "children": [1, 2], "humidity": [None, 80.0]})
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)


@pytest.mark.parametrize("event", ["gaussian", "categorical", "multinomial", "poisson", "complement"])
def test_arrays_give_the_same_as_fit(event: str) -> None:
    X = np.random.default_rng(0).poisson(2, (200, 5))
    y = X[:, 0] > 1
    model = tb.NaiveBayes(event).fit(X, y)
    assert model.model_ == tb.fit(X, y, events=event)
    np.testing.assert_array_equal(model.predict_proba(X), model.model_.predict_proba(X))
    assert bytes_of(tb.NaiveBayes(event).partial_fit(X[:7], y[:7]).partial_fit(X[7:], y[7:])) == bytes_of(model)


def test_sparse_rows_are_taken_as_counts() -> None:
    X = csr_matrix(np.random.default_rng(0).poisson(1, (50, 30)).astype(float))
    y = np.arange(50) % 3
    model = tb.NaiveBayes().fit(X, y)
    assert model.model_.schema.blocks[0].event.name == "multinomial"
    plain = tb.NaiveBayes(calibrate=None).fit(X, y)
    np.testing.assert_allclose(plain.predict_proba(X), tb.MultinomialNB().fit(X, y).predict_proba(X), rtol=1e-10)
    assert bytes_of(model.forget(X[:9], y[:9])) == bytes_of(tb.NaiveBayes().fit(X[9:], y[9:]))


def test_an_array_of_objects_has_a_kind_of_column_for_each_kind_of_value() -> None:
    X = np.array([["a", 1.5], ["b", 2.5], ["a", None], [None, 0.5]], dtype=object)
    model = tb.NaiveBayes().fit(X, [0, 0, 1, 1])
    assert model.model_.schema.events() == {"x0": "categorical", "x1": "histogram"}
    assert model.predict([["a", 1.0], ["zzz", np.nan]]).shape == (2,)


def test_complement_respects_its_prior() -> None:
    X = np.random.default_rng(0).poisson(1, (60, 8))
    y = np.arange(60) % 2
    confidence = tb.NaiveBayes("complement", prior=[0.999, 0.001]).fit(X, y)
    even = tb.NaiveBayes("complement", prior="uniform").fit(X, y)
    assert (confidence.predict_proba(X)[:, 0] > even.predict_proba(X)[:, 0]).all()


def test_another_choice_holds_from_the_next_batch_on() -> None:
    model = tb.NaiveBayes().fit(pa.table(take(slice(0, 5))), PLAY[:5])
    model.set_params(alpha=7.0).partial_fit(pa.table(take(slice(5, 8))), PLAY[5:])
    assert bytes_of(model) == bytes_of(tb.NaiveBayes(alpha=7.0).fit(pa.table(COLUMNS), PLAY))


def test_a_column_without_values_at_first_may_turn_out_to_be_text() -> None:
    parts = [pa.table({"x": pa.nulls(2), "z": [1.0, 2.0]}), pa.table({"x": ["p", "q"], "z": [3.0, 4.0]})]
    whole = pa.concat_tables(parts, promote_options="default")
    model = tb.NaiveBayes().partial_fit(parts[0], ["a", "b"]).partial_fit(parts[1], ["a", "b"])
    assert bytes_of(model) == bytes_of(tb.NaiveBayes().fit(whole, ["a", "b", "a", "b"]))
    model.partial_fit(parts[1], ["a", "b"])


def test_a_column_that_turns_out_to_be_numbers_has_to_be_declared() -> None:
    parts = [pa.table({"x": pa.nulls(2), "z": [1.0, 2.0]}), pa.table({"x": [0.5, 1.5], "z": [3.0, 4.0]})]
    with pytest.raises(tb.errors.BadData, match=r"column 'x': .* Start again with events={'x': 'histogram'}"):
        tb.NaiveBayes().partial_fit(parts[0], ["a", "b"]).partial_fit(parts[1], ["a", "b"])
    whole = pa.concat_tables(parts, promote_options="default")
    events = {"x": "histogram"}
    model = tb.NaiveBayes(events).partial_fit(parts[0], ["a", "b"]).partial_fit(parts[1], ["a", "b"])
    assert bytes_of(model) == bytes_of(tb.NaiveBayes(events).fit(whole, ["a", "b", "a", "b"]))


@pytest.mark.parametrize("labels", [[True, False], [3, -1], ["ja", "nein"], [1.0, 2.0]])
def test_answers_are_of_the_kind_of_the_classes(labels: list[Any]) -> None:
    y = np.array(labels * 4)
    model = tb.NaiveBayes().fit(pa.table(COLUMNS), y)
    assert model.predict(pa.table(COLUMNS)).dtype.kind == y.dtype.kind
    assert set(model.predict(pa.table(COLUMNS)).tolist()) <= set(labels)


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, pa.array, list, lambda y: pd.Categorical(y), np.array])
def test_classes_may_come_in_any_container(kind: Any) -> None:
    assert tb.NaiveBayes().fit(pd.DataFrame(COLUMNS), kind(PLAY.tolist())).model_ == tb.fit(COLUMNS, PLAY)


def test_it_can_be_scored_by_cross_validation_as_it_is() -> None:
    frame = pd.concat([pd.DataFrame(COLUMNS)] * 5, ignore_index=True)
    assert cross_val_score(tb.NaiveBayes(), frame, np.tile(PLAY, 5)).mean() > 0.5


def test_columns_of_a_frame_need_not_be_called_by_text() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 3)))
    model = tb.NaiveBayes().fit(frame, np.arange(20) % 2)
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(frame).shape == (20,)
