"""Encoded rows: which of their values are missing, and how many have a label."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tallybayes.categories import Categories
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.categorical import Categorical
from tallybayes.events.inputs import Codes, Dense
from tallybayes.schema.schema import Block
from tallybayes.sources import read

SLOTS = (Categories.of([2, 5, 7]), Categories.of([1, 2]), Categories.of([4]))


def _one_by_one(data: Codes) -> list[int]:
    """Return how many values of each row are among the labels of their columns."""
    columns = [data.of_column(f, slice(0, len(data))).tolist() for f in range(len(data.labels))]
    known = [[0 <= code < len(labels) for code in column] for column, labels in zip(columns, data.labels, strict=True)]
    return [sum(row) for row in zip(*known, strict=True)]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("by_columns", [False, True])
def test_codes_with_a_label_are_counted_in_each_row(dtype: type, by_columns: bool) -> None:
    codes = np.random.default_rng(0).integers(-1, 5, (50, 3)).astype(dtype)
    sizes = np.array([len(slot) + 1 for slot in SLOTS])
    data = Codes(tuple(codes.T) if by_columns else codes, sizes, SLOTS)
    assert data.labelled().tolist() == _one_by_one(data)
    assert Categorical().length(data).tolist() == _one_by_one(data)
    absent = data.absent()
    assert absent is not None
    assert absent.tolist() == ((codes < 0) | (codes >= sizes)).tolist()


def test_whole_numbers_that_are_their_own_codes_are_counted_in_each_row() -> None:
    numbers = np.random.default_rng(1).integers(-3, 12, (10_000, 3))
    rows = RowBatch(next(iter(read(numbers))))
    data = rows.encode(Block(Categorical(), ("x0", "x1", "x2")), SLOTS)
    assert isinstance(data, Codes)
    assert data.rows is not None  # looked up in a table, not found one by one
    expected = sum(np.isin(numbers[:, f], slot.values) for f, slot in enumerate(SLOTS))
    assert data.labelled().tolist() == np.asarray(expected).tolist() == _one_by_one(data)


def test_rows_with_an_infinite_or_a_missing_value() -> None:
    numbers = np.array([[1.0, np.inf], [np.nan, 2.0], [3.0, 4.0], [-np.inf, np.nan]])
    for data in (Dense(numbers), Dense(tuple(numbers.T))):
        infinite, absent = data.infinite(), data.absent()
        assert infinite is not None
        assert absent is not None
        assert infinite.tolist() == [True, False, False, True]
        assert absent.tolist() == np.isnan(numbers).tolist()
        assert Dense(numbers[2:3]).infinite() is None


def test_a_table_of_arrow_has_codes_by_column() -> None:
    rows = RowBatch(pa.record_batch({"a": ["p", "q", None], "b": ["r", "r", "s"]}))
    data = rows.encode(Block(Categorical(), ("a", "b")), (Categories.of(["p"]), Categories.of(["r", "s"])))
    assert isinstance(data, Codes)
    assert data.labelled().tolist() == [2, 1, 1]
