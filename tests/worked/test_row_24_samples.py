"""Row 24: without independence n·2^d samples are needed; a coin's estimate settles slowly."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb


def test_a_hundred_rows_for_each_combination_of_a_hundred_columns() -> None:
    bits = {f"x{k}": [True, False] for k in range(100)} | {"y": [0, 1]}
    combinations = tb.fit(bits, "y").parameters().joint // 2 + 1
    assert f"{100 * combinations:.7e}" == "1.2676506e+32"


def test_the_estimate_of_a_fair_coin_settles_slowly() -> None:
    flips = np.random.default_rng(0).random(10_000) < 0.5
    n = np.arange(1, 10_001)
    low, high = tb.evaluation.wilson(np.cumsum(flips) / n, n)
    width = high - low
    assert width[99] == pytest.approx(0.19, abs=0.01)
    assert width[9_999] == pytest.approx(width[99] / 10, rel=0.05)  # a hundred times the flips, a tenth of the width
    assert ((low <= 0.5) & (high >= 0.5)).mean() > 0.8
