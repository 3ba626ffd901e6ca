"""Contributions add up to the log-odds, for any table, event model and number of classes."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.errors import BadData, BadOption
from tallybayes.events import Event
from tests.examples import examples
from tests.laws.rows import every_event, rows_for
from tests.tables import tables

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)


def odds_of(model: tb.Model, rows: object, of: np.ndarray) -> np.ndarray:
    """Return log p − log(1 − p) without cancellation, from the model's log-probabilities."""
    log_p = model.predict_log_proba(rows)
    own = np.take_along_axis(log_p, of[:, None], axis=1)[:, 0]
    np.put_along_axis(log_p, of[:, None], -np.inf, axis=1)
    with np.errstate(divide="ignore"):
        return own - np.logaddexp.reduce(log_p, axis=1)


def assert_same_odds(got: np.ndarray, want: np.ndarray, size: np.ndarray) -> None:
    finite = np.isfinite(want) & (np.abs(want) < 700)
    assert (np.abs(got[finite] - want[finite]) <= 1e-12 * (1 + size[finite])).all()


@given(drawn=tables(), calibrate=st.sampled_from([None, "loo"]), estimate=st.sampled_from(["mle", "map", "bayes"]))
@examples(150)
def test_contributions_add_up_to_the_answer_on_any_table(drawn, calibrate, estimate):
    table, events = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        model = tb.fit(table, "label", events=events or None, calibrate=calibrate, estimate=estimate)
        said = model.contributions(table)
        want = odds_of(model, table, said.of)
        chosen = [model.classes[c] for c in said.of]
        p, scores = model.predict_proba(table), np.abs(model.log_joint(table))
    assert (p[np.arange(len(p)), said.of] == p.max(axis=1)).all(), chosen
    with np.errstate(invalid="ignore", over="ignore"):  # scores may be near the largest double
        size = np.abs(said.prior) + np.abs(said.terms).sum(axis=1) + np.abs(said.split)
        size += np.where(np.isfinite(scores), scores, 0.0).max(axis=1)  # a density may be so low in all classes alike
    assert_same_odds(said.log_odds, want, size)


@each_event
@pytest.mark.parametrize("calibrate", [None, "loo"])
def test_contributions_add_up_to_the_answer_for_every_event_model(event: Event, calibrate: str | None) -> None:
    table = rows_for(event, 60, seed=1)
    model = tb.fit(table, "label", events=event, calibrate=calibrate)
    for of, against in [(None, None), ("k1", None), ("k1", "k2"), (None, "k0")]:
        said = model.contributions(table, of=of, against=against)
        size = np.abs(said.prior) + np.abs(said.terms).sum(axis=1)
        if against is None:
            want = odds_of(model, table, said.of)
        else:
            log_p = model.predict_log_proba(table)
            want = log_p[np.arange(60), said.of] - log_p[:, model.classes.index(against)]
        assert_same_odds(said.log_odds, want, size)


@each_event
def test_the_explanation_of_a_row_is_its_contributions(event: Event) -> None:
    table = rows_for(event, 40, seed=1)
    model = tb.fit(table, "label", events=event)
    said = model.contributions(table)
    for i in range(0, 40, 7):
        one = model.explain(table.slice(i, 1))
        np.testing.assert_allclose(one.terms, said.terms[i], rtol=1e-12, atol=1e-12)
        assert one.of == model.classes[said.of[i]]
        assert one.log_odds == pytest.approx(said.log_odds[i], rel=1e-12, abs=1e-12)
        parts = one.prior + one.split + math.fsum(part.term for part in one.parts)
        assert parts == pytest.approx(one.log_odds, rel=1e-12, abs=1e-12)
        p = one.probability
        assert one.log_odds == pytest.approx(math.log(p / (1 - p)), rel=1e-9, abs=1e-9)
        row = [value.as_py() for value in (table.column(name)[i] for name in model.schema.columns)]
        assert all(value is None or value == given for value, given in zip(one.values, row, strict=True))
        assert [note == "missing" for note in one.notes] == [value is None for value in row]


