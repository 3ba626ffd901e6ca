"""The evaluation object: plain cases, undefined figures, display and storage."""

from __future__ import annotations

import datetime
import io
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from rich.console import Console

import tallybayes as tb
from tallybayes.evaluation import average_roc, calibration, confusion
from tests.examples import examples

from .rows import Rows, some_rows


def test_decisions_are_for_the_most_probable_class_or_the_cheapest() -> None:
    p = [[0.7, 0.3], [0.4, 0.6]]
    labels = ["spam", "spam"]
    assert tb.evaluate(labels, p, ["ham", "spam"]).accuracy == 0.5
    dear = tb.evaluate(labels, p, ["ham", "spam"], costs=[[0, 9], [1, 0]])  # to let spam pass costs nine
    assert (dear.accuracy, dear.cost) == (1.0, 0.0)
    cheap = tb.evaluate(labels, p, ["ham", "spam"], costs=[[0, 1], [9, 0]], weights=[3, 1])
    assert (cheap.accuracy, cheap.cost) == (0.0, 1.0)
    assert tb.evaluate(labels, p, ["ham", "spam"]).cost is None


def test_the_operating_point_takes_the_costs_that_were_given() -> None:
    p = np.array([0.1, 0.4, 0.35, 0.8])
    seen = tb.evaluate([0, 0, 1, 1], np.column_stack([1 - p, p]), [0, 1], costs=[[0, 1], [5, 0]])
    assert seen.operating_point() == seen.roc.operating_point(costs=(5, 1))
    assert seen.operating_point(costs=(1, 5), ratio=2) == seen.roc.operating_point(costs=(1, 5), ratio=2)
    other = tb.evaluate([0, 0, 1, 1], np.column_stack([1 - p, p]), [0, 1], costs=[[0, 1], [5, 0]], positive=0)
    assert other.operating_point() == other.roc.operating_point(costs=(1, 5))


def test_a_row_held_impossible_makes_the_log_loss_infinite_and_is_counted() -> None:
    seen = tb.evaluate(["a", "b", "a"], [[1, 0], [1, 0], [0.5, 0.5]], ["a", "b"], weights=[1, 2, 1])
    assert math.isinf(seen.log_loss)
    assert seen.impossible == 1
    assert seen.loss.rest == pytest.approx(math.log(2) / 2)
    assert seen.notes[0] == (
        "Log-loss is infinite: 1 row had probability 0 for the true class; over the others it is 0.3466."
    )
    assert seen.to_dict()["log_loss"] is None
    assert seen.to_dict()["impossible"] == 1
    ignored = tb.evaluate(["a", "b", "a"], [[1, 0], [1, 0], [0.5, 0.5]], ["a", "b"], weights=[1, 0, 1])
    assert (ignored.impossible, ignored.log_loss) == (0, pytest.approx(math.log(2) / 2))


def test_a_class_without_rows_has_no_sensitivity() -> None:
    seen = tb.evaluate(["a", "b"], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]], ["a", "b", "c"])
    assert np.isnan(seen.sensitivity).tolist() == [False, False, True]
    assert list(seen.curves) == ["a", "b"]
    assert seen.macro.sensitivity == 1.0
    assert seen.notes == (
        "No rows of 'c': sensitivity and ROC curve are undefined there, and averages omit them.",
        "Never decided for 'c': precision is undefined there, and averages omit it.",
    )


def test_rows_of_one_class_alone_have_no_curve_and_no_warning() -> None:
    seen = tb.evaluate(["a", "a"], [[0.8, 0.2], [0.6, 0.4]], ["a", "b"])
    assert seen.curves == {}
    assert math.isnan(seen.auc)
    assert "All rows are of one class, so there is no ROC curve." in seen.notes
    assert "All rows are of one class" in str(seen)
    with pytest.raises(tb.errors.BadOption, match="It needs rows of both classes"):
        _ = seen.roc


def test_the_area_does_not_depend_on_which_of_two_classes_is_looked_for() -> None:
    p = np.array([0.1, 0.4, 0.35, 0.8])
    both = np.column_stack([1 - p, p])
    one, other = (tb.evaluate([0, 0, 1, 1], both, [0, 1], positive=c) for c in (0, 1))
    assert (one.roc.positive, other.roc.positive) == (0, 1)
    assert one.auc == other.auc == 0.75


