"""ONNX graphs in onnxruntime: the same digits as Python."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import tallybayes as tb
from tallybayes.export.onnx import to_onnx
from tallybayes.export.scorecard import scorecard_of
from tests.examples import examples
from tests.tables import tables

from .cases import COUNTS, TABLES, Case, count_case, hostile_case, same, table_case, text_case
from .engines import plain
from .test_json import choices

CASES = [*((table_case, name) for name in TABLES), *((count_case, name) for name in COUNTS)]


def run(model: Any, rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and probabilities that onnxruntime computes."""
    runtime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    onnx.checker.check_model(model, full_check=True)
    assert {one.domain for one in model.opset_import} <= {"", "ai.onnx.ml"}
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = {}
    for one in session.get_inputs():
        values = [plain(value) for value in rows.column(one.name).to_pylist()]
        if one.type == "tensor(string)":
            given[one.name] = np.array([["" if v is None else v] for v in values], object)
        else:
            # a column that was empty when the model was fitted takes numbers: each is a value never seen
            numbers = [math.nan if v is None else 1.0 if isinstance(v, str) else float(v) for v in values]
            given[one.name] = np.array(numbers, np.float64)[:, None]
    labels, probabilities = session.run(["label", "probabilities"], given)
    return labels, probabilities


def check(case: Case) -> None:
    labels, probabilities = run(case.model.to_onnx(), case.rows)
    wanted = case.probabilities()
    same(probabilities, wanted)
    classes = np.array(case.model.classes, object)
    first = classes[probabilities.argmax(axis=1)]
    assert [str(one) for one in labels] == [str(one) for one in first]


@pytest.mark.parametrize(("make", "name"), CASES)
def test_onnxruntime_answers_the_same(make: Any, name: str) -> None:
    check(make(name))


def test_hostile_names_are_only_names() -> None:
    check(hostile_case())


@examples(40)
@given(table=tables(), chosen=choices)
def test_random_models_answer_the_same(table: tuple[pa.Table, dict[str, str]], chosen: Any) -> None:
    rows, events = table
    values = [v for column in rows.to_pydict().values() for v in column]
    if any(isinstance(v, float) and abs(v) > 1e60 for v in values) or "" in values:
        return  # squares of such numbers are none; an empty string is a missing one
    check(Case(tb.fit(rows, "label", events=events, **chosen), rows))


def test_what_predict_refuses_has_no_answer() -> None:
    rows = {"x": ["p", "q"] * 9, "z": [1.0, 2.0, 3.0] * 6, "y": ["no", "yes"] * 9}
    strict = tb.fit(rows, "y", unseen="error", missing="error", events={"z": "exponential"})
    given = {"x": ["p", "never", None, "q", "p", "p"], "z": [1.0, 1.0, 1.0, None, -1.0, math.inf]}
    _, found = run(strict.to_onnx(), pa.table(given))
    assert np.isnan(found).any(axis=1).tolist() == [False, True, True, True, True, True]


@pytest.mark.parametrize("event", ["gaussian", "exponential", "lognormal"])
def test_millions_of_rows_lose_no_digits(event: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    columns = {f"x{k}": np.exp(rng.normal(y / 9, 1)) + 1e3 for k in range(5)}
    rows = pa.table({**columns, "y": np.array(["a", "b", "c"])[y]})
    events = dict.fromkeys(columns, event)
    model = tb.fit(rows, "y", events=events, weights=np.full(60, 1e6), calibrate=None)
    check(Case(model, rows.drop_columns(["y"])))


def test_an_unknown_form_is_refused_with_a_sentence() -> None:
    class Wave:
        kind = "wave"

    form: Any = Wave()
    card = scorecard_of(tb.fit({"x": ["p", "q"] * 4, "y": [0, 1] * 4}, "y"))
    strange = replace(card, terms=(replace(card.terms[0], plain=form),))
    with pytest.raises(tb.errors.BadOption, match=r"^column 'x': wanted a form that ONNX can compute, got wave"):
        to_onnx(strange)


def test_whole_numbers_are_labels_as_such() -> None:
    x, y = np.arange(20.0)[:, None], np.arange(20) // 10
    labels, _ = run(tb.fit(x, y).to_onnx(), pa.table({"x0": x[:, 0]}))
    assert labels.dtype == np.int64
    assert labels.tolist() == y.tolist()


def test_text_is_refused_with_a_sentence() -> None:
    with pytest.raises(
        tb.errors.BadOption, match=r"^column 'text': wanted columns without text for ONNX.* Use to_json"
    ):
        text_case("words").model.to_onnx()
