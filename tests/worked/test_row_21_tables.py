"""Row 21: conditional probability tables for Bernoulli, multinomial and Gaussian columns, each by one call."""

from __future__ import annotations

import numpy as np

import tallybayes as tb


def test_mixed_columns_each_give_their_table() -> None:
    rows = {
        "x1": [1, 0, 0, 1, 1, 0],
        "x2": ["a", "b", "a", "c", "a", "b"],
        "x3": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "y": [0, 0, 1, 1, 1, 1],
    }
    model = tb.fit(rows, "y", events={"x1": "bernoulli"}, estimate="mle")
    assert model.schema.events() == {"x1": "bernoulli", "x2": "categorical", "x3": "gaussian"}
    assert {c: round(p, 2) for c, p in model.prior.items()} == {0: 0.33, 1: 0.67}
    assert model.table("x1").values.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert model.table("x2").values.tolist() == [[0.5, 0.5], [0.5, 0.25], [0.0, 0.25]]
    np.testing.assert_allclose(model.table("x3").values, [[1.5, 4.5], [0.5, np.sqrt(1.25)], [2, 4]], rtol=1e-15)


def test_a_table_can_be_taken_elsewhere() -> None:
    table = tb.fit({"x": [1, 0], "y": ["a", "b"]}, "y", events="bernoulli", estimate="mle").table("x")
    assert table.to_dict() == {
        "column": "x",
        "event": "bernoulli",
        "rows": [0, 1],
        "classes": ["a", "b"],
        "counts": [[0.0, 1.0], [1.0, 0.0]],
        "values": [[0.0, 1.0], [1.0, 0.0]],
    }
