"""The drop-ins refuse what scikit-learn refuses, with the same error type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

import tallybayes as ours
from sklearn import naive_bayes as theirs
from tallybayes.errors import BadData, BadOption, CannotMerge

NAMES = ["GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB", "ComplementNB"]
X = np.array([[0, 2, 1], [1, 0, 1], [2, 1, 0], [0, 0, 3]])
Y = np.array([0, 1, 1, 0])


def with_(value: float) -> np.ndarray:
    spoiled = X.astype(float)
    spoiled[2, 1] = value
    return spoiled


BAD: dict[str, Callable[[Any], Any]] = {
    "not fitted": lambda e: e.predict(X),
    "NaN": lambda e: e.fit(with_(np.nan), Y),
    "infinity": lambda e: e.fit(with_(np.inf), Y),
    "NaN with weights": lambda e: e.fit(with_(np.nan), Y, sample_weight=[1.0, 1.0, 0.0, 1.0]),
    "NaN to score": lambda e: e.fit(X, Y).predict_proba(with_(np.nan)),
    "infinity to score": lambda e: e.fit(X, Y).predict_proba(with_(-np.inf)),
    "NaN to score log": lambda e: e.fit(X, Y).predict_joint_log_proba(with_(np.nan)),
    "text": lambda e: e.fit([["a", "b"], ["c", "d"]], [0, 1]),
    "one dimension": lambda e: e.fit(X[0], Y),
    "no rows": lambda e: e.fit(X[:0], Y[:0]),
    "no columns": lambda e: e.fit(X[:, :0], Y),
    "lengths": lambda e: e.fit(X, Y[:3]),
    "quantities": lambda e: e.fit(X, Y + 0.5 * X[:, 0] / 3),
    "no classes": lambda e: e.fit(X, None),
    "missing class": lambda e: e.fit(X, [0.0, np.nan, 1.0, 0.0]),
    "no class in one row of many": lambda e: e.fit(np.ones((5000, 2)), np.array(["a"] * 4999 + [None], object)),
    "classes of two kinds": lambda e: e.fit(np.ones((5000, 2)), np.array(["a"] * 4999 + [1], object)),
    "classes that are objects": lambda e: e.fit(X, np.array([1, 2, 1, 2], object)),
    "two targets": lambda e: e.fit(X, np.c_[Y, Y]),
    "weights of another length": lambda e: e.fit(X, Y, sample_weight=[1.0, 2.0]),
    "weights in two dimensions": lambda e: e.fit(X, Y, sample_weight=np.ones((4, 2))),
    "NaN weight": lambda e: e.fit(X, Y, sample_weight=[1.0, np.nan, 1.0, 1.0]),
    "fewer columns to score": lambda e: e.fit(X, Y).predict(X[:, :2]),
    "fewer columns to add": lambda e: e.fit(X, Y).partial_fit(X[:, :2], Y),
    "partial_fit without classes": lambda e: e.partial_fit(X, Y),
    "other classes": lambda e: e.partial_fit(X, Y, classes=[0, 1]).partial_fit(X, Y, classes=[0, 1, 2]),
    "complex": lambda e: e.fit(X + 1j, Y),
}


def error(estimator: Any, work: Callable[[Any], Any]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        work(estimator)
    return caught.value


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", BAD)
def test_the_error_is_of_the_same_type(name: str, bad: str) -> None:
    mine, peer = (error(getattr(m, name)(), BAD[bad]) for m in (ours, theirs))
    assert isinstance(mine, type(peer)), f"{mine!r}, theirs {peer!r}"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, kind) for name in ("MultinomialNB", "ComplementNB") for kind in (np.array, csr_matrix)),
        ("CategoricalNB", np.array),  # which takes no sparse rows
    ],
)
def test_negative_counts_are_refused(name: str, kind: Any) -> None:
    for made in (kind(with_(-1)), kind(with_(-1).astype(int))):
        with pytest.raises(ValueError, match="Negative values in data passed to"):
            getattr(ours, name)().fit(made, Y)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_sparse_values_that_are_not_finite_are_refused(name: str, value: float) -> None:
    spoiled = csr_matrix(with_(value))
    with pytest.raises(ValueError, match="contains"):
        getattr(ours, name)().fit(spoiled, Y)
    with pytest.raises(ValueError, match="contains"):
        getattr(ours, name)().fit(X, Y).predict(spoiled)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.array, np.float32, csr_matrix])
@pytest.mark.parametrize("row", [0, 9_000, 19_999])
@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_what_is_not_finite_is_refused_in_any_slice_without_a_warning(
    name: str, value: float, kind: Any, row: int, alpha: float
) -> None:
    rows = np.resize(X.astype(float), (20_000, 3))
    model = getattr(ours, name)(alpha=alpha, force_alpha=True).fit(rows, np.resize(Y, 20_000))
    rows[row, 1] = value
    for ask in (model.predict, model.predict_proba, model.predict_joint_log_proba):
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            ask(kind(rows))


PARAMETERS = [
    ("GaussianNB", {"var_smoothing": -1}),
    ("GaussianNB", {"priors": [0.5, 0.4]}),
    ("GaussianNB", {"priors": [1.5, -0.5]}),
    ("GaussianNB", {"priors": [1.0]}),
    ("GaussianNB", {"priors": "half"}),
    ("MultinomialNB", {"alpha": -1}),
    ("MultinomialNB", {"alpha": [1.0, 2.0]}),
    ("MultinomialNB", {"alpha": [1.0, -2.0, 1.0]}),
    ("MultinomialNB", {"class_prior": [1.0]}),
    ("MultinomialNB", {"fit_prior": "no"}),
    ("BernoulliNB", {"binarize": -1.0}),
    ("ComplementNB", {"norm": 2}),
    ("CategoricalNB", {"min_categories": 0}),
    ("CategoricalNB", {"min_categories": [1.5, 2.0, 3.0]}),
    ("CategoricalNB", {"min_categories": [3, 3]}),
    ("CategoricalNB", {"alpha": [1.0, 1.0, 1.0]}),
]


@pytest.mark.parametrize(("name", "choices"), PARAMETERS, ids=str)
def test_parameters_are_refused_alike(name: str, choices: dict[str, Any]) -> None:
    mine, peer = (error(getattr(m, name)(**choices), lambda e: e.fit(X, Y)) for m in (ours, theirs))
    assert isinstance(mine, type(peer)), f"{mine!r}, theirs {peer!r}"


def test_a_category_never_seen_is_an_index_error_that_says_what_to_do() -> None:
    model = ours.CategoricalNB().fit(X, Y)
    with pytest.raises(IndexError, match=r"feature 1: wanted categories below 3, .*, got 7 \(row 2\)\. Set min"):
        model.predict([[0, 0, 0], [0, 7, 0]])


@pytest.mark.parametrize("name", NAMES)
def test_a_class_that_was_not_announced_is_refused_and_the_way_out_named(name: str) -> None:
    with pytest.raises(ValueError, match=r"label\(s\) \[2\] in y do not exist in the initial classes .*NaiveBayes"):
        getattr(ours, name)().partial_fit(X, Y + 1, classes=[0, 1])


OWN: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "not fitted": (NotFittedError, "not fitted", lambda e: e.predict(X)),
    "not fitted, forget": (NotFittedError, "not fitted", lambda e: e.forget(X, Y)),
    "not fitted, add": (NotFittedError, "not fitted", lambda e: e + e),
    "infinity": (BadData, r"column 'x1': wanted finite numbers, got inf \(row 3\)", lambda e: e.fit(with_(np.inf), Y)),
    "infinity to score": (
        BadData,
        r"column 'x1': wanted finite numbers, got -inf \(row 3\)",
        lambda e: e.fit(X, Y).predict(with_(-np.inf)),
    ),
    "infinite class": (ValueError, "infinity", lambda e: e.fit(X, [0.0, np.inf, 1.0, 0.0])),
    "quantities": (ValueError, "Unknown label type: continuous", lambda e: e.fit(X, X[:, 0] + 0.5)),
    "lengths": (BadData, "label", lambda e: e.fit(X, Y[:3])),
    "negative weight": (BadData, "weight .*: wanted finite numbers not below 0", lambda e: e.fit(X, Y, [1, -1, 1, 1])),
    "never learned": (CannotMerge, "cannot subtract", lambda e: e.fit(X, Y).forget(X, Y).forget(X, Y)),
    "option": (BadOption, "estimate: wanted one of", lambda e: e.set_params(estimate="guess").fit(X, Y)),
    "event": (BadOption, "wanted one of", lambda e: e.set_params(events="gausian").fit(X, Y)),
    "prior": (BadOption, "prior: wanted 2 numbers", lambda e: e.set_params(prior=[1.0]).fit(X, Y).predict(X)),
    "unseen": (
        BadData,
        "wanted a value seen in training",
        lambda e: e.set_params(unseen="error", events="categorical").fit(X, Y).predict(X + 9),
    ),
    "missing": (BadData, "wanted a value in every row", lambda e: e.set_params(missing="error").fit(with_(np.nan), Y)),
}


@pytest.mark.parametrize("bad", OWN)
def test_naive_bayes_says_what_was_wanted_and_what_was_got(bad: str) -> None:
    kind, words, work = OWN[bad]
    with pytest.raises(kind, match=words):
        work(ours.NaiveBayes())
