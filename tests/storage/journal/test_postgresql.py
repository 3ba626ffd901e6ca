"""Journals in a real PostgreSQL server, started in a temporary folder; skipped without one, unless CI is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tallybayes.errors import JournalError
from tallybayes.storage.journal.open_journal import open_journal

from .checks import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_in_postgresql(check: Any, postgresql: str, tmp_path: Path) -> None:
    opened = []

    def open_() -> Any:
        opened.append(open_journal(postgresql, check.__name__))
        return opened[-1]

    try:
        check(open_, tmp_path)
    finally:
        for one in opened:
            one.close()


def test_a_lost_connection_is_opened_again(postgresql: str) -> None:
    journal = open_journal(postgresql, "lost")
    journal.begin("0123")
    other = open_journal(postgresql, "lost")
    other._rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    with pytest.raises(JournalError):
        journal.last()
    assert journal.last() is None
    journal.close()
    other.close()


def test_a_server_that_is_absent_is_named_without_its_password() -> None:
    journal = open_journal("postgresql://tally:secret@127.0.0.1:1/postgres", "weather")
    with pytest.raises(JournalError, match=r"journal postgresql://127\.0\.0\.1:1/postgres: ") as found:
        journal.begin("0123")
    assert "secret" not in str(found.value)
