"""Laws of evidence, for every event model: sums do not depend on order, batches or threads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events import Event
from tallybayes.evidence.evidence import Evidence, count, count_rows
from tallybayes.evidence.row_hash import RowHashes, row_hashes
from tallybayes.storage.model_file import dump

from .rows import every_event, rows_for

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
each_weighting = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def evidence_of(table: pa.Table, event: Event) -> Evidence:
    weights = "w" if "w" in table.column_names else None
    # Parameters do not matter here, and choosing a smoothing takes longer than counting.
    return tb.fit(table, "label", events=event, weights=weights, threads=1, calibrate=None, alpha=1.0).evidence


def part(whole: Evidence, table: pa.Table) -> Evidence:
    """Return the evidence of some rows under the schema of all, whatever classes they have."""
    total = Evidence.empty(whole.schema)
    for batch in table.to_batches():
        total = total + count(whole.schema, batch)
    return total


@each_event
@each_weighting
def test_nothing_is_the_identity(event: Event, weighted: bool) -> None:
    some = evidence_of(rows_for(event, weighted=weighted), event)
    nothing = Evidence.empty(some.schema)
    assert some + nothing == some
    assert nothing + some == some
    assert some - nothing == some
    assert some - some == nothing
    assert nothing + nothing == nothing


@each_event
@each_weighting
@pytest.mark.parametrize("n", [40, 3000])
def test_rows_hash_alike_while_they_are_counted_and_afterwards(event: Event, weighted: bool, n: int) -> None:
    table = rows_for(event, n, weighted=weighted)
    whole, batch = evidence_of(table, event), table.combine_chunks().to_batches()[0]
    rows = RowBatch(batch, 0, whole.schema.missing)
    hashes = RowHashes(rows, whole.schema)
    assert count_rows(whole.schema, rows, hashes) == whole
    assert (hashes.finish() == row_hashes(RowBatch(batch, 0, whole.schema.missing), whole.schema)).all()


@each_event
@each_weighting
@given(seed=st.integers(0, 10_000))
def test_any_split_any_order_and_any_tree_give_the_same_bits(event: Event, weighted: bool, seed: int) -> None:
    table = rows_for(event, 60, weighted=weighted, seed=seed)
    whole = evidence_of(table, event)
    rng = np.random.default_rng(seed)
    shuffled = table.take(rng.permutation(len(table)))
    cuts = np.sort(rng.integers(0, len(table) + 1, 4))
    parts = [part(whole, shuffled.slice(a, b - a)) for a, b in zip([0, *cuts], [*cuts, len(table)], strict=True)]
    while len(parts) > 1:
        left, right = parts.pop(rng.integers(len(parts))), parts.pop(rng.integers(len(parts)))
        parts.append(left + right)
    assert parts[0] == whole


@each_event
@each_weighting
@given(seed=st.integers(0, 10_000))
def test_adding_then_subtracting_gives_back_the_identical_evidence(event: Event, weighted: bool, seed: int) -> None:
    table = rows_for(event, 50, classes=4, weighted=weighted, seed=seed)
    whole = evidence_of(table, event)
    left, right = part(whole, table.slice(0, 17)), part(whole, table.slice(17))
    assert (left + right) - right == left
    assert (left + right) - left == right
    assert left + right == right + left


@each_event
def test_threads_and_batches_do_not_show(event: Event) -> None:
    table = rows_for(event, 25_000, weighted=True)
    plain = tb.fit(table, "label", events=event, weights="w", threads=1)
    for threads in (2, 5):
        cut = pa.Table.from_batches(table.to_batches(max_chunksize=9_000))
        assert dump(tb.fit(cut, "label", events=event, weights="w", threads=threads)) == dump(plain)


@each_event
def test_a_weight_of_two_is_the_row_twice(event: Event) -> None:
    table = rows_for(event, 30)
    twice = tb.fit(pa.concat_tables([table, table]), "label", events=event)
    weighed = tb.fit(table, "label", events=event, weights=np.full(len(table), 2.0))
    assert twice.evidence == weighed.evidence


@each_event
def test_a_weight_of_zero_counts_as_no_row(event: Event) -> None:
    table = rows_for(event, 30)
    weights = np.ones(len(table))
    weights[10:] = 0.0
    assert tb.fit(table, "label", events=event, weights=weights).evidence == evidence_of(table.slice(0, 10), event)


@each_event
def test_learning_and_forgetting_equal_never_having_seen(event: Event) -> None:
    table = rows_for(event, 50)
    first, rest = table.slice(0, 30), table.slice(30)
    model = tb.fit(first, "label", events=event, calibrate=None, alpha=1.0)
    assert dump(model.learn(rest)) == dump(tb.fit(table, "label", events=event, calibrate=None, alpha=1.0))
    assert dump(model.learn(rest).forget(rest)) == dump(model)
    assert dump(model + tb.fit(rest, "label", events=event, calibrate=None, alpha=1.0)) == dump(model.learn(rest))


@each_event
def test_forgetting_rows_never_seen_is_refused_and_changes_nothing(event: Event) -> None:
    table = rows_for(event, 30)
    model = tb.fit(table, "label", events=event)
    before = dump(model)
    with pytest.raises(tb.errors.CannotMerge, match="rows that were counted before"):
        model.forget(pa.concat_tables([table, table]))
    assert dump(model) == before


@each_event
def test_column_order_does_not_matter_to_a_merge(event: Event) -> None:
    table = rows_for(event, 30)
    turned = table.select(["label", "c2", "c0", "c1"])
    model = tb.fit(table, "label", events=event)
    assert (model + tb.fit(turned, "label", events=event)).evidence == (model + model).evidence
