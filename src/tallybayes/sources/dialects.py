"""Dialects: how each database returns a query's columns, without rows, and then its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any, Protocol

import pyarrow as pa

from tallybayes.sources.source import check_distinct

BATCH_ROWS = 1 << 16


class Dialect(Protocol):
    """A connection that returns the columns and the rows of queries."""

    def schema(self, sql: str) -> pa.Schema:
        """Return the columns of a query."""

    def batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query that has these columns."""


def dialect_of(connection: Any) -> Dialect | None:
    """Return the dialect of a connection; None if it does not speak Arrow."""
    if _is_duckdb(connection):
        return DuckDB(connection)
    if not hasattr(connection, "adbc_get_info"):
        return None
    return SQLite(connection) if connection.adbc_get_info().get("vendor_name") == "SQLite" else Adbc(connection)


def failures_of(connection: Any) -> tuple[type[Exception], ...]:
    """Return the exceptions that a connection raises when its database fails.

    By Python's database API (PEP 249) they are an attribute of the connection; DuckDB has them in its module.
    """
    if _is_duckdb(connection):
        return (import_module("duckdb").Error,)
    return (connection.Error,) if hasattr(connection, "Error") else ()


def _is_duckdb(connection: Any) -> bool:
    return type(connection).__module__.split(".")[0] in ("duckdb", "_duckdb") and hasattr(connection, "sql")


class DuckDB:
    """DuckDB, embedded.

    A relation streams its rows; a cursor of the same connection would hold them all.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def schema(self, sql: str) -> pa.Schema:
        """Return the columns, from a query that ends before its first row.

        In parentheses, a statement that is not a query fails before it changes anything. But there DuckDB renames
        duplicate columns, so the names come from the query itself.
        """
        with closing(self._reader(f"SELECT * FROM (\n{sql}) LIMIT 0")) as reader:
            found = reader.schema
        names = self._connection.sql(sql).columns
        return pa.schema([field.with_name(name) for field, name in zip(found, names, strict=True)])

    def batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows.

        A connection has one open result at a time, so the result is closed even if iteration stops midway.
        """
        with closing(self._reader(sql)) as reader:
            yield from reader

    def _reader(self, sql: str) -> pa.RecordBatchReader:
        relation = self._connection.sql(sql)
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # the old name, before 1.4
        return read(BATCH_ROWS)


class Adbc:
    """PostgreSQL, and any database whose ADBC driver knows a query's columns in advance."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def schema(self, sql: str) -> pa.Schema:
        """Return the columns, from a query that is prepared but not run."""
        with self._connection.cursor() as cursor:
            return cursor.adbc_execute_schema(sql)

    def batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            yield from cursor.fetch_record_batch()


class SQLite(Adbc):
    """SQLite, where each value has its own type, whatever its column declares.

    The driver takes the types of the first rows for those of the column and fails at the first value of a wider type.
    So we first ask for the widest type of each column, which costs a pass inside the database. Then we put a row of
    these types before the others and drop it when it comes back.
    """

    # The rank of a value's type, from the first letter of its name: null, integer, real, text, blob. Each type can hold
    # those before it.
    _WIDTH = "instr('nirtb', substr(typeof({0}), 1, 1)) - 1"
    _TYPES = (pa.int64(), pa.int64(), pa.float64(), pa.string(), pa.binary())

    def schema(self, sql: str) -> pa.Schema:
        """Return the columns with the widest type of each."""
        # In parentheses, a statement that is not a query fails before it changes anything. But there SQLite renames
        # duplicate columns, so the names come from the query itself.
        with self._answer(f"SELECT * FROM (\n{sql}) LIMIT 0"), self._answer(sql) as reader:
            names = reader.schema.names
        check_distinct(names, "the query")
        widest = ", ".join(f"max({self._WIDTH.format(_quoted(name))}) AS {_quoted(name)}" for name in names)
        with self._answer(f"SELECT {widest} FROM (\n{sql})") as reader:
            widths = reader.read_next_batch().to_pylist()[0]
        return pa.schema([(name, self._TYPES[widths[name] or 0]) for name in names])  # None if there are no rows

    def batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows, without the one that was put before them."""
        witnesses = {pa.int64(): "0", pa.float64(): "0.0", pa.string(): "''", pa.binary(): "x''"}
        before = ", ".join(f"{witnesses[field.type]} AS {_quoted(field.name)}" for field in schema)
        with self._answer(f"SELECT {before} UNION ALL SELECT * FROM (\n{sql})", BATCH_ROWS) as reader:
            yield reader.read_next_batch().slice(1)
            yield from reader

    @contextmanager
    def _answer(self, sql: str, batch_rows: int = 1) -> Iterator[pa.RecordBatchReader]:
        with self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(batch_rows)})
            cursor.execute(sql)
            yield cursor.fetch_record_batch()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
