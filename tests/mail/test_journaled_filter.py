"""The journal of a mail filter: each message counts once, and a restart has the same bits."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tallybayes.errors import CannotMerge, JournalError, TallyError
from tallybayes.mail import MailFilter
from tallybayes.mail.file import dump
from tallybayes.mail.header import with_header
from tallybayes.mail.journaled_filter import JournaledFilter, request
from tallybayes.storage.journal.record import Change, Receipt
from tallybayes.storage.journal.sqlite import SqliteJournal

from .served import message, trained

Open = Callable[..., JournaledFilter]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    trained().save(tmp_path / "mail.tally")
    with ExitStack() as stack:

        def opened(every: int = 1000) -> JournaledFilter:
            journal = stack.enter_context(closing(SqliteJournal(tmp_path / "journal.sqlite", "mail")))
            return JournaledFilter(tmp_path / "mail.tally", journal, tmp_path, every=every)

        yield opened


def done(kept: JournaledFilter, *wishes: Change) -> list[str]:
    answers = kept.change(wishes)
    return [one.operation if isinstance(one, Receipt) else str(one) for one in answers]


def with_also(*pairs: tuple[str, bytes]) -> bytes:
    """Return the bytes of the filter that has learned some more messages."""
    mail = trained()
    mail.learn(pairs)
    return dump(mail)


@pytest.mark.parametrize("identified", [True, False])
def test_a_message_learned_twice_counts_once(opened: Open, identified: bool) -> None:
    kept, one = opened(), message("spam", 1, identified=identified)
    filtered = with_header(one, kept.mail.classify(one))
    first, second = kept.change([request(one, learn="spam"), request(filtered, learn="spam")])
    assert first == second == kept.change([request(one, learn="spam")])[0]
    assert dump(kept.mail) == with_also(("spam", one))


def test_a_message_learned_as_another_class_moves_in_one_record(opened: Open) -> None:
    kept, one = opened(), message("spam", 1)
    assert done(kept, request(one, learn="spam"), request(one, learn="ham")) == ["learn", "move"]
    assert kept.position == 2
    assert dump(kept.mail) == with_also(("ham", one))
    assert done(kept, request(one, learn="work", forget="ham"), request(one, learn="work")) == ["move", "move"]
    assert kept.position == 3
    assert dump(kept.mail) == with_also(("work", one))


def test_what_is_forgotten_is_what_was_learned_even_if_fields_were_added(opened: Open) -> None:
    kept, one = opened(), message("spam", 1)
    before = dump(kept.mail)
    assert done(kept, request(one, learn="spam"), request(b"X-Seen: by-me\r\n" + one, forget="spam")) == [
        "learn",
        "forget",
    ]
    assert dump(kept.mail) == before
    assert done(kept, request(one, forget="spam")) == ["forget"]
    assert kept.position == 2
    assert done(kept, request(one, learn="spam"), request(one, forget="spam")) == ["learn", "forget"]
    assert (kept.position, dump(kept.mail)) == (4, before)


def test_a_message_that_was_not_learned_so_is_not_forgotten(opened: Open) -> None:
    kept, one, other = opened(), message("spam", 1), message("ham", 2)
    done(kept, request(one, learn="spam"))
    before = dump(kept.mail)
    answers = kept.change([request(one, forget="ham"), request(other, forget="spam"), request(other, forget="nothing")])
    assert all(isinstance(answer, TallyError) for answer in answers)
    assert isinstance(answers[0], CannotMerge)
    assert "learned as 'spam'" in str(answers[0])
    assert (kept.position, dump(kept.mail)) == (1, before)


def test_a_move_forgets_what_the_base_has_learned_and_only_learns_what_nothing_has(opened: Open) -> None:
    kept, known, new = opened(), message("spam", -1), message("spam", 1)
    assert done(kept, request(known, learn="ham", forget="spam"), request(new, learn="ham", forget="spam")) == [
        "move",
        "learn",
    ]
    expected = trained()
    expected.forget([("spam", known)])
    expected.learn([("ham", known), ("ham", new)])
    assert dump(kept.mail) == dump(expected)


def test_a_restart_has_the_same_bits_with_and_without_snapshots(opened: Open, tmp_path: Path) -> None:
    kept = opened(every=4)
    learned = [(name, message(name, k)) for k in range(5) for name in ("spam", "ham", "news")]
    for name, one in learned:
        assert done(kept, request(one, learn=name)) == ["learn"]
    done(kept, request(learned[3][1], forget="spam"), request(learned[4][1], learn="spam"))
    names = sorted(int(one.name.partition("-")[0]) for one in tmp_path.glob("*-*.tally"))
    assert names == [12, 17]
    again = opened()
    expected = with_also(*(pair for k, pair in enumerate(learned) if k not in (3, 4)), ("spam", learned[4][1]))
    assert dump(again.mail) == dump(kept.mail) == expected
    for one in tmp_path.glob("*-*.tally"):
        one.unlink()
    replayed = opened()
    assert (replayed.position, replayed.hash, dump(replayed.mail)) == (kept.position, kept.hash, expected)


def test_a_restart_has_the_same_bits_although_rare_tokens_were_dropped(opened: Open, tmp_path: Path) -> None:
    MailFilter(max_tokens=150).save(tmp_path / "mail.tally")
    kept = opened(every=7)
    for k in range(30):
        done(kept, request(message("spam", k), learn="spam"), request(message("ham", k), learn="ham"))
        if k % 3 == 0:
            done(
                kept, request(message("spam", k), learn="ham", forget="spam"), request(message("ham", k), forget="ham")
            )
    assert kept.mail.dropped
    assert dump(opened().mail) == dump(kept.mail)
    for one in tmp_path.glob("*-*.tally"):
        one.unlink()
    assert dump(opened().mail) == dump(kept.mail)


def test_two_processes_may_share_a_journal(opened: Open) -> None:
    one, two = opened(), opened()
    done(one, request(message("spam", 1), learn="spam"))
    assert (
        done(two, request(message("spam", 1), learn="spam"), request(message("ham", 1), learn="ham")) == ["learn"] * 2
    )
    assert one.follow()
    assert (one.position, dump(one.mail)) == (2, dump(two.mail))


def test_a_failed_transaction_changes_nothing(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = opened()
    done(kept, request(message("spam", 1), learn="spam"))
    before = dump(kept.mail)
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise JournalError("the disk is full")

        patch.setattr(SqliteJournal, "append", full)
        with pytest.raises(JournalError, match="disk"):
            kept.change([request(message("spam", 2), learn="spam")])
    assert done(kept, request(message("spam", 1), learn="spam")) == ["learn"]
    assert (kept.position, dump(kept.mail)) == (1, before)
    assert done(kept, request(message("spam", 2), learn="spam")) == ["learn"]
    assert dump(kept.mail) == with_also(("spam", message("spam", 1)), ("spam", message("spam", 2)))


def test_an_altered_journal_a_foreign_snapshot_and_another_base_are_refused(opened: Open, tmp_path: Path) -> None:
    kept = opened(every=2)
    done(kept, request(message("spam", 1), learn="spam"), request(message("spam", 2), learn="spam"))
    [snapshot] = tmp_path.glob("*-*.tally")
    snapshot.rename(tmp_path / f"2-{'0' * 16}.tally")
    with pytest.raises(JournalError, match="snapshot"):
        opened()
    (tmp_path / f"2-{'0' * 16}.tally").unlink()
    with sqlite3.connect(tmp_path / "journal.sqlite") as journal:
        journal.execute("UPDATE tally_journal SET learned = (SELECT learned FROM tally_journal WHERE position = 1)")
    journal.close()
    with pytest.raises(JournalError, match="altered"):
        opened()
    trained(31).save(tmp_path / "mail.tally")
    with pytest.raises(JournalError, match="began with"):
        opened()


def test_a_class_that_cannot_be_is_refused() -> None:
    with pytest.raises(TallyError, match="class"):
        request(b"", learn="../x")
