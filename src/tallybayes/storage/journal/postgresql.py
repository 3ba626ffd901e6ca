"""A journal in a PostgreSQL database, shared by the servers of a fleet."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from tallybayes.errors import BadOption, DiskFull, JournalError, wanted
from tallybayes.storage.journal.journal import Journal

try:
    import psycopg
except ModuleNotFoundError as error:  # pragma: no cover
    do = "Install it: pip install 'tallybayes[serve]'"
    raise BadOption(wanted("journal", "the package psycopg for PostgreSQL", "none", do)) from error

__all__ = ["PostgresqlJournal"]

_CHANNEL = "tally_journal"
_PATIENCE = 10  # seconds to wait for a connection


class PostgresqlJournal(Journal):
    """A journal in a PostgreSQL database.

    Each transaction first takes a lock on the model's name. So positions have no gaps, and a follower that has read up
    to a position misses nothing before it. A lost connection is opened again at the next use.
    """

    _bytes = "BYTEA"

    def __init__(self, url: str, model: str) -> None:
        super().__init__(model)
        self._url = url
        self._open: psycopg.Connection[tuple[Any, ...]] | None = None
        self._listening: psycopg.Connection[tuple[Any, ...]] | None = None

    @property
    def name(self) -> str:
        """The database in messages, without user and password."""
        try:
            parts = psycopg.conninfo.conninfo_to_dict(self._url)
        except psycopg.Error:
            return "journal"
        return f"journal postgresql://{parts.get('host', '')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self._url, autocommit=True, connect_timeout=_PATIENCE)

    def _connection(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._open is None or self._open.closed:
            self._open = self._connect()
        return self._open

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run statements that take effect together; other servers of the model wait, and are notified."""
        with self._refusing(), self._connection().transaction():
            self._rows("SELECT pg_advisory_xact_lock(hashtext('tally_journal'), hashtext(?))", (self.model,))
            yield
            self._rows(f"SELECT pg_notify('{_CHANNEL}', ?)", (self.model,))

    def begin(self, base: str) -> None:
        """Create the tables if needed, and raise unless the journal began with evidence of this hash."""
        with self._refusing(), self._connection().transaction():  # two servers may not create one table at a time
            self._rows("SELECT pg_advisory_xact_lock(hashtext('tally_journal'))")
            super().begin(base)

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._refusing():
            cursor = self._connection().execute(statement.replace("?", "%s").encode(), values)
            return cursor.fetchall() if cursor.description is not None else []

    def _run_for_each(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        with self._refusing(), self._connection().cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s").encode(), values)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """Raise errors of the database as our own."""
        try:
            yield
        except psycopg.Error as error:
            full = isinstance(error, psycopg.errors.DiskFull)
            first = next(iter(str(error).splitlines()), type(error).__name__)
            do = "Free some space; nothing was changed" if full else ""
            message = wanted(self.name, "a database to write", first, do)
            raise (DiskFull if full else JournalError)(message) from None

    def wait(self, stop: threading.Event, seconds: float) -> None:
        """Wait for a notification of any model; without a connection, for some seconds."""
        try:
            if self._listening is None or self._listening.closed:
                self._listening = self._connect()
                self._listening.execute(f"LISTEN {_CHANNEL}")
                return  # something may have been appended before
            for _ in self._listening.notifies(timeout=seconds, stop_after=1):
                pass
        except psycopg.Error:
            self._listening = None
            stop.wait(seconds)

    def close(self) -> None:
        """Close the connections."""
        for one in (self._open, self._listening):
            if one is not None:
                one.close()
