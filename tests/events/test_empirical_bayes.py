"""Empirical Bayes smoothing against a general optimiser of the Dirichlet-multinomial evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

import tallybayes as tb
from tallybayes.events.families.empirical_bayes import empirical_bayes_alpha


def log_evidence(alpha: float, counts: Any) -> float:
    """Return the log-evidence, summed over classes, by the textbook formula."""
    total = 0.0
    for of_class in counts:
        K, N = len(of_class), of_class.sum()
        total += gammaln(alpha * K) - gammaln(alpha * K + N)
        total += sum(gammaln(alpha + n) - gammaln(alpha) for n in of_class)
    return float(total)


def drawn(alpha: float, seed: int, *, C: int = 4, K: int = 12, N: int = 300) -> Any:
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(N, rng.dirichlet([alpha] * K)) for _ in range(C)], float)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_smoothing_maximises_the_evidence(alpha: float, seed: int) -> None:
    counts = drawn(alpha, seed)
    best = minimize_scalar(
        lambda p: -log_evidence(10**p, counts), bounds=(-4, 4), method="bounded", options={"xatol": 1e-6}
    )
    assert empirical_bayes_alpha(counts) == pytest.approx(10**best.x, rel=0.02)


def test_it_is_near_the_one_that_the_counts_were_drawn_with() -> None:
    assert empirical_bayes_alpha(drawn(0.5, 0, C=50, K=30, N=2000)) == pytest.approx(0.5, rel=0.1)


def test_fractions_of_counts_will_do() -> None:
    counts = drawn(0.5, 1) + 0.25
    best = minimize_scalar(lambda p: -log_evidence(10**p, counts), bounds=(-4, 4), method="bounded")
    assert empirical_bayes_alpha(counts) == pytest.approx(10**best.x, rel=0.02)


def test_a_class_without_counts_adds_nothing() -> None:
    counts = drawn(1.0, 0)
    assert empirical_bayes_alpha(np.vstack([counts, np.zeros(counts.shape[1])])) == empirical_bayes_alpha(counts)


@pytest.mark.parametrize("counts", [np.zeros((2, 3)), np.array([[3.0], [2.0]]), np.zeros((0, 2)), np.zeros((2, 0))])
def test_the_smoothing_is_one_if_the_counts_say_nothing(counts: Any) -> None:
    assert empirical_bayes_alpha(counts) == 1.0


def test_each_column_of_a_model_has_its_own() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    sharp = np.where(rng.random(400) < 0.02, 1 - y, y)
    rows = {"sharp": [f"v{v}" for v in sharp], "blunt": [f"w{v}" for v in rng.integers(0, 2, 400)], "y": y}
    model = tb.fit(rows, "y", alpha="evidence", calibrate=None)
    counts = {name: model.table(name).counts.T for name in ("sharp", "blunt")}
    assert model.calibration is None
    for name, found in model._resolved_choices.alpha.items():
        assert found == pytest.approx(empirical_bayes_alpha(counts[name]))
    assert model._resolved_choices.alpha["sharp"] < 1 < model._resolved_choices.alpha["blunt"]


def test_the_words_of_a_text_share_one() -> None:
    texts, labels = ["red red wine", "blue sky", "red sky at night", "blue blue night"], ["a", "b", "a", "b"]
    model = tb.fit(texts, labels, alpha="evidence", calibrate=None)
    assert model._resolved_choices.alpha == {"text": pytest.approx(empirical_bayes_alpha(model.table("text").counts.T))}


def test_a_column_of_reals_has_one() -> None:
    model = tb.fit({"x": [0.5, 1.5, 2.5], "y": ["a", "b", "b"]}, "y", alpha="evidence", calibrate=None)
    assert model._resolved_choices.alpha == {"x": 1.0}
