"""Journals in SQLite files."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from tallybayes.errors import BadOption, DiskFull, JournalError
from tallybayes.storage.journal.journaled_model import JournaledModel
from tallybayes.storage.journal.open_journal import open_journal

from .checks import CHECKS, DAYS, fitted, learn, model, receipts


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_in_sqlite(check, tmp_path: Path) -> None:
    opened = []

    def open_():
        opened.append(open_journal(tmp_path / "journal.sqlite", "weather"))
        return opened[-1]

    try:
        check(open_, tmp_path)
    finally:
        for one in opened:
            one.close()


def test_commits_are_synced(tmp_path: Path) -> None:
    with contextlib.closing(open_journal(tmp_path / "journal.sqlite", "weather")) as journal:
        assert journal._rows("PRAGMA journal_mode") == [("wal",)]
        assert journal._rows("PRAGMA synchronous") == [(2,)]  # FULL


def test_a_full_disk_is_named_and_changes_nothing(tmp_path: Path) -> None:
    with contextlib.closing(open_journal(tmp_path / "journal.sqlite", "weather")) as journal:
        kept = JournaledModel(model(), journal, tmp_path)
        [(pages,)] = journal._rows("PRAGMA page_count")
        journal._rows(f"PRAGMA max_page_count = {pages}")
        before = kept.model
        with pytest.raises(DiskFull, match="Free some space; nothing was changed"):
            kept.change([learn(*DAYS * 2000)])
        assert kept.model is before
        journal._rows("PRAGMA max_page_count = 1000000")
        receipts(kept.change([learn(*DAYS)]))
        assert kept.model.evidence == fitted(DAYS)


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database" * 100)
    with pytest.raises(JournalError, match="not a database"):
        open_journal(tmp_path / "text", "weather")
    with pytest.raises(BadOption, match=r"postgresql://\.\.\., got 'mysql://"):
        open_journal("mysql://user:secret@host/db", "weather")


def test_an_altered_record_is_found(tmp_path: Path) -> None:
    with contextlib.closing(open_journal(tmp_path / "journal.sqlite", "weather")) as journal:
        kept = JournaledModel(model(), journal, tmp_path)
        receipts(kept.change([learn(DAYS[0])]))
        other = learn(DAYS[1]).learned
        with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite")) as connection, connection:
            connection.execute("UPDATE tally_journal SET learned = ?", (other,))
        with pytest.raises(JournalError, match="It was altered"):
            JournaledModel(model(), journal, tmp_path)
