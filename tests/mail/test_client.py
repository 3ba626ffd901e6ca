"""The compiled client: what it prints, its exit codes, and that `filter` never loses a message."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import tallybayes
from tallybayes.mail import MailFilter
from tallybayes.mail.header import with_header

from .served import client, message

ONE = message("spam", 7)


def run(*words: str, content: bytes = ONE, environment: dict[str, str] | None = None) -> tuple[int, bytes, str]:
    command = [client(), *words]
    ran = subprocess.run(command, input=content, capture_output=True, env=environment or {}, timeout=60, check=False)
    return ran.returncode, ran.stdout, ran.stderr.decode()


def at(address: Path, *words: str, content: bytes = ONE) -> tuple[int, bytes, str]:
    return run("--socket", str(address), *words, content=content)


@pytest.fixture
def liar() -> Iterator[tuple[Path, list[bytes]]]:
    """A daemon that answers each client with the next of some bytes, or never, and then hangs up."""
    answers: list[bytes] = []
    with tempfile.TemporaryDirectory(prefix="mail") as folder, socket.socket(socket.AF_UNIX) as sock:
        address = Path(folder, "s")
        sock.bind(str(address))
        sock.listen()

        def answer() -> None:
            while True:
                try:
                    peer, _ = sock.accept()
                except OSError:
                    return
                with peer:
                    peer.recv(1 << 20)
                    one = answers.pop(0)
                    if one == b"never":
                        time.sleep(2)
                    else:
                        peer.sendall(one)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield address, answers
        sock.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def test_it_prints_what_the_filter_says(address: Path, path: Path) -> None:
    mail = MailFilter.load(path)
    for name, code in (("spam", 0), ("ham", 1)):
        one = message(name, 7)
        verdict = mail.classify(one)
        assert at(address, "classify", content=one) == (code, f"{verdict.line}\n".encode(), "")
        assert at(address, "filter", content=one) == (0, with_header(one, verdict), "")
        assert at(address, "explain", content=one) == (code, f"{mail.explain(one)}\n".encode(), "")
    assert at(address, "classify", content=b"")[0] == 2


def test_it_learns_moves_and_forgets(address: Path) -> None:
    assert at(address, "learn", "news") == (0, b"learn 1\n", "")
    assert at(address, "learn", "news") == (0, b"learn 1\n", "")
    assert at(address, "move", "news", "other") == (0, b"move 2\n", "")
    assert at(address, "forget", "other") == (0, b"forget 3\n", "")
    code, out, error = at(address, "forget", "spam")
    assert (code, out) == (3, b"")
    assert "cannot forget" in error
    assert at(address, "ping")[1].startswith(b"tallybayes ")


@pytest.mark.parametrize("size", [0, 1, 70_000, 5_000_000])
def test_messages_of_any_bytes_and_size_come_back_whole(address: Path, size: int) -> None:
    content = b"Subject: x\n\n" + os.urandom(size)
    code, out, error = at(address, "filter", content=content)
    assert (code, error) == (0, "")
    added, newline, rest = out.partition(b"\n")
    assert added.startswith(b"X-Tally: ")
    assert newline + rest == b"\n" + content


def test_the_socket_is_found_by_the_environment(address: Path) -> None:
    assert run("ping", environment={"TALLY_MAIL_SOCKET": str(address)})[0] == 0
    link = address.parent / "tally-mail.sock"
    link.symlink_to(address)
    assert run("ping", environment={"XDG_RUNTIME_DIR": str(address.parent)})[0] == 0
    link.unlink()
    assert "TALLY_MAIL_SOCKET" in run("ping")[2]


def test_without_a_daemon_a_message_passes_unchanged(tmp_path: Path) -> None:
    for words, code in ((["filter"], 3), (["--never-fail", "filter"], 0), (["filter", "--never-fail"], 0)):
        got, out, error = at(tmp_path / "none", *words)
        assert (got, out) == (code, ONE)
        assert error.startswith("tally-mail: socket ")
        assert "tally mail serve" in error
    assert at(tmp_path / "none", "classify")[:2] == (3, b"")
    assert at(tmp_path / "none", "--never-fail", "learn", "spam")[:2] == (3, b"")


@pytest.mark.parametrize(
    "answer",
    [
        b"never",
        b"",
        b"0",
        b"0 100\nshort",
        b"0 9999999999999\n",
        b"0 99999999999999999999999\n",
        b"3 9999999999999\n",
        b"9 5\nhello",
        b"-1 5\nhello",
        b"0 -5\nhello",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"x" * 100_000,
        b"3 6\nbroken",
        b"0 5\nhello, world",
    ],
)
def test_whatever_a_daemon_answers_no_message_is_lost(liar: tuple[Path, list[bytes]], answer: bytes) -> None:
    address, answers = liar
    answers += [answer, answer]
    began = time.monotonic()
    assert at(address, "--timeout", "0.5", "filter")[:2] == (3, ONE)
    assert time.monotonic() - began < 20
    assert at(address, "--timeout", "0.5", "classify")[:2] == (3, b"")


def test_wrong_options_are_explained_and_lose_no_message() -> None:
    for words in (["--nonsense", "filter"], ["filter", "x"], ["--timeout", "soon", "filter"], ["filter"]):
        code, out, error = run(*words)
        assert (code, out) == (3, ONE)
        assert error.startswith("tally-mail: ")
    for words in ([], ["shout"], ["learn"], ["move", "spam"], ["--socket"], ["learn", "a b"], ["learn", "a\nping 0"]):
        code, out, error = run("--timeout", "1", *words)
        assert (code, out) == (3, b"")
        assert error.startswith("tally-mail: ")
    code, out, _ = run("--help")
    assert code == 0
    for word in ("classify", "filter", "explain", "learn", "forget", "move", "ping", "--socket", "--timeout"):
        assert word in out.decode()


def test_a_full_disk_is_a_failure_even_if_it_must_not_fail(address: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [client(), "--socket", str(address), "--never-fail", "filter"]
        ran = subprocess.run(command, input=ONE, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 3


def test_the_wheel_has_the_client() -> None:
    try:
        installed = metadata.distribution("tallybayes")
    except metadata.PackageNotFoundError:
        pytest.skip("runs from a checkout")
    if Path(str(installed.locate_file("tallybayes/__init__.py"))) != Path(tallybayes.__file__):
        pytest.skip("runs from a checkout")
    assert any(file.name == "tally-mail" for file in installed.files or ())
