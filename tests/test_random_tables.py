"""Random tables through fit, save, load and predict: nothing crashes, nothing is lost, every row gets an answer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.storage.model_file import dump, parse_bytes
from tests.examples import examples

from .tables import tables

choices = st.fixed_dictionaries(
    {
        "estimate": st.sampled_from(["mle", "map", "bayes"]),
        "alpha": st.sampled_from([0.0, 0.1, 1.0, 7.5]),
        "prior": st.sampled_from(["learned", "uniform"]),
        "variance": st.sampled_from(["n", "n-1"]),
        "unseen": st.sampled_from(["smooth", "skip"]),
        "missing": st.sampled_from(["skip", "category"]),
    }
)


@examples(150)
@given(table=tables(), chosen=choices)
def test_a_model_survives_saving_and_answers_every_row(table: tuple[pa.Table, dict[str, str]], chosen: Any) -> None:
    rows, events = table
    model = tb.fit(rows, "label", events=events, **chosen)
    again = parse_bytes(dump(model))
    assert again == model
    assert dump(again) == dump(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        p = model.predict_proba(rows)
        np.testing.assert_array_equal(again.predict_proba(rows), p)
    assert not np.isnan(p).any()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)
    for column in model.schema.columns:
        assert model.table(column).values.shape[1] == len(model.classes)


@examples(100)
@given(table=tables(), other=tables(), chosen=choices)
def test_rows_never_seen_get_an_answer_or_a_sentence(
    table: tuple[pa.Table, dict[str, str]], other: tuple[pa.Table, dict[str, str]], chosen: Any
) -> None:
    model = tb.fit(table[0], "label", events=table[1], **chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        warnings.simplefilter("ignore", tb.errors.MissingColumnWarning)
        try:
            p = model.predict_proba(other[0])
        except tb.errors.TallyError:
            return  # the columns are not those of the model, which is what it says
    assert not np.isnan(p).any()


@examples(60)
@given(table=tables(), cut=st.integers(0, 12))
def test_learning_in_two_parts_is_learning_at_once(table: tuple[pa.Table, dict[str, str]], cut: int) -> None:
    rows, events = table
    whole = tb.fit(rows, "label", events=events, calibrate=None)
    first = whole.forget(rows.slice(cut)) if cut < len(rows) else whole
    assert dump(first.learn(rows.slice(cut)) if cut < len(rows) else first) == dump(whole)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300, 5e-324])
def test_columns_at_the_ends_of_the_range_of_doubles(scale: float) -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0]) * scale if scale < 1e300 else np.array([1.0, 1.2, 1.4, 1.6]) * scale
    rows = {"x": values, "label": ["a", "a", "b", "b"]}
    for estimate in ("mle", "map", "bayes"):
        model = tb.fit(rows, "label", estimate=estimate)
        assert not np.isnan(model.predict_proba(rows)).any()
        assert model.learn(rows).forget(rows).evidence == model.evidence
