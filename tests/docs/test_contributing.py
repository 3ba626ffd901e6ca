"""The event model of CONTRIBUTING.md is found, counted, saved and scored like any other."""

from __future__ import annotations

import ast
import doctest
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import events
from tallybayes.events import Event, parse, registered
from tallybayes.events.inputs import Dense

from ..laws import test_belief, test_evidence, test_terms, test_variance
from .pages import ROOT, python_blocks

GUIDE = ROOT / "CONTRIBUTING.md"
ROWS = {
    "misses": [0.0, 2.0, 3.0, 5.0, 1.0, np.nan, 0.0, 4.0],
    "throws": [1.0, 0.0, 0.0, 2.0, 9.0, 1.0, 1.0, np.nan],
    "who": ["ann", "ann", "bob", "bob", "ann", "bob", "cy", "bob"],
    "times": [1.0, 0.5, 2.0, 1.0, 1.0, 0.1, 3.0, 1.0],
}


def is_tried(law: Any) -> bool:
    """Return whether a law is one of event models that take real columns."""
    events = [mark.args[1] for mark in getattr(law, "pytestmark", ()) if mark.args[:1] == ("event",)]
    return any(event.input == "dense" for of in events for event in of)


# One more law needs draws of the parameters, which the guide asks for: see below.
LAWS = [
    law
    for module in (test_evidence, test_belief, test_terms, test_variance)
    for name, law in vars(module).items()
    if name.startswith("test_") and is_tried(law)
    if name != "test_the_closed_form_is_the_variance_over_parameters_drawn"
]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Import the guide's example as if its file were in the folder of event models; undo it after."""
    [(_, source)] = python_blocks(GUIDE)
    (tmp_path / "negative_binomial.py").write_text(source, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(events, "__path__", [*events.__path__, str(tmp_path)])
        registered.cache_clear()
        assert "negative_binomial" in registered()
        yield sys.modules["tallybayes.events.negative_binomial"]
    del (
        Event.registry["negative_binomial"],
        sys.modules["tallybayes.events.negative_binomial"],
        events.negative_binomial,
    )
    registered.cache_clear()
    assert "negative_binomial" not in registered()


def rows(*keep: int) -> dict[str, list[object]]:
    return {name: [values[i] for i in keep] for name, values in ROWS.items()}


EVERY = range(len(ROWS["who"]))


@pytest.mark.usefixtures("example")
def test_the_example_fits_and_predicts() -> None:
    model = tb.fit(rows(*EVERY), "who", events="negative_binomial", weights="times")
    assert model.schema.events() == {"misses": "negative_binomial", "throws": "negative_binomial"}
    np.testing.assert_allclose(model.predict_proba(rows(*EVERY)).sum(axis=1), 1.0)
    assert model.predict([{"misses": 4, "throws": 0}]).tolist() == ["bob"]


def test_the_doctest_of_the_example_is_true(example: ModuleType) -> None:
    result = doctest.testmod(example)
    assert result.attempted == 4
    assert result.failed == 0


@pytest.mark.usefixtures("example")
def test_what_the_example_learned_it_can_forget_and_save(tmp_path: Path) -> None:
    model = tb.fit(rows(*EVERY), "who", events="negative_binomial", weights="times")
    part = tb.fit(rows(0, 2, 3, 6), "who", events="negative_binomial", weights="times")
    assert part.learn(rows(1, 4, 5, 7)).evidence == model.evidence
    assert model.forget(rows(1, 4, 5, 7)).evidence == part.evidence
    model.save(tmp_path / "example.tally")
    assert tb.load(tmp_path / "example.tally") == model


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("rule", ["mle", "map", "bayes"])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 0.3])
def test_leaving_a_row_out_of_the_example_equals_refitting(rule: str, alpha: float) -> None:
    choices = {"events": "negative_binomial", "weights": "times", "estimate": rule, "alpha": alpha}
    model = tb.fit(rows(*EVERY), "who", **choices)
    wanted = np.full((len(EVERY), len(model.classes)), -np.inf)
    for i in EVERY:
        other = tb.fit(rows(*(j for j in EVERY if j != i)), "who", **choices)
        wanted[i, [model.classes.index(c) for c in other.classes]] = other.log_joint(rows(i))[0]
    np.testing.assert_allclose(model.leave_one_out(rows(*EVERY)), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("rule", ["mle", "bayes"])
def test_the_probabilities_of_the_example_sum_to_one(rule: str) -> None:
    model = tb.fit(
        {"x": [0, 2, 3, 5], "y": ["a", "a", "b", "b"]}, "y", events="negative_binomial", estimate=rule, alpha=4
    )
    counts = {"x": np.arange(40_000)}
    total = np.exp(model.log_joint(counts)).sum()
    assert total == pytest.approx(1.0, abs=1e-6)


@pytest.mark.usefixtures("example")
def test_the_variance_of_the_example_is_that_over_probabilities_drawn() -> None:
    model = tb.fit(rows(*EVERY), "who", events="negative_binomial", weights="times", prior="uniform")
    [likelihood] = model.belief.likelihoods
    x, found, p = np.array([[0.0, 3.0]]), np.zeros((1, 3)), np.random.default_rng(0).beta
    likelihood.add_variance(Dense(x), found)
    drawn = p(likelihood.density.a, likelihood.density.b, (50_000, 3, 2))
    np.testing.assert_allclose(found[0], (np.log(drawn) + x * np.log1p(-drawn)).sum(axis=2).var(axis=0), rtol=0.05)
    none = model.with_(estimate="mle").predict_interval([{"misses": 9, "throws": 1}])  # cy has never missed
    assert (none.low.tolist(), none.high.tolist()) == ([[0.0] * 3], [[1.0] * 3])


@pytest.mark.usefixtures("example")
def test_the_example_is_explained_asked_compared_and_reported() -> None:
    rng = np.random.default_rng(0)
    table = {
        "x": [*rng.negative_binomial(3, 0.5, 40), *rng.negative_binomial(3, 0.2, 40)],
        "y": ["a"] * 40 + ["b"] * 40,
    }
    model = tb.fit(table, "y", events="negative_binomial(r=3)", calibrate=None)
    assert "x" in str(model.explain({"x": 2}))
    total = sum(model.probability(f"x={k} | y=a").probability for k in range(200))
    assert total == pytest.approx(1.0, abs=1e-4)
    assert model.sample(10).num_rows == 10
    assert "negative_binomial numbers" in [one.name for one in tb.compare(table, "y", partners=()).candidates]
    assert "negative_binomial" in tb.report(table, "y", model).to_html()


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_every_law_holds_for_the_example(law: Any) -> None:
    [event] = parse("negative_binomial").test_variants()
    options = {mark.args[0]: mark.args[1] for mark in law.pytestmark if mark.args[0] != "event"}
    for values in product(*options.values()):
        law(event=event, **dict(zip(options, values, strict=True)))


@pytest.mark.usefixtures("example")
def test_a_law_that_needs_more_of_the_example_says_so() -> None:
    [event] = parse("negative_binomial").test_variants()
    with pytest.raises(AssertionError, match="wanted draws of the parameters of negative_binomial"):
        test_variance.test_the_closed_form_is_the_variance_over_parameters_drawn(event, 1.0)


def test_the_example_is_short() -> None:
    [(_, source)] = python_blocks(GUIDE)
    tree, lines = ast.parse(source), source.splitlines()
    told = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            told |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    code = [line for k, line in enumerate(lines, 1) if line.strip() and k not in told and line.strip()[0] != "#"]
    assert len(code) <= 60


@pytest.mark.usefixtures("example")
def test_samples_of_the_example_follow_its_parameters() -> None:
    model = tb.fit(rows(*EVERY), "who", events="negative_binomial", weights="times", estimate="mle")
    drawn = model.belief.likelihoods[0].sample(1, 20_000, np.random.default_rng(0))
    p = model.table("misses").values[0, 1]
    assert np.mean(drawn[0]) == pytest.approx((1 - p) / p, rel=0.05)


@pytest.mark.usefixtures("example")
def test_the_example_refuses_what_it_does_not_want() -> None:
    with pytest.raises(tb.errors.BadData, match=r"wanted whole numbers not below 0 for negative_binomial, got 1\.5"):
        tb.fit({"x": [0, 1.5], "y": ["a", "b"]}, "y", events="negative_binomial")
