"""`Journal`: an append-only table of changes to one model, in a database with transactions."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from tallybayes.errors import JournalError, wanted
from tallybayes.storage.journal.record import Change, Receipt, Record

__all__ = ["Journal"]

_RECEIPT = "position, request_key, operation, row_count, evidence_before, evidence_after, committed_at"
_CHANGE = "learned, forgotten, calibration"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS tally_models (model TEXT PRIMARY KEY, evidence_base TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS tally_journal (
        model TEXT NOT NULL, position BIGINT NOT NULL, request_key TEXT, operation TEXT NOT NULL,
        row_count BIGINT NOT NULL, evidence_before TEXT NOT NULL, evidence_after TEXT NOT NULL,
        committed_at TEXT NOT NULL, learned {bytes}, forgotten {bytes}, calibration {bytes},
        PRIMARY KEY (model, position), UNIQUE (model, request_key))""",
)
# Records read at a time: each holds the rows of a request.
_PAGE = 256
# Hexadecimal digits of a hash in messages: enough to compare by eye.
_DIGITS = 12


class Journal(ABC):
    """An append-only table of the changes to one model, shared by all models and servers of a database.

    A journal belongs to one thread. What `append` was given is durable once its `transaction` has ended.

    Parameters
    ----------
    model : str
        The name of the model in the table.
    """

    _bytes: ClassVar[str]  # the database's type of bytes

    def __init__(self, model: str) -> None:
        self.model = model

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the journal in messages, without a password."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Return a transaction that no other transaction on this model runs beside; an exception takes it back."""

    @abstractmethod
    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement, with ? for each value, and return its rows."""

    @abstractmethod
    def _run_for_each(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each of several lists of values."""

    @abstractmethod
    def wait(self, stop: threading.Event, seconds: float) -> None:
        """Wait until others may have appended, or `stop` is set, but no longer than some seconds."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def begin(self, base: str) -> None:
        """Create the tables if needed, and raise unless the journal began with evidence of this hash."""
        with self.transaction():
            for statement in _TABLES:
                self._rows(statement.format(bytes=self._bytes))
            self._rows("INSERT INTO tally_models VALUES (?, ?) ON CONFLICT DO NOTHING", (self.model, base))
            [(first,)] = self._rows("SELECT evidence_base FROM tally_models WHERE model = ?", (self.model,))
        if first != base:
            got = f"another ({base[:_DIGITS]})"
            do = "Serve the model file that the journal began with, or move the journal away"
            raise JournalError(
                wanted(f"model {self.model!r}", f"the evidence {first[:_DIGITS]} of its journal", got, do)
            )

    def append(self, records: Sequence[Record]) -> None:
        """Add records, inside a transaction."""
        self._run_for_each(
            f"INSERT INTO tally_journal (model, {_RECEIPT}, {_CHANGE}) VALUES ({', '.join('?' * 11)})",
            [
                (self.model, *vars(receipt).values(), change.learned, change.forgotten, change.calibration)
                for receipt, change in ((one.receipt, one.change) for one in records)
            ],
        )

    def read(self, after: int = 0) -> Iterator[Record]:
        """Yield the records after a position, in order."""
        while True:
            found = self._rows(
                f"SELECT {_RECEIPT}, {_CHANGE} FROM tally_journal WHERE model = ? AND position > ? "
                f"ORDER BY position LIMIT {_PAGE}",
                (self.model, after),
            )
            yield from map(_record, found)
            if len(found) < _PAGE:
                return
            after = found[-1][0]

    def receipts(self, after: int = 0, limit: int = 1000) -> list[Receipt]:
        """Return the receipts after a position, in order, at most `limit` of them."""
        found = self._rows(
            f"SELECT {_RECEIPT} FROM tally_journal WHERE model = ? AND position > ? ORDER BY position LIMIT ?",
            (self.model, after, limit),
        )
        return [Receipt(*one) for one in found]

    def find(self, key: str) -> Record | None:
        """Return the record with an idempotency key, if any."""
        statement = f"SELECT {_RECEIPT}, {_CHANGE} FROM tally_journal WHERE model = ? AND request_key = ?"
        return next(map(_record, self._rows(statement, (self.model, key))), None)

    def last(self) -> Receipt | None:
        """Return the newest receipt."""
        statement = f"SELECT {_RECEIPT} FROM tally_journal WHERE model = ? ORDER BY position DESC LIMIT 1"
        return next((Receipt(*one) for one in self._rows(statement, (self.model,))), None)


def _record(row: tuple[Any, ...]) -> Record:
    receipt = Receipt(*row[:7])
    learned, forgotten, calibration = row[7:]
    return Record(receipt, Change(learned, forgotten, calibration, receipt.key))
