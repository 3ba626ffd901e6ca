"""Queries in Spark SQL; skipped without Java, unless CI is true."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from .cases import hostile_case, messy_case, table_case, text_case
from .engines import statements
from .test_sql import check

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of py4j's connections to Java
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning:pyspark"),
]


@pytest.fixture
def run(spark: Any) -> Any:
    """Return a function that runs a query over a table "rows", in a session of its own."""
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.shuffle.partitions", "1")  # the default, 200, is for clusters
    session.conf.set("spark.sql.session.timeZone", spark._jvm.java.util.TimeZone.getDefault().getID())

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

    return query


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
