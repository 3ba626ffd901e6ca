"""How each database is asked: for the columns of a query, without its rows, and for its rows, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any, Protocol

import pyarrow as pa

from tallybayes.sources.source import check_distinct

__all__ = ["Dialect", "dialect_of", "failures_of"]

BATCH_ROWS = 1 << 16


class Dialect(Protocol):
    """A connection, and how it is asked."""

    def schema(self, sql: str) -> pa.Schema:
        """The columns of a query."""

    def batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a query that has these columns."""


def dialect_of(connection: Any) -> Dialect | None:
    """The way to ask a connection; None of what is none that speaks Arrow."""
    if _is_duckdb(connection):
        return DuckDB(connection)
    if not hasattr(connection, "adbc_get_info"):
        return None
    return SQLite(connection) if connection.adbc_get_info().get("vendor_name") == "SQLite" else Adbc(connection)


def failures_of(connection: Any) -> tuple[type[Exception], ...]:
    """What a connection raises when its database says no: an attribute of it, by the rules of Python's databases."""
    if _is_duckdb(connection):
        return (import_module("duckdb").Error,)
    return (connection.Error,) if hasattr(connection, "Error") else ()


def _is_duckdb(connection: Any) -> bool:
    return type(connection).__module__.split(".")[0] in ("duckdb", "_duckdb") and hasattr(connection, "sql")


class DuckDB:
    """DuckDB, embedded. A relation streams its rows; a cursor of the same connection would hold them all."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def schema(self, sql: str) -> pa.Schema:
        """The columns, of a query that ends before its first row.

        In brackets, what is no query is refused before it does anything; but columns of one name are given others.
        """
        with closing(self._reader(f"SELECT * FROM (\n{sql}) LIMIT 0")) as reader:
            found = reader.schema
        names = self._connection.sql(sql).columns
        return pa.schema([field.with_name(name) for field, name in zip(found, names, strict=True)])

    def batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows. A connection has one open result at a time, so this one is closed even if it is left midway."""
        with closing(self._reader(sql)) as reader:
            yield from reader

    def _reader(self, sql: str) -> pa.RecordBatchReader:
        relation = self._connection.sql(sql)
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # the latter before 1.4
        return read(BATCH_ROWS)


class Adbc:
    """PostgreSQL, and any other database whose ADBC driver knows the columns of a query beforehand."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def schema(self, sql: str) -> pa.Schema:
        """The columns, of a query that is prepared but not run."""
        with self._connection.cursor() as cursor:
            return cursor.adbc_execute_schema(sql)

    def batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            yield from cursor.fetch_record_batch()


class SQLite(Adbc):
    """SQLite, where each value has a type of its own, whatever its column was declared.

    The driver takes the first rows' types to be the column's and fails at the first value of a wider one. So the widest
    type of each column is asked for beforehand, which costs a pass within the database; then a row of these types is
    put before the others, and dropped when it has come back.
    """

    # How wide a value's type is, told by its name's first letter (null, integer, real, text, blob); each holds the ones
    # before it.
    _WIDTH = "instr('nirtb', substr(typeof({0}), 1, 1)) - 1"
    _TYPES = (pa.int64(), pa.int64(), pa.float64(), pa.string(), pa.binary())

    def schema(self, sql: str) -> pa.Schema:
        """The columns, and the widest type of each."""
        # In brackets, what is no query is refused before it does anything; but columns of one name are given others.
        with self._answer(f"SELECT * FROM (\n{sql}) LIMIT 0"), self._answer(sql) as reader:
            names = reader.schema.names
        check_distinct(names, "the query")
        widest = ", ".join(f"max({self._WIDTH.format(_quoted(name))}) AS {_quoted(name)}" for name in names)
        with self._answer(f"SELECT {widest} FROM (\n{sql})") as reader:
            widths = reader.read_next_batch().to_pylist()[0]
        return pa.schema([(name, self._TYPES[widths[name] or 0]) for name in names])  # None of a query without rows

    def batches(self, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows, without the one that was put before them."""
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
