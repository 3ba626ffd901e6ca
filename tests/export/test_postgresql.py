"""Queries in a real PostgreSQL server, started in a temporary folder; skipped without one, unless CI is true."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sources.test_postgresql import server  # noqa: F401

from .cases import hostile_case, table_case
from .engines import in_postgres
from .test_sql import CASES, check


@pytest.mark.parametrize(("make", "name"), CASES)
def test_postgresql_answers_the_same(server: str, make: Any, name: str) -> None:  # noqa: F811
    check(make(name), "postgres", in_postgres(server))


def test_hostile_names_are_only_names(server: str) -> None:  # noqa: F811
    check(hostile_case(), "postgresql", in_postgres(server))


def test_a_schema_is_named_before_the_table(server: str) -> None:  # noqa: F811
    check(table_case("few rows"), "postgres", in_postgres(server), "public.rows")
