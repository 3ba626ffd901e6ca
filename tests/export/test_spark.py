"""Queries in Spark SQL; skipped without Java, unless CI is true."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from tests.engines.java import QUICK_JAVA, java_is_here

from .cases import hostile_case, messy_case, table_case, text_case
from .engines import statements
from .test_sql import check

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of py4j's connections to Java
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning:pyspark"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a function that runs a query over a table "rows"."""
    java_is_here()
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        for name, value in QUICK_JAVA.items():
            patch.setenv(name, value)
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.ansi.enabled": "false",
            "spark.sql.shuffle.partitions": "1",  # the default, 200, is for clusters
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        }
        session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()

        def query(script: str, rows: pa.Table) -> list[dict[str, Any]]:
            session.createDataFrame(rows).createOrReplaceTempView("rows")
            before, text = statements(script)
            for one in before:
                session.sql(one)
            found = [row.asDict() for row in session.sql(text).collect()]
            for one in before:
                if one.startswith("CREATE TABLE "):
                    session.sql("DROP TABLE " + one.split()[2])
            return found

        yield query
        session.stop()


@pytest.mark.parametrize("name", ["bayes auto", "map None", "category", "pairs", "coins"])
def test_spark_answers_the_same(run: Any, name: str) -> None:
    check(table_case(name), "spark", run)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("words", "inline"), ("bernoulli mle", "tables"), ("pairs", "inline"), ("text and more", "tables")],
)
def test_spark_splits_texts_alike(run: Any, name: str, parameters: str) -> None:
    check(text_case(name), "spark", run, parameters=parameters)


def test_spark_reads_columns_alike(run: Any) -> None:
    check(messy_case(), "spark", run)


def test_hostile_names_are_only_names(run: Any) -> None:
    check(hostile_case(), "spark", run)