def test_threads_and_slices_change_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 5)), rng.integers(0, 3, 20_000)
    model = tb.fit(X, y)
    one, two = model.contributions(X, threads=1), model.contributions(X, threads=2)
    assert (one.terms == two.terms).all()
    assert (one.log_odds == two.log_odds).all()
    parts = [model.contributions(X[i : i + 10]).terms for i in range(0, 100, 10)]
    assert (np.concatenate(parts) == one.terms[:100]).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_shapley_values_are_those_of_all_coalitions(classes):
    rng = np.random.default_rng(classes)
    rows = {f"c{f}": rng.choice(list("abc"), 60) for f in range(3)} | {"x": rng.normal(size=60)}
    rows["y"] = rng.integers(0, classes, 60)
    table = pa.table({name: pa.array(values) for name, values in rows.items()})
    model = tb.fit(table, "y", calibrate=None)
    names = list(model.schema.columns)
    found = model.shapley(table.slice(0, 3), table, of=1, against=0)
    background = model.contributions(table, of=1, against=0)
    here = model.contributions(table.slice(0, 3), of=1, against=0)

    def value(i: int, coalition: tuple[int, ...]) -> float:
        """Return the log-odds with the coalition's columns from the row, the others averaged."""
        return float(sum(here.terms[i, f] if f in coalition else background.means[f] for f in range(len(names))))

    for i, f in itertools.product(range(3), range(len(names))):
        others = [g for g in range(len(names)) if g != f]
        total = 0.0
        for size in range(len(names)):
            weight = 1 / (len(names) * math.comb(len(names) - 1, size))
            for some in itertools.combinations(others, size):
                total += weight * (value(i, (*some, f)) - value(i, some))
        assert found.values[i, f] == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(found.log_odds, here.log_odds, atol=1e-12)


def test_shapley_values_against_all_others_add_up_too():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 4, 300)
    model = tb.fit(X, y)
    found, said = model.shapley(X), model.contributions(X)
    np.testing.assert_allclose(found.log_odds, said.log_odds, atol=1e-12)
    assert "Shapley values of 300 rows" in str(found)
    assert set(found.to_dict()) == {"columns", "values", "base"}


def test_an_impossible_row_says_nothing_and_is_answered_by_the_prior():
    rows = {"a": ["p", "p", "q"], "b": ["r", "r", "s"], "y": ["no", "no", "yes"]}
    model = tb.fit(rows, "y", estimate="mle", calibrate=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        said = model.contributions([{"a": "p", "b": "s"}])
    assert said.terms.tolist() == [[0.0, 0.0]]
    assert said.probability == pytest.approx([2 / 3])


def test_a_value_that_one_class_never_had_speaks_without_measure():
    rows = {"a": ["p", "p", "q"], "y": ["no", "no", "yes"]}
    model = tb.fit(rows, "y", estimate="mle", calibrate=None)
    one = model.explain({"a": "p"})
    assert one.terms.tolist() == [np.inf]
    assert one.log_odds == np.inf
    assert "+∞" in str(one)
    assert model.explain({"a": "p"}, of="yes").log_odds == -np.inf


def test_results_show_themselves():
    rows = {"x": [1.0, 2.0, 8.0, 9.0], "c": list("ppqq"), "y": ["no", "no", "yes", "yes"]}
    model = tb.fit(rows, "y", calibrate=None)
    said = model.contributions(rows)
    assert str(said).splitlines()[0] == "Contributions of 2 columns in 4 rows, in log-odds"
    assert set(said.to_dict()) == {"columns", "of", "against", "prior", "terms", "split", "log_odds"}
    assert said.to_dict()["of"] == ["no", "no", "yes", "yes"]
    assert len(model.contributions(pa.table({"x": pa.array([], pa.float64()), "c": pa.array([], pa.string())}))) == 0


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"of": "nay"}, "of: wanted a class of the model ('no', 'yes'), got 'nay'."),
        ({"of": "no", "against": "no"}, "against: wanted a class other than 'no', got 'no'."),
    ],
)
def test_unknown_classes_are_refused(asked, sentence):
    model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    with pytest.raises(BadOption) as refused:
        model.explain({"x": "p"}, **asked)
    assert str(refused.value).startswith(sentence)


def test_many_rows_are_not_one():
    model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    sentence = "explain: wanted one row, got 2. Give one, or use model.contributions for many."
    for rows in ([{"x": "p"}, {"x": "q"}], {"x": ["p", "q"]}):
        with pytest.raises(BadData) as refused:
            model.explain(rows)
        assert str(refused.value) == sentence
