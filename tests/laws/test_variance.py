"""Laws of the variance of log-probabilities, for every event model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events import Event
from tallybayes.events.families.binned_event import BinnedEvent
from tallybayes.events.inputs import Dense, Sparse

from .posteriors import POSTERIORS
from .rows import every_event, rows_for

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
each_rule = pytest.mark.parametrize("rule", ["mle", "map", "bayes"])


# A histogram draws each class to the pooled shares, and leaves out their own variance: all classes share it. So its
# variances are neither those of one posterior nor those of a refit; tests/events/test_histogram.py has their laws.
each_closed_form = pytest.mark.parametrize(
    "event", [event for event in every_event() if event.name != "histogram"], ids=lambda event: event.spec
)
# Bins are cut anew where rows change, so a refit does not estimate the same shares.
each_with_fixed_cells = pytest.mark.parametrize(
    "event",
    [event for event in every_event() if event.name != "histogram" and not isinstance(event, BinnedEvent)],
    ids=lambda event: event.spec,
)


def plain_fit(*given: Any, **options: Any) -> tb.Model:
    """Fit a model without leave-one-out choices, which take longer and do not matter here."""
    return tb.fit(*given, **{"alpha": 1.0, **options}, calibrate=None)


def doubts_of(model: tb.Model, table: pa.Table) -> np.ndarray:
    """Return the variances of the rows' log-probabilities, without the class prior."""
    [block], [likelihood] = model.schema.blocks, model.belief.likelihoods
    [batch] = table.combine_chunks().to_batches()
    out = np.zeros((len(table), len(model.classes)))
    likelihood.add_variance(RowBatch(batch).encode(block, likelihood.categories or None), out)
    return out


@each_closed_form
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_the_closed_form_is_the_variance_over_parameters_drawn(event: Event, alpha: float) -> None:
    assert event.name in POSTERIORS, f"tests/laws/posteriors.py: wanted draws of the parameters of {event.name}"
    table = rows_for(event, 60, seed=3)
    model = plain_fit(table, "label", events=event, alpha=alpha)
    some, rng = table.slice(0, 12), np.random.default_rng(0)
    [block], [likelihood] = model.schema.blocks, model.belief.likelihoods
    data = RowBatch(some.to_batches()[0]).encode(block, likelihood.categories or None)
    draw = POSTERIORS[event.name]
    scores = np.stack([draw(likelihood, table, alpha, rng).log_prob(data) for _ in range(1500)])
    variance, fourth = scores.var(axis=0), ((scores - scores.mean(axis=0)) ** 4).mean(axis=0)
    error = np.sqrt((fourth - variance**2) / len(scores))
    assert (np.abs(doubts_of(model, some) - variance) <= 6 * error + 1e-9).all()


@each_with_fixed_cells
def test_the_variance_is_the_scatter_over_refits_on_other_rows(event: Event) -> None:
    """Refits on randomly reweighted rows (the Bayesian bootstrap) scatter with the stated variance.

    The tokens of one text are not drawn apart from each other, so of texts only the size is right.
    """
    first, rng = plain_fit(rows_for(event, 200, classes=2), "label", events=event), np.random.default_rng(0)
    [likelihood], n = first.belief.likelihoods, 300
    halves = [likelihood.sample(c, n, rng) for c in (0, 1)]
    columns = {f"c{f}": np.concatenate([half[f] for half in halves]) for f in range(3)}
    table = pa.table({**columns, "label": ["k0"] * n + ["k1"] * n})
    model, some = plain_fit(table, "label", events=event), table.slice(n - 20, 40)
    prior = {"k0": 0.5, "k1": 0.5}
    refits = (
        plain_fit(table, "label", events=event, weights=rng.exponential(size=2 * n), prior=prior) for _ in range(80)
    )
    scatter = np.stack([refit.log_joint(some) for refit in refits]).var(axis=0)
    ratio = doubts_of(model, some).mean() / scatter.mean()
    least, most = (0.3, 3.0) if event.input == "text" else (0.75, 1.3)
    assert least < ratio < most


@each_with_fixed_cells
@each_rule
def test_twice_the_rows_leave_about_half_the_variance(event: Event, rule: str) -> None:
    table = rows_for(event, 400, missing=0.0, classes=2)
    fits = (plain_fit(table, "label", events=event, estimate=rule, weights=np.full(400, w)) for w in (4.0, 8.0))
    one, two = (doubts_of(fit, table) for fit in fits)
    some = np.isfinite(one) & (one > 1e-12)
    assert np.median(two[some] / one[some]) == pytest.approx(0.5, abs=0.1)


@each_event
def test_a_missing_value_has_variance_zero(event: Event) -> None:
    table = rows_for(event, 60, missing=0.0)
    nothing = pa.table({name: pa.nulls(2, table.schema.field(name).type) for name in ("c0", "c1", "c2")})
    assert (doubts_of(plain_fit(table, "label", events=event), nothing) == 0).all()


@each_event
@each_rule
def test_variances_are_never_negative_and_never_nan(event: Event, rule: str) -> None:
    table = rows_for(event, 9, classes=4, seed=2)
    other = rows_for(event, 50, seed=8)
    doubts = doubts_of(plain_fit(table, "label", events=event, estimate=rule), other)
    assert (doubts >= 0).all()


@each_event
def test_renaming_classes_reorders_the_variances(event: Event) -> None:
    table = rows_for(event, 60)
    names = {"k0": "z", "k1": "m", "k2": "a"}
    at = table.column_names.index("label")
    renamed = table.set_column(at, "label", pa.array([names[c] for c in table.column("label").to_pylist()]))
    plain, other = (doubts_of(plain_fit(t, "label", events=event), table) for t in (table, renamed))
    np.testing.assert_allclose(other[:, ::-1], plain, rtol=1e-12)


@pytest.mark.parametrize("event", [e for e in every_event() if e.input == "bag"], ids=lambda event: event.spec)
@each_rule
def test_sparse_rows_have_the_variances_of_dense_ones(event: Event, rule: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (40, 5)) * 1.0
    x[:, 0] = 0.0  # never seen: without a prior it has no estimate
    model = plain_fit(x, rng.integers(0, 3, 40), events=event, estimate=rule)
    [likelihood] = model.belief.likelihoods
    one, two = np.zeros((2, 5, 3))
    likelihood.add_variance(Dense(np.eye(5)), one)
    likelihood.add_variance(Sparse(np.arange(6), np.arange(5), np.ones(5), 5), two)
    np.testing.assert_allclose(one, two, rtol=1e-9)
    assert np.isinf(one[0]).all() == (rule == "mle" and event.name != "complement")
