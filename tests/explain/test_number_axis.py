"""Columns with a spike or heavy tails are drawn on an axis that shows their shape."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.explain.histograms import histogram
from tallybayes.explain.number_axis import find_axis
from tallybayes.explain.tables import table

RNG = np.random.default_rng(11)
PAY = np.where(RNG.random(2000) < 0.7, 0.0, RNG.lognormal(9, 1.2, 2000).round(2))


@pytest.mark.parametrize(
    ("numbers", "spike", "log"),
    [
        (PAY, 0.0, True),
        (-PAY, 0.0, True),
        (PAY - 50, -50.0, True),
        (np.where(RNG.random(900) < 0.4, 7.5, RNG.normal(size=900)), 7.5, False),
        (RNG.lognormal(2, 1.3, 900), None, True),
        (RNG.standard_t(2, 900), None, True),
    ],
)
def test_spikes_and_heavy_tails_get_an_axis(numbers: np.ndarray, spike: float | None, log: bool) -> None:
    axis = find_axis(np.append(numbers, [np.nan, np.inf]))
    assert axis is not None
    assert (axis.spike, axis.constant > 0) == (spike, log)
    rest = numbers if spike is None else numbers[numbers != spike]
    assert (axis.low, axis.high) == (rest.min(), rest.max())
    assert all(axis.low <= x <= axis.high and x != spike for x in axis.points())
    assert np.allclose(axis.backward(axis.forward(rest)), rest)
    assert not log or 1 <= len(axis.ticks()) <= 12


@pytest.mark.parametrize("numbers", [RNG.normal(size=900), RNG.exponential(size=900), RNG.integers(0, 9, 900), [], [1]])
def test_other_columns_keep_a_plain_axis(numbers: np.ndarray) -> None:
    assert find_axis(np.asarray(numbers, np.float64)) is None


def test_wild_outliers_are_outside_the_axis() -> None:
    numbers = RNG.lognormal(7, 1, 400)
    axis = find_axis(np.append(numbers, [1e12, 1e12]))
    assert axis is not None
    assert axis.cuts
    assert axis.high < numbers.max()
    plain = find_axis(numbers)
    assert plain is not None
    assert not plain.cuts


def test_densities_on_the_axis_have_the_area_of_the_rows_that_are_drawn() -> None:
    kinds = np.where(RNG.random(len(PAY)) < 0.5, "a", "b")
    rows = pa.record_batch({"pay": PAY, "kind": kinds})
    model, axis = tb.fit(rows, "kind"), find_axis(PAY)
    assert axis is not None
    shown = table(model, "pay", axis=axis)
    found = histogram(model, shown, rows, "kind", None)
    assert found is not None
    assert found.spike is not None
    assert found.counts.sum() == (PAY != 0).sum()
    for c, name in enumerate(("a", "b")):
        assert found.spike[c] == pytest.approx((PAY[kinds == name] == 0).mean())
        area = (found.density[:, c] * np.diff(axis.forward(found.edges))).sum()
        assert area == pytest.approx(1 - found.spike[c])
    # With the spike, the curve would be thousands of times as high as the bars.
    drawn = np.array([point["probability"] for point in shown.points()])
    assert drawn.max() < 10 * found.density.max()
