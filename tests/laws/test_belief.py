"""The laws of belief, for every event model and every rule of estimation."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events import Event, parse, registered
from tallybayes.events.families.binned_event import BinnedEvent
from tallybayes.events.histogram import Histogram

from .rows import as_written, every_event, rows_for

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
each_rule = pytest.mark.parametrize("rule", ["mle", "map", "bayes"])


def fitted(table: pa.Table, event: Event, **choices: Any) -> tb.Model:
    """Return a model of the rows, with fixed smoothing."""
    weights = "w" if "w" in table.column_names else None
    return tb.fit(table, "label", events=event, weights=weights, **{"alpha": 1.0, "calibrate": None, **choices})


def keeps_cells(event: Event) -> bool:
    """Whether cells, cuts and weights are kept when a row is left out: refitting would choose them again."""
    return isinstance(event, Histogram | BinnedEvent)


def without_each(table: pa.Table, event: Event) -> list[tb.Model]:
    """Return a model of all other rows for each row: one that has forgotten it, if cells are kept, else a new one."""
    if keeps_cells(event):
        whole = fitted(table, event)
        return [whole.forget(table.slice(i, 1)) for i in range(len(table))]
    others = (pa.concat_tables([table.slice(0, i), table.slice(i + 1)]) for i in range(len(table)))
    return [fitted(other, event) for other in others]


def refitted_without_each(
    table: pa.Table, model: tb.Model, event: Event, others: list[tb.Model] | None = None, **choices: Any
) -> np.ndarray:
    """Return each row's scores under a model of all other rows, the reference for leave-one-out.

    Where cells are kept, the density that all classes share is left out.
    """
    scores = np.full((len(table), len(model.classes)), -np.inf)
    for i, plain in enumerate(others or without_each(table, event)):
        other, row = plain.with_(**choices), table.slice(i, 1)
        place = np.array([model.classes.index(c) for c in other.classes])
        if keeps_cells(event):
            [block], [likelihood] = model.schema.blocks, model.belief.likelihoods
            [statistic] = other.evidence.statistics
            rows = other.evidence.rows.spread(place, len(model.classes))
            without = likelihood.on(statistic.with_classes(place, rows)).contrasted()
            terms = without.log_prob(RowBatch(row.combine_chunks().to_batches()[0]).encode(block))
            scores[i, place] = other.belief.log_prior + terms[0, place]
        else:
            scores[i, place] = other.log_joint(row)[0]
    return scores


@cache
def with_a_class_of_one_row(event: Event, *, weighted: bool) -> tuple[pa.Table, list[tb.Model]]:
    """Return rows, the last alone in its class, and models of all others: many tests ask for other choices of these."""
    table = rows_for(event, 24, weighted=weighted, seed=5)
    table = pa.concat_tables([table, rows_for(event, 1, missing=0.0, weighted=weighted, seed=9)])
    labels = [*table.column("label").to_pylist()[:-1], "alone"]
    table = table.set_column(table.column_names.index("label"), "label", pa.array(labels))
    return table, without_each(table, event)


@each_event
def test_other_choices_of_a_model_are_those_of_a_fit(event: Event) -> None:
    table = rows_for(event, 24, seed=5)
    model = fitted(table, event)
    for rule, alpha in product(("mle", "map", "bayes"), (0.0, 0.3)):
        assert model.with_(estimate=rule, alpha=alpha) == fitted(table, event, estimate=rule, alpha=alpha)


@each_event
@each_rule
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 0.3])
def test_leave_one_out_equals_refitting(event: Event, rule: str, weighted: bool, alpha: float) -> None:
    table, others = with_a_class_of_one_row(event, weighted=weighted)
    model = tb.fit(table, "label", events=event, weights="w" if weighted else None, estimate=rule, alpha=alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        wanted = refitted_without_each(table, model, event, others, estimate=rule, alpha=alpha)
    np.testing.assert_allclose(model.leave_one_out(table), wanted, rtol=1e-9, atol=1e-9)


@each_event
def test_leave_one_out_survives_constant_columns_and_outliers(event: Event) -> None:
    table = rows_for(event, 12, missing=0.0, classes=2)
    column = table.column("c0").to_pylist()
    table = table.set_column(0, "c0", pa.array([column[0]] * 11 + [column[5]]))
    table = table.set_column(1, "c1", pa.array([table.column("c1")[0].as_py()] * 12))
    for rule in ("mle", "bayes"):
        model = tb.fit(table, "label", events=event, estimate=rule, alpha=1.0)
        wanted = refitted_without_each(table, model, event, estimate=rule)
        np.testing.assert_allclose(model.leave_one_out(table), wanted, rtol=1e-9, atol=1e-9)


@each_event
@each_rule
def test_probabilities_sum_to_one(event: Event, rule: str) -> None:
    table = rows_for(event, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        p = tb.fit(table, "label", events=event, estimate=rule, alpha=0.5).predict_proba(table)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert ((p >= 0) & (p <= 1)).all()


@each_event
def test_a_flat_prior_makes_the_mode_the_most_likely(event: Event) -> None:
    table = rows_for(event, 60)
    flat = tb.fit(table, "label", events=event, estimate="map", alpha=0.0)
    likely = tb.fit(table, "label", events=event, estimate="mle")
    np.testing.assert_array_equal(flat.log_joint(table), likely.log_joint(table))


@each_event
def test_classes_renamed_are_scores_reordered(event: Event) -> None:
    table = rows_for(event, 60)
    names = {"k0": "z", "k1": "m", "k2": "a"}
    at = table.column_names.index("label")
    renamed = table.set_column(at, "label", pa.array([names[c] for c in table.column("label").to_pylist()]))
    plain, other = (tb.fit(t, "label", events=event) for t in (table, renamed))
    order = [other.classes.index(names[c]) for c in plain.classes]
    np.testing.assert_allclose(other.log_joint(table)[:, order], plain.log_joint(table), rtol=1e-12, atol=1e-12)


@each_event
def test_a_missing_value_says_nothing(event: Event) -> None:
    table = rows_for(event, 60, missing=0.0)
    model = tb.fit(table, "label", events=event)
    nothing = pa.table({name: pa.nulls(1, table.schema.field(name).type) for name in ("c0", "c1", "c2")})
    np.testing.assert_allclose(model.predict_proba(nothing)[0], list(model.prior.values()), rtol=1e-12)


@each_event
@each_rule
def test_samples_follow_the_estimated_parameters(event: Event, rule: str) -> None:
    table = rows_for(event, 400, missing=0.0, classes=2)
    model = tb.fit(table, "label", events=event, estimate=rule, alpha=1.0)
    drawn = model.belief.likelihoods[0].sample(1, 50, np.random.default_rng(0))
    assert len(drawn) == 3
    sampled = {f"c{f}": values for f, values in enumerate(drawn)}
    assert np.isfinite(model.log_joint(sampled)[:, 1]).all()


@pytest.mark.parametrize(
    "event", [e for e in every_event() if e.input in ("dense", "bag")], ids=lambda event: event.spec
)
def test_float32_columns_mean_what_float64_would(event: Event) -> None:
    table = rows_for(event, 60, missing=0.0)
    narrow = {f"c{f}": table.column(f"c{f}").to_numpy().astype(np.float32) for f in range(3)}
    wide = {name: values.astype(np.float64) for name, values in narrow.items()}
    label = table.column("label").to_pylist()
    one, two = (tb.fit(columns, label, events=event) for columns in (narrow, wide))
    assert one.evidence == two.evidence
    np.testing.assert_allclose(one.log_joint(narrow), two.log_joint(wide), rtol=1e-12)


@each_event
def test_an_event_model_is_written_as_it_is_read(event: Event) -> None:
    assert parse(event.spec) == as_written(event)
    assert registered()[event.name] is type(event)


@each_event
def test_a_table_has_a_column_for_each_class(event: Event) -> None:
    model = tb.fit(rows_for(event, 60), "label", events=event)
    for f in range(3):
        table = model.table(f"c{f}")
        assert table.values.shape == (len(table.rows), 3)
        assert table.to_dict()["classes"] == ["k0", "k1", "k2"]
