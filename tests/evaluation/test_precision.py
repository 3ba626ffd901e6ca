"""Average precision and the precision-recall curve are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve

from tallybayes.evaluation import evaluate, roc


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weighted", [False, True])
def test_average_precision_is_that_of_scikit_learn(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 300))
    y = np.concatenate([[0, 1], rng.integers(0, 2, n)])
    scores = (rng.normal(size=n + 2) + y).round(int(rng.integers(0, 4)))  # ties, many or few
    weights = rng.integers(1, 5, n + 2) if weighted else None
    curve = roc(y, scores, weights=weights)
    assert curve.average_precision == pytest.approx(average_precision_score(y, scores, sample_weight=weights))
    turned = average_precision_score(y, -scores, sample_weight=weights)
    assert curve.flipped().average_precision == pytest.approx(turned)
    assert curve.flipped().flipped().average_precision == curve.average_precision
    precision, recall, _ = precision_recall_curve(y, scores, sample_weight=weights)
    theirs = {(round(r, 9), round(p, 9)) for r, p in zip(recall, precision, strict=True)} | {(0.0, 1.0)}
    ours = {(round(r, 9), round(p, 9)) for r, p in zip(curve.recall, curve.precision, strict=True)}
    assert ours <= theirs


def test_it_is_averaged_over_the_curves_of_several_classes() -> None:
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 60)
    y = rng.integers(0, 3, 60)
    each = [average_precision_score(y == c, p[:, c]) for c in range(3)]
    seen = evaluate(y, p, [0, 1, 2])
    assert seen.average_precision == pytest.approx(np.mean(each))
    assert (seen.positive, evaluate(y == 1, p[:, :2] / p[:, :2].sum(1, keepdims=True), [False, True]).positive) == (
        None,
        True,
    )


def test_a_class_that_no_row_has_leaves_it_undefined() -> None:
    assert np.isnan(evaluate(["a", "a"], [[0.5, 0.5]] * 2, ["a", "b"]).average_precision)
