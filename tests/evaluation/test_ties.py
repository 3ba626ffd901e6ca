"""Probabilities that differ only by rounding are tied, so that no figure depends on the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tallybayes.evaluation import calibration, evaluate, roc
from tallybayes.evaluation.ties import last_of_each

from .rows import Rows, some_rows


def both(p: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - p, p])


def nudged(p: np.ndarray, rng: np.random.Generator, by: int = 2) -> np.ndarray:
    """Return the same numbers with some last bits changed."""
    return np.clip(p + rng.integers(-by, by + 1, p.shape) * np.spacing(p), 0.0, 1.0)


@given(some_rows(least_rows=2), st.integers(0, 2**32 - 1))
def test_last_bits_change_neither_curves_nor_bins(rows: Rows, seed: int) -> None:
    plain = evaluate(rows.labels, rows.probabilities, rows.classes, weights=rows.weights)
    other = nudged(rows.probabilities, np.random.default_rng(seed))
    again = evaluate(rows.labels, other, rows.classes, weights=rows.weights)
    # In another order weights are added up to another last bit.
    for name, curve in plain.curves.items():
        assert again.curves[name].auc == pytest.approx(curve.auc, rel=1e-12)
        np.testing.assert_allclose(again.curves[name].thresholds, curve.thresholds, rtol=1e-14)
        np.testing.assert_allclose(again.curves[name].tp, curve.tp, rtol=1e-12)
    happened = rows.labels == rows.classes[0]
    bins, shaken = (calibration(happened, p[:, 0], weights=rows.weights) for p in (rows.probabilities, other))
    np.testing.assert_allclose(shaken.count, bins.count, rtol=1e-12)


def test_rows_of_which_the_same_is_true_are_tied() -> None:
    p = np.array([0.1 + 0.2, 0.3, 0.5, 0.9])  # 0.30000000000000004 and 0.3
    assert evaluate([1, 0, 0, 1], both(p), [0, 1]).auc == 0.625
    assert roc([1, 0, 0, 1], p).auc == 0.75  # scores are taken as they are


@pytest.mark.parametrize("p", [0.5, 1e-300, 1e-12, 0.999, 1 - 1e-9, 1 - 1e-13])
def test_what_differs_by_more_than_rounding_is_not_tied(p: float) -> None:
    step = 1e-11 * p * (1 - p) + 16 * np.spacing(p)
    assert last_of_each(np.array([p, p - step])).tolist() == [0, 1]
    assert last_of_each(np.array([p, p, p - np.spacing(p)])).tolist() == [2]


def test_many_rows_close_to_each_other_are_not_drawn_into_one() -> None:
    # One bit apart each: were neighbours of neighbours tied, all would be.
    falling = 1 - np.arange(1, 1000) * 2.0**-53
    assert len(last_of_each(falling)) == len(falling)


def test_sure_answers_keep_their_order() -> None:
    """Log-odds up to 40: near 1 there are more rows than doubles, and the area is that of the doubles."""
    rng = np.random.default_rng(0)
    labels = rng.random(200_000) < 0.5
    p = 1 / (1 + np.exp(-(rng.normal(size=len(labels)) * 8 + 10 * labels)))
    assert evaluate(labels, both(p), [False, True]).auc == pytest.approx(roc_auc_score(labels, p), rel=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_groups_follow_each_other_to_the_end(values: list[float]) -> None:
    falling = np.sort(values)[::-1]
    last = last_of_each(falling)
    assert last[-1] == len(falling) - 1
    assert (np.diff(last) > 0).all()
    exact = np.append(np.flatnonzero(np.diff(falling)), len(falling) - 1)
    assert np.isin(last, exact).all()  # rows of equal probability are never parted


def test_a_share_at_the_edge_of_a_bin_keeps_its_bin_whatever_its_last_bit() -> None:
    for p in (np.nextafter(0.8, 0), 0.8, np.nextafter(0.8, 1)):
        assert calibration([True], [p]).count.tolist() == [0.0] * 7 + [1.0, 0.0, 0.0]
