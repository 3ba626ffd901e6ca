"""structure="auto": free interactions where nested folds say so, pairs that pay for their weight otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.storage.model_file import dump, parse_bytes


def votes(n: int, seed: int) -> dict[str, list[str]]:
    """Return rows of ten columns, whose neighbours vote by twos: for yes where they differ."""
    rng = np.random.default_rng(seed)
    parts = rng.integers(0, 2, (n, 10))
    p = 1 / (1 + np.exp(-(2 * (parts[:, ::2] ^ parts[:, 1::2]) - 1).sum(axis=1)))
    columns = {f"x{k}": parts[:, k].astype(str).tolist() for k in range(10)}
    return {**columns, "y": np.where(rng.random(n) < p, "yes", "no").tolist()}


def log_loss(model: tb.Model, rows: dict[str, list[str]]) -> float:
    p = model.predict_proba(rows)
    return float(-np.log(p[np.arange(len(p)), [model.classes.index(c) for c in rows["y"]]]).mean())


@pytest.fixture(scope="module")
def model() -> tb.Model:
    return tb.fit(votes(1500, 0), "y", structure="auto")


def test_with_many_rows_interactions_are_free(model: tb.Model) -> None:
    assert {block.event.free for block in model.schema.products} == {True}
    assert {f"x{k} & x{k + 1}" for k in range(0, 10, 2)} <= set(model.schema.terms)
    new, careful = votes(4000, 1), tb.fit(votes(1500, 0), "y", structure="pairs")
    assert log_loss(model, new) < log_loss(careful, new) - 0.02


def test_with_few_rows_they_have_to_pay() -> None:
    rows = votes(300, 0)
    careful, found = (tb.fit(rows, "y", structure=name) for name in ("pairs", "auto"))
    assert found.evidence == careful.evidence
    assert found.calibration == careful.calibration


def test_where_nothing_tells_together_nothing_is_added() -> None:
    rng = np.random.default_rng(0)
    label = rng.random(1000) < 0.5
    rows = {f"x{k}": np.where(rng.random(1000) < 0.7, label, ~label).tolist() for k in range(4)}
    assert tb.fit({**rows, "y": label.tolist()}, "y", structure="auto").schema.products == ()


def test_the_choice_does_not_depend_on_the_order_of_rows(model: tb.Model) -> None:
    rows, order = votes(1500, 0), np.random.default_rng(3).permutation(1500)
    mixed = {name: [values[k] for k in order] for name, values in rows.items()}
    assert tb.fit(mixed, "y", structure="auto") == model


def test_the_file_holds_it(model: tb.Model) -> None:
    again = parse_bytes(dump(model))
    assert again == model
    new = votes(50, 2)
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_a_triple_is_found_where_three_columns_tell_together() -> None:
    rng = np.random.default_rng(0)
    a, b, c, d = rng.integers(0, 2, (4, 3000))
    p = np.select([a & b & c == 1, a & b == 1], [0.95, 0.05], np.where(d == 1, 0.6, 0.4))  # c reverses what a & b say
    rows = {"a": a, "b": b, "c": c, "d": d, "y": rng.random(3000) < p}
    found = tb.fit({name: values.astype(str) for name, values in rows.items()}, "y", structure="auto")
    assert any(len(block.event.parts) == 3 for block in found.schema.products)


def test_a_class_in_one_fold_alone_is_no_trouble() -> None:
    rows = votes(600, 0)
    rows["y"][:2] = ["maybe", "perhaps"]
    model = tb.fit(rows, "y", structure="auto")
    assert np.isfinite(model.predict_proba(votes(20, 1))).all()
