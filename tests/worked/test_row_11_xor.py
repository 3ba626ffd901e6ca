"""Row 11: Y = XOR(X1, X2), where conditional independence fails: the failure shown, and the pair of columns named."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb

# the table of the slide, each of its rows ten times
XOR = {"x1": [0, 0, 1, 1] * 10, "x2": [0, 1, 0, 1] * 10, "y": [0, 1, 1, 0] * 10}


@pytest.mark.parametrize("estimate", ["mle", "map", "bayes"])
def test_naive_bayes_cannot_learn_it(estimate: str) -> None:
    model = tb.fit(XOR, "y", events="categorical", estimate=estimate, calibrate=None)
    np.testing.assert_allclose(model.predict_proba(XOR), 0.5)  # the slide has 0 and 1 here
    assert tb.validate(XOR, "y", "loo", events="categorical").evaluation.accuracy <= 0.5


def test_the_pair_is_named_with_the_reason() -> None:
    found = tb.dependence(XOR, "y")
    [pair] = found.dependent()
    assert pair.columns == ("x1", "x2")
    assert pair.alone == (0, 0)  # neither says anything of y
    assert (pair.together, pair.interaction) == (1, 1)  # both together say all of it: one bit
    assert (pair.overall, pair.given) == (0, 1)  # independent, but not given y
    assert found.meaning(pair).endswith(
        "together say what neither says alone (1 bit of 'y'): naive Bayes cannot learn this."
    )


def test_it_is_found_among_thirty_columns_with_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (2000, 30))
    y = np.where(rng.random(2000) < 0.9, (X[:, 7] > 0) ^ (X[:, 21] > 0), rng.integers(0, 2, 2000))
    found = tb.dependence(X, y)
    assert [pair.columns for pair in found.dependent()] == [("x7", "x21")]
    assert len(found) == 435


def test_one_column_more_that_holds_both_repairs_it() -> None:
    both = [f"{a}{b}" for a, b in zip(XOR["x1"], XOR["x2"], strict=True)]
    model = tb.fit({"both": both, "y": XOR["y"]}, "y")
    assert model.predict({"both": both}).tolist() == XOR["y"]
