"""Rows that a database sends: the result of a query, batch by batch, never whole in memory.

A URL is connected to anew for each pass, and only to read; a connection that is given stays open.
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

__all__ = ["of_query"]

QUERY = "the query"
URLS = "'duckdb', 'duckdb:///file.db', 'sqlite:///file.db' or 'postgresql://user@host/name'"


def of_query(sql: Any, connection: Any, errors: str = "strict") -> Source:
    """A source of the rows of a query, which is run anew for each pass.

    Parameters
    ----------
    sql : str
        A query.
    connection : str, DuckDB connection or ADBC connection
        Whom to ask: a URL, or a connection of the user's own.
    errors : {"strict", "replace"}
        What bytes that are not UTF-8 are.
    """
    if not isinstance(sql, str) or not sql.strip():
        got = (
            repr(sql) if isinstance(sql, str | dict | list) else f"a {type(sql).__name__}"
        )  # of which some print pages
        raise BadData(wanted("the data", "a query, since there is a connection", got))
    # On a line of its own, what is put behind a query is not taken for the end of its last comment.
    sql = sql.strip().rstrip("; \n") + "\n"
    with _asked(connection) as database:
        found = database.schema(sql)
    if not found.names:
        raise BadData(wanted(QUERY, "one that gives rows", "one that gives none", "Begin it with SELECT"))
    schema = pa.schema([_plain(field) for field in found])

    def start() -> Iterator[pa.RecordBatch]:
        with _asked(connection) as database:
            for batch in database.batches(sql, found):
                yield _as(schema, batch)

    return Source(schema, None, True, QUERY, lambda: read_ahead(check_batches(start(), QUERY, errors)))


def _plain(field: pa.Field) -> pa.Field:
    """The field as we take it: PostgreSQL's numeric, which comes as text, as numbers; others as they are stored."""
    if (field.metadata or {}).get(b"ADBC:postgresql:typname") == b"numeric":
        return pa.field(field.name, pa.float64())
    return pa.field(field.name, getattr(field.type, "storage_type", field.type))


def _as(schema: pa.Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    if len(schema) != batch.num_columns:
        raise BadData(wanted(QUERY, f"{len(schema)} columns, as before", f"{batch.num_columns}", "Start over"))
    columns = [getattr(column, "storage", column) for column in batch.columns]
    plain = [c if c.type == field.type else c.cast(field.type) for c, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(plain, schema=schema)


@contextmanager
def _asked(connection: Any) -> Iterator[Dialect]:
    """The database, connected; what it has to say against a query is put in one sentence."""
    with _connected(connection) as given:
        try:
            database = dialect_of(given)
            if database is None:
                got = f"a {type(given).__module__}.{type(given).__name__}"
                raise BadOption(wanted("connection", f"{URLS}, or a connection of DuckDB or ADBC", got, "Pass a URL"))
            yield database
        except (*BROKEN, OSError, *failures_of(given)) as error:
            raise BadData(wanted(QUERY, "rows", f"an error of the database ({_said(error)})")) from None


def _connected(connection: Any) -> Any:
    """A context in which there is a connection: one of our own ends with it."""
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
    # Of a URL that is not understood only its beginning is repeated: a password may follow.
    raise BadOption(wanted("connection", URLS, f"'{scheme[:20]}://...'" if place else repr(connection)))


def _duckdb(place: str) -> Any:
    path = _file(place, f"duckdb://{place}") if place else ":memory:"
    connection = _connect("duckdb", path, read_only=bool(place))
    # A table that is not there is an error, and not a variable of this program that happens to have its name.
    connection.execute("SET python_enable_replacements = false")
    # Its bar would be drawn on standard output, among the answers.
    connection.execute("SET enable_progress_bar = false")
    return connection


def _file(place: str, url: str) -> str:
    """The file that a URL names behind its third slash; a fourth one begins an absolute path."""
    scheme = url.partition("://")[0]
    if not place.startswith("/") or place == "/":
        raise BadOption(wanted("connection", f"{scheme}:///file.db, with three slashes", repr(url)))
    path = os.path.expanduser(place[1:])
    if not os.path.isfile(path):
        do = f"An absolute path has four slashes: {scheme}:////{path}" if os.path.isfile(f"/{path}") else ""
        raise BadData(wanted(path, "a database", "no file at that path", do))
    return path


def _connect(module: str, where: str, **how: Any) -> Any:
    """A connection by a driver, which is imported now and not before."""
    try:
        driver = import_module(module)
    except ImportError:
        package = module.split(".")[0].replace("_", "-")
        do = "Install it with: pip install 'tallybayes[sql]'"
        raise BadOption(wanted("connection", f"the package {package}", "none installed", do)) from None
    try:
        return driver.connect(where, **how)
    except driver.Error as error:
        raise BadData(wanted("connection", "a database", f"none ({_said(error)})")) from None


def _said(error: BaseException) -> str:
    return " ".join(in_words(error).split())
