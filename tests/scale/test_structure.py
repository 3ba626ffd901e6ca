"""Structures on many columns and many values: bounded, and said."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.errors import BoundedSearchWarning


def test_ten_thousand_columns_are_bounded_and_said():
    x = np.random.default_rng(0).integers(0, 2, (60, 10_000)).astype(str)
    with pytest.warns(BoundedSearchWarning, match=r"looked at [\d,]+ of 49,995,000 pairs of columns"):
        tb.fit(x, np.arange(60) % 2, structure="pairs")


def test_a_million_distinct_values_have_no_pairs_of_their_own():
    n = 1_000_000
    rows = {"key": pa.array(np.arange(n)).cast(pa.string()), "a": np.arange(n) % 2, "b": np.arange(n) // 2 % 2}
    table = pa.table({**rows, "y": (np.arange(n) + np.arange(n) // 2) % 2})
    model = tb.fit(table, "y", structure="pairs", events=dict.fromkeys(rows, "categorical"))
    assert model.predict(table.slice(0, 50)).tolist() == table["y"].slice(0, 50).to_pylist()
    assert not any("key" in block.columns[0] for block in model.schema.products)
