"""The headline figures, and those of the majority-class baseline."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.evaluation import headline, majority, wilson
from tallybayes.evaluation.losses import log_loss


def rows(n: int = 400, classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    p = rng.dirichlet(np.ones(classes), n)
    p[np.arange(n), y] += 0.7
    return y, p / p.sum(axis=1, keepdims=True)


def test_of_two_classes_shares_have_wilsons_interval() -> None:
    y, p = rows()
    seen = tb.evaluate(y, p, [0, 1])
    found = headline(seen, 1)
    own = seen[1]
    assert found["sensitivity"] == pytest.approx((own.sensitivity, *wilson(own.sensitivity, own.tp + own.fn)))
    assert found["specificity"] == pytest.approx((own.specificity, *wilson(own.specificity, own.tn + own.fp)))
    assert found["AUC"][1:] == seen.roc.interval()


def test_more_than_two_classes_are_summarised_by_averages() -> None:
    y, p = rows(classes=4)
    seen = tb.evaluate(y, p, range(4))
    found = headline(seen)
    assert found["sensitivity"].value == pytest.approx(seen.macro.sensitivity)
    assert found["sensitivity"].low < found["sensitivity"].value < found["sensitivity"].high
    assert found["specificity"].value == pytest.approx(seen.macro.specificity)
    assert np.isnan(found["specificity"].low)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    expected = headline(tb.evaluate(*rows(200_000), [0, 1]), 1)
    held = dict.fromkeys(expected, 0)
    for seed in range(1, 201):
        for name, (_, low, high) in headline(tb.evaluate(*rows(150, seed=seed), [0, 1]), 1).items():
            held[name] += low <= expected[name].value <= high
    for name, times in held.items():
        assert 180 <= times <= 200, name  # 95 % of 200 is 190, give or take 3 three times


def test_the_error_of_the_log_loss_is_that_of_a_mean() -> None:
    p = np.random.default_rng(0).random(50)
    losses = -np.log(p)
    assert log_loss(p).error == pytest.approx(losses.std(ddof=1) / np.sqrt(50))
    twice = log_loss(p, np.full(50, 2.0))
    assert twice.error == pytest.approx(log_loss(np.repeat(p, 2)).error)
    assert np.isnan(log_loss(p[:1]).error)


def test_an_infinite_loss_has_no_interval() -> None:
    found = headline(tb.evaluate(["a", "b"], [[0.0, 1.0], [0.5, 0.5]], ["a", "b"]), "b")["log-loss"]
    assert found.value == np.inf
    assert np.isnan([found.low, found.high]).all()


def test_looking_at_nothing_loses_the_entropy_of_the_classes() -> None:
    plain = majority(["a"] * 6 + ["b"] * 3 + ["c"], ["a", "b", "c"])
    shares = np.array([0.6, 0.3, 0.1])
    assert plain.accuracy == 0.6
    assert plain.log_loss == pytest.approx(-(shares * np.log(shares)).sum())
    assert plain.auc == 0.5
    assert majority(["a", "b"], ["a", "b"], weights=[1, 3]).accuracy == 0.75


def test_shares_of_the_matrix_add_up_to_one_in_each_class() -> None:
    y, p = rows(classes=3)
    assert tb.evaluate(y, p, range(3)).confusion.shares.sum(axis=1) == pytest.approx(1)
