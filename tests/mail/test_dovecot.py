"""A real Dovecot with the page's recipe: delivery files spam, and moving messages teaches the filter."""

from __future__ import annotations

import imaplib
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tallybayes.mail import MailFilter
from tallybayes.mail.file import dump
from tallybayes.mail.header import message_id
from tallybayes.mail.journaled_filter import JournaledFilter
from tallybayes.storage.journal.sqlite import SqliteJournal

from .dovecot import Dovecot, dovecot
from .recipes import need
from .served import message, served

# As Dovecot writes: fields that only messages of the tests had would decide everything.
DELIVERED = b"""\
Return-Path: <sender@mail.example>\r
Delivered-To: ann@mail.example\r
Received: from mail.example\r
\tby mail.example with LMTP\r
\tid wMUbGqFpW2mFnwAAz1+Rkw\r
\t(envelope-from <sender@mail.example>)\r
\tfor <ann@mail.example>; Tue, 17 Nov 2026 10:02:27 +0000\r
"""


@dataclass(frozen=True)
class System:
    """A mail system with a filter."""

    dovecot: Dovecot
    path: Path  # of the filter that the daemon began with

    def filter(self) -> MailFilter:
        """Return the filter by what is in the journal."""
        place = self.path.parent / "mail.journal" / "journal.sqlite"
        with closing(SqliteJournal(place, "mail")) as journal, tempfile.TemporaryDirectory() as none:
            return JournaledFilter(self.path, journal, Path(none)).mail

    def messages(self, folder: str) -> dict[str, bytes]:
        """Return the messages of a folder by their ids."""
        found = {}
        with self.dovecot.opened() as mailbox:
            mailbox.select(folder, readonly=True)
            for number in mailbox.search(None, "ALL")[1][0].split():
                part = mailbox.fetch(number.decode(), "(RFC822)")[1][0]
                assert isinstance(part, tuple)
                found[message_id(part[1])] = part[1]
        return found

    def move(self, one: bytes, source: str, target: str, *, how: str = "MOVE") -> None:
        """Move or copy a message over IMAP."""
        name = next(line for line in one.split(b"\r\n") if line.startswith(b"Message-ID")).split()[1].decode()
        with self.dovecot.opened() as mailbox:
            mailbox.select(source)
            [number] = mailbox.uid("SEARCH", "HEADER", "Message-ID", name)[1][0].split()
            answer = mailbox.uid(how, number.decode(), target)
            assert answer[0] == "OK", (answer, self.dovecot.log())


@pytest.fixture  # of its own for each test: what one teaches would change what another sees
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    need("dovecot")
    path = tmp_path_factory.mktemp("filter") / "mail.tally"
    base = [(name, DELIVERED + message(name, k)) for k in range(30) for name in ("spam", "ham")]
    MailFilter.train(base).save(path)
    with served(path) as address:
        yield path, address


@pytest.fixture
def system(daemon: tuple[Path, Path]) -> Iterator[System]:
    path, address = daemon
    with tempfile.TemporaryDirectory(prefix="dovecot") as folder, dovecot(Path(folder), address) as running:
        yield System(running, path)


def test_spam_is_delivered_to_junk_and_ham_to_the_inbox(system: System) -> None:
    spam, ham, before = message("spam", 1001), message("ham", 1002), dump(system.filter())
    for one in (spam, ham):
        system.dovecot.deliver(one)
    junk, inbox = system.messages("Junk"), system.messages("INBOX")
    assert message_id(spam) in junk, system.dovecot.log()
    assert message_id(ham) in inbox, system.dovecot.log()
    assert b"X-Tally: spam " in junk[message_id(spam)]
    assert b"X-Tally: ham " in inbox[message_id(ham)]
    assert junk[message_id(spam)].endswith(spam)
    assert dump(system.filter()) == before  # a delivery teaches nothing


def test_moving_into_junk_learns_and_moving_out_unlearns(system: System) -> None:
    one, expected = message("ham", 1003), system.filter()
    system.dovecot.deliver(one)
    stored = system.messages("INBOX")[message_id(one)]
    system.move(one, "INBOX", "Junk")
    expected.learn([("spam", stored)])
    assert dump(system.filter()) == dump(expected), system.dovecot.log()
    system.move(one, "Junk", "INBOX")
    expected.forget([("spam", stored)])
    expected.learn([("ham", stored)])
    assert dump(system.filter()) == dump(expected), system.dovecot.log()
    system.move(one, "INBOX", "Junk")
    system.move(one, "Junk", "Archive")  # once more: nothing is counted twice
    assert dump(system.filter()) == dump(expected), system.dovecot.log()


def test_what_the_filter_put_into_junk_is_learned_as_ham_when_it_is_moved_out(system: System) -> None:
    one, expected = message("spam", 1004), system.filter()
    system.dovecot.deliver(one)
    junk = system.messages("Junk")
    assert message_id(one) in junk, (system.messages("INBOX").get(message_id(one)), system.dovecot.log())
    stored = junk[message_id(one)]
    system.move(one, "Junk", "INBOX", how="COPY")
    expected.learn([("ham", stored)])
    assert dump(system.filter()) == dump(expected), system.dovecot.log()


def test_moving_to_trash_and_within_other_folders_teaches_nothing(system: System) -> None:
    spam, ham = message("spam", 1005), message("ham", 1006)
    for one in (spam, ham):
        system.dovecot.deliver(one)
    before = dump(system.filter())
    system.move(spam, "Junk", "Trash")
    system.move(ham, "INBOX", "Archive")
    system.move(ham, "Archive", "Trash")
    assert dump(system.filter()) == before


def test_a_message_appended_to_junk_is_learned(system: System) -> None:
    one, expected = message("spam", 1007), system.filter()
    with system.dovecot.opened() as mailbox:
        assert mailbox.append("Junk", "", imaplib.Time2Internaldate(time.time()), one)[0] == "OK"
    expected.learn([("spam", one)])
    assert dump(system.filter()) == dump(expected), system.dovecot.log()


def test_without_a_daemon_mail_is_delivered_all_the_same() -> None:
    with tempfile.TemporaryDirectory(prefix="mail") as nowhere, tempfile.TemporaryDirectory(prefix="dovecot") as folder:
        address = Path(nowhere, "s")
        address.touch()
        with dovecot(Path(folder), address) as running:
            system, one = System(running, address), message("spam", 1008)
            running.deliver(one)
            assert system.messages("INBOX")[message_id(one)].endswith(one), running.log()
            system.move(one, "INBOX", "Junk")
            assert message_id(one) in system.messages("Junk")
