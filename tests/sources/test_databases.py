"""Queries: DuckDB and SQLite return a file's rows, and database errors become one sentence."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import adbc_driver_sqlite.dbapi
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption
from tallybayes.sources import databases

ROWS = 3000
MIXED = pa.table(
    {
        "outlook": [["sunny", "rain", None, "it's"][k % 4] for k in range(ROWS)],
        "temperature": [None if k % 7 == 0 else 60 + k % 31 for k in range(ROWS)],
        "humidity": [None if k % 11 == 0 else k * 0.1 for k in range(ROWS)],
        "note": [f"word{k % 13} and another word{k % 5}, at some length {k}" for k in range(ROWS)],
        "play": ["yes" if k % 3 else "no" for k in range(ROWS)],
    }
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the same rows in a parquet file and in both databases."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(MIXED, "days.parquet")
    with duckdb.connect("days.duckdb") as made:
        made.execute("CREATE TABLE days AS SELECT * FROM 'days.parquet'")
    filled("days.db", MIXED)
    Path("junk.bin").write_bytes(b"neither one nor the other" * 1000)
    return tmp_path


def filled(path, table):
    made = sqlite3.connect(path)
    made.execute(f"CREATE TABLE days ({', '.join(table.column_names)})")
    marks = ", ".join("?" * table.num_columns)
    made.executemany(f"INSERT INTO days VALUES ({marks})", zip(*table.to_pydict().values(), strict=True))
    made.commit()
    made.close()


DATABASES = [
    ("SELECT * FROM 'days.parquet'", "duckdb"),
    ("SELECT * FROM 'days.parquet'", "duckdb://"),
    ("SELECT * FROM days -- all of them", "duckdb:///days.duckdb"),
    ("SELECT * FROM days;", "sqlite:///days.db"),
]


@pytest.mark.parametrize(("sql", "url"), DATABASES)
def test_the_rows_of_a_query_are_those_of_the_file_as_often_as_they_are_read(folder, reads_as, sql, url):
    source = reads_as(sql, MIXED, connection=url)
    assert (source.name, source.rows, source.again) == ("the query", None, True)


@pytest.mark.parametrize(("sql", "url"), DATABASES)
def test_the_model_of_a_query_is_to_the_byte_that_of_the_file(folder, sql, url):
    tb.fit("days.parquet", "play").save("file.tally")
    model = tb.fit(sql, "play", connection=url)
    model.save("query.tally")
    assert Path("query.tally").read_bytes() == Path("file.tally").read_bytes()
    assert {"text", "histogram", "categorical"} <= set(model.schema.events().values())


def test_what_takes_rows_takes_those_of_a_query(folder):
    rows, file = tb.read("SELECT * FROM days", connection="sqlite:///days.db"), "days.parquet"
    model = tb.fit(rows, "play")
    assert model == tb.fit(file, "play")
    assert model.predict(rows).tolist() == model.predict(file).tolist()
    assert tb.validate(rows, "play", "3-fold").to_dict() == tb.validate(file, "play", "3-fold").to_dict()
    assert model.learn(rows) == model.learn(file)
    assert tb.probability(rows, "play=yes").to_dict() == tb.probability(file, "play=yes").to_dict()


@pytest.mark.parametrize("url", ["duckdb:///days.duckdb", "sqlite:///days.db"])
def test_rows_come_in_the_order_of_the_query(folder, url):
    rows = tb.read("SELECT humidity FROM days WHERE humidity > 5 ORDER BY humidity DESC", connection=url)
    values = [value for batch in rows for value in batch.column(0).to_pylist()]
    assert len(values) > 2000
    assert values == sorted(values, reverse=True)


def test_options_of_reading_hold_for_queries(folder, all_of):
    url = "sqlite:///days.db"
    source = tb.read("SELECT * FROM days", connection=url, columns=["play", "outlook"], missing=["rain"], batch_rows=7)
    assert max(batch.num_rows for batch in source) == 7
    assert all_of(source).column_names == ["play", "outlook"]
    assert all_of(source).column("outlook").null_count == ROWS // 2
    with pytest.raises(BadOption, match="names: wanted none, since a query names its columns"):
        tb.read("SELECT * FROM days", connection=url, names=["a"])


def test_a_connection_of_duckdb_is_asked_as_it_is_and_stays_open(all_of):
    with duckdb.connect() as connection:
        connection.execute("CREATE TEMP TABLE days AS SELECT i AS a, i % 2 = 0 AS even FROM range(200000) t(i)")
        source = tb.read("SELECT * FROM days", connection=connection)
        next(iter(source))  # an unfinished result must not block the next query
        assert all_of(source).num_rows == 200_000
        assert connection.execute("SELECT count(*) FROM days").fetchone() == (200_000,)


def test_a_connection_of_adbc_is_asked_as_it_is_and_stays_open(folder, reads_as):
    with adbc_driver_sqlite.dbapi.connect("days.db") as connection:
        reads_as("SELECT * FROM days", MIXED, connection=connection)
        with pytest.raises(BadData, match="syntax error"):
            tb.read("DELETE FROM days", connection=connection)
        reads_as("SELECT * FROM days", MIXED, connection=connection)
    with pytest.raises(BadData, match="the query: wanted rows, got a database error"):
        tb.read("SELECT * FROM days", connection=connection)


@pytest.mark.parametrize(
    ("early", "late", "kind", "first", "last"),
    [
        (1, 2.5, pa.float64(), 1.0, 2.5),
        (None, "text", pa.string(), None, "text"),
        (None, 2.5, pa.float64(), None, 2.5),
        (7, "text", pa.string(), "7", "text"),
        (2.5, 7, pa.float64(), 2.5, 7.0),
        (None, None, pa.int64(), None, None),
        (2**62, -(2**63), pa.int64(), 2**62, -(2**63)),
    ],
)
def test_a_column_of_sqlite_has_the_widest_type_of_its_values(
    folder, all_of, monkeypatch, early, late, kind, first, last
):
    monkeypatch.setattr("tallybayes.sources.dialects.BATCH_ROWS", 100)
    filled("late.db", pa.table({"b": range(1000)}))
    with sqlite3.connect("late.db") as made:
        made.execute('ALTER TABLE days ADD COLUMN "a ""b"""')
        made.executemany('UPDATE days SET "a ""b""" = ? WHERE b = ?', [(early, k) for k in range(999)] + [(late, 999)])
    made.close()
    table = all_of(tb.read("SELECT * FROM days", connection="sqlite:///late.db"))
    column = table.column('a "b"')
    assert (column.type, column[0].as_py(), column[999].as_py()) == (kind, first, last)


