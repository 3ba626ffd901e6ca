"""Few rows take a shorter code path than many: the answers must be the same."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import tallybayes as tb
from tallybayes.encoding import few_rows
from tests.examples import examples
from tests.laws.rows import every_event, rows_for
from tests.tables import tables


@examples(150)
@given(table=tables())
def test_dicts_score_as_their_table_does(table: tuple[pa.Table, dict[str, str]]) -> None:
    rows, events = table
    for estimate in ("mle", "bayes"):
        model = tb.fit(rows, "label", events=events, estimate=estimate)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
            few, many = model.predict_proba(rows.to_pylist()), model.predict_proba(rows)
        np.testing.assert_allclose(few, many, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "event", [e for e in every_event() if e.input in ("dense", "bag")], ids=lambda event: event.spec
)
def test_a_small_array_scores_as_a_large_one(event) -> None:
    table = rows_for(event, 3 * few_rows.MOST_ROWS, missing=0.0)
    array = np.column_stack([table.column(f"c{f}").to_numpy() for f in range(3)])
    model = tb.fit(array, table.column("label").to_pylist(), events=event)
    many = model.predict_proba(array)
    for i in (0, 7):
        np.testing.assert_allclose(model.predict_proba(array[i : i + 1]), many[i : i + 1], rtol=1e-12)


def test_plain_rows_really_take_the_short_way() -> None:
    model = tb.fit({"s": ["a", "b"], "x": [1.0, 2.0], "y": ["p", "q"]}, "y")
    encoded = few_rows.encode([{"s": "a", "x": 1}], model.schema, model.belief.likelihoods, "smooth")
    assert encoded is not None
    assert len(encoded) == len(model.schema.blocks)


def test_a_dict_is_one_row_and_what_it_does_not_name_is_missing() -> None:
    model = tb.fit({"s": ["a", "b", "a"], "x": [1.0, 2.0, 4.0], "y": ["p", "q", "q"]}, "y")
    np.testing.assert_array_equal(model.predict_proba({"s": "a"}), model.predict_proba([{"s": "a", "x": None}]))
    np.testing.assert_allclose(
        model.predict_proba({"s": "a"}), model.predict_proba(pa.table({"s": ["a"], "x": [None]}))
    )
