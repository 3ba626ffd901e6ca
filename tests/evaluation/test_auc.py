"""The area under the curve: DeLong's variance equals its definition, and intervals have their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tallybayes.evaluation import roc
from tallybayes.evaluation.auc import Area, interval
from tallybayes.evaluation.roc import curve_of

scores = st.lists(st.integers(0, 6), min_size=2, max_size=15)


def brute_force(positives: np.ndarray, negatives: np.ndarray) -> tuple[float, float]:
    """Return DeLong's area and variance by definition: every positive against every negative."""
    beats = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)  # (m, n)
    variance = beats.mean(axis=1).var(ddof=1) / len(positives) + beats.mean(axis=0).var(ddof=1) / len(negatives)
    return float(beats.mean()), float(variance)


@given(scores, scores)
def test_area_and_variance_are_those_of_all_pairs(positives: list[int], negatives: list[int]) -> None:
    labels = [True] * len(positives) + [False] * len(negatives)
    curve = roc(labels, positives + negatives)
    auc, variance = brute_force(np.array(positives), np.array(negatives))
    assert curve.auc == pytest.approx(auc, rel=1e-12, abs=1e-15)
    assert curve.variance == pytest.approx(variance, rel=1e-9, abs=1e-15)


@given(scores, scores)
def test_the_area_is_that_under_the_points(positives: list[int], negatives: list[int]) -> None:
    curve = roc([1] * len(positives) + [0] * len(negatives), positives + negatives)
    under = np.diff(curve.fpr) @ (curve.tpr[1:] + curve.tpr[:-1]) / 2
    assert curve.auc == pytest.approx(under, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("distance", [0.0, 1.0, 2.0])
@pytest.mark.parametrize(("m", "n"), [(30, 30), (20, 100), (8, 60)])
def test_the_95_percent_interval_holds_the_truth_about_95_times_of_100(distance: float, m: int, n: int) -> None:
    rng = np.random.default_rng(7)
    truth = norm.cdf(distance / math.sqrt(2))
    labels = np.repeat([1, 0], [m, n])
    held, repeats = 0, 2000  # so that the share is known to half a percent
    for _ in range(repeats):
        drawn = np.concatenate([rng.normal(distance, 1, m), rng.normal(0, 1, n)])
        low, high = curve_of(labels == 1, drawn, 1, None).interval()
        held += low <= truth <= high
    assert 0.92 < held / repeats < 0.985


def test_a_perfect_detector_is_not_certainly_perfect() -> None:
    curve = roc([0, 0, 0, 0, 1, 1, 1, 1], range(8))
    assert (curve.auc, curve.variance) == (1.0, 0.0)
    low, high = curve.interval()
    assert high == 1
    assert low == pytest.approx(4 / (4 + 1.959964**2), rel=1e-6)


def test_one_row_of_a_class_gives_an_area_without_a_variance_and_a_wide_interval() -> None:
    curve = roc([0, 0, 0, 1], [1, 2, 4, 3])
    assert curve.auc == pytest.approx(2 / 3)
    assert math.isnan(curve.variance)
    low, high = curve.interval()
    assert low < 0.2
    assert high > 0.95


@given(st.floats(1e-12, 1 - 1e-12), st.floats(0, 0.25), st.integers(1, 100))
def test_the_interval_stays_within_0_and_1_and_holds_the_area(auc: float, variance: float, fewest: int) -> None:
    low, high = interval(Area(auc, variance, fewest), fewest)
    assert 0 <= low <= auc + 1e-12
    assert auc - 1e-12 <= high <= 1


def test_a_higher_level_is_a_wider_interval() -> None:
    curve = roc([0, 1, 0, 1, 1, 0], [1, 2, 3, 4, 5, 6])
    (low, high), (lower, higher) = curve.interval(0.8), curve.interval(0.99)
    assert lower < low < high < higher
