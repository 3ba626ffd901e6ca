"""Learning one row at a time: any values, any order, and errors that change nothing."""

from __future__ import annotations

from collections import OrderedDict
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption, CannotMerge, LeftOutWarning
from tallybayes.evidence.evidence import Evidence
from tallybayes.online.batch_tally import BatchTally
from tallybayes.online.normal_tally import NormalTally


def gaussian(**options: Any) -> tb.Learner:
    return tb.Learner("y", events="gaussian", **options)


def numbers(n: int = 60, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [{"a": float(rng.normal(c, 1)), "b": int(rng.integers(0, 50)), "y": "pqr"[c]} for c in rng.integers(0, 3, n)]


def test_nothing_is_known_before_the_first_row() -> None:
    learner = gaussian()
    assert learner.classes == ()
    assert learner.predict({"a": 1.0}) is None
    assert learner.predict_proba_one({"a": 1.0}) == {}
    assert repr(learner) == "<tallybayes.Learner of 'y': no rows>"
    with pytest.raises(BadData, match="at least one row"):
        learner.model()


@pytest.mark.parametrize("rule", ["mle", "map", "bayes"])
@pytest.mark.parametrize("prior", ["learned", "uniform"])
@pytest.mark.parametrize("variance", ["n", "n-1"])
def test_gaussian_predictions_follow_from_all_rows(rule: str, prior: str, variance: str) -> None:
    options: dict[str, Any] = {
        "estimate": rule,
        "prior": prior,
        "variance": variance,
        "alpha": 1 if rule != "mle" else 0,
    }
    learner, rows = gaussian(**options), numbers()
    for k, row in enumerate(rows):
        learner.learn(row)
        if len(learner.classes) > 1:
            fitted = tb.fit(rows[: k + 1], "y", events="gaussian", calibrate=None, **options)
            expected = fitted.predict_proba([rows[0]])[0]
            np.testing.assert_allclose(learner.predict_proba(rows[0]), expected, rtol=1e-10, atol=1e-300)
    assert isinstance(learner._tally, NormalTally)
    assert learner.model().evidence == fitted.evidence


def test_values_of_any_size_are_summed_exactly() -> None:
    learner = gaussian()
    sizes = [1e300, 1e-300, 5e-324, -1e300, 3.0, 1.7e308, -0.0, 2.0**60]
    for k, x in enumerate(sizes):
        learner.learn({"a": x, "y": "pq"[k % 2]})
    table = {"a": sizes, "y": ["p", "q"] * 4}
    assert learner.model().evidence == tb.fit(table, "y", events="gaussian", calibrate=None).evidence
    for x in sizes[4:] + sizes[:4]:
        learner.forget({"a": x, "y": "pq"[sizes.index(x) % 2]})
    assert learner.classes == ()


def test_a_class_vanishes_with_its_last_row_and_may_come_back() -> None:
    learner = gaussian()
    for y in "pqr":
        learner.learn({"a": 1.0, "y": y})
    learner.forget({"a": 1.0, "y": "q"})
    assert learner.classes == ("p", "r")
    assert len(learner.predict_proba({"a": 1.0})) == 2
    learner.learn({"a": 5.0, "y": "q"})
    assert learner.classes == ("p", "q", "r")
    assert learner.predict({"a": 5.0}) == "q"


@pytest.mark.parametrize("label", ["name", 7, True, 2.5, date(2024, 2, 29)])
def test_classes_are_of_any_kind_and_come_in_any_order(label: Any) -> None:
    kinds: dict[type, list[Any]] = {
        str: ["b", "a", "ç"],
        int: [9, -1, 2**62],
        bool: [True, False],
        float: [1.5, -2.0, 0.0],
        date: [date(2024, 2, 29), date(1999, 1, 1)],
    }
    labels = kinds[type(label)]
    learner = gaussian()
    for k, y in enumerate(labels * 3):
        learner.learn({"a": float(k)}, y)
    assert learner.classes == tuple(sorted(labels))
    assert learner.predict({"a": 0.0}) in labels


def test_a_boolean_is_not_the_class_one() -> None:
    learner = gaussian()
    learner.learn({"a": 1.0}, 1)
    with pytest.raises((BadData, CannotMerge)):
        learner.learn({"a": 1.0}, True)
    assert learner.classes == (1,)


def test_there_may_be_thousands_of_classes() -> None:
    learner = gaussian(estimate="mle")
    for k in range(2000):
        learner.learn({"a": float(k), "b": -float(k)}, k)
    assert learner.predict({"a": 1234.0, "b": -1234.0}) == 1234


@pytest.mark.parametrize("event", ["gaussian", "histogram", "categorical", "poisson"])
@pytest.mark.parametrize("bad", [float("inf"), "three", [1], {"k": 1}])
def test_a_bad_value_is_refused_at_once_and_changes_nothing(event: str, bad: Any) -> None:
    learner = tb.Learner("y", events={"x": event})
    for k in range(6):
        learner.learn({"x": k % 3, "y": "pq"[k % 2]})
    before = learner.model().evidence
    if event == "categorical" and bad == "three":
        with pytest.raises((BadData, CannotMerge)):
            learner.learn({"x": bad, "y": "p"})
    else:
        with pytest.raises((BadData, CannotMerge)):
            learner.learn({"x": bad, "y": "new"})
    assert learner.model().evidence == before
    learner.learn({"x": 1, "y": "p"})
    assert learner.model().evidence.rows.to_float().sum() == 7


def test_numbers_in_other_types_take_the_slower_way_to_the_same_sums() -> None:
    plain, other = gaussian(), gaussian()
    for x in (1.5, 2.25, 3.0):
        plain.learn({"a": x, "y": "p"})
    for x in (np.float32(1.5), Decimal("2.25"), "3.0"):
        other.learn(OrderedDict(a=x), "p")
    assert plain.model().evidence == other.model().evidence


def test_a_missing_value_is_none_nan_or_no_entry() -> None:
    learner = gaussian()
    for row in ({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": None}, {"a": 1.0, "b": float("nan")}, {"a": 1.0}):
        learner.learn(row, "p")
    assert learner.model().evidence.statistics[0].sums["missing"].to_float().tolist() == [[0, 3]]
    assert learner.predict_proba({"b": 2.0}).tolist() == [1.0]


@pytest.mark.parametrize("events", ["gaussian", "categorical"])
def test_a_row_without_any_column_of_the_model_is_refused(events: str) -> None:
    learner = tb.Learner("y", events=events)
    learner.learn({"age": 1, "y": "p"})
    learner.learn({"age": 2, "y": "q"})
    with pytest.raises(BadData, match="none of them"):
        learner.learn({"aged": 1, "y": "p"})
    with pytest.raises(BadData):
        learner.predict({"aged": 1})


def test_a_weight_counts_a_row_more_than_once() -> None:
    for events in ("gaussian", "categorical"):
        twice, once = tb.Learner("y", events=events), tb.Learner("y", events=events)
        for _ in range(2):
            twice.learn({"a": 3, "y": "p"})
        once.learn({"a": 3, "y": "p"}, weight=2)
        assert once.model().evidence == twice.model().evidence
        once.forget({"a": 3, "y": "p"}, weight=2.0)
        assert once.classes == ()
    for weight in (-1, float("nan"), "2"):
        with pytest.raises(BadData, match="weight"):
            once.learn({"a": 3, "y": "p"}, weight=weight)  # type: ignore[arg-type]


def test_texts_and_categories_grow_with_the_rows() -> None:
    learner = tb.Learner("kind", events={"mail": "text", "from": "categorical"}, alpha=1, refresh=0)
    mails = [("cheap pills für alle", "x@y", "spam"), ("lunch today", "ann", "ham"), ("Ὀδυσσεύς", "ann", "ham")]
    for mail, sender, kind in mails * 4:
        learner.learn({"mail": mail, "from": sender, "kind": kind})
    assert isinstance(learner._tally, BatchTally)
    assert learner.predict({"mail": "cheap lunch pills", "from": "new"}) == "spam"
    columns = {"mail": [m for m, _, _ in mails * 4], "from": [s for _, s, _ in mails * 4]}
    labels = [k for _, _, k in mails * 4]
    fitted = tb.fit({**columns, "kind": labels}, "kind", events={"mail": "text", "from": "categorical"}, alpha=1)
    assert learner.model().evidence == fitted.evidence


@pytest.mark.parametrize("refresh", [0.0, 0.05])
def test_histograms_answer_one_row_as_their_model_does_to_the_bit(refresh: float) -> None:
    learner, rows, fitted = tb.Learner("y", refresh=refresh), numbers(200), None
    odd: list[Any] = [{"a": None, "b": 3}, {"a": float("nan"), "b": 3}, {"b": True}, {"a": "1.5"}, {"a": 10**30}]
    for k, row in enumerate(rows):
        learner.learn(row)
        if k % 20 == 19:
            for asked in (*rows[:5], *odd):
                given = learner.predict_proba(asked)  # may estimate again
                believed = learner._tally._believed  # type: ignore[union-attr]
                np.testing.assert_array_equal(given, believed.predict_proba([asked])[0])
    fitted = tb.fit(rows, "y", calibrate=None)
    assert learner.model().evidence == fitted.evidence
    if refresh == 0:
        np.testing.assert_array_equal(learner.predict_proba(rows[0]), fitted.predict_proba([rows[0]])[0])


def test_more_rows_than_wait_at_a_time_are_all_counted() -> None:
    learner, rows = tb.Learner("y"), numbers(2500)
    for row in rows:
        learner.learn({**row, "b": None if row["b"] == 7 else row["b"]})
    whole = tb.fit([{**row, "b": None if row["b"] == 7 else row["b"]} for row in rows], "y")
    assert learner.model().evidence == whole.evidence


@pytest.mark.parametrize("value", [1.5, "text"])
def test_a_count_that_is_interrupted_loses_no_row(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = tb.Learner("y")
    rows = [{"x": value, "y": "a"}, {"x": value, "y": "b"}]
    for row in rows:
        learner.learn(row)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Evidence, "__add__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.model()
    assert learner.model().evidence == tb.fit(rows, "y", calibrate=None).evidence


@pytest.mark.parametrize("event", ["histogram", "poisson"])
def test_a_text_that_is_no_class_is_found_at_once(event: str) -> None:
    learner = tb.Learner("y", events=event)
    for k in range(4):
        learner.learn({"x": k, "y": "pq"[k % 2]})
    for missing in ("NA", ""):
        with pytest.warns(LeftOutWarning, match="no class"):
            learner.learn({"x": 1, "y": missing})
    with pytest.raises((BadData, UnicodeEncodeError)):
        learner.learn({"x": 1, "y": "\ud800"})
    assert learner.model().evidence.rows.to_float().tolist() == [2, 2]


def test_the_belief_waits_until_enough_rows_changed() -> None:
    learner = tb.Learner("y", events="categorical", refresh=0.5)
    for y in "pq" * 10:
        learner.learn({"x": y, "y": y})
    first = learner.predict_proba({"x": "p"})
    for _ in range(10):  # no more than half
        learner.learn({"x": "p", "y": "q"})
    assert (learner.predict_proba({"x": "p"}) == first).all()
    learner.learn({"x": "p", "y": "q"})
    assert (learner.predict_proba({"x": "p"}) != first).any()
    learner.learn({"x": "p", "y": "r"})  # a new class is known at once
    assert len(learner.predict_proba({"x": "p"})) == 3


def test_a_calibrated_model_is_continued_with_its_weights() -> None:
    rows = numbers(300)
    model = tb.fit(rows, "y")
    learner = tb.Learner.of(model, refresh=0)
    learner.learn(rows[0])
    again = model.learn([rows[0]])
    assert learner.model() == again
    assert learner.model().calibration is not None
    assert learner.model().calibration.stale
    assert (learner.predict_proba(rows[1]) == again.predict_proba([rows[1]])[0]).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"refresh": -1}, "refresh"),
        ({"calibrate": "auto"}, "calibrate"),
        ({"structure": "tan"}, "structure"),
        ({"evens": 1}, "evens"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        tb.Learner("y", **options)


def test_rows_are_dicts_with_a_class() -> None:
    learner = gaussian()
    with pytest.raises(BadData, match="as in a dict"):
        learner.learn([1.0])  # type: ignore[arg-type]
    with pytest.raises(BadData, match="a class"):
        learner.learn({"a": 1.0})
