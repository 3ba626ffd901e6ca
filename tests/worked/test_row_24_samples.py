"""Row 24: without independence n·2^d samples are needed; a coin's estimate settles slowly."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb


def test_a_hundred_rows_for_each_combination_of_a_hundred_columns() -> None:
    assert f"{tb.rows_needed(100, 100):.7e}" == "1.2676506e+32"
    assert tb.rows_needed(100, 100) == 100 * 2**100
    assert tb.rows_needed(3) == 8


def test_the_estimate_of_a_fair_coin_settles_slowly() -> None:
    flips = np.random.default_rng(0).random(10_000) < 0.5
    seen = tb.running_estimate(flips)
    width = seen.high - seen.low
    np.testing.assert_allclose(seen.estimate, np.cumsum(flips) / np.arange(1, 10_001))
    assert width[99] == pytest.approx(0.19, abs=0.01)
    assert width[9_999] == pytest.approx(width[99] / 10, rel=0.05)  # a hundred times the flips, a tenth of the width
    assert ((seen.low <= 0.5) & (seen.high >= 0.5)).mean() > 0.8
    assert "10000" in str(seen)
    assert repr(seen).endswith("after 10000 flips>")


def test_the_estimate_is_drawn_with_its_interval_and_the_truth() -> None:
    seen = tb.running_estimate(np.random.default_rng(0).random(10_000) < 0.3)
    points = seen.points()
    assert [point["flips"] for point in points[:5]] == [1, 2, 3, 4, 5]
    last = {"flips": 10_000, "estimate": seen.estimate[-1], "low": seen.low[-1], "high": seen.high[-1]}
    assert points[-1] == last
    assert len(points) <= 500
    layers = seen.chart(truth=0.3).to_dict()["layer"]
    assert [layer["mark"]["type"] for layer in layers] == ["area", "line", "rule", "text"]
    assert len(tb.running_estimate([1]).chart().to_dict()["layer"]) == 2
    assert str(seen).startswith("Share of ones so far, with its 95 % interval")


def test_what_is_no_flip_is_refused() -> None:
    with pytest.raises(tb.errors.BadOption, match=r"truth: wanted a probability between 0 and 1, got 1\.5"):
        tb.running_estimate([1, 0]).chart(truth=1.5)
    with pytest.raises(tb.errors.BadData, match=r"flips: wanted zeros and ones, got 2 \(flip 2\)"):
        tb.running_estimate([1, 2])
    with pytest.raises(tb.errors.BadData, match="flips: wanted at least one flip"):
        tb.running_estimate([])
    with pytest.raises(tb.errors.BadOption, match="columns: wanted a whole number not below 0, got -1"):
        tb.rows_needed(-1)
