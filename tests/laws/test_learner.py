"""Laws of the learner, for every event model: any sequence of learn and forget equals a count of what remains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.errors import CannotMerge
from tallybayes.events import Event
from tallybayes.evidence.evidence import Evidence, count
from tallybayes.model import Model
from tallybayes.online import Learner
from tests.examples import examples

from .rows import every_event, rows_for

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
each_weighting = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def model_of(table: pa.Table, event: Event) -> Model:
    weights = "w" if "w" in table.column_names else None
    return tb.fit(table, "label", events=event, weights=weights, threads=1, calibrate=None, alpha=1.0)


def empty(model: Model) -> Model:
    return Model(Evidence.empty(model.schema), model.choices)


def recount(model: Model, rows: list[dict[str, Any]], schema: pa.Schema) -> Evidence:
    if not rows:
        return Evidence.empty(model.schema)
    [batch] = pa.Table.from_pylist(rows, schema).combine_chunks().to_batches()
    return count(model.schema, batch)


@each_event
@each_weighting
@examples(8)
@given(seed=st.integers(0, 10_000))
def test_any_sequence_equals_a_count_of_what_remains(event: Event, weighted: bool, seed: int) -> None:
    table = rows_for(event, 24, weighted=weighted, seed=seed)
    model, rows, rng = model_of(table, event), table.to_pylist(), np.random.default_rng(seed)
    learner, left = Learner.of(empty(model)), []
    for row in rows:
        learner.learn(row)
        left.append(row)
        if rng.random() < 0.4:
            learner.forget(left.pop(rng.integers(len(left))))
        if rng.random() < 0.2 and left and getattr(event, "min_df", 1) == 1:  # else no word may be left
            learner.predict_proba(rows[0])
    assert learner.model().evidence == recount(model, left, table.schema)
    assert learner.classes == learner.model().classes


@each_event
@examples(4)
@given(seed=st.integers(0, 10_000))
def test_predictions_are_those_of_the_model_of_all_rows(event: Event, seed: int) -> None:
    table = rows_for(event, 24, seed=seed)
    learner, rows = Learner.of(empty(model_of(table, event)), refresh=0), table.to_pylist()
    for row in rows[:12]:
        learner.learn(row)
    for k, row in enumerate(rows[12:]):
        learner.learn(row)
        other = rows[(7 * k) % len(rows)]
        expected = learner.model().predict_proba([other])[0]
        np.testing.assert_allclose(learner.predict_proba(other), expected, rtol=1e-11, atol=1e-300)


@each_event
def test_a_row_that_was_never_learned_is_refused_and_changes_nothing(event: Event) -> None:
    table = rows_for(event, 30, missing=0.0)
    rows, whole = table.to_pylist(), model_of(table, event)
    learner = Learner.of(whole)
    with pytest.raises(CannotMerge):
        learner.forget({**rows[0], "label": "nowhere"})
    if "missing" in event.sums:
        with pytest.raises(CannotMerge):
            learner.forget({**rows[0], "c0": None})
    assert learner.model().evidence == whole.evidence
    for row in rows:
        learner.forget(row)
    assert learner.classes == ()
    with pytest.raises(CannotMerge):
        learner.forget(rows[0])
