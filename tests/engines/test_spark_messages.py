"""Spark's error messages and the size of the merge tree, tested without Spark."""

import pytest

from tallybayes.engines.spark.errors import in_words
from tallybayes.engines.spark.partitions import _levels

CAUSED = """An error occurred while calling o77.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
\tat org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:70)
Caused by: org.apache.spark.SparkException: """
MISMATCH = (
    "[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] Encountered error while reading file file:///d/1.parquet. "
    "Data type mismatches when reading Parquet column [a.ge]. Expected Spark type double, actual Parquet type BINARY. "
    "SQLSTATE: KD001\n\tat org.apache.spark.sql.errors.QueryExecutionErrors$"
)
GONE = "[FAILED_READ_FILE.FILE_NOT_EXIST] File does not exist. It may have been\nupdated. SQLSTATE: KD001"
WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "words.py", line 3, in tokens
    raise RuntimeError("no words today")
RuntimeError: no words today
\tat org.apache.spark.api.python.BasePythonRunner"""
TOO_MUCH = (
    "Job aborted due to stage failure: Total size of serialized results of 16 tasks (1.1 GiB) "
    "is bigger than spark.driver.maxResultSize (1024.0 MiB)\n\tat org.apache"
)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            CAUSED + MISMATCH,
            "rows, file 'file:///d/1.parquet', column 'a.ge': wanted double, as in the other files, got BINARY. "
            "Make them one type.",
        ),
        (
            CAUSED + GONE,
            "rows: wanted partitions that can be read, got an error while reading "
            "(File does not exist. It may have been).",
        ),
        (WORKER, "rows: wanted partitions that can be read, got an error of a worker (RuntimeError: no words today)."),
        (
            WORKER.replace("RuntimeError: no words today", "ModuleNotFoundError: No module named 'tallybayes'"),
            "rows: wanted partitions that can be read, got an error of a worker "
            "(ModuleNotFoundError: No module named 'tallybayes'). "
            "Install tallybayes on the executors, in the Python that PYSPARK_PYTHON names.",
        ),
        (
            TOO_MUCH,
            "rows: wanted answers that fit into the driver, got Total size of serialized results of 16 tasks (1.1 GiB) "
            "is bigger than spark.driver.maxResultSize (1024.0 MiB). Raise spark.driver.maxResultSize.",
        ),
        ("", "rows: wanted partitions that can be read, got an error while reading (no details)."),
        ("Connection refused\nat x", "rows: wanted partitions that can be read, got an error while reading "
         "(Connection refused)."),
    ],
)  # fmt: skip
def test_a_page_of_java_becomes_one_sentence(said, sentence):
    assert in_words("rows", said) == sentence


@pytest.mark.parametrize(
    ("partitions", "levels"), [(0, []), (1, []), (16, []), (17, [2]), (1000, [63, 4]), (None, [16, 1])]
)
def test_few_results_are_merged_in_the_driver_and_many_in_a_tree(partitions, levels):
    assert list(_levels(partitions)) == levels
