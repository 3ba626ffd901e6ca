"""Queries in Spark SQL; skipped without Java, unless CI is true."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from tests.engines.java import QUICK_JAVA, java_is_here

from .cases import hostile_case, table_case
from .test_sql import check

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of py4j's connections to Java
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning:pyspark"),
]


@pytest.fixture(scope="module")
def run() -> Iterator[Any]:
    """Return a function that runs a query over a table "rows"."""
    java_is_here()
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        for name, value in QUICK_JAVA.items():
            patch.setenv(name, value)
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        session = (
            builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.ansi.enabled", "false").getOrCreate()
        )

        def query(text: str, rows: pa.Table) -> list[dict[str, Any]]:
            session.createDataFrame(rows).createOrReplaceTempView("rows")
            return [row.asDict() for row in session.sql(text).collect()]

        yield query
        session.stop()


@pytest.mark.parametrize("name", ["bayes auto", "map None", "category", "pairs", "coins"])
def test_spark_answers_the_same(run: Any, name: str) -> None:
    check(table_case(name), "spark", run)


def test_hostile_names_are_only_names(run: Any) -> None:
    check(hostile_case(), "spark", run)
