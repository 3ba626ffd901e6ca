"""Rows of a database query, batch by batch, never all in memory.

A URL is opened again for each pass, read-only. A connection that the caller passes stays open.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from importlib import import_module
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.sources.dialects import Dialect, dialect_of, failures_of
from tallybayes.sources.source import Source
from tallybayes.sources.steps import BROKEN, check_batches, in_words, read_ahead

QUERY = "the query"
URLS = "'duckdb', 'duckdb:///file.db', 'sqlite:///file.db' or 'postgresql://user@host/name'"


def of_query(sql: Any, connection: Any, errors: str = "strict") -> Source:
    """Return a source of the rows of a query, which runs again for each pass."""
    if not isinstance(sql, str) or not sql.strip():
        # Other objects are named by their type only: the repr of a frame may fill pages.
        got = repr(sql) if isinstance(sql, str | dict | list) else f"a {type(sql).__name__}"
        raise BadData(wanted("the data", "a query, since a connection was given", got))
    # The query may end in a comment. The line end keeps text that is appended to the query out of it.
    sql = sql.strip().rstrip("; \n") + "\n"
    with _session(connection) as database:
        found = database.schema(sql)
    if not found.names:
        raise BadData(wanted(QUERY, "one that returns rows", "one that returns none", "Begin it with SELECT"))
    schema = pa.schema([_plain(field) for field in found])

    def start() -> Iterator[pa.RecordBatch]:
        with _session(connection) as database:
            for batch in database.batches(sql, found):
                yield _conform(schema, batch)

    return Source(schema, None, True, QUERY, lambda: read_ahead(check_batches(start(), QUERY, errors)))


def _plain(field: pa.Field) -> pa.Field:
    """Return the field as we read it.

    PostgreSQL's numeric, which arrives as text, becomes a number; extension types become their storage type.
    """
    if (field.metadata or {}).get(b"ADBC:postgresql:typname") == b"numeric":
        return pa.field(field.name, pa.float64())
    return pa.field(field.name, getattr(field.type, "storage_type", field.type))


def _conform(schema: pa.Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    if len(schema) != batch.num_columns:
        raise BadData(wanted(QUERY, f"{len(schema)} columns, as before", f"{batch.num_columns}", "Start over"))
    columns = [getattr(column, "storage", column) for column in batch.columns]
    plain = [c if c.type == field.type else c.cast(field.type) for c, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(plain, schema=schema)


@contextmanager
def _session(connection: Any) -> Iterator[Dialect]:
    """Connect to a database; reword its errors as BadData or BadOption."""
    with _connected(connection) as client:
        try:
            database = dialect_of(client)
            if database is None:
                got = f"a {type(client).__module__}.{type(client).__name__}"
                raise BadOption(wanted("connection", f"{URLS}, or a connection of DuckDB or ADBC", got, "Pass a URL"))
            yield database
        except (*BROKEN, OSError, *failures_of(client)) as error:
            raise BadData(wanted(QUERY, "rows", f"a database error ({_one_line(error)})")) from None


def _connected(connection: Any) -> Any:
    """Return a context with a connection; close the connection after if it is ours."""
    if not isinstance(connection, str):
        return nullcontext(connection)
    scheme, _, place = connection.partition("://")
    if scheme == "duckdb":
        return closing(_duckdb(place))
    if scheme == "sqlite":
        uri = f"file:{quote(_file(place, connection))}?mode=ro"
        return closing(_connect("adbc_driver_sqlite.dbapi", uri))
    if scheme in ("postgresql", "postgres") and place:
        return closing(_connect("adbc_driver_postgresql.dbapi", connection))
    # Show only the beginning of an unknown URL: a password may follow.
    raise BadOption(wanted("connection", URLS, f"'{scheme[:20]}://...'" if place else repr(connection)))


def _duckdb(place: str) -> Any:
    path = _file(place, f"duckdb://{place}") if place else ":memory:"
    connection = _connect("duckdb", path, read_only=bool(place))
    # An unknown table must be an error, not a Python variable that happens to have its name.
    connection.execute("SET python_enable_replacements = false")
    # The progress bar would appear in the program's standard output.
    connection.execute("SET enable_progress_bar = false")
    return connection


def _file(place: str, url: str) -> str:
    """Return the file after a URL's third slash; a fourth begins an absolute path."""
    scheme = url.partition("://")[0]
    if not place.startswith("/") or place == "/":
        raise BadOption(wanted("connection", f"{scheme}:///file.db, with three slashes", repr(url)))
    path = os.path.expanduser(place[1:])
    if not os.path.isfile(path):
        do = f"An absolute path has four slashes: {scheme}:////{path}" if os.path.isfile(f"/{path}") else ""
        raise BadData(wanted(path, "a database", "no file at that path", do))
    return path


def _connect(module: str, where: str, **how: Any) -> Any:
    """Connect with a driver, which is imported only now."""
    try:
        driver = import_module(module)
    except ImportError:
        package = module.split(".")[0].replace("_", "-")
        do = "Install it with: pip install 'tallybayes[sql]'"
        raise BadOption(wanted("connection", f"the package {package}", "none installed", do)) from None
    try:
        return driver.connect(where, **how)
    except driver.Error as error:
        raise BadData(wanted("connection", "a database", f"none ({_one_line(error)})")) from None


def _one_line(error: BaseException) -> str:
    return " ".join(in_words(error).split())
