"""Real tables: every target that can hold the model answers as it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import csv

import tallybayes as tb

from . import test_onnx, test_sql
from .cases import Case, same
from .engines import in_duckdb, in_sqlite, node, probabilities

# Their labels are their last columns.
TABLES = [
    "credit-g",
    "heart-cleveland",
    "iris",
    "car",
    "house-votes-84",
    "mushroom",
    "pima-diabetes",
    "labor",
    "glass",
    "wine",
]


@pytest.mark.parametrize("name", TABLES)
def test_a_real_table_is_answered_the_same_everywhere(data: Path, name: str) -> None:
    [path, *_] = sorted(one for one in (data / name).iterdir() if one.suffix in (".gz", ".csv"))
    rows = csv.read_csv(path, convert_options=csv.ConvertOptions(null_values=["?", ""], strings_can_be_null=True))
    label = rows.column_names[-1]
    model = tb.fit(rows, label)
    case = Case(model, rows.drop_columns([label]).slice(0, 400))
    same(tb.from_json(model.to_json()).predict_proba(case.rows), case.probabilities())
    same(probabilities(node(model.to_json(), case.rows)), case.probabilities())
    test_sql.check(case, "duckdb", in_duckdb)
    test_sql.check(case, "sqlite", in_sqlite)
    test_onnx.check(case)
