"""The conventions of scikit-learn, in full and without an expected failure."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sklearn
import tallybayes as tb

from .versions import recent

NAMES = ["GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB", "ComplementNB", "NaiveBayes"]
every = pytest.mark.parametrize("name", NAMES)
IRIS = load_iris()
X, Y = np.round(IRIS.data).astype(int), IRIS.target


def make(name: str, **choices: Any) -> Any:
    return getattr(tb, name)(**choices)


@parametrize_with_checks([make(name) for name in NAMES])
@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


def test_importing_the_package_does_not_import_scikit_learn() -> None:
    code = "import sys, tallybayes as t; a = 'sklearn' in sys.modules; t.GaussianNB; print(a, 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_fitting_a_model_does_not_import_scikit_learn() -> None:
    code = "import sys, tallybayes as t; t.fit({'x': [1, 2], 'y': [0, 1]}, 'y'); print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


@every
def test_a_fitted_estimator_survives_pickling_and_copying(name: str, tmp_path: Any) -> None:
    model = make(name).fit(X, Y)
    joblib.dump(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        copy.partial_fit(X[:10], Y[:10])
        again = make(name).fit(X, Y).partial_fit(X[:10], Y[:10])
        if name == "NaiveBayes":  # what it was calibrated by is not in a pickle: what was counted is the same
            assert copy.model_.evidence == again.model_.evidence
            assert copy.model_.calibration.stale
            assert not again.model_.calibration.stale
        else:
            np.testing.assert_array_equal(copy.predict_proba(X), again.predict_proba(X))


@every
def test_a_clone_has_the_parameters_and_nothing_learned(name: str) -> None:
    model = make(name).fit(X, Y)
    assert clone(model).get_params() == make(name).get_params()
    assert not hasattr(clone(model), "classes_")


@recent
@every
def test_it_is_a_classifier_with_tags(name: str) -> None:
    assert is_classifier(make(name))
    tags = make(name).__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.input_tags.allow_nan is (name == "NaiveBayes")
    assert tags.input_tags.sparse is (name not in ("GaussianNB", "CategoricalNB"))


@every
def test_it_shows_itself_in_a_notebook(name: str) -> None:
    assert name in make(name)._repr_html_()
    assert repr(make(name)) == f"{name}()"


@every
def test_names_of_features_are_remembered_and_held_to(name: str) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = make(name).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert (model.predict(X) == model.predict(frame)).all()


@every
def test_weights_are_routed_to_it(name: str) -> None:
    weights = np.arange(len(Y)) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(make(name).set_fit_request(sample_weight=True)).fit(X, Y, sample_weight=weights)
        scores = cross_validate(
            make(name).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
            X,
            Y,
            params={"sample_weight": np.arange(len(Y)) % 3 + 1.0},
        )
    np.testing.assert_array_equal(model.predict_proba(X), make(name).fit(X, Y, sample_weight=weights).predict_proba(X))
    assert len(scores["test_score"]) == 5


@every
def test_it_works_in_a_grid_search(name: str) -> None:
    grid = {"GaussianNB": {"var_smoothing": [1e-9, 1e-3]}}.get(name, {"alpha": [0.1, 1.0]})
    choices = {"min_categories": 9} if name == "CategoricalNB" else {}
    search = GridSearchCV(make(name, **choices), grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.3
    assert cross_val_score(make(name, **choices), X, Y).shape == (5,)


@every
def test_it_works_in_parallel_jobs(name: str) -> None:
    choices = {"min_categories": 9} if name == "CategoricalNB" else {}
    np.testing.assert_array_equal(
        cross_val_score(make(name, **choices), X, Y, n_jobs=2), cross_val_score(make(name, **choices), X, Y)
    )


@every
def test_it_can_be_calibrated_and_voted_with(name: str) -> None:
    choices = {"min_categories": 9} if name == "CategoricalNB" else {}
    calibrated = CalibratedClassifierCV(make(name, **choices), cv=3).fit(X, Y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    vote = VotingClassifier([("one", make(name)), ("two", tb.GaussianNB())], voting="soft").fit(X, Y)
    assert vote.score(X, Y) > 0.3


@recent
def test_it_works_behind_transformers_that_give_arrays_frames_and_sparse_rows() -> None:
    frame = pd.DataFrame({"outlook": ["sunny", "rainy", "rainy", "sunny"], "humidity": [85.0, 70.0, 65.0, 90.0]})
    play = ["no", "yes", "yes", "no"]
    coded = make_column_transformer((OrdinalEncoder(), ["outlook"]), (StandardScaler(), ["humidity"]))
    hot = make_column_transformer((OneHotEncoder(), ["outlook"]), ("passthrough", ["humidity"]))
    for first, last in (
        (coded, tb.GaussianNB()),
        (coded.set_output(transform="pandas"), tb.NaiveBayes()),
        (coded.set_output(transform="polars"), tb.NaiveBayes()),
        (hot, tb.MultinomialNB()),
        (OrdinalEncoder(), tb.CategoricalNB()),
        ("passthrough", tb.NaiveBayes()),
    ):
        assert (
            make_pipeline(clone(first) if first != "passthrough" else first, last).fit(frame, play).score(frame, play)
            == 1.0
        )


def test_text_is_classified_from_sparse_counts() -> None:
    texts, kinds = ["cheap pills", "hello friend", "cheap cheap watches", "dear friend"], ["spam", "ham", "spam", "ham"]
    for last in (tb.MultinomialNB(), tb.ComplementNB(), tb.BernoulliNB(), tb.NaiveBayes()):
        model = make_pipeline(CountVectorizer(), last).fit(texts, kinds)
        assert model.predict(["cheap watches", "hello dear"]).tolist() == ["spam", "ham"]


def test_a_failed_fit_leaves_an_estimator_as_it_was() -> None:
    for name in NAMES[:-1]:
        model = make(name).fit(X, Y)
        before = model.predict_proba(X)
        with pytest.raises(ValueError, match="NaN"):
            model.fit(np.full((4, 4), np.nan), ["a", "b", "a", "b"])
        np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
def test_large_attributes_are_computed_when_read(name: str) -> None:
    model = make(name)
    assert not hasattr(model, "feature_log_prob_")
    model.fit(X, Y)
    assert not model._lazy
    assert model.feature_log_prob_ is model.feature_log_prob_
    assert pickle.loads(pickle.dumps(model))._lazy == {}
