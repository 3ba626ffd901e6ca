"""The mail daemon: its protocol, its socket, several clients at once, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallybayes.cli.main import main
from tallybayes.mail import MailFilter
from tallybayes.mail.file import dump
from tallybayes.mail.header import with_header

from .served import ask, exchange, message, served, start, trained


@pytest.fixture
def short() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mail") as folder:
        yield Path(folder, "s")


def snapshot(folder: Path) -> MailFilter:
    """Return the newest snapshot of a daemon that has ended."""
    names = (folder / "mail.journal").glob("*-*.tally")
    return MailFilter.load(max(names, key=lambda one: int(one.name.partition("-")[0])))


def test_answers_are_those_of_the_filter(address: Path, path: Path) -> None:
    mail = MailFilter.load(path)
    for name, code in (("spam", 0), ("ham", 1)):
        one = message(name, 77)
        verdict = mail.classify(one)
        assert ask(address, "classify", one) == (code, f"{verdict.line}\n".encode())
        assert ask(address, "filter", one) == (0, with_header(one, verdict))
        assert ask(address, "explain", one) == (code, f"{mail.explain(one)}\n".encode())
    status, text = ask(address, "ping")
    assert status == 0
    assert b"30 ham, 30 spam" in text


def test_a_filter_with_too_few_messages_is_unsure(tmp_path: Path) -> None:
    MailFilter().save(tmp_path / "mail.tally")
    with served(tmp_path / "mail.tally") as address:
        assert ask(address, "classify", b"")[0] == 2
        assert ask(address, "learn spam", message("spam", 1)) == (0, b"learn 1\n")
        assert ask(address, "classify", message("spam", 1))[0] == 2


@pytest.mark.parametrize(
    ("request_line", "says"),
    [
        (b"classify\n", b"LENGTH"),
        (b"classify -1\n", b"LENGTH"),
        (b"learn 5\nhello", b"LENGTH"),
        (b"move spam 5\nhello", b"LENGTH"),
        (b"shout 0\n", b"VERB"),
        (b"classify 99999999999999\n", b"at most"),
        (b"\xff\xfe\n", b"VERB"),
        (b"learn ../x 5\nhello", b"class"),
        (b"learn unsure 5\nhello", b"class"),
        (b"move spam spam 5\nhello", b"twice"),
        (b"forget nothing 5\nhello", b"nothing"),
    ],
)
def test_requests_that_make_no_sense_get_a_sentence(address: Path, request_line: bytes, says: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(30)
        sock.connect(str(address))
        sock.sendall(request_line)
        with sock.makefile("rb") as file:
            status, length = file.readline().split()
            assert status == b"3"
            assert says in file.read(int(length))


def test_a_line_without_end_and_half_a_message_change_nothing(address: Path) -> None:
    before = ask(address, "ping")
    for sent in (b"x" * 200_000, b"learn spam 5000\nhalf of it", b""):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(address))
            try:
                sock.sendall(sent)
            except ConnectionError:
                assert len(sent) > 100_000
    assert ask(address, "ping") == before


def test_one_connection_takes_many_requests(address: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(address))
        with sock.makefile("rwb") as file:
            for k in range(20):
                assert exchange(file, "classify", message("spam", k))[0] == 0
                assert exchange(file, "ping")[0] == 0


def test_several_clients_learn_at_once_and_every_message_counts_once(tmp_path: Path) -> None:
    trained().save(tmp_path / "mail.tally")
    answers: list[tuple[int, bytes]] = []

    def work(first: int) -> None:
        for k in range(first, first + 20):
            name = ("spam", "ham")[k % 2]
            answers.append(ask(address, f"learn {name}", message(name, k)))
            answers.append(ask(address, "classify", message(name, k)))

    with served(tmp_path / "mail.tally", "--snapshot-every", "25") as address:
        threads = [threading.Thread(target=work, args=(first,)) for first in (0, 10, 20, 30)]  # half of them twice
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == 160
    assert {status for status, _ in answers} == {0, 1}
    expected = trained()
    expected.learn((name, message(name, k)) for k in range(50) for name in [("spam", "ham")[k % 2]])
    assert dump(snapshot(tmp_path)) == dump(expected)


def test_classification_does_not_wait_for_learning(tmp_path: Path) -> None:
    """A transaction of another process keeps learning waiting, and nothing else."""
    import sqlite3

    trained().save(tmp_path / "mail.tally")
    with served(tmp_path / "mail.tally") as address:
        with sqlite3.connect(tmp_path / "mail.journal" / "journal.sqlite", isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            answers: list[tuple[int, bytes]] = []
            learning = threading.Thread(target=lambda: answers.append(ask(address, "learn spam", message("spam", 1))))
            learning.start()
            time.sleep(0.3)
            for k in range(10):
                assert ask(address, "classify", message("ham", k))[0] == 1
            assert not answers
            other.execute("ROLLBACK")
        learning.join(30)
        other.close()
        assert answers == [(0, b"learn 1\n")]


def test_the_socket_is_the_owners_alone_and_goes_at_the_end(path: Path, tmp_path: Path) -> None:
    trained().save(tmp_path / "mail.tally")
    with served(tmp_path / "mail.tally") as address:
        assert stat.S_IMODE(address.stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "mail.journal").stat().st_mode) == 0o700
    assert not address.exists()


def test_a_stale_socket_is_replaced(tmp_path: Path, short: Path) -> None:
    trained().save(tmp_path / "mail.tally")
    daemon = start(tmp_path / "mail.tally", short)
    assert ask(short, "learn spam", message("spam", 1))[0] == 0
    daemon.kill()
    daemon.communicate()
    assert short.exists()
    again = start(tmp_path / "mail.tally", short)
    assert ask(short, "ping")[1].startswith(b"tallybayes")
    assert b"record 1:" in ask(short, "ping")[1]
    again.send_signal(signal.SIGTERM)
    assert again.communicate(timeout=30)[1] == "stopped at record 1\n"
    assert again.returncode == 0


def test_a_live_socket_and_another_file_are_refused(
    address: Path, path: Path, short: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    umask = os.umask(0o022)
    assert main(["mail", "serve", str(path), "--socket", str(address)]) == 2
    assert os.umask(umask) == 0o022  # the process is left as it was
    assert "where a daemon listens" in capsys.readouterr().err
    assert ask(address, "ping")[0] == 0
    short.write_text("precious")
    assert main(["mail", "serve", str(path), "--socket", str(short)]) == 2
    assert "another file" in capsys.readouterr().err
    assert short.read_text() == "precious"
    assert main(["mail", "serve", str(path), "--socket", str(short.parent / "no" / "s")]) == 2
    assert main(["mail", "serve", str(path), "--socket", str(short.parent / ("x" * 120))]) == 2
    assert main(["mail", "serve", str(path.parent / "none.tally"), "--socket", str(short.parent / "t")]) == 2
    assert "no such file" in capsys.readouterr().err
    assert not (short.parent / "t").exists()


def test_a_daemon_without_a_place_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TALLY_MAIL_SOCKET", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert main(["mail", "serve", str(path)]) == 2
    assert "TALLY_MAIL_SOCKET" in capsys.readouterr().err


def test_a_request_in_progress_is_answered_before_the_daemon_ends(tmp_path: Path, short: Path) -> None:
    trained().save(tmp_path / "mail.tally")
    daemon = start(tmp_path / "mail.tally", short)
    with socket.socket(socket.AF_UNIX) as idle, socket.socket(socket.AF_UNIX) as sock:
        idle.connect(str(short))
        sock.connect(str(short))
        one = message("spam", 1)
        sock.sendall(f"learn spam {len(one)}\n".encode() + one[:10])
        for _ in range(5):  # a later request was answered, so that the daemon has read the line of this one
            assert ask(short, "ping")[0] == 0
        os.kill(daemon.pid, signal.SIGTERM)
        time.sleep(0.2)
        sock.sendall(one[10:])
        answer = b""
        while not answer.endswith(b"learn 1\n") and (part := sock.recv(100)):
            answer += part
    try:
        daemon.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        daemon.kill()
        raise
    assert answer == b"0 8\nlearn 1\n"
    assert daemon.returncode == 0
    assert snapshot(tmp_path).totals == {"ham": 30, "spam": 31}


def test_a_snapshot_that_fails_is_reported_and_nothing_is_lost(tmp_path: Path, short: Path) -> None:
    trained().save(tmp_path / "mail.tally")
    daemon = start(tmp_path / "mail.tally", short, "--snapshot-every", "1")
    assert daemon.stderr is not None
    away = tmp_path / "away"
    (tmp_path / "mail.journal").rename(away)  # the database stays open
    assert ask(short, "learn spam", message("spam", 1)) == (0, b"learn 1\n")
    assert daemon.stderr.readline().startswith("no snapshot: ")
    away.rename(tmp_path / "mail.journal")
    daemon.terminate()
    daemon.communicate(timeout=60)
    again = start(tmp_path / "mail.tally", short)
    assert b"30 ham, 31 spam" in ask(short, "ping")[1]
    again.terminate()
    again.communicate(timeout=60)
