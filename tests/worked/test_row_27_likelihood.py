"""Row 27: the log-likelihood of the word-presence model, and that its estimates (11), (13), (14) are at its maximum."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb

RNG = np.random.default_rng(7)
SPAM = np.array([1, 1, 1, 0, 0, 0, 0, 1, 0, 0])
WORDS = (RNG.random((10, 4)) < np.where(SPAM[:, None], 0.7, 0.3)).astype(int)


def log_likelihood(phi: float, phi_1: np.ndarray, phi_0: np.ndarray) -> float:
    """Equation (9), term by term."""
    total = 0.0
    for x, y in zip(WORDS, SPAM, strict=True):
        total += np.log(phi if y else 1 - phi)
        p = phi_1 if y else phi_0
        total += float(np.where(x, np.log(p), np.log(1 - p)).sum())
    return total


def test_the_likelihood_of_the_model_is_the_one_in_the_notes() -> None:
    model = tb.fit(WORDS, SPAM, events="bernoulli")
    ones = np.array([model.table(f"x{j}").values[1] for j in range(4)])
    expected = log_likelihood(model.prior[1], ones[:, 1], ones[:, 0])
    assert model.log_likelihood(WORDS, SPAM) == pytest.approx(expected, rel=1e-13)


def test_the_estimates_are_means_and_no_neighbour_is_likelier() -> None:
    model = tb.fit(WORDS, SPAM, events="bernoulli", estimate="mle")
    assert model.prior[1] == pytest.approx(SPAM.mean(), rel=1e-15)
    ones = np.array([model.table(f"x{j}").values[1] for j in range(4)])
    np.testing.assert_allclose(ones[:, 1], WORDS[SPAM == 1].mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(ones[:, 0], WORDS[SPAM == 0].mean(axis=0), rtol=1e-15)
    best = model.log_likelihood(WORDS, SPAM)
    inside = np.clip(ones, 1e-6, 1 - 1e-6)
    for step in (-0.05, 0.05):
        assert log_likelihood(SPAM.mean() + step, inside[:, 1], inside[:, 0]) < best
        for j in range(4):
            for c in (0, 1):
                moved = inside.copy()
                moved[j, c] = np.clip(moved[j, c] + step, 1e-6, 1 - 1e-6)
                assert log_likelihood(SPAM.mean(), moved[:, 1], moved[:, 0]) < best
