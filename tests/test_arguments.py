"""Arguments of wrong types that once raised the error of a library: each is refused with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import tallybayes as tb
from tallybayes.kernels import score_sparse

ROWS: dict[str, list[Any]] = {"x": [0.0, 1.0, 2.5, 4.0], "s": ["a", "b", "a", None], "y": ["p", "q", "p", "q"]}
LOOP: list[Any] = []
LOOP.append(LOOP)
FRAME = pd.DataFrame(ROWS)

CASES: dict[str, tuple[Callable[[tb.Model], Any], str]] = {
    "a list that holds itself, as classes": (lambda _: tb.fit(ROWS, LOOP), "nested at most 32 deep"),
    "a list that holds itself, as rows": (lambda m: m.predict(LOOP), "nested at most 32 deep"),
    "a list that holds itself, as an option": (lambda _: tb.TextNB(stop_words=LOOP).fit(["a b", "c d"], [0, 1]), ""),
    "a frame where a word is wanted": (lambda _: tb.fit(ROWS, "y", missing=FRAME), "missing: wanted 'skip', "),
    "a frame where a class is wanted": (lambda m: m.explain({"x": 1.0}, of=FRAME), "a class of the model"),
    "an array where a column is wanted": (lambda m: m.table(np.zeros((2, 2))), "column: wanted a column of the model"),
    "a span of time as a number": (lambda m: m.sample(np.timedelta64(1, "D")), "sample n: wanted a whole number"),
    "a number as a path": (lambda m: m.save(1), "model file: wanted the name of a file, got 1."),
    "a list as a path": (lambda _: tb.load(["a"]), "model file: wanted the name of a file"),
    "no model": (lambda _: tb.Learner.of(ROWS), "model: wanted a Model"),
    "an unknown keyword": (lambda m: m.validate(ROWS, sed=1), "validate: wanted one of "),
    "half of a surrogate pair in a query": (lambda _: tb.probability(ROWS, "s=\ud800"), "that is Unicode"),
    "half of a surrogate pair in a condition": (lambda _: tb.fit(ROWS, "y", where="s = '\ud800'"), "that is Unicode"),
    "a weight that was not learned": (lambda m: m.leave_one_out(ROWS, weights=[9.0] * 4), "a weight that was not"),
    "a name that no file can have": (lambda _: tb.fit("a" * 500, "y"), ": wanted a "),
    "numbers for a model of texts": (lambda _: tb.fit(["a b", "c"], ["p", "q"]).predict(np.zeros((2, 1))), "wanted"),
    "a threshold that is no mapping": (lambda m: m.predict(ROWS, threshold=3), "threshold: wanted a probability"),
    "types that are none": (lambda _: tb.read(ROWS, types={"x": float}), "types: wanted a type of Arrow"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_refusal_is_a_sentence(name: str) -> None:
    work, sentence = CASES[name]
    model = tb.fit(ROWS, "y", calibrate=None)
    with pytest.raises(tb.errors.TallyError) as caught:
        work(model)
    assert sentence in str(caught.value)


def test_half_of_a_surrogate_pair_in_a_jsonl_file_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": "a", "y": "p"}\n{"x": "\\ud800", "y": "q"}\n')
    with pytest.raises(tb.errors.BadData, match=r"lone surrogate '\\ud800' \(row 2\)"):
        tb.fit(path, "y")


def test_string_views_beside_the_rows_are_classes() -> None:
    labels = pa.array(ROWS["y"], pa.string_view())
    assert tb.fit({"x": ROWS["x"]}, labels).classes == ("p", "q")


def test_a_masked_value_is_a_missing_one() -> None:
    masked = np.ma.masked_array([[1.0], [2.0], [9e9], [4.0]], mask=[[0], [0], [1], [0]])
    plain = np.array([[1.0], [2.0], [np.nan], [4.0]])
    assert tb.fit(masked, [0, 1, 0, 1]).evidence == tb.fit(plain, [0, 1, 0, 1]).evidence


def test_entries_of_a_matrix_without_columns_are_refused() -> None:
    rows = csr_array((np.ones(64), np.zeros(64, np.int32), np.array([0, 64])), shape=(1, 1))
    with pytest.raises(ValueError, match="indices: wanted numbers from 0"):
        score_sparse(rows.indptr, rows.indices, rows.data, np.zeros((0, 3)), np.zeros((1, 3)))
