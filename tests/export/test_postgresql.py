"""Queries in a real PostgreSQL server, started in a temporary folder; skipped without one, unless CI is true."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sources.test_postgresql import server  # noqa: F401

from .cases import hostile_case, messy_case, table_case, text_case
from .engines import in_postgres
from .test_sql import CASES, TEXT_CASES, check


@pytest.mark.parametrize(("make", "name"), CASES)
def test_postgresql_answers_the_same(server: str, make: Any, name: str) -> None:  # noqa: F811
    check(make(name), "postgres", in_postgres(server))


@pytest.mark.parametrize("parameters", ["inline", "tables"])
@pytest.mark.parametrize("name", TEXT_CASES)
def test_postgresql_splits_texts_alike(server: str, name: str, parameters: str) -> None:  # noqa: F811
    check(text_case(name), "postgres", in_postgres(server), parameters=parameters)


@pytest.mark.parametrize("name", ["bayes auto", "pairs, category", "impossible"])
def test_parameters_in_tables_answer_the_same(server: str, name: str) -> None:  # noqa: F811
    check(table_case(name), "postgres", in_postgres(server), parameters="tables")


def test_postgresql_reads_columns_alike(server: str) -> None:  # noqa: F811
    check(messy_case(), "postgres", in_postgres(server))


def test_hostile_names_are_only_names(server: str) -> None:  # noqa: F811
    check(hostile_case(), "postgresql", in_postgres(server))


def test_a_schema_is_named_before_the_table(server: str) -> None:  # noqa: F811
    check(table_case("few rows"), "postgres", in_postgres(server), "public.rows")
