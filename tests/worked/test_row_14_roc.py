"""Row 14: ROC space, the curve and its hull, the best point for class ratio and costs, flipping, averaging."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes.evaluation import Confusion, average_roc, roc


def test_a_detector_below_the_diagonal_is_better_flipped() -> None:
    detector = Confusion.from_counts(tp=60, fn=30, fp=80, tn=20)  # hits 0.67, but false alarms 0.8
    assert detector["positive"].tpr < detector["positive"].fpr
    flipped = detector.flipped()["positive"]
    assert (round(flipped.tpr, 4), flipped.fpr) == (0.3333, 0.2)
    assert flipped.tpr > flipped.fpr


def test_a_curve_by_hand() -> None:
    curve = roc(list("+-+--"), [5, 4, 3, 2, 1], positive="+")
    assert curve.fpr.tolist() == pytest.approx([0, 0, 1 / 3, 1 / 3, 1])
    assert curve.tpr.tolist() == [0, 0.5, 0.5, 1, 1]
    assert curve.auc == pytest.approx(5 / 6)
    assert curve.hull.thresholds.tolist() == [np.inf, 5, 3, 1]  # at 4 another negative is called for nothing
    assert curve.hull.auc == pytest.approx((0.5 + 1) / 2 / 3 + 2 / 3)


@pytest.mark.parametrize(
    ("ratio", "costs", "threshold"),
    [
        (1, (1, 1), 3),  # lines of slope 1: the corner at (1/3, 1)
        (10, (1, 1), 5),  # ten negatives for a positive: no false alarm is worth its hits
        (10, (1, 10), 3),  # unless a miss costs ten times as much
        (1, (2, 1), 5),  # slope 2: false alarms cost twice
        (0.1, (1, 1), 3),
    ],
)
def test_the_best_point_depends_on_class_ratio_and_costs(
    ratio: float, costs: tuple[float, float], threshold: float
) -> None:
    curve = roc(list("+-+--"), [5, 4, 3, 2, 1], positive="+")
    point = curve.operating_point(ratio=ratio, costs=costs)
    assert point.threshold == threshold
    assert point.slope == ratio * costs[0] / costs[1]


def test_a_score_that_is_low_for_positives_is_flipped_and_says_so() -> None:
    curve = roc(list("+-+--"), [1, 2, 3, 4, 5], positive="+")
    assert curve.auc == pytest.approx(1 / 6)
    upright = curve.upright()
    assert upright.auc == pytest.approx(5 / 6)
    assert upright.reversed
    assert "reversed" in repr(upright)


def test_curves_of_repeats_are_averaged(data) -> None:
    frame = pd.read_csv(data / "pima-diabetes" / "pima_diabetes.csv.gz")
    rng = np.random.default_rng(0)
    curves = []
    for _ in range(10):
        held_out = np.isin(np.arange(len(frame)), rng.permutation(len(frame))[: len(frame) // 3])
        model = tb.fit(frame[~held_out], "label")
        curves.append(roc(frame["label"][held_out], model.predict_proba(frame[held_out])[:, 1]))
    mean = average_roc(curves)
    assert 0.75 < mean.auc < 0.9
    assert mean.auc == pytest.approx(np.mean([curve.auc for curve in curves]))
    assert np.diff(mean.fpr) @ (mean.tpr[1:] + mean.tpr[:-1]) / 2 == pytest.approx(mean.auc, abs=0.01)
    assert (mean.spread[1:50] > 0).all()
    # where a miss costs ten false alarms, the point moves up the curve
    dear, cheap = (curves[0].operating_point(costs=(1, cost)) for cost in (10, 1))
    assert dear.tpr > cheap.tpr
    assert dear.threshold < cheap.threshold
