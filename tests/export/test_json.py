"""JSON: a scoring-only model answers as the model does, and every document matches the published schema."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tallybayes as tb
from tests.examples import examples
from tests.tables import tables

from .cases import COUNTS, TABLES, TEXTS, Case, count_case, hostile_case, messy_case, same, table_case, text_case

SCHEMA = Path(__file__).parents[2] / "docs" / "scorecard.schema.json"
CASES = [*((table_case, name) for name in TABLES), *((count_case, name) for name in COUNTS)]
CASES += [(text_case, name) for name in TEXTS]
choices = st.fixed_dictionaries(
    {
        "estimate": st.sampled_from(["mle", "map", "bayes"]),
        "alpha": st.sampled_from([0.0, 0.1, 1.0, "auto"]),
        "prior": st.sampled_from(["learned", "uniform"]),
        "unseen": st.sampled_from(["smooth", "skip"]),
        "missing": st.sampled_from(["skip", "category"]),
        "calibrate": st.sampled_from([None, "one", "auto"]),
    }
)


def answers(card: tb.Scorecard, rows: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
        return card.predict_proba(rows)


@pytest.mark.parametrize(("make", "name"), CASES)
def test_a_model_from_json_answers_the_same(make: Any, name: str) -> None:
    case: Case = make(name)
    card = tb.from_json(case.model.to_json())
    same(answers(card, case.rows), case.probabilities())
    assert card.classes == case.model.classes


@examples(100)
@given(table=tables(), chosen=choices)
def test_random_models_answer_the_same(table: tuple[pa.Table, dict[str, str]], chosen: Any) -> None:
    rows, events = table
    values = (value for column in rows.to_pydict().values() for value in column)
    assume(not any(isinstance(value, float) and abs(value) > 1e150 for value in values))  # their squares overflow
    case = Case(tb.fit(rows, "label", events=events, **chosen), rows)
    same(answers(tb.from_json(case.model.to_json()), rows), case.probabilities())


def test_hostile_names_come_back() -> None:
    case = hostile_case()
    card = tb.from_json(case.model.to_json())
    same(card.predict_proba(case.rows), case.probabilities())
    assert card.schema.columns == case.model.schema.columns
    assert card.predict(case.rows).tolist() == case.model.predict(case.rows).tolist()


def test_columns_are_read_alike() -> None:
    case = messy_case()
    card = tb.from_json(case.model.to_json())
    same(card.predict_proba(case.rows), case.probabilities())
    assert card.schema.readings == case.model.schema.readings
    with pytest.raises(tb.errors.BadData, match=r"^column 'price': wanted numbers, as in the first rows, got 'cheap'"):
        card.predict([{"price": "cheap"}])
    with pytest.raises(tb.errors.BadModelFile, match="readings"):
        tb.from_json(case.model.to_json().replace('"kind":"booleans"', '"kind":"colours"'))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (table_case, "pairs"),
        (text_case, "pairs"),
        (count_case, "multinomial"),
        (lambda _: messy_case(), ""),
    ],
)
def test_documents_match_the_published_schema(make: Any, name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(make(name).model.to_json()), json.loads(SCHEMA.read_text()))


def test_what_predict_refuses_is_refused() -> None:
    rows = {"x": ["p", "q"] * 9, "z": [1.0, 2.0, 3.0] * 6, "y": ["no", "yes"] * 9}
    card = tb.from_json(tb.fit(rows, "y", unseen="error", missing="error").to_json())
    with pytest.raises(tb.errors.BadData, match="seen in training"):
        card.predict([{"x": "never", "z": 1.0}])
    with pytest.raises(tb.errors.BadData, match="missing"):
        card.predict({"x": ["p"], "z": [None]})
    loose = tb.from_json(tb.fit(rows, "y").to_json())
    with pytest.raises(tb.errors.BadData, match="finite"):
        loose.predict([{"x": "p", "z": float("inf")}])


def test_a_tokenizer_of_ones_own_is_refused() -> None:
    model = tb.fit(["a b", "c d"] * 4, ["x", "y"] * 4, tokenizer=str.split)
    with pytest.raises(tb.errors.BadOption, match=r"column 'text': wanted the built-in tokenizer .*\. Fit without"):
        model.to_json()


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"format": "tallybayes scorecard"}', b"\xff", "[" * 100_000])
def test_anything_else_is_refused_with_a_sentence(text: Any) -> None:
    with pytest.raises(tb.errors.BadModelFile, match=r"^from_json: wanted "):
        tb.from_json(text)


@examples(200)
@given(data=st.data())
def test_damaged_documents_are_refused_or_score(data: st.DataObject) -> None:
    put = json.loads(table_case("few rows").model.to_json())
    place: Any = put
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.integers(0, 3)) == 0:
            place[key] = data.draw(st.sampled_from([None, "x", -1, [], {}, [None], 1e400, [[1.0]]]))
            break
        place = place[key]
    try:
        card = tb.from_json(json.dumps(put))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tb.errors.MissingColumnWarning)  # a column may be called otherwise
            answers(card, table_case("few rows").rows)
    except tb.errors.TallyError:
        pass


def test_fifty_columns_take_at_most_a_megabyte() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    x = rng.normal(y[:, None], 1.0, (20_000, 50))
    assert len(tb.fit(x, y).to_json().encode()) < 1_000_000
