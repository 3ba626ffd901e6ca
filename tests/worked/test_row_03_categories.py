"""Row 3: features of k values, many labels; count, then normalise."""

from __future__ import annotations

import numpy as np

import tallybayes as tb

ROWS = {
    "size": ["s", "m", "l", "s", "m", "l", "xl", "s"],
    "colour": ["red", "red", "blue", "green", "blue", "red", "green", "blue"],
    "kind": ["a", "b", "c", "d", "a", "b", "c", "d"],
}


def test_four_labels_and_columns_of_four_and_three_values_give_tables_that_sum_to_one() -> None:
    for estimate in ("mle", "map", "bayes"):
        model = tb.fit(ROWS, "kind", estimate=estimate)
        assert model.classes == ("a", "b", "c", "d")
        for column, values in (("size", ("l", "m", "s", "xl")), ("colour", ("blue", "green", "red"))):
            table = model.table(column)
            assert table.rows == values
            np.testing.assert_allclose(table.values.sum(axis=0), 1.0, rtol=1e-15)


def test_the_counts_are_those_of_the_rows() -> None:
    counts = tb.fit(ROWS, "kind").table("size").counts
    assert counts is not None
    assert counts.tolist() == [[0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 2], [0, 0, 1, 0]]