def test_decimals_are_numbers_and_nested_columns_are_refused_by_name():
    priced = "SELECT (i * 1.25)::DECIMAL(9, 2) AS price, i % 2 AS y FROM range(10) t(i)"
    doubles = "SELECT (i * 1.25)::DOUBLE AS price, i % 2 AS y FROM range(10) t(i)"
    decimal, double = (tb.fit(sql, "y", connection="duckdb") for sql in (priced, doubles))
    assert decimal.table("price").values.tolist() == double.table("price").values.tolist()
    with pytest.raises(BadData, match="column 'pair'"):
        tb.fit("SELECT [i, i] AS pair, i % 2 AS y FROM range(10) t(i)", "y", connection="duckdb")


def test_text_of_sqlite_that_is_not_utf8_is_refused_with_its_row_or_replaced(folder, all_of):
    sql = "SELECT 'café' AS dish UNION ALL SELECT CAST(x'636166e9' AS TEXT)"
    with pytest.raises(BadData, match=r"column 'dish': wanted text in UTF-8, got other bytes .row 2, byte 4"):
        all_of(tb.read(sql, connection="sqlite:///days.db"))
    replaced = all_of(tb.read(sql, connection="sqlite:///days.db", errors="replace"))
    assert replaced.column("dish").to_pylist() == ["café", "caf\ufffd"]


QUERY_BAD = "the query: wanted rows, got a database error ("
KNOWN = "'duckdb', 'duckdb:///file.db', 'sqlite:///file.db' or 'postgresql://user@host/name'"


