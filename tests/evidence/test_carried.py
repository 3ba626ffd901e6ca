"""Counts that are carried from batch to batch are those of one batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.errors import BadData
from tallybayes.events.histogram import Histogram
from tallybayes.evidence import carried

SIZES = [700, 20, 5000, 0, 1, 279]


def rows(classes: list[str], sizes: list[int] = SIZES) -> pa.Table:
    """Return rows whose classes differ from batch to batch: batch k has the first k + 1, and then only the last."""
    rng, n = np.random.default_rng(0), sum(sizes)
    batch = np.repeat(np.arange(len(sizes)), sizes)
    label = np.where(batch < len(classes), rng.integers(0, batch + 1), len(classes) - 1) % len(classes)
    a, b = rng.normal(size=n), np.rint(rng.normal(size=n) * 3)
    a[rng.random(n) < 0.1] = np.nan
    words = pa.array([f"w{k}" for k in rng.integers(0, 5, n)])
    coded = pa.DictionaryArray.from_arrays(pa.array(label, pa.int32()), pa.array([*classes, "never"]))
    return pa.table({"a": pa.array(a), "kind": words, "b": pa.array(b.astype(np.int64)), "label": coded})


def stream(table: pa.Table, sizes: list[int] = SIZES) -> pa.RecordBatchReader:
    starts = np.cumsum(sizes) - sizes
    batches = [one for at, n in zip(starts, sizes, strict=True) for one in table.slice(at, n).to_batches()]
    return pa.RecordBatchReader.from_batches(table.schema, batches)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each batch whose counts were carried."""
    seen: list[int] = []
    whole = carried.Carried.add

    def add(self, k, data, *given):
        done = whole(self, k, data, *given)
        if done:
            seen.append(len(data))
        return done

    monkeypatch.setattr(carried.Carried, "add", add)
    return seen


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("events", [None, {"*": "histogram", "kind": "ignore"}, {"a": "histogram", "b": "gaussian"}])
@pytest.mark.parametrize("classes", [["x", "y"], ["z", "y", "x", "w"]])
def test_batches_are_counted_as_one(taken: list[int], threads: int, events, classes: list[str]) -> None:
    table = rows(classes)
    whole = tb.fit(table, "label", events=events, threads=1)
    taken.clear()
    parts = tb.fit(stream(table), "label", events=events, threads=threads)
    assert parts.evidence == whole.evidence
    assert parts.evidence.classes == whole.evidence.classes
    assert parts.calibration == whole.calibration
    assert taken
    assert 700 not in taken  # a first batch that is small is likely to be the only one


def test_rows_with_weights_are_not_carried(taken: list[int]) -> None:
    table = rows(["x", "y"]).append_column("w", pa.array(np.arange(sum(SIZES)) % 3))
    parts = tb.fit(stream(table), "label", weights="w")
    assert parts.evidence == tb.fit(table, "label", weights="w").evidence
    assert not taken


def test_a_counter_is_finished_before_its_rows_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    table = rows(["x", "y"])
    monkeypatch.setattr(carried, "_MOST_ROWS", 5000)
    assert tb.fit(stream(table), "label", threads=1).evidence == tb.fit(table, "label").evidence


def test_many_columns_or_classes_are_not_carried() -> None:
    assert Histogram().counter(50, 64) is not None
    assert Histogram().counter(50, 65) is None
    assert Histogram().counter(5000, 2) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_an_infinite_number_is_named_by_its_row(threads: int) -> None:
    table = rows(["x", "y"])
    values = table["a"].to_numpy().copy()
    values[5100] = np.inf
    table = table.set_column(0, "a", pa.array(values))
    with pytest.raises(BadData, match=r"column 'a': wanted finite numbers, got inf \(row 5101\)"):
        tb.fit(stream(table), "label", threads=threads)
