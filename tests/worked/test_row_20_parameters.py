"""Row 20: one table entry per whole vector needs 2(2^n − 1) numbers, naive Bayes 2n."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb


@pytest.mark.parametrize("n", [1, 2, 10, 30, 900])  # 900: the 30 × 30 pixels of the lecture
def test_binary_features_and_two_classes(n: int) -> None:
    X = np.random.default_rng(0).integers(0, 2, (6, n)).astype(bool)
    count = tb.fit(X, [0, 1] * 3).parameters()
    assert (count.naive, count.joint, count.prior) == (2 * n, 2 * (2**n - 1), 1)


def test_the_weather_data() -> None:
    from .weather import NOMINAL, NUMERIC

    count = tb.fit(NOMINAL, "play").parameters()
    assert count.naive == 2 * (2 + 2 + 1 + 1)  # three outlooks, three temperatures, two humidities, wind or none
    assert count.joint == 2 * (3 * 3 * 2 * 2 - 1)
    # with two columns of numbers: a bivariate normal (2 means, 3 covariances) for each of 3 · 2 combinations
    count = tb.fit(NUMERIC, "play", events={"temperature": "gaussian", "humidity": "gaussian"}).parameters()
    assert count.naive == 2 * (2 + 1 + 2 + 2)
    assert count.joint == 2 * (3 * 2 - 1 + 3 * 2 * 5)


def test_the_count_can_be_read() -> None:
    X = np.eye(100, dtype=bool)[:4]
    text = str(tb.fit(X, [0, 1, 0, 1]).parameters())
    assert "naive Bayes               200" in text
    assert "2.54e+30" in text  # 2 (2^100 − 1)
