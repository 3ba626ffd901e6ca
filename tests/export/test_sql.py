"""Queries in real databases: the same digits as Python, whatever the model and the names."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.export.sql_dialect import DIALECTS, Dialect
from tallybayes.export.sql_parameters import MOST_INLINE
from tests.examples import examples
from tests.tables import tables

from .cases import COUNTS, TABLES, TEXTS, Case, count_case, hostile_case, messy_case, same, table_case, text_case
from .engines import in_duckdb, in_sqlite, plain
from .test_json import choices

CASES = [*((table_case, name) for name in TABLES), *((count_case, name) for name in COUNTS)]
# Accents are not taken off in SQL, and n-grams do not begin at words.
TEXT_CASES = [name for name in TEXTS if name not in ("stripped", "ascii", "inside words")]
ENGINES = {"duckdb": in_duckdb, "sqlite": in_sqlite}


def check(case: Case, dialect: str, run: Any, table: str = "rows", **options: Any) -> None:
    """Assert that a database answers as the model does."""
    rows = case.rows.append_column("row number", pa.array(range(case.rows.num_rows)))
    found = run(case.model.to_sql(dialect, table, keep=["row number"], **options), rows)
    found = sorted(found, key=lambda row: row["row number"])
    assert [row["row number"] for row in found] == list(range(len(found)))
    wanted = case.probabilities()
    columns = [list(row)[2 + c] for row in found[:1] for c in range(len(case.model.classes))]
    got = np.array([[row[name] for name in columns] for row in found], float)
    same(got, wanted)
    for row, p in zip(found, wanted, strict=True):
        top = np.sort(p)[::-1]
        if len(p) < 2 or top[0] - top[1] > 1e-9:
            wanted_class = case.model.classes[int(p.argmax())]
            assert row["predicted"] == (plain(wanted_class) if dialect == "sqlite" else wanted_class)


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize(("make", "name"), CASES)
def test_a_database_answers_the_same(make: Any, name: str, dialect: str) -> None:
    check(make(name), dialect, ENGINES[dialect])


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize(("make", "name"), CASES)
def test_parameters_in_tables_answer_the_same(make: Any, name: str, dialect: str) -> None:
    check(make(name), dialect, ENGINES[dialect], parameters="tables")


@pytest.mark.parametrize("parameters", ["inline", "tables"])
@pytest.mark.parametrize("name", TEXT_CASES)
def test_duckdb_splits_texts_alike(name: str, parameters: str) -> None:
    check(text_case(name), "duckdb", in_duckdb, parameters=parameters)


def test_duckdb_reads_columns_alike() -> None:
    case = messy_case()
    check(case, "duckdb", in_duckdb)
    bad = case.rows.slice(0, 1).to_pylist()[0]
    given = [bad | one for one in ({"price": "cheap"}, {"day": "31/13/2024"}, {"paid": "perhaps"}, {"price": "$7"})]
    found = in_duckdb(case.model.to_sql("duckdb", "rows"), pa.Table.from_pylist(given, case.rows.schema))
    assert [row["predicted"] is None for row in found] == [True, True, True, False]


def test_columns_that_have_their_type_are_not_read_again() -> None:
    case = messy_case()
    rows = case.rows.slice(0, 40).to_pylist()
    for k, row in enumerate(rows):
        row |= {"price": 10.5 * k, "day": datetime.date(2024, 1, 1 + k % 28), "paid": k % 2 == 0}
        row |= {"time": datetime.datetime(2001, 2, 3, k % 24, 5, 6, 789)}
    check(Case(case.model, pa.Table.from_pylist(rows)), "duckdb", in_duckdb)


@pytest.mark.parametrize("dialect", ENGINES)
def test_hostile_names_are_only_names(dialect: str) -> None:
    check(hostile_case(), dialect, ENGINES[dialect])


@examples(25)
@given(table=tables(), chosen=choices, dialect=st.sampled_from(sorted(ENGINES)))
def test_random_models_answer_the_same(table: tuple[pa.Table, dict[str, str]], chosen: Any, dialect: str) -> None:
    rows, events = table
    case = Case(tb.fit(rows, "label", events=events, **chosen), rows)
    if any(isinstance(v, float) and abs(v) > 1e60 for column in rows.to_pydict().values() for v in column):
        return  # squares of such numbers are no numbers in every database
    if any(isinstance(v, str) and "\0" in v for column in rows.to_pydict().values() for v in column):
        return
    check(case, dialect, ENGINES[dialect])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", [hostile_case, lambda: count_case("multinomial"), lambda: table_case("pairs")])
def test_every_dialect_is_parsed(case: Any, dialect: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    [parsed] = sqlglot.parse(case().model.to_sql(dialect, "db.rows"), dialect=dialect)
    names = [one.alias_or_name for one in parsed.selects]
    assert names[len(case().model.schema.columns)] == "predicted"
    assert names[-len(case().model.classes) :] == [f"P({c})" for c in case().model.classes]


@pytest.mark.parametrize("parameters", ["inline", "tables"])
@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])  # the others are run
@pytest.mark.parametrize("case", [messy_case, lambda: text_case("pairs"), lambda: text_case("bernoulli mle")])
def test_every_dialect_with_words_is_parsed(case: Any, dialect: str, parameters: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    model = case().model
    script = model.to_sql(dialect, "db.rows", parameters=parameters)
    parsed = sqlglot.parse(script, dialect=dialect)
    assert len(parsed) == len(script.statements)
    assert [one.alias_or_name for one in parsed[-1].selects][-2:] == [f"P({c})" for c in model.classes]


@examples(200)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_and_values_come_back_from_a_parser(dialect: str, text: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    sql = Dialect(dialect)
    [parsed] = sqlglot.parse(f"SELECT {sql.value(text)} AS {sql.name(text)}", dialect=dialect)
    [column] = parsed.selects
    assert len(sqlglot.parse(f"SELECT {sql.value(text)}; SELECT 1", dialect=dialect)) == 2
    if dialect != "bigquery":  # sqlglot does not undo its escapes in names
        assert column.alias == text
        assert column.this.this == text


@examples(200)
@given(
    text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
    dialect=st.sampled_from(sorted(ENGINES)),
)
def test_values_come_back_from_a_database(text: str, dialect: str) -> None:
    sql = Dialect(dialect)
    [row] = ENGINES[dialect](f"SELECT {sql.value(text)} AS {sql.name(text)}", pa.table({"x": [1]}))
    assert row == {text: text}


def test_what_predict_refuses_has_no_answer() -> None:
    rows = {"x": ["p", "q"] * 9, "z": [1.0, 2.0, 3.0] * 6, "y": ["no", "yes"] * 9}
    strict = tb.fit(rows, "y", unseen="error", missing="error", events={"z": "exponential"})
    given = {"x": ["p", "never", None, "q", "p", "p"], "z": [1.0, 1.0, 1.0, None, -1.0, math.inf]}
    found = in_duckdb(strict.to_sql("duckdb", "rows"), pa.table(given))
    assert [row["predicted"] is None for row in found] == [False, True, True, True, True, True]
    assert [row["P(no)"] is None for row in found] == [False, True, True, True, True, True]


@pytest.mark.parametrize("name", ["bayes auto", "coins", "map None", "pairs"])
def test_contributions_are_those_of_the_model(name: str) -> None:
    case = table_case(name)
    rows = case.rows.slice(0, 60)
    found = in_duckdb(case.model.to_sql("duckdb", "rows", contributions=True), rows)
    one, other = case.model.classes[:2]
    wanted = case.model.contributions(rows, of=one, against=other)
    got = [[row[f"{term}: {one}"] - row[f"{term}: {other}"] for term in wanted.columns] for row in found]
    np.testing.assert_allclose(got, wanted.terms, atol=1e-8)


def test_what_cannot_be_a_query_is_refused_with_a_sentence() -> None:
    with pytest.raises(tb.errors.BadOption, match=r"^dialect: wanted one of .* Did you mean 'duckdb'\?"):
        table_case("few rows").model.to_sql("duckbd")
    for name, dialect, told in (
        ("words", "sqlite", r"wanted a dialect that splits words \(duckdb, .*\), got 'sqlite'. Use to_json"),
        ("words", "mysql", r"wanted a dialect that splits words"),
        ("stripped", "duckdb", r"wanted text with its accents for SQL, got strip_accents='unicode'. Fit without it"),
        ("inside words", "spark", r"wanted words or characters for SQL, got analyzer='char_wb'"),
    ):
        with pytest.raises(tb.errors.BadOption, match=rf"^column 'text': {told}"):
            text_case(name).model.to_sql(dialect)
    with pytest.raises(tb.errors.BadOption, match=r"^column 'price': wanted a dialect with regular expressions"):
        messy_case().model.to_sql("sqlite")
    with pytest.raises(tb.errors.BadOption, match=r"^parameters: wanted one of auto, inline, tables, got 'files'"):
        text_case("words").model.to_sql(parameters="files")
    with pytest.raises(tb.errors.BadOption, match=r"^export to SQL: wanted at most .* numbers .* parameters='tables'"):
        many_values(300).to_sql(parameters="inline")


def many_values(classes: int) -> tb.Model:
    """Return a model of 3000 values in each class."""
    rows = {"x": [f"v{k}" for k in range(3000)], "y": [k % classes for k in range(3000)]}
    return tb.fit(rows, "y", events="categorical", calibrate=None)


@pytest.mark.parametrize("dialect", ENGINES)
def test_many_parameters_are_in_tables_by_default(dialect: str) -> None:
    model = many_values(40)
    assert MOST_INLINE < 3000 * 40
    script = model.to_sql(dialect, "rows", keep=[], prefix="my model")
    assert script.statements[0].startswith('CREATE TABLE "my model_1" ')
    assert len(script.statements[-1]) < 200_000
    rows = pa.table({"x": ["v7", "never seen", None]})
    found = np.array([list(row.values())[1:] for row in ENGINES[dialect](script, rows)])
    same(np.sort(found, axis=0), np.sort(model.predict_proba(rows), axis=0))


def test_few_parameters_are_in_the_query() -> None:
    assert len(table_case("bayes auto").model.to_sql().statements) == 1
    assert len(text_case("words").model.to_sql().statements) == 1
