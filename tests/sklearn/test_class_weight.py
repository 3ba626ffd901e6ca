"""`class_weight` weighs rows by their class, as scikit-learn's estimators do."""

from typing import Any

import numpy as np
import pytest
from sklearn.utils import compute_sample_weight

import tallybayes as tb
from tallybayes.errors import BadOption

rng = np.random.default_rng(11)
Y = np.where(rng.random(600) < 0.1, "rare", "common")
X = rng.normal(np.where(Y == "rare", 1.0, 0.0)[:, None], 1.0, (600, 3))
TEXTS = [" ".join(rng.choice(["aa", "bb", "cc"], 5, p=[0.6, 0.2, 0.2] if y == "rare" else [0.2, 0.4, 0.4])) for y in Y]


@pytest.mark.parametrize("weight", ["balanced", {"rare": 4.0}, {"rare": 0, "common": 2}])
def test_it_equals_the_weights_of_rows(weight: Any) -> None:
    named = weight if weight == "balanced" else {"common": 1, "rare": 1, **weight}
    each = compute_sample_weight(named, Y)
    ours, theirs = tb.NaiveBayes(class_weight=weight).fit(X, Y), tb.NaiveBayes().fit(X, Y, sample_weight=each)
    assert ours.model_.evidence == theirs.model_.evidence
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    halves = np.where(np.arange(600) % 2, 0.5, 1.0)
    both = tb.NaiveBayes(class_weight=weight).fit(X, Y, sample_weight=halves)
    assert both.model_.evidence == tb.NaiveBayes().fit(X, Y, sample_weight=each * halves).model_.evidence


@pytest.mark.parametrize(("estimator", "rows"), [(tb.NaiveBayes, X), (tb.TextNB, TEXTS)])
def test_a_rare_class_is_found_more_often(estimator: Any, rows: Any) -> None:
    plain, balanced = (estimator(class_weight=one).fit(rows, Y).predict(rows) for one in (None, "balanced"))
    assert (balanced[Y == "rare"] == "rare").mean() > (plain[Y == "rare"] == "rare").mean() + 0.2


@pytest.mark.parametrize("estimator", [tb.NaiveBayes, tb.TextNB])
def test_parts_of_rows_cannot_be_balanced(estimator: Any) -> None:
    rows: Any = X if estimator is tb.NaiveBayes else TEXTS
    with pytest.raises(BadOption, match="class_weight: wanted a mapping where rows come in parts, got 'balanced'"):
        estimator(class_weight="balanced").partial_fit(rows, Y)
    with pytest.raises(BadOption, match="prior='uniform'"):
        estimator(class_weight="balanced").fit(rows, Y).forget(rows[:5], Y[:5])
    whole = estimator(class_weight={"rare": 3}).fit(rows, Y)
    parts = estimator(class_weight={"rare": 3}).partial_fit(rows[:300], Y[:300]).partial_fit(rows[300:], Y[300:])
    assert whole.model_.evidence == parts.model_.evidence


@pytest.mark.parametrize("weight", ["even", 3, {"rare": -1}, {"rare": float("nan")}, {"rare": "x"}])
def test_anything_else_is_refused(weight: Any) -> None:
    with pytest.raises(BadOption, match="class_weight"):
        tb.NaiveBayes(class_weight=weight).fit(X, Y)
