"""Open the journal of a model by its address."""

from __future__ import annotations

from pathlib import Path

from tallybayes.errors import BadOption, wanted
from tallybayes.sources.locations import name_of
from tallybayes.storage.journal.journal import Journal

__all__ = ["open_journal"]


def open_journal(address: str | Path, model: str) -> Journal:
    """Return the journal of a model in a SQLite file, or in the database of a postgresql:// address.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = open_journal(Path(folder, "weather.sqlite"), "weather")
    ...     journal.close()
    """
    if isinstance(address, str) and address.startswith(("postgresql://", "postgres://")):
        from tallybayes.storage.journal.postgresql import PostgresqlJournal

        return PostgresqlJournal(address, model)
    if isinstance(address, str) and "://" in address:
        raise BadOption(wanted("journal", "a file, or postgresql://...", repr(name_of(address))))
    from tallybayes.storage.journal.sqlite import SqliteJournal

    return SqliteJournal(Path(address), model)
