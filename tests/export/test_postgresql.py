"""Queries in a real PostgreSQL server, started in a temporary folder; skipped without one, unless CI is true."""

from __future__ import annotations

from typing import Any

import pytest

from .cases import hostile_case, messy_case, table_case, text_case
from .engines import in_postgres
from .test_sql import CASES, TEXT_CASES, check


@pytest.mark.parametrize(("make", "name"), CASES)
def test_postgresql_answers_the_same(postgresql: str, make: Any, name: str) -> None:
    check(make(name), "postgres", in_postgres(postgresql))


@pytest.mark.parametrize("parameters", ["inline", "tables"])
@pytest.mark.parametrize("name", TEXT_CASES)
def test_postgresql_splits_texts_alike(postgresql: str, name: str, parameters: str) -> None:
    check(text_case(name), "postgres", in_postgres(postgresql), parameters=parameters)


@pytest.mark.parametrize("name", ["bayes auto", "pairs, category", "impossible"])
def test_parameters_in_tables_answer_the_same(postgresql: str, name: str) -> None:
    check(table_case(name), "postgres", in_postgres(postgresql), parameters="tables")


def test_postgresql_reads_columns_alike(postgresql: str) -> None:
    check(messy_case(), "postgres", in_postgres(postgresql))


def test_hostile_names_are_only_names(postgresql: str) -> None:
    check(hostile_case(), "postgresql", in_postgres(postgresql))


def test_a_schema_is_named_before_the_table(postgresql: str) -> None:
    check(table_case("few rows"), "postgres", in_postgres(postgresql), "public.rows")
