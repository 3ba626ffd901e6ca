"""tally-score.js under node: the same digits as Python, for every model."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given

import tallybayes as tb
from tallybayes.sources.missing import NAME_MARKERS
from tests.examples import examples
from tests.tables import tables

from .cases import COUNTS, TABLES, TEXTS, Case, count_case, hostile_case, messy_case, same, table_case, text_case
from .engines import node, probabilities
from .test_json import choices

CASES = [*((table_case, name) for name in TABLES), *((count_case, name) for name in COUNTS)]
CASES += [(text_case, name) for name in TEXTS]


@pytest.mark.parametrize(("make", "name"), CASES)
def test_node_answers_the_same(make: Any, name: str) -> None:
    case: Case = make(name)
    answers = node(case.model.to_json(), case.rows)
    same(probabilities(answers), case.probabilities())


def test_columns_are_read_alike() -> None:
    case = messy_case()
    same(probabilities(node(case.model.to_json(), case.rows)), case.probabilities())
    bad = [{"price": "cheap"}, {"day": "32/01/2024"}, {"paid": "perhaps"}, {"time": "2024-05-04T10:30:00+02:00"}]
    assert [one.get("error") for one in node(case.model.to_json(), bad)] == [
        "column 'price': wanted numbers, as in the first rows, got \"cheap\".",
        "column 'day': wanted dates, as in the first rows, got \"32/01/2024\".",
        "column 'paid': wanted yes or no, as in the first rows, got \"perhaps\".",
        None,
    ]
    zoned, plain = node(case.model.to_json(), [bad[-1], {"time": "2024-05-04 08:30"}])
    assert zoned["probabilities"] == plain["probabilities"]


@examples(40)
@given(table=tables(), chosen=choices)
def test_node_answers_the_same_for_random_models(table: tuple[pa.Table, dict[str, str]], chosen: Any) -> None:
    rows, events = table
    values = (value for column in rows.to_pydict().values() for value in column)
    assume(not any(isinstance(value, float) and abs(value) > 1e150 for value in values))  # their squares overflow
    case = Case(tb.fit(rows, "label", events=events, **chosen), rows)
    same(probabilities(node(case.model.to_json(), rows)), case.probabilities())


def test_hostile_names_are_only_names() -> None:
    case = hostile_case()
    answers = node(case.model.to_json(), case.rows)
    same(probabilities(answers), case.probabilities())
    assert [one["prediction"] for one in answers] == case.model.predict(case.rows).tolist()


@pytest.mark.parametrize(("make", "name"), [(table_case, "bayes auto"), (table_case, "pairs"), (text_case, "words")])
def test_reasons_are_the_contributions(make: Any, name: str) -> None:
    case: Case = make(name)
    for row, answer in zip(
        case.rows.slice(0, 12).to_pylist(), node(case.model.to_json(), case.rows.slice(0, 12)), strict=True
    ):
        wanted = case.model.contributions([row], of=answer["prediction"])
        found = {one["name"]: one["logOdds"] for one in answer["reasons"]}
        np.testing.assert_allclose(found["prior"], wanted.prior[0] + wanted.split[0], atol=1e-8)
        columns = [found[name] for name in wanted.columns]
        np.testing.assert_allclose(columns, wanted.terms[0], atol=1e-8)


def test_what_predict_refuses_throws_a_sentence() -> None:
    rows = {"x": ["p", "q"] * 9, "z": [1.0, 2.0, 3.0] * 6, "y": ["no", "yes"] * 9}
    strict = tb.fit(rows, "y", unseen="error", missing="error", events={"z": "poisson"}).to_json()
    given = [
        {"x": "r", "z": 1},
        {"x": "p", "z": None},
        {"x": "p", "z": -1},
        {"x": "p", "z": "much"},
        {"x": "p", "z": 2},
    ]
    errors = [one.get("error") for one in node(strict, given)]
    assert errors == [
        "column 'x': wanted a value seen in training, got \"r\".",
        "column 'z': wanted a value in every row, got a missing one.",
        "column 'z': wanted a number (not negative), got -1.",
        "column 'z': wanted a number (not negative), got \"much\".",
        None,
    ]


def test_words_are_split_alike_whatever_the_characters() -> None:
    """Every assigned character, between letters and alone, makes the same tokens."""
    import unicodedata

    characters = [chr(c) for c in range(1, sys.maxunicode) if unicodedata.category(chr(c)) not in ("Cs", "Cn", "Co")]
    texts = [" ".join(f"a{c}b {c}{c} B{c}" for c in characters[k : k + 500]) for k in range(0, len(characters), 500)]
    kinds = ["x", "y"] * (len(texts) // 2) + ["x"] * (len(texts) % 2)
    case = Case(tb.fit(texts, kinds, calibrate=None, alpha=1.0), pa.table({"text": texts}))
    found = node(case.model.to_json(), case.rows)
    scores = np.array([one["scores"] for one in found])
    joint = case.model.log_joint(case.rows)
    np.testing.assert_allclose(scores[:, 0] - scores[:, 1], joint[:, 0] - joint[:, 1], rtol=1e-9, atol=1e-7)


def test_the_marks_of_missing_values_are_those_of_python() -> None:
    script = (files("tallybayes.export") / "page" / "tally-score.js").read_text(encoding="utf-8")
    assert f"auto ? {json.dumps(list(NAME_MARKERS))[:-1]}, ...further] :" in script


def test_the_script_knows_the_words_and_markers_that_python_knows() -> None:
    from tallybayes.sources.missing import NUMBER_MARKERS
    from tallybayes.sources.reading import NO, YES

    script = (files("tallybayes.export") / "page" / "tally-score.js").read_text(encoding="utf-8")
    assert [word for word in (*YES, *NO, *NUMBER_MARKERS) if f'"{word}"' not in script] == []
