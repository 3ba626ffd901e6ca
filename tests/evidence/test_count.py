"""Rows are folded to the same evidence, whatever the batch size."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.errors import BadData
from tallybayes.evidence import count

ROWS = pa.table(
    {
        "text": [f"word{i % 7} and word{i % 11}" if i % 5 else None for i in range(300)],
        "size": pa.array([float(i % 13) for i in range(300)]),
        "kind": pa.array([f"k{i % 3}" for i in range(300)]).dictionary_encode(),
        "label": [i % 2 for i in range(300)],
    }
)


def stream(rows_each: int) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(ROWS.schema, ROWS.to_batches(max_chunksize=rows_each))


@pytest.mark.parametrize("rows_each", [1, 7, 299])
def test_small_batches_of_text_are_joined_without_a_trace(monkeypatch: pytest.MonkeyPatch, rows_each: int) -> None:
    seen: list[int] = []

    whole_rows = count.count_rows

    def count_rows(schema: Any, rows: Any, *given: Any) -> Any:
        seen.append(len(rows))
        return whole_rows(schema, rows, *given)

    monkeypatch.setattr(count, "count_rows", count_rows)
    whole = tb.fit(ROWS, "label", events={"text": "text"}, threads=1)
    monkeypatch.setattr(count, "_TOGETHER", 4000)
    joined = tb.fit(stream(rows_each), "label", events={"text": "text"}, threads=1)
    assert joined.evidence == whole.evidence
    assert joined.calibration == whole.calibration
    assert sum(seen) == 600
    assert len(seen) < 1 + 300 / rows_each or rows_each > 100


def test_a_bad_row_is_named_by_its_number_in_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = ROWS.append_column("width", pa.array([-1.0 if i == 217 else 2.0 for i in range(300)]))
    batches = bad.to_batches(max_chunksize=10)
    monkeypatch.setattr(count, "_TOGETHER", 2000)
    events = {"text": "text", "width": "lognormal"}
    with pytest.raises(BadData, match="row 218"):
        tb.fit(pa.RecordBatchReader.from_batches(bad.schema, batches), "label", events=events)
