"""Row 28: the word-count model, a die rolled N times: φ(k|c) = occurrences of k / all, smoothed + α over + αV."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import tallybayes as tb

COUNTS = np.array([[3, 0, 1], [1, 1, 0], [0, 2, 2], [0, 4, 0]])
KIND = ["spam", "spam", "ham", "ham"]
# ham: 0, 6, 2 of 8; spam: 4, 1, 1 of 6


@pytest.mark.parametrize("rows", [COUNTS, csr_array(COUNTS), COUNTS.astype(np.float32)], ids=["dense", "sparse", "f4"])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 0.5])
def test_the_shares_of_words(rows: object, alpha: float) -> None:
    model = tb.fit(rows, KIND, events="multinomial", alpha=alpha)
    got = np.array([model.table(f"x{j}").values[0] for j in range(3)])
    expected = (np.array([[0, 4], [6, 1], [2, 1]]) + alpha) / (np.array([8, 6]) + 3 * alpha)
    np.testing.assert_allclose(got, expected, rtol=1e-15)


def test_the_score_is_the_sum_over_words() -> None:
    model = tb.fit(COUNTS, KIND, events="multinomial")
    expected = np.log(0.5) + 2 * np.log([1 / 11, 5 / 9]) + 1 * np.log([3 / 11, 2 / 9])
    np.testing.assert_allclose(model.log_joint(np.array([[2, 0, 1]]))[0], expected, rtol=1e-14)
