"""The drop-ins give what scikit-learn's classes give: every fitted attribute, every prediction, to 1e-10."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix

import tallybayes as ours
from sklearn import naive_bayes as theirs

from .versions import recent

C, F, N = 4, 6, 90
ATTRIBUTES = [
    "classes_",
    "class_count_",
    "class_prior_",
    "class_log_prior_",
    "theta_",
    "var_",
    "epsilon_",
    "feature_count_",
    "feature_all_",
    "feature_log_prob_",
    "category_count_",
    "n_categories_",
    "n_features_in_",
]
METHODS = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba")
COUNTS = ("MultinomialNB", "ComplementNB", "BernoulliNB")
DISCRETE = (*COUNTS, "CategoricalNB")
EVERY = (*DISCRETE, "GaussianNB")


def rows(seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, C, n)
    return rng.poisson(1 + y[:, None] * rng.random(F), (n, F)), y


def same(a: Any, b: Any, what: str, tolerance: float = 1e-10) -> None:
    if isinstance(b, list):
        assert len(a) == len(b), what
        for one, other in zip(a, b, strict=True):
            same(one, other, what, tolerance)
        return
    assert np.shape(a) == np.shape(b), what
    if isinstance(b, np.ndarray):
        assert a.dtype == b.dtype, what
    if np.asarray(b).dtype.kind in "fc":
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=what)
    else:
        np.testing.assert_array_equal(a, b, err_msg=what)


def compare(mine: Any, peer: Any, X: Any, tolerance: float = 1e-10) -> None:
    for name in ATTRIBUTES:
        assert hasattr(mine, name) == hasattr(peer, name), name
        if hasattr(peer, name):
            same(getattr(mine, name), getattr(peer, name), name, tolerance)
    for name in METHODS:
        same(getattr(mine, name)(X), getattr(peer, name)(X), name, tolerance)


def both(name: str, **choices: Any) -> tuple[Any, Any]:
    return getattr(ours, name)(**choices), getattr(theirs, name)(**choices)


def fitted(name: str, X: Any, y: Any, weights: Any = None, **choices: Any) -> tuple[Any, Any]:
    return tuple(estimator.fit(X, y, sample_weight=weights) for estimator in both(name, **choices))  # type: ignore[return-value]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("weights", [None, "fractions", "whole", "some zero", "some negative"])
def test_results_are_the_same_with_and_without_weights(name: str, weights: str | None) -> None:
    X, y = rows()
    rng = np.random.default_rng(1)
    made = {
        "fractions": rng.random(N),
        "whole": rng.integers(1, 5, N),
        "some zero": rng.integers(0, 2, N).astype(float),
        "some negative": np.where(rng.random(N) < 0.1, -0.5, 3.0),
    }
    compare(*fitted(name, X, y, None if weights is None else made[weights]), X)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind", ["int64", "int32", "uint8", "float64", "float16", "bool", "list", ">f8"])
def test_results_are_the_same_whatever_the_type_of_the_numbers(name: str, kind: str) -> None:
    X, y = rows()
    made = X.tolist() if kind == "list" else X.astype(kind)
    mine, peer = fitted(name, made, y)
    if (name, kind) == ("GaussianNB", "float16"):  # theirs is computed in three digits
        np.testing.assert_allclose(mine.theta_, peer.theta_, rtol=2e-3)
        same(mine.predict_proba(X), mine.predict_proba(X.astype(float)), "predict_proba")
        return
    compare(mine, peer, made)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
@pytest.mark.parametrize("kind", ["int64", "int8", "uint64", "float64"])
def test_sums_of_wide_rows_are_exact_whatever_the_type_of_the_numbers(name: str, kind: str) -> None:
    X, y = rows()
    wide = np.tile(X, (1, 1500 // F + 1)).astype(kind)
    mine, peer = fitted(name, wide, y)
    compare(mine, peer, wide)
    large = wide.astype(np.int64) << 57  # whose sums no 64 bits hold
    exact = [[float(sum(map(int, large[y == c, f]))) for f in (0, 1500)] for c in np.unique(y)]
    assert getattr(ours, name)().fit(large, y).feature_count_[:, [0, 1500]].tolist() == exact


@recent
@pytest.mark.parametrize("name", EVERY)
def test_single_precision_is_kept_where_scikit_learn_keeps_it(name: str) -> None:
    X, y = rows()
    made = X.astype(np.float32)
    compare(*fitted(name, made, y), made, 2e-5 if name == "GaussianNB" else 1e-10)


@pytest.mark.parametrize("name", EVERY)
def test_results_are_the_same_however_the_memory_is_laid_out(name: str) -> None:
    X, y = rows()
    X = X.astype(float)
    wide = np.zeros((2 * N, 3 * F))
    wide[::2, ::3] = X
    for made in (np.asfortranarray(X), wide[::2, ::3], X[::-1][::-1], np.asfortranarray(X)[10:80]):
        compare(*fitted(name, made, y[: len(made)]), made)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("labels", ["text", "objects", "floats", "booleans", "sparse numbers", "unsigned"])
def test_results_are_the_same_whatever_the_classes_are_called(name: str, labels: str) -> None:
    X, y = rows()
    made = {
        "text": np.array(["b", "aa", "ä", ""])[y],
        "objects": np.array(["b", "aa", "ä", ""], object)[y],
        "floats": y.astype(float) * 2 - 1,
        "booleans": y > 1,
        "sparse numbers": np.array([-(10**12), 5, 7, 10**12])[y],
        "unsigned": y.astype(np.uint8) + 250 - 1,
    }[labels]
    compare(*fitted(name, X, made), X)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("labels", [np.int16, np.uint64, "U3", bool, float, object])
def test_many_rows_are_counted_in_slices_with_the_same_result(name: str, labels: Any) -> None:
    X, y = rows(n=30_000)
    made = {bool: y > 1, object: np.array(["a", "bb", "", "ä"], object)[y]}.get(labels, y).astype(labels)
    compare(*fitted(name, X, made), X)


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("container", [csr_matrix, csr_array, csc_matrix])
@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "int32", "int8", "bool"])
def test_sparse_rows_give_the_same(name: str, container: Any, kind: str) -> None:
    X, y = rows()
    made = container(X.astype(kind))
    compare(*fitted(name, made, y, np.random.default_rng(2).random(N)), made)


@pytest.mark.parametrize("name", COUNTS)
def test_sparse_rows_may_repeat_columns_and_store_zeros(name: str) -> None:
    X = csr_matrix(([2.0, 1.0, 0.0, 3.0, 0.0], [1, 1, 0, 2, 2], [0, 3, 4, 5, 5, 5]), shape=(5, 3))
    compare(*fitted(name, X, [0, 1, 1, 0, 0]), X)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_fractional_counts_give_the_same(name: str) -> None:
    X, y = rows()
    made = csr_matrix(X * np.random.default_rng(3).random(X.shape))
    compare(*fitted(name, made, y), made)


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize(
    "choices",
    [
        {"alpha": 0.3},
        {"alpha": 1e-12, "force_alpha": False},
        {"fit_prior": False},
        {"class_prior": [0.1, 0.2, 0.3, 0.4]},
    ],
    ids=str,
)
def test_smoothing_and_priors_give_the_same(name: str, choices: dict[str, Any]) -> None:
    X, y = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        compare(*fitted(name, X, y, **choices), X)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_each_feature_may_have_its_own_smoothing(name: str) -> None:
    X, y = rows()
    compare(*fitted(name, X, y, alpha=np.linspace(0.1, 2, F)), X)


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_without_smoothing_the_same_rows_are_impossible(name: str) -> None:
    X, y = rows()
    X[y == 0, 0] = 0
    mine, peer = fitted(name, X, y, alpha=0.0)
    for method in METHODS:
        same(getattr(mine, method)(X), getattr(peer, method)(X), method)


@pytest.mark.parametrize("binarize", [0.0, 1.0, 0.5, None])
@pytest.mark.parametrize("sparse", [False, True])
def test_bernoulli_draws_the_line_at_the_same_place(binarize: float | None, sparse: bool) -> None:
    X, y = rows()
    made = np.minimum(X, 1) if binarize is None else X - 1.0
    compare(*fitted("BernoulliNB", csr_matrix(made) if sparse else made, y, binarize=binarize), made)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("sparse", [False, True])
def test_bernoulli_takes_values_that_are_not_binary_with_binarize_none(sparse: bool) -> None:
    X, y = rows()
    values = np.where(X == 1, -0.25, X / 10)
    mine, peer = fitted("BernoulliNB", csr_matrix(values) if sparse else values, y, binarize=None)
    same(mine.feature_count_, peer.feature_count_, "feature_count_")


def test_complement_weights_may_be_normalised() -> None:
    X, y = rows()
    compare(*fitted("ComplementNB", X, y, norm=True), X)


@pytest.mark.parametrize("least", [None, 3, 20, [20, 1, 9, 30, 2, 3]])
def test_categories_have_the_same_number(least: Any) -> None:
    X, y = rows()
    compare(*fitted("CategoricalNB", X, y, min_categories=least), X)


def test_categories_that_show_late_are_found() -> None:
    X, y = rows(n=2000)
    X[-1, 2] = 70
    compare(*fitted("CategoricalNB", X, y, np.r_[np.ones(1999), 0.0]), X)


@pytest.mark.parametrize("choices", [{"var_smoothing": 0.3}, {"var_smoothing": 0}, {"priors": [0.1, 0.2, 0.3, 0.4]}])
def test_gaussian_smoothing_and_priors_give_the_same(choices: dict[str, Any]) -> None:
    X, y = rows()
    X = X + np.random.default_rng(5).standard_normal(X.shape)
    compare(*fitted("GaussianNB", X, y, **choices), X)
    compare(*fitted("GaussianNB", X, y, np.random.default_rng(6).random(N), **choices), X)


def test_gaussian_variances_agree_where_scikit_learns_cancel_least() -> None:
    X, y = rows()
    compare(*fitted("GaussianNB", X * 1e-120, y, var_smoothing=0), X * 1e-120)
    mine, peer = fitted("GaussianNB", X + 1e8, y)
    same(mine.theta_, peer.theta_, "theta_")
    same(mine.var_, peer.var_, "var_", 1e-6)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("cuts", [(30, 60), (1, 2), (45,), ()])
def test_partial_fit_gives_the_same_after_every_batch(name: str, weights: bool, cuts: tuple[int, ...]) -> None:
    X, y = rows()
    w = np.random.default_rng(7).random(N)
    choices = {"var_smoothing": 0.5} if name == "GaussianNB" else {}
    mine, peer = both(name, **choices)
    for at in np.split(np.arange(N), cuts):
        for estimator in (mine, peer):
            estimator.partial_fit(X[at], y[at], classes=range(5), sample_weight=w[at] if weights else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # theirs, of classes without rows
            compare(mine, peer, X[at])


@pytest.mark.parametrize("name", EVERY)
def test_partial_fit_after_fit_adds_to_it(name: str) -> None:
    X, y = rows()
    compare(*(e.fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]) for e in both(name)), X[:5])


@pytest.mark.parametrize("name", EVERY)
def test_a_single_class_gives_the_same(name: str) -> None:
    X, _ = rows()
    compare(*fitted(name, X, np.full(N, "only")), X)


@pytest.mark.parametrize("name", EVERY)
def test_a_single_row_gives_the_same(name: str) -> None:
    X, y = rows()
    mine, peer = fitted(name, X, y)
    for method in METHODS:
        same(getattr(mine, method)(X[3:4]), getattr(peer, method)(X[3:4]), method)


@pytest.mark.parametrize("name", COUNTS)
def test_probabilities_that_are_set_by_hand_are_used(name: str) -> None:
    X, y = rows()
    mine, peer = fitted(name, X, y)
    table = np.log(np.random.default_rng(8).dirichlet(np.ones(F), C))
    for estimator in (mine, peer):
        estimator.feature_log_prob_ = table
    same(mine.predict_proba(X), peer.predict_proba(X), "predict_proba")
    mine.fit(X, y)
    same(mine.feature_log_prob_, getattr(theirs, name)().fit(X, y).feature_log_prob_, "feature_log_prob_")


@pytest.mark.parametrize("name", COUNTS)
def test_probabilities_that_are_changed_in_place_are_used(name: str) -> None:
    X, y = rows()
    mine, peer = fitted(name, X, y)
    mine.predict(X)  # what it keeps of this must not be used below
    for estimator in (mine, peer):
        estimator.feature_log_prob_[1] -= 0.5
    same(mine.predict_proba(X), peer.predict_proba(X), "predict_proba")
    mine.fit(X, y)
    same(mine.predict_proba(X), getattr(theirs, name)().fit(X, y).predict_proba(X), "predict_proba")


@pytest.mark.parametrize("few", [1, 7, 100])
def test_a_few_rows_of_many_categories_are_answered_as_among_many(few):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 20_000, (30_000, 2)), rng.integers(0, C, 30_000)
    model = ours.CategoricalNB(min_categories=20_000).fit(X, y)
    assert (model.predict_proba(X[:few]) == model.predict_proba(X)[:few]).all()
    assert (model.predict(X[:few]) == model.predict(X)[:few]).all()
    beyond = X[:few].copy()
    beyond[-1, 1] = 20_000
    with pytest.raises(IndexError, match="feature 1"):
        model.predict(beyond)


@pytest.mark.parametrize("centre", [0.0, 1e3, 1e9])
def test_the_largest_variance_of_many_columns_is_exact(centre):
    rng = np.random.default_rng(4)
    X, y = rng.normal(centre, rng.uniform(0.5, 2.0, 3_000), (20, 3_000)), np.arange(20) % C  # enough for doubles
    X[:, 7] = X[:, 3]  # a tie
    parts = [ours.GaussianNB().fit(X[:, f : f + 100], y).epsilon_ for f in range(0, 3_000, 100)]
    assert ours.GaussianNB().fit(X, y).epsilon_ == max(parts)


@pytest.mark.parametrize("name", EVERY)
def test_plain_arrays_and_others_are_answered_alike(name):
    X, y = rows()
    model = getattr(ours, name)().fit(X, y)
    want = model.predict_proba(X)
    for other in (X.tolist(), np.asfortranarray(X), X[::-1][::-1], X.astype(object)):
        assert np.array_equal(model.predict_proba(other), want)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :-1])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
