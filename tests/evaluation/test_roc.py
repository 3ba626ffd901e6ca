"""ROC curves: their hull, the cheapest point, flipping, thinning and averaging."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.evaluation import RocCurve, average_roc, roc
from tallybayes.evaluation.convex_hull import upper_hull

Rows = tuple[list[bool], list[int]]


@st.composite
def detectors(draw: st.DrawFn) -> Rows:
    labels = [True, False, *draw(st.lists(st.booleans(), max_size=40))]
    return labels, draw(st.lists(st.integers(0, 30), min_size=len(labels), max_size=len(labels)))


@given(detectors())
def test_the_hull_is_concave_and_no_point_is_above_it(rows: Rows) -> None:
    curve = roc(*rows)
    hull = curve.hull
    assert (hull.fpr[0], hull.tpr[0], hull.fpr[-1], hull.tpr[-1]) == (0, 0, 1, 1)
    run, rise = np.diff(hull.fpr), np.diff(hull.tpr)
    assert (rise[:-1] * run[1:] > run[:-1] * rise[1:]).all()
    assert (np.interp(curve.fpr, hull.fpr, hull.tpr) >= curve.tpr - 1e-12).all()
    assert set(hull.thresholds) <= set(curve.thresholds)
    assert hull.auc >= max(curve.auc, 0.5) - 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_the_hull_of_a_long_curve_is_that_of_one_step_after_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = rng.random(20_000) < np.linspace(0.9, 0.1, 20_000) ** (seed + 1)
    x, y = np.cumsum(~steps).astype(float), np.cumsum(steps).astype(float)
    hull: list[int] = []
    for k in range(len(x)):
        while len(hull) > 1 and (x[hull[-1]] - x[hull[-2]]) * (y[k] - y[hull[-1]]) >= (y[hull[-1]] - y[hull[-2]]) * (
            x[k] - x[hull[-1]]
        ):
            hull.pop()
        hull.append(k)
    assert upper_hull(x, y).tolist() == hull


def test_the_hull_of_a_curve_that_only_bends_at_its_end_is_found_too() -> None:
    # an arc, and then a point above all of it: passes over all points would remove one of them at a time
    x = np.arange(2001.0)
    y = np.append(1e6 - (2000 - x[:-1]) ** 2 / 4, 1e8)
    y[0] = 0
    assert upper_hull(x, y).tolist() == [0, 2000]


@given(detectors(), st.floats(0.05, 20), st.floats(0, 10), st.floats(0.01, 10))
def test_the_operating_point_is_the_cheapest_of_all_thresholds(
    rows: Rows, ratio: float, false_alarm: float, miss: float
) -> None:
    labels, scores = np.array(rows[0]), np.array(rows[1])
    point = roc(labels, scores).operating_point(ratio=ratio, costs=(false_alarm, miss))

    def cost(called: np.ndarray) -> float:
        fpr, missed = called[~labels].mean(), 1 - called[labels].mean()
        return (false_alarm * ratio * fpr + miss * missed) / (1 + ratio)

    every = [cost(scores >= threshold) for threshold in [*np.unique(scores), np.inf]]
    assert point.cost == pytest.approx(min(every), rel=1e-9, abs=1e-12)
    assert point.cost == pytest.approx(cost(scores >= point.threshold), rel=1e-9, abs=1e-12)
    assert point.slope == pytest.approx(ratio * false_alarm / miss)


@given(detectors())
def test_by_default_the_operating_point_makes_the_fewest_mistakes(rows: Rows) -> None:
    labels, scores = np.array(rows[0]), np.array(rows[1])
    best = max(np.mean((scores >= threshold) == labels) for threshold in [*np.unique(scores), np.inf])
    assert roc(labels, scores).operating_point().cost == pytest.approx(1 - best, abs=1e-12)


@given(detectors())
def test_a_flipped_curve_is_that_of_reversed_decisions(rows: Rows) -> None:
    labels, scores = np.array(rows[0]), np.array(rows[1])
    curve = roc(labels, scores)
    flipped = curve.flipped()
    assert flipped.reversed
    assert flipped.auc == pytest.approx(1 - curve.auc)
    for x, y, threshold in zip(flipped.fpr, flipped.tpr, flipped.thresholds, strict=True):
        called = scores < threshold
        assert (x, y) == pytest.approx((called[~labels].mean(), called[labels].mean()))
    negated = roc(labels, -scores)
    np.testing.assert_allclose(flipped.fpr, negated.fpr)
    np.testing.assert_allclose(flipped.tpr, negated.tpr)
    assert flipped.variance == pytest.approx(negated.variance, rel=1e-9, abs=1e-15, nan_ok=True)
    point = flipped.operating_point(ratio=1)
    assert point.reversed
    called = scores < point.threshold
    assert (point.fpr, point.tpr) == pytest.approx((called[~labels].mean(), called[labels].mean()))


def test_a_detector_below_the_diagonal_says_so_and_is_turned_upright() -> None:
    wrong = roc([1, 1, 0, 0], [0.1, 0.4, 0.3, 0.9])
    said = "The detector of 1 is below the diagonal: AUC 0.2500, reversing its decisions would give 0.7500."
    assert wrong.notes() == (said,)
    assert said in str(wrong)
    right = wrong.upright()
    assert right.auc == 0.75
    assert right.notes() == ("Decisions are reversed: a row is called positive below the threshold.",)
    assert right.upright() is right
    back = right.flipped()
    assert not back.reversed
    np.testing.assert_array_equal(back.tpr, wrong.tpr)


def test_scores_that_are_all_alike_give_the_diagonal() -> None:
    curve = roc([0, 1, 1], [3, 3, 3])
    assert (curve.fpr.tolist(), curve.tpr.tolist(), curve.auc) == ([0, 1], [0, 1], 0.5)


def test_rows_without_weight_leave_no_trace() -> None:
    weighted = roc([0, 1, 0, 1, 1], [1, 2, 3, 4, 9], weights=[1, 1, 1, 1, 0])
    without = roc([0, 1, 0, 1], [1, 2, 3, 4])
    np.testing.assert_array_equal(weighted.thresholds, without.thresholds)
    assert weighted.variance == without.variance


@pytest.mark.parametrize("points", [20, 100, 512])
def test_a_thinned_curve_has_few_points_all_on_the_curve_and_the_same_area(points: int) -> None:
    rng = np.random.default_rng(1)
    labels = rng.random(5000) < 0.3
    curve = roc(labels, rng.normal(size=5000) + labels)
    thin = curve.thinned(points)
    assert len(thin.fpr) <= points < len(curve.fpr)
    assert set(zip(thin.fp, thin.tp, strict=True)) <= set(zip(curve.fp, curve.tp, strict=True))
    assert (thin.fpr[0], thin.tpr[-1]) == (0, 1)
    assert (thin.auc, thin.interval()) == (curve.auc, curve.interval())


def height(curve: RocCurve, x: float) -> float:
    """Return the height of a curve by a search: the plain twin of the interpolation."""
    at = [y for fpr, y in zip(curve.fpr, curve.tpr, strict=True) if fpr == x]
    if at:
        return float(max(at))
    k = next(k for k, fpr in enumerate(curve.fpr) if fpr > x)
    share = (x - curve.fpr[k - 1]) / (curve.fpr[k] - curve.fpr[k - 1])
    return float(curve.tpr[k - 1] + share * (curve.tpr[k] - curve.tpr[k - 1]))


@given(st.lists(detectors(), min_size=1, max_size=4), st.sampled_from([2, 3, 5, 101]))
def test_the_average_curve_is_the_mean_height(many: list[Rows], grid: int) -> None:
    curves = [roc(*rows) for rows in many]
    mean = average_roc(curves, grid=grid)
    heights = np.array([[height(curve, x) for x in mean.fpr] for curve in curves])
    np.testing.assert_allclose(mean.tpr, heights.mean(axis=0), atol=1e-9)
    assert mean.auc == pytest.approx(np.mean([curve.auc for curve in curves]))
    assert (np.diff(mean.tpr) >= -1e-12).all()
    if len(curves) > 1:
        np.testing.assert_allclose(mean.spread, heights.std(axis=0, ddof=1), atol=1e-9)
        assert mean.auc_spread == pytest.approx(np.std([curve.auc for curve in curves], ddof=1))
    else:
        assert np.isnan(mean.spread).all()
