"""Columns that say nothing must not be believed: a row left out is missing from the counts of its own class."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import kernels
from tallybayes.inference.precisions import in_groups

CLASSES, NEW = 5, 4000


def _noise(kind: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, n)
    return (rng.normal(size=(n, 15)) if kind == "numbers" else rng.integers(0, 5, (n, 15))), labels


@pytest.mark.parametrize("n", [300, 1000, 3000, 10_000])
@pytest.mark.parametrize("kind", ["numbers", "values"])
def test_calibration_does_not_feed_on_the_row_left_out(kind: str, n: int) -> None:
    events = {} if kind == "numbers" else {"events": "categorical"}
    losses = {}
    for calibrate in ("auto", None):
        model = tb.fit(*_noise(kind, n, 1), calibrate=calibrate, **events)
        rows, labels = _noise(kind, NEW, 2)
        losses[calibrate] = -np.log(model.predict_proba(rows)[np.arange(NEW), labels]).mean()
    assert losses["auto"] <= losses[None] + 0.02
    assert losses["auto"] <= np.log(CLASSES) + 25 / n  # nats: what fifteen columns of chance cost the rows together


@pytest.mark.parametrize("kind", ["numbers", "values"])
def test_no_common_weight_is_below_zero(kind: str) -> None:
    model = tb.fit(*_noise(kind, 1000, 3), calibrate="one", **({} if kind == "numbers" else {"events": "categorical"}))
    assert model.calibration.weights is not None
    assert min(one.weight for one in model.calibration.weights.columns.values()) >= 0


def _precisions(curvature: np.ndarray, numbers: np.ndarray, sizes: list[int], usual: float) -> list[float]:
    """Return the precision of each group of numbers, given as they are without a prior."""
    one, of = np.ones(6), np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    groups = in_groups(of, one, one, kernels.log(usual * one), 0 * one)
    found: list[float] = kernels.find_precisions(
        groups, curvature, numbers, 0 * one, range(len(sizes))
    ).precision.tolist()
    return found[: len(sizes)]


def _precision(curvature: np.ndarray, numbers: np.ndarray) -> float:
    return _precisions(curvature, numbers, [len(numbers)], 10.0)[0]


def test_numbers_that_are_chance_are_held_at_zero() -> None:
    rng = np.random.default_rng(0)
    curvature = rng.uniform(10, 100, 2000)
    assert _precision(curvature, rng.normal(size=2000) / np.sqrt(curvature)) > 5 * curvature.max()


def test_the_size_of_numbers_is_found() -> None:
    rng = np.random.default_rng(0)
    curvature = rng.uniform(10, 100, 4000)
    numbers = rng.normal(size=4000) / np.sqrt(curvature) + rng.normal(size=4000) * 0.5
    assert _precision(curvature, numbers) == pytest.approx(4.0, rel=0.1)


def test_each_group_has_its_own_size() -> None:
    rng = np.random.default_rng(0)
    sizes = [400, 400]
    curvature, scale = np.full(800, 50.0), np.repeat([1.0, 0.0], sizes)
    numbers = rng.normal(size=800) / np.sqrt(curvature) + rng.normal(size=800) * scale
    large, small = _precisions(curvature, numbers, sizes, 2.0)
    assert large == pytest.approx(1.0, rel=0.2)
    assert small > 5 * large
