"""A few plain rows are counted without Arrow: the same sums, and the ordinary path for anything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.events import Event
from tallybayes.evidence.evidence import count, count_few
from tests.laws.rows import every_event, rows_for, tokenizer_of


@pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
@pytest.mark.parametrize("seed", range(5))
def test_the_sums_are_those_of_a_record_batch(event: Event, seed: int) -> None:
    table = rows_for(event, 40, seed=seed)
    schema = tb.fit(table, "label", events=event, calibrate=None, alpha=1.0).schema
    for first, n in ((0, 1), (1, 2), (3, 37)):
        [batch] = table.slice(first, n).combine_chunks().to_batches()
        few = count_few(schema, table.slice(first, n).to_pylist())
        if few is None:  # a column without values has no kind, and a tokenizer may fail
            assert tokenizer_of(event) or any(column.null_count == n for column in batch.columns)
            continue
        assert few == count(schema, batch)


@pytest.mark.parametrize(
    "row",
    [
        {"a": "1.5", "b": "p", "y": "k"},
        {"a": float("inf"), "b": "p", "y": "k"},
        {"a": 10**400, "b": "p", "y": "k"},
        {"a": np.float32(1), "b": "p", "y": "k"},
        {"a": 1.0, "b": 3.0, "y": "k"},
        {"a": 1.0, "b": "\ud800", "y": "k"},
        {"a": 1.0, "b": 2**63, "y": "k"},
        {"a": 1.0, "y": "k"},
        {"a": 1.0, "b": "p"},
        {"a": 1.0, "b": "p", "y": None},
        {"a": 1.0, "b": "p", "y": 2.5},
    ],
)
def test_a_row_that_is_not_plain_takes_the_ordinary_path(row: dict[str, Any]) -> None:
    schema = tb.fit({"a": [1.0, 2.0], "b": ["p", "q"], "y": ["k", "l"]}, "y", events={"a": "gaussian"}).schema
    assert count_few(schema, [row]) is None


def test_rows_of_other_forms_take_the_ordinary_path() -> None:
    table: dict[str, list[Any]] = {"a": [1.0, 2.0], "y": ["k", "l"]}
    model = tb.fit(table, "y", events="gaussian", calibrate=None)
    rows = [{"a": 1.0, "y": "k"}]
    for other in (table, pa.table(table), rows * 65, tuple(rows), []):
        assert count_few(model.schema, other) is None
    assert model.learn(rows).evidence == model.learn(pa.table({"a": [1.0], "y": ["k"]})).evidence
    assert model.learn(rows).forget(rows).evidence == model.evidence
