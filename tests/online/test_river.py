"""River's own tools run a learner: the example of docs/online.md, and the scores of the same rows by hand."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tallybayes as tb

from ..docs.pages import ROOT, text_of

river = pytest.importorskip("river", reason="river is not installed: pip install '.[test]'")


def stream(n: int = 400) -> list[tuple[dict[str, float], str]]:
    rng = np.random.default_rng(3)
    classes = rng.integers(0, 3, n)
    return [({"a": float(rng.normal(c, 1)), "b": float(rng.normal(-c, 2))}, "xyz"[c]) for c in classes]


def classifier() -> Any:
    from river import base

    class Classifier(tb.Learner, base.Classifier):  # type: ignore[misc]
        """The learner as one of River's classifiers."""

    return Classifier(events="gaussian")


def test_progressive_validation_gives_what_a_loop_gives() -> None:
    from river import evaluate, metrics

    rows = stream()
    scored = evaluate.progressive_val_score(rows, classifier(), metrics.Accuracy())
    learner, right = tb.Learner(events="gaussian"), 0
    for x, y in rows:
        right += learner.predict_one(x) == y
        learner.learn_one(x, y)
    assert scored.get() == pytest.approx(right / len(rows), abs=1 / len(rows))  # River leaves out the first answer
    assert scored.get() > 0.6


def test_it_agrees_with_rivers_own_class() -> None:
    from river import evaluate, metrics, naive_bayes

    ours, theirs = (
        evaluate.progressive_val_score(stream(), model, metrics.LogLoss()).get()
        for model in (classifier(), naive_bayes.GaussianNB())
    )
    assert ours < theirs + 0.02


def test_the_example_of_the_documentation_runs() -> None:
    [block] = re.findall(r"^```py\n(.*?)^```$", text_of(ROOT / "docs" / "online.md"), re.DOTALL | re.MULTILINE)
    namespace: dict[str, Any] = {}
    exec(block, namespace)
    assert len(namespace["learner"].classes) == 2
