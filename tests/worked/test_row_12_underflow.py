"""Row 12: products of many probabilities underflow; sums of logs do not, and the probabilities are recovered."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from tallybayes.inference.posterior import normalise


def test_the_trap_is_real() -> None:
    assert 0.5**2000 == 0.0
    assert pytest.approx(1.93e-12, rel=2e-3) == 0.9**256
    assert 256 * math.log10(0.9) == pytest.approx(-11.71, abs=5e-3)


@pytest.mark.parametrize("flips", [2_000, 1_000_000])
def test_many_coin_flips_score_finite_and_the_probabilities_are_recovered(flips: int) -> None:
    # Two coins of the same make: each column is fair in both classes, but the first flip differs.
    rows = np.zeros((4, flips), np.int8)
    rows[::2] = 1
    rows[:, 0] = [1, 1, 0, 0]
    model = tb.fit(rows, ["a", "a", "b", "b"], events="bernoulli", threads=1, calibrate=None)
    day = rows[:1]
    score = model.log_joint(day)
    assert np.isfinite(score).all()
    assert score[0].max() == pytest.approx(math.log(0.5) + (flips - 1) * math.log(0.5) + math.log(0.75), rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(day), [[0.75, 0.25]], rtol=1e-12)


def test_a_million_word_text_is_scored() -> None:
    words = csr_array(np.array([[3.0, 1.0], [1.0, 3.0]]))
    model = tb.fit(words, ["a", "b"], alpha=0.0, calibrate=None)
    score = model.log_joint(csr_array(np.array([[1_000_000.0, 999_999.0]])))[0]
    assert score[0] == pytest.approx(math.log(0.5) + 1e6 * math.log(0.75) + 999_999 * math.log(0.25), rel=1e-14)
    # one word more on one side: odds of three to one, among scores of minus a million and a half
    probabilities = model.predict_proba(csr_array(np.array([[1_000_000.0, 999_999.0]])))
    np.testing.assert_allclose(probabilities, [[0.75, 0.25]], rtol=1e-9)


@pytest.mark.parametrize("shift", [0.0, -1386.0, 1e6])
def test_probabilities_are_recovered_by_shifting_the_largest_to_zero(shift: float) -> None:
    true = np.array([[0.2046, 0.7954], [0.5, 0.5], [1e-9, 1 - 1e-9]])
    scores = np.log(true) + shift
    normalise(scores, np.log([0.5, 0.5]))
    np.testing.assert_allclose(scores, true, rtol=1e-12 if abs(shift) < 1e4 else 1e-9)