@pytest.mark.parametrize(
    ("sql", "url", "sentence"),
    [
        ("SELECT nope FROM days", "sqlite:///days.db", f"{QUERY_BAD}INVALID_ARGUMENT: [SQLite] Failed to prepare"),
        ("SELECT nope FROM days", "duckdb:///days.duckdb", f'{QUERY_BAD}Binder Error: Referenced column "nope"'),
        ("SELECT * FROM source", "duckdb", f"{QUERY_BAD}Catalog Error: Table with name source does not exist"),
        ("DROP TABLE days", "sqlite:///days.db", QUERY_BAD),
        ("CREATE TABLE other (a INT)", "duckdb", QUERY_BAD),
        ("SELECT 1 AS a; DROP TABLE days", "sqlite:///days.db", QUERY_BAD),
        ("SELECT 1 AS a, 2 AS a", "sqlite:///days.db", "the query: wanted distinct column names, got 'a' more than"),
        ("SELECT 1 AS a, 2 AS a", "duckdb", "the query: wanted distinct column names, got 'a' more than once."),
        ("SELECT 1 AS a", "sqlite:///gone.db", "gone.db: wanted a database, got no file at that path."),
        ("SELECT 1 AS a", "duckdb:///gone.db", "gone.db: wanted a database, got no file at that path."),
        ("SELECT 1 AS a", "sqlite://days.db", "connection: wanted sqlite:///file.db, with three slashes, got 'sqlite:"),
        ("SELECT 1 AS a", "duckdb:///junk.bin", "connection: wanted a database, got none (IO Error: "),
        ("SELECT 1 AS a", "sqlite:///junk.bin", QUERY_BAD),
        ("SELECT 1 AS a", "mysql://me:secret@host/d", f"connection: wanted {KNOWN}, got 'mysql://...'."),
        ("SELECT 1 AS a", "somewhere", f"connection: wanted {KNOWN}, got 'somewhere'."),
        ("SELECT 1 AS a", "postgresql://me:secret@127.0.0.1:1/d", "connection: wanted a database, got none ("),
        (
            "SELECT 1 AS a",
            sqlite3,
            f"connection: wanted {KNOWN}, or a connection of DuckDB or ADBC, got a builtins.mod",
        ),
        ("  ", "duckdb", "the data: wanted a query, since a connection was given, got '  '."),
        ({"a": [1]}, "duckdb", "the data: wanted a query, since a connection was given, got {'a': [1]}."),
    ],
)
def test_errors_are_one_sentence(folder, sql, url, sentence):
    with pytest.raises((BadData, BadOption)) as caught:
        list(tb.read(sql, connection=url))
    said = str(caught.value)
    assert said.startswith(sentence)
    assert "\n" not in said
    assert "secret" not in said
    with closing(sqlite3.connect("days.db")) as made:
        assert made.execute("SELECT count(*) FROM days").fetchone() == (ROWS,)


def test_an_absolute_path_with_too_few_slashes_is_explained(folder):
    with pytest.raises(BadData, match="An absolute path has four slashes: sqlite:////"):
        tb.read("SELECT 1 AS a", connection=f"sqlite://{folder}/days.db")
    assert tb.read("SELECT 1 AS a", connection=f"sqlite:///{folder}/days.db").schema.names == ["a"]


@pytest.mark.parametrize(("sql", "url"), DATABASES[2:])
def test_a_query_without_rows_is_refused_by_a_fit(folder, sql, url):
    with pytest.raises(BadData, match="the query: wanted rows to learn from, got none"):
        tb.fit("SELECT * FROM days WHERE play = 'never'", "play", connection=url)


def test_an_error_midway_is_a_sentence():
    # Enough rows that no thread of the database reaches the bad ones before the first batch is read.
    sql = "SELECT CASE WHEN i < 9999000 THEN i % 2 ELSE error('out of luck') END AS y, i FROM range(10000000) t(i)"
    source = tb.read(sql, connection="duckdb")
    assert next(iter(source)).num_rows
    with pytest.raises(BadData, match=r"the query: wanted rows, got a database error .*out of luck"):
        tb.fit(source, "y")


@pytest.mark.parametrize(
    ("url", "package"),
    [("duckdb", "duckdb"), ("sqlite:///days.db", "adbc-driver-sqlite"), ("postgresql://h/d", "adbc-driver-postgresql")],
)
def test_a_driver_that_is_not_installed_is_named(folder, monkeypatch, url, package):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(databases, "import_module", absent)
    with pytest.raises(BadOption) as caught:
        tb.read("SELECT 1 AS a", connection=url)
    do = "Install it with: pip install 'tallybayes[sql]'."
    assert str(caught.value) == f"connection: wanted the package {package}, got none installed. {do}"


# The resident memory that a large result adds to a process that has read a small one.
PEAK = """
import resource, sys
import tallybayes as tb

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

url, few, many = sys.argv[1:]
tb.fit(few, "y", connection=url, calibrate=None)
before = peak()
model = tb.fit(many, "y", connection=url, calibrate=None)
print(int(model.evidence.rows.to_float().sum()), peak() - before)
"""


def peak_of(url, few, many):
    """Return the number of rows of a query, and the megabytes that reading it adds."""
    command = [sys.executable, "-c", PEAK, url, few, many]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    rows, megabytes = map(int, made.stdout.split())
    return rows, megabytes


DUCKDB = "SELECT i % 2 AS y, i * 0.5 AS a, i * 0.25 AS b, i + 0.5 AS c FROM range({}) t(i)"
SQLITE = """
WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < {} - 1)
SELECT i % 2 AS y, i * 0.5 AS a, i * 0.25 AS b, i + 0.5 AS c, i + 1.5 AS d, i + 2.5 AS e, i + 3.5 AS f FROM r
"""


@pytest.mark.parametrize(
    ("url", "sql", "size", "width"), [("duckdb", DUCKDB, 4_000_000, 4), ("sqlite:///days.db", SQLITE, 2_000_000, 7)]
)
def test_a_large_result_takes_little_memory(folder, url, sql, size, width):
    rows, megabytes = peak_of(url, sql.format(200_000), sql.format(size))
    assert rows == size
    assert megabytes < 100 < (8 * width * size >> 20)
