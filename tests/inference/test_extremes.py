"""Weights, values and smoothings of any size: probabilities, or one sentence; never NaN."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.errors import BadData, TallyError
from tallybayes.inference.posterior import normalise
from tallybayes.storage.model_file import dump, parse_bytes
from tests.examples import examples

EVENTS = ["gaussian", "lognormal", "poisson", "exponential", "bernoulli", "categorical", "multinomial", "complement"]
RULES = st.sampled_from(["bayes", "map", "mle"])


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    """Return numbers spread evenly over orders of magnitude."""
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


def checked(event: str, weights: list[float], **choices: Any) -> None:
    """Fit eight rows, and check that the model answers them and comes back from its file."""
    rows = {"x": [1, 0, 1, 1, 0, 1, 0, 0], "z": [1, 1, 1, 0, 1, 0, 0, 1], "y": list("aabbaabb"), "w": weights}
    if event in ("lognormal", "exponential"):
        rows |= {name: [value + 1 for value in rows[name]] for name in ("x", "z")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        model = tb.fit(rows, "y", events=event, weights="w", **choices)
        assert parse_bytes(dump(model)) == model
        p = model.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)


@examples(150)
@given(
    event=st.sampled_from(EVENTS),
    weights=st.lists(powers(-20, 20), min_size=8, max_size=8),
    alpha=st.one_of(powers(-20, 20), st.just(0.0)),
    estimate=RULES,
)
def test_weights_over_forty_orders_of_magnitude_are_taken(
    event: str, weights: list[float], alpha: float, estimate: str
) -> None:
    checked(event, weights, alpha=alpha, estimate=estimate)


@examples(150)
@given(
    event=st.sampled_from(EVENTS),
    weights=st.lists(st.one_of(powers(-323, 308), st.just(0.0)), min_size=8, max_size=8),
    alpha=st.one_of(powers(-323, 308), st.just(0.0)),
    estimate=RULES,
    calibrate=st.sampled_from(["loo", None]),
)
def test_weights_and_smoothings_at_the_ends_of_doubles_are_taken_or_refused(
    event: str, weights: list[float], alpha: float, estimate: str, calibrate: str | None
) -> None:
    try:
        checked(event, weights, alpha=alpha, estimate=estimate, calibrate=calibrate)
    except TallyError:
        return


def test_a_score_that_is_no_number_is_refused_by_its_row() -> None:
    scores = np.array([[0.0, -1.0], [np.nan, 0.0]])
    with pytest.raises(BadData, match=r"^scores: wanted log-probabilities, got an overflow \(row 12\)\. "):
        normalise(scores, np.log([0.5, 0.5]), first=10)
