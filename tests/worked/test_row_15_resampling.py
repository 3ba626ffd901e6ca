"""Row 15: holdout, stratification, repeated holdout, k-fold, ten times ten-fold, leave-one-out, on the weather."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb

from .weather import NUMERIC as WEATHER


def test_a_holdout_keeps_a_third_for_testing_and_the_shares_of_the_classes() -> None:
    seen = tb.validate(WEATHER, "play", "holdout")
    held = seen.folds == 0
    assert held.sum() == 5
    assert (seen.labels[held] == "yes").sum() in (3, 4)


def test_a_repeated_holdout_takes_other_rows_each_time() -> None:
    seen = tb.validate(WEATHER, "play", "10xholdout")
    assert len(seen.by_repeat) == 10
    assert len({tuple(row) for row in seen.folds.tolist()}) > 1
    assert seen.figures["accuracy"].over_repeats > 0


@pytest.mark.parametrize("k", [2, 5, 7])
def test_every_row_is_tested_exactly_once_by_k_folds(k: int) -> None:
    seen = tb.validate(WEATHER, "play", f"{k}-fold")
    assert seen.scored.all()
    assert sorted(set(seen.folds)) == list(range(k))


def test_ten_times_ten_fold_is_a_hundred_trainings_and_an_average() -> None:
    seen = tb.validate(WEATHER, "play", "10x10")
    assert len(seen.by_fold) == 100
    assert seen.figures["accuracy"].mean == pytest.approx(np.mean([one.accuracy for one in seen.by_fold]))


def test_leave_one_out_is_as_many_folds_as_rows_at_the_cost_of_one_pass() -> None:
    textbook = {"events": {"temperature": "gaussian", "humidity": "gaussian"}, "alpha": 1, "calibrate": None}
    left_out = tb.validate(WEATHER, "play", "loo", **textbook)
    folds = tb.validate(WEATHER, "play", "14-fold", **textbook)
    np.testing.assert_allclose(left_out.probabilities, folds.probabilities, rtol=1e-9)
    assert left_out.evaluation.accuracy == pytest.approx(8 / 14)