def test_the_order_of_the_classes_is_that_of_the_columns() -> None:
    p = [[0.8, 0.2], [0.3, 0.7]]
    seen = tb.evaluate(["b", "a"], p, ["b", "a"])
    assert (seen.accuracy, seen.classes, seen.roc.positive) == (1.0, ("b", "a"), "a")


def test_the_expected_calibration_error_is_the_mean_distance() -> None:
    p = np.array([0.95] * 10 + [0.65] * 10)
    happened = [True] * 9 + [False] + [True] * 5 + [False] * 5
    seen = calibration(happened, p)
    assert seen.ece == pytest.approx((0.05 + 0.15) / 2)
    assert seen.largest == pytest.approx(0.15)
    assert seen.observed[9] == 0.9
    assert seen.low[9] < 0.9 < seen.high[9]
    assert np.isnan(seen.observed[0])
    edged = calibration(happened, p, bins=[0, 0.7, 1])
    assert edged.count.tolist() == [10, 10]


def test_dates_and_numbers_can_be_classes() -> None:
    days = [datetime.date(2024, 2, 28), datetime.date(2024, 2, 29)]
    seen = tb.evaluate(days, [[0.9, 0.1], [0.2, 0.8]], days)
    assert json.loads(json.dumps(seen.to_dict()))["classes"] == ["2024-02-28", "2024-02-29"]
    assert tb.evaluate(np.array([0.0, 1.0]), [[0.9, 0.1], [0.2, 0.8]], np.array([0, 1])).accuracy == 1


@examples(15)
@given(some_rows())
def test_every_result_is_json_and_shows_itself(rows: Rows) -> None:
    seen = tb.evaluate(rows.labels, rows.probabilities, rows.classes, weights=rows.weights)
    results = [seen, seen.confusion, seen.calibration, *seen.curves.values()]
    if seen.curves:
        first = next(iter(seen.curves.values()))
        results += [first.operating_point(), first.flipped(), average_roc([first])]
    for result in results:
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()
        assert str(result)
        assert repr(result) == str(result)
        assert result.to_arrow().num_rows > 0
    assert "accuracy" in str(seen)
    for note in seen.notes:
        assert note in str(seen)


def test_many_classes_show_their_mistakes_instead_of_a_wide_matrix() -> None:
    names = [f"c{k:02}" for k in range(20)]
    seen = confusion([*names, "c03", "c03"], [*names, "c07", "c07"], names)
    assert seen.mistakes() == (("c03", "c07", 2.0),)
    assert str(seen).splitlines()[0] == "Most frequent mistakes"


def test_matrices_of_the_same_classes_add() -> None:
    one, two = (confusion(["a", "b"], said, ["a", "b"]) for said in (["a", "b"], ["b", "a"]))
    assert (one + two).matrix.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(tb.errors.CannotMerge, match="cannot add"):
        _ = one + confusion(["a", "c"], ["a", "c"], ["a", "c"])


def test_a_class_named_like_markup_is_shown_as_it_is() -> None:
    seen = tb.evaluate(["[red]", "x"], [[0.9, 0.1], [0.2, 0.8]], ["[red]", "x"])
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(seen)
    assert "[red]" in console.export_text()
    assert "[red]" in str(seen)


def test_neither_rich_nor_scikit_learn_is_loaded_by_evaluating() -> None:
    check = (
        "import sys, tallybayes as tb; seen = tb.evaluate([0, 1], [[1, 0], [0, 1]], [0, 1]); seen.to_dict();"
        "print(sorted({'rich', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_million_rows_have_a_curve_and_its_hull() -> None:
    """Work that grew with the square of the rows would not end."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 1_000_000)
    p = 1 / (1 + np.exp(-rng.normal(size=1_000_000) - labels))
    curve = tb.evaluate(labels, np.column_stack([1 - p, p]), [0, 1]).roc
    ranks = np.empty(1_000_000)
    ranks[np.argsort(p)] = np.arange(1, 1_000_001)
    positives = int(labels.sum())
    above = ranks[labels == 1].sum() - positives * (positives + 1) / 2  # pairs in order: Mann and Whitney's statistic
    assert curve.auc == pytest.approx(above / (positives * (1_000_000 - positives)), rel=1e-12)
    assert (curve.hull.fpr[0], curve.hull.tpr[0], curve.hull.fpr[-1], curve.hull.tpr[-1]) == (0, 0, 1, 1)
    assert curve.auc <= curve.hull.auc < curve.auc + 0.001
