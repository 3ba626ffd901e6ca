"""Queries to a real PostgreSQL server, started in a temporary folder.

Without a server, these tests are skipped with a message; if CI is true, they fail.
"""

import adbc_driver_postgresql.dbapi
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.errors import BadData

from .test_databases import MIXED, ROWS, peak_of

SQL = "SELECT * FROM days ORDER BY humidity"


@pytest.fixture(scope="module")
def server(postgresql):
    """Return the URL of a database that has the mixed rows."""
    with adbc_driver_postgresql.dbapi.connect(postgresql) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("days", MIXED)
        connection.commit()
    return postgresql


def test_the_rows_of_a_query_are_those_of_the_file(server, reads_as):
    reads_as("SELECT * FROM days; ", MIXED, connection=server)
    reads_as("SELECT * FROM days -- all of them", MIXED, connection=server)


def test_the_model_of_a_query_is_to_the_byte_that_of_the_file(server, tmp_path):
    pq.write_table(MIXED, tmp_path / "days.parquet")
    tb.fit(tmp_path / "days.parquet", "play").save(tmp_path / "file.tally")
    tb.fit(SQL, "play", connection=server).save(tmp_path / "query.tally")
    assert (tmp_path / "query.tally").read_bytes() == (tmp_path / "file.tally").read_bytes()


def test_a_connection_of_adbc_is_asked_as_it_is_and_stays_open(server, reads_as):
    with adbc_driver_postgresql.dbapi.connect(server) as connection:
        reads_as("SELECT * FROM days", MIXED, connection=connection)
        reads_as("SELECT * FROM days", MIXED, connection=connection)


def test_numeric_is_a_number_and_an_array_is_refused_by_name(server, all_of):
    numbers = tb.read("SELECT 1.25::numeric AS a UNION ALL SELECT NULL UNION ALL SELECT 'NaN'", connection=server)
    assert str(all_of(numbers).column("a").to_pylist()) == "[1.25, None, nan]"
    with pytest.raises(BadData, match="column 'pair'"):
        tb.fit("SELECT ARRAY[i, i] AS pair, i % 2 AS y FROM generate_series(1, 9) i", "y", connection=server)


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT * FROM nowhere", 'relation "nowhere" does not exist).'),
        ("SELECT 1 / (i - 5) AS a FROM generate_series(1, 9) i", "division by zero)."),
        ("SELECT 1 AS a, 2 AS a", "the query: wanted distinct column names, got 'a' more than once. Rename them."),
        (
            "DROP TABLE days",
            "the query: wanted one that returns rows, got one that returns none. Begin it with SELECT.",
        ),
    ],
)
def test_errors_are_one_sentence(server, sql, sentence):
    with pytest.raises(BadData) as caught:
        list(tb.read(sql, connection=server))
    assert str(caught.value).endswith(sentence)
    assert "\n" not in str(caught.value)
    assert sum(batch.num_rows for batch in tb.read("SELECT * FROM days", connection=server)) == ROWS


def test_a_lost_connection_is_a_sentence(server):
    sql = "SELECT i % 2 AS y, i * 0.5::float8 AS a, repeat('x', 100) AS b FROM generate_series(1, 3000000) i"
    rows = iter(tb.read(sql, connection=server))
    next(rows)
    with adbc_driver_postgresql.dbapi.connect(server) as other, other.cursor() as cursor:
        busy = "FROM pg_stat_activity WHERE query LIKE '%repeat%' AND pid <> pg_backend_pid()"
        cursor.execute(f"SELECT pg_terminate_backend(pid) {busy}")
        assert (True,) in cursor.fetchall()
    with pytest.raises(BadData, match="the query: wanted rows, got a database error") as caught:
        list(rows)
    assert "\n" not in str(caught.value)


def test_a_large_result_takes_little_memory(server):
    sql = "SELECT i % 2 AS y, i * 0.5::float8 AS a, i + 0.5::float8 AS b, i::float8 AS c FROM generate_series(1, {}) i"
    rows, megabytes = peak_of(server, sql.format(1_000_000), sql.format(4_000_000))
    assert rows == 4_000_000
    assert megabytes < 100 < (32 * rows >> 20)
