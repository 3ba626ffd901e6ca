"""A journal in a SQLite file."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tallybayes.errors import DiskFull, JournalError, wanted
from tallybayes.storage.journal.journal import Journal

__all__ = ["SqliteJournal"]

_PATIENCE = 30.0  # seconds to wait for the transactions of another process


class SqliteJournal(Journal):
    """A journal in a SQLite file: a write-ahead log, synced at every commit.

    Several processes of one machine may share the file; each sees what the others append when it looks.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = SqliteJournal(Path(folder, "journal.sqlite"), "weather")
    ...     journal.begin("0123")
    ...     print(journal.last())
    ...     journal.close()
    None
    """

    _bytes = "BLOB"

    def __init__(self, path: Path, model: str) -> None:
        super().__init__(model)
        self._path = path
        with self._refusing():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, _PATIENCE, isolation_level=None, check_same_thread=False)
            self._rows("PRAGMA journal_mode = WAL")
            self._rows("PRAGMA synchronous = FULL")

    @property
    def name(self) -> str:
        """The file in messages."""
        return f"journal {str(self._path)!r}"

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run statements that take effect together; other processes wait."""
        self._rows("BEGIN IMMEDIATE")
        try:
            yield
            self._rows("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk has ended it already
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            raise

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._refusing():
            return self._connection.execute(statement, values).fetchall()

    def _run_for_each(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        with self._refusing():
            self._connection.executemany(statement, values)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """Raise errors of the database as our own."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            code = getattr(error, "sqlite_errorcode", None)
            full = code is not None and code & 0xFF == sqlite3.SQLITE_FULL
            do = "Free some space; nothing was changed" if full else ""
            message = wanted(self.name, "a database to write", str(error), do)
            raise (DiskFull if full else JournalError)(message) from None

    def wait(self, stop: threading.Event, seconds: float) -> None:
        """Wait for some seconds: another process is seen by looking."""
        stop.wait(seconds)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
