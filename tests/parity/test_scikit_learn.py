"""The same rows give the same probabilities as scikit-learn's classes, where both describe the same model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import tallybayes as tb
from sklearn import naive_bayes

RNG = np.random.default_rng(3)
N, F, C = 300, 7, 4
Y = RNG.integers(0, C, N)
WEIGHTS = RNG.random(N) + 0.1
COUNTS = RNG.poisson(1.0 + Y[:, None] * RNG.random(F), (N, F))
REALS = RNG.normal(Y[:, None] * RNG.random(F), 1.0 + RNG.random(F), (N, F))
BITS = (COUNTS > 1).astype(int)
VALUES = np.minimum(COUNTS, 3)

PAIRS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "gaussian": (naive_bayes.GaussianNB(var_smoothing=0), REALS, {"estimate": "mle"}),
    "multinomial": (naive_bayes.MultinomialNB(alpha=0.7), COUNTS, {"alpha": 0.7}),
    "multinomial sparse": (naive_bayes.MultinomialNB(), csr_matrix(COUNTS), {}),
    "bernoulli": (naive_bayes.BernoulliNB(alpha=0.3, binarize=None), BITS, {"alpha": 0.3}),
    "bernoulli sparse": (naive_bayes.BernoulliNB(), csr_matrix(BITS), {}),
    "categorical": (naive_bayes.CategoricalNB(alpha=2.0), VALUES, {"alpha": 2.0}),
}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", PAIRS)
def test_probabilities_agree(name: str, weights: np.ndarray | None) -> None:
    peer, rows, choices = PAIRS[name]
    model = tb.fit(rows, Y, events=name.split()[0], weights=weights, calibrate=None, **choices)
    expected = peer.fit(rows, Y, sample_weight=weights).predict_joint_log_proba(rows)
    np.testing.assert_allclose(model.log_joint(rows), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(rows), peer.predict_proba(rows), rtol=1e-9, atol=1e-12)


def test_complement_agrees_but_for_the_prior_that_scikit_learn_leaves_out() -> None:
    peer = naive_bayes.ComplementNB().fit(COUNTS, Y)
    model = tb.fit(COUNTS, Y, events="complement", prior="uniform", calibrate=None)
    np.testing.assert_allclose(model.predict_proba(COUNTS), peer.predict_proba(COUNTS), rtol=1e-9, atol=1e-12)


def test_gaussian_variance_holds_where_the_textbook_formula_cancels() -> None:
    """Mean over deviation of 1e8, in float64; and of 1e5, about what float32 can hold at all."""
    for dtype, mean in ((np.float64, 1e8), (np.float32, 1e5)):
        rows = (mean + RNG.standard_normal((1000, 3))).astype(dtype)
        labels = np.arange(1000) % 2
        model = tb.fit(rows, labels, estimate="mle")
        for f in range(3):
            sd = model.table(f"x{f}").values[1]
            for c in (0, 1):
                exact = rows[labels == c, f].astype(np.longdouble)
                variance = float(((exact - exact.mean()) ** 2).mean())
                assert sd[c] ** 2 == pytest.approx(variance, rel=1e-6)
