"""Laws of terms: the columns' terms add up to the score, for every event model and estimate."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events import Event
from tallybayes.events.inputs import Texts

from .rows import every_event, rows_for

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
each_rule = pytest.mark.parametrize("rule", ["mle", "map", "bayes"])


def encoded(model: tb.Model, table: pa.Table):
    """Return a table's rows as encoded for the model's only event model."""
    block, likelihood = model.schema.blocks[0], model.belief.likelihoods[0]
    batch = table.combine_chunks().to_batches()[0]
    return RowBatch(batch).encode(block, likelihood.categories or None)


@each_event
@each_rule
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_terms_add_up_to_the_score(event: Event, rule: str, alpha: float) -> None:
    table, strangers = rows_for(event, 40, seed=1), rows_for(event, 15, seed=2)
    model = tb.fit(table, "label", events=event, estimate=rule, alpha=alpha, calibrate=None)
    data, likelihood = encoded(model, strangers), model.belief.likelihoods[0]
    C, F = len(model.classes), len(model.schema.columns)
    scores = likelihood.log_prob(data)
    for c in range(C):
        asked = np.zeros((len(strangers), C))
        asked[:, c] = 1.0
        terms = np.zeros((len(strangers), F))
        likelihood.add_terms(data, asked, terms)
        np.testing.assert_allclose(terms.sum(axis=1), scores[:, c], rtol=1e-12, atol=1e-12)


@each_event
def test_terms_are_linear_in_the_class_weights(event: Event) -> None:
    table = rows_for(event, 30, seed=3)
    model = tb.fit(table, "label", events=event, alpha=0.5, calibrate=None)
    data, likelihood, rng = encoded(model, table), model.belief.likelihoods[0], np.random.default_rng(0)
    one, two = rng.normal(size=(2, len(table), len(model.classes)))

    def terms(asked: np.ndarray) -> np.ndarray:
        out = np.zeros((len(table), len(model.schema.columns)))
        likelihood.add_terms(data, asked, out)
        return out

    np.testing.assert_allclose(terms(2 * one - two), 2 * terms(one) - terms(two), rtol=1e-9, atol=1e-9)


@each_event
@each_rule
def test_what_a_column_says_of_a_value_is_its_term(event: Event, rule: str) -> None:
    table = rows_for(event, 30, columns=2, missing=0.0, seed=4)
    model = tb.fit(table, "label", events=event, estimate=rule, alpha=1.0, calibrate=None)
    data, likelihood = encoded(model, table), model.belief.likelihoods[0]
    if isinstance(data, Texts):
        table = pa.table({"c0": ["lunch", "cheap"], "c1": ["pills", "unheard"], "label": ["k0", "k1"]})
        data = encoded(model, table)
    for f, name in enumerate(["c0", "c1"]):
        values = table.column(name).to_pylist()
        says = likelihood.profile(f, values)
        assert list(says.values) == pytest.approx(values) if says.kind != "values" else list(says.values) == values
        for c in range(len(model.classes)):
            asked = np.zeros((len(table), len(model.classes)))
            asked[:, c] = 1.0
            terms = np.zeros((len(table), 2))
            likelihood.add_terms(data, asked, terms)
            base = 0.0 if says.base is None else says.base[c]
            np.testing.assert_allclose(terms[:, f], says.log[:, c] + base, rtol=1e-12, atol=1e-12)


@each_event
def test_what_shows_a_column_best_is_finite_and_rising(event: Event) -> None:
    model = tb.fit(rows_for(event, 30, seed=6), "label", events=event, alpha=1.0)
    says = model.belief.likelihoods[0].profile(1)
    assert says.log.shape == (len(says.values), len(model.classes))
    assert np.isfinite(says.log).all()
    assert list(says.values) == sorted(says.values)


@each_event
def test_a_term_rests_on_at_most_all_rows(event: Event) -> None:
    table = rows_for(event, 30, seed=6)
    model = tb.fit(table, "label", events=event, alpha=1.0)
    behind = model.belief.likelihoods[0].support(encoded(model, table))
    assert behind.shape == (3, len(model.classes))
    assert (behind >= 0).all()
    if event.input != "bag" or event.name == "bernoulli":
        assert (behind <= model.evidence.rows.to_float()).all()
