"""A model as a function of DuckDB."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb

from .cases import same, table_case, text_case

duckdb = pytest.importorskip("duckdb")


@pytest.mark.parametrize("case", [table_case("bayes auto"), table_case("pairs, category"), text_case("words")])
def test_the_function_answers_as_the_model_does(case) -> None:
    connection = duckdb.connect()
    tb.register_duckdb(connection, case.model, "answer")
    connection.register("arrow", case.rows)
    connection.execute("CREATE TABLE t AS SELECT * FROM arrow")
    found = [row[0] for row in connection.sql("SELECT answer(t) FROM t").fetchall()]
    same(np.array([[row[f"P({c})"] for c in case.model.classes] for row in found]), case.probabilities())
    assert [row["predicted"] for row in found] == case.model.predict(case.rows).tolist()


def test_many_rows_and_a_tokenizer_of_ones_own() -> None:
    model = tb.fit(["a b", "c d"] * 20, ["x", "y"] * 20, tokenizer=str.split)
    connection = duckdb.connect()
    tb.register_duckdb(connection, model, "guess")
    query = "SELECT guess(t).predicted AS p, count(*) FROM (SELECT 'a b' AS text FROM range(10000)) AS t GROUP BY p"
    assert connection.sql(query).fetchall() == [("x", 10000)]


def test_anything_else_than_a_connection_is_refused() -> None:
    with pytest.raises(tb.errors.BadOption, match=r"register_duckdb: wanted a connection of DuckDB, got str"):
        tb.register_duckdb("file.db", table_case("few rows").model)
