"""Interactions that are scored together have the cells and the scores that each has alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.encoding.encode_rows import encode_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.interaction import InteractionTable
from tallybayes.events.product_codes import ProductCodes
from tallybayes.inference.score import add_encoded
from tallybayes.model import Model

N = 600


def table(seed: int = 0, *, new: bool = False) -> dict[str, Any]:
    """Return columns of many kinds that say little alone; with new values, and some missing."""
    rng = np.random.default_rng(seed)
    word, number, whole = rng.integers(0, 30, N), rng.normal(size=N), rng.integers(0, 4, N)
    flag, rare = rng.random(N) < 0.5, rng.integers(0, 40, N)
    y = (word % 2 == 0) ^ (number > 0) ^ flag ^ (rng.random(N) < 0.1)
    words = pa.array([f"w{k}" if k or not new else "new" for k in word])
    missing = rng.random(N) < (0.2 if new else 0.0)
    return {
        "word": words.filter(pa.array(~missing)).take(pa.array(np.cumsum(~missing) - 1, mask=missing)),
        "number": np.where(rng.random(N) < 0.1 * new, np.nan, number),
        "whole": whole + 9 * (new & (rng.random(N) < 0.1)),
        "flag": flag,
        "rare": pa.array(rare.astype(str)).dictionary_encode(),
        "y": y,
    }


def assert_scored_as_each_alone(model: Model, batch: pa.RecordBatch, missing: Any = "skip") -> None:
    """Compare the cells and scores of all interactions with those of one after the other."""
    belief = model._calibrated_belief.weighted or model._calibrated_belief.plain
    rows, schema = RowBatch(batch, missing=missing), model.schema
    together = list(encode_rows(rows, schema, belief.likelihoods, "smooth") or ())
    alone = [
        RowBatch(batch, missing=missing).encode(block, own.categories or None)
        for block, own in zip(schema.blocks, belief.likelihoods, strict=True)
    ]
    n_interactions = 0
    want = np.tile(belief.log_prior, (batch.num_rows, 1))
    for likelihood, one, data in zip(belief.likelihoods, together, alone, strict=True):
        if isinstance(likelihood, InteractionTable):
            assert isinstance(one, ProductCodes)
            assert len(one) == len(data)
            assert one.columns[0].tolist() == data.columns[0].tolist()
            assert one.sizes.tolist() == data.sizes.tolist()
            n_interactions += 1
        likelihood.add_log_prob(data, want)
    got = np.empty_like(want)
    add_encoded(schema, belief, together, got, None, rows)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    assert n_interactions > 1


@pytest.fixture(scope="module")
def fitted() -> Model:
    return tb.fit(table(), "y", structure="tan")


@pytest.mark.parametrize("new", [False, True], ids=["the same values", "new and missing values"])
def test_cells_and_scores_are_those_of_each_interaction(fitted: Model, new: bool) -> None:
    assert_scored_as_each_alone(fitted, pa.RecordBatch.from_pydict(table(1, new=new)))


def test_one_row_and_none(fitted: Model) -> None:
    batch = pa.RecordBatch.from_pydict(table(2, new=True))
    assert_scored_as_each_alone(fitted, batch.slice(7, 1))
    assert_scored_as_each_alone(fitted, batch.slice(0, 0))


def test_a_value_that_was_forgotten_has_its_slot_still(fitted: Model) -> None:
    rows = table()
    gone = {name: pa.array(column).filter(pa.array(rows["whole"] == 3)) for name, column in rows.items()}
    assert_scored_as_each_alone(fitted.forget(gone), pa.RecordBatch.from_pydict(rows))


def test_missing_as_a_value_of_its_own() -> None:
    rows = table(3, new=True)
    model = tb.fit(rows, "y", structure="tan", missing="category")
    assert_scored_as_each_alone(model, pa.RecordBatch.from_pydict(table(4, new=True)), missing="category")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("events", [None, "categorical"])
def test_columns_of_a_matrix(dtype: type, events: str | None) -> None:
    rng = np.random.default_rng(0)
    x = (4 + 2 * rng.normal(size=(N, 5))).clip(0, 9).astype(dtype)
    if events == "categorical":
        x = x.astype(np.int64)
    y = (x[:, 0] > 4) ^ (x[:, 1] > 4) ^ (x[:, 2] > 4)
    model = tb.fit(x, y, structure="tan", events=events)
    for more in (0, 3):  # values never seen
        frame = {f"x{k}": column for k, column in enumerate((x + dtype(more)).T.copy())}
        assert (model.predict_proba(x + dtype(more)) == model.predict_proba(frame)).all()
        assert_scored_as_each_alone(model, pa.RecordBatch.from_pydict(frame))


def test_interactions_without_a_weight_add_nothing() -> None:
    a, b, c, d = np.random.default_rng(0).integers(0, 2, (4, N)).astype(str)
    rows = {"a": a, "b": b, "c": c, "d": d, "y": [*((a == b) * 2 + (c == d))]}
    model = tb.fit(rows, "y", structure="pairs")
    assert model._calibrated_belief.plain.interactions.kept == frozenset()
    assert_scored_as_each_alone(model, pa.RecordBatch.from_pydict(rows))
