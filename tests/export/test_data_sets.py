"""Real tables: every target that can hold the model answers as it does."""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv

import tallybayes as tb

from . import test_onnx, test_sql
from .cases import Case, same
from .engines import in_duckdb, in_postgres, in_sqlite, node, probabilities

FOLDER = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
SEVERAL = "reuters21578_all.csv.gz"  # its texts have several classes each
FILES = sorted(one.relative_to(FOLDER).as_posix() for one in FOLDER.glob("*/*.csv.gz") if one.name != SEVERAL)
STRUCTURES = {"car": "pairs tan joint auto", "heart-cleveland": "pairs tan", "labor": "tan auto"}
STRUCTURED = [
    (name, structure)
    for name in FILES
    for folder, structures in {
        "car": "pairs tan joint auto",
        "heart-cleveland": "pairs tan",
        "labor": "tan auto",
    }.items()
    if name.split("/")[0] == folder
    for structure in structures.split()
]
FITTED, SCORED = 400, 40  # rows of each table: targets differ by values, not by numbers of rows
WIDEST = 60  # columns of each table, as many alike in wider ones: a query of 216 takes DuckDB 18 seconds
NONE = "the data sets are missing: set TALLY_DATA to their folder"
every_table = pytest.mark.parametrize("name", FILES or [pytest.param("none", marks=pytest.mark.skip(reason=NONE))])


@cache
def case_of(name: str, structure: str | None = None) -> Case:
    """Return a default model of some rows of a table, and others to score."""
    rows = csv.read_csv(
        FOLDER / name,
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(null_values=["?", ""], strings_can_be_null=True),
    )
    label = "label" if "label" in rows.column_names else rows.column_names[-1]
    rows = rows.select([*[name for name in rows.column_names if name != label][:WIDEST], label])
    rows = rows.filter(rows[label].is_valid()).slice(0, 200_000)
    some = rows.take(np.random.default_rng(0).permutation(rows.num_rows)[: FITTED + SCORED])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that look like ids are left out
        model = tb.fit(some.slice(0, FITTED), label, **({} if structure is None else {"structure": structure}))
    scored = some.slice(max(some.num_rows - SCORED, 0)).select(list(model.schema.inputs))
    return Case(model, scored)


def is_text(case: Case) -> bool:
    return bool(case.model.schema.texts)


@every_table
def test_json_and_javascript_answer_the_same(name: str) -> None:
    case = case_of(name)
    same(tb.from_json(case.model.to_json()).predict_proba(case.rows), case.probabilities())
    same(probabilities(node(case.model.to_json(), case.rows)), case.probabilities())


@every_table
def test_duckdb_and_sqlite_answer_the_same(name: str) -> None:
    case = case_of(name)
    test_sql.check(case, "duckdb", in_duckdb)
    if is_text(case) or case.model.schema.readings:
        with pytest.raises(tb.errors.BadOption, match=r"^column '.*': wanted a dialect"):
            case.model.to_sql("sqlite")
    else:
        test_sql.check(case, "sqlite", in_sqlite)


@every_table
def test_postgresql_answers_the_same(postgresql: str, name: str) -> None:
    test_sql.check(case_of(name), "postgres", in_postgres(postgresql))


@every_table
def test_onnxruntime_answers_the_same(name: str) -> None:
    case = case_of(name)
    if is_text(case):
        with pytest.raises(tb.errors.BadOption, match="wanted columns without text for ONNX"):
            case.model.to_onnx()
        return
    test_onnx.check(case)


@pytest.mark.parametrize(
    ("name", "structure"), STRUCTURED or [pytest.param("none", "none", marks=pytest.mark.skip(reason=NONE))]
)
def test_dependent_columns_answer_the_same(name: str, structure: str) -> None:
    case = case_of(name, structure)
    same(probabilities(node(case.model.to_json(), case.rows)), case.probabilities())
    test_sql.check(case, "duckdb", in_duckdb)
    test_sql.check(case, "duckdb", in_duckdb, parameters="tables")
    test_onnx.check(case)
