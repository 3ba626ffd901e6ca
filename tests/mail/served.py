"""Made-up mail, a daemon that serves it, and a client written in Python."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tallybayes.mail import MailFilter
from tests.forked import Forked

ROOT = Path(__file__).parents[2]
SPAM = "cheap watches winner lottery offer click viagra pills free money casino loan refund urgent prince"
HAM = "meeting lunch report review patch kernel thanks tomorrow agenda draft invoice family garden train code"


def message(name: str, number: int, *, identified: bool = True) -> bytes:
    """Return a made-up message of a class; its number makes it another one."""
    draw = random.Random(f"{name} {number}")
    words = draw.choices((SPAM if name == "spam" else HAM).split(), k=12) + draw.choices(f"{SPAM} {HAM}".split(), k=3)
    lines = [
        f"From: {draw.choice(words)}@{name}{number % 7}.example",
        f"Subject: {' '.join(words[:3])} {number}",
        *([f"Message-ID: <{number}.{name}@mail.example>"] if identified else []),
        f"X-Mailer: {name} mailer of the {name} house",
        f"Organization: people who write {name}",
        "Content-Type: text/plain; charset=utf-8",
        "",
        " ".join(words[3:]) + f" x{draw.getrandbits(40)}",
        "",
    ]
    return "\r\n".join(lines).encode()


def trained(n: int = 30) -> MailFilter:
    """Return a filter that has learned n messages of spam and n of ham."""
    return MailFilter.train([(name, message(name, -k - 1)) for k in range(n) for name in ("spam", "ham")])


def start(path: Path, address: Path, *options: str) -> Forked:
    """Start a daemon, and return it once it listens."""
    return launch("mail", "serve", str(path), "--socket", str(address), *options)


def launch(*words: str) -> Forked:
    """Run a command that listens, and return it once it does."""
    daemon = Forked(*words)
    assert daemon.stderr is not None
    first = daemon.stderr.readline()
    assert first.startswith("listening at"), first + daemon.stderr.read()
    return daemon


@contextmanager
def served(path: Path, *options: str) -> Iterator[Path]:
    """Run a daemon; yield its socket, which has a short name whatever the path of the filter is."""
    with tempfile.TemporaryDirectory(prefix="mail") as folder:
        address = Path(folder, "s")
        daemon = start(path, address, *options)
        try:
            yield address
        finally:
            daemon.terminate()
            _, errors = daemon.communicate(timeout=60)
        assert daemon.returncode == 0, errors


def ask(address: Path, request: str, content: bytes = b"") -> tuple[int, bytes]:
    """Return the status and the content of a daemon's answer."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(60)
        sock.connect(str(address))
        with sock.makefile("rwb") as file:
            return exchange(file, request, content)


def exchange(file: socket.SocketIO, request: str, content: bytes = b"") -> tuple[int, bytes]:
    """Send a request over an open connection, and return the answer."""
    file.write(f"{request} {len(content)}\n".encode() + content)
    file.flush()
    status, length = file.readline().split()
    answer = file.read(int(length))
    if answer is None or len(answer) != int(length):
        raise ConnectionError("the daemon has left in the middle of an answer")
    return int(status), answer


def client() -> str:
    """Return the compiled client: the installed one or, in a checkout, one compiled for the tests."""
    installed = shutil.which("tally-mail", path=sysconfig.get_path("scripts"))
    if installed:
        return installed
    if os.environ.get("CI") == "true":
        pytest.fail("tally-mail is not installed beside tally")
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("tally-mail is not installed, and there is no C++ compiler")
    source = ROOT / "cpp" / "client" / "tally_mail.cpp"
    target = Path(tempfile.gettempdir(), f"tally-mail-{os.getuid()}-{source.stat().st_mtime_ns}", "tally-mail")
    if not target.exists():
        target.parent.mkdir(mode=0o755, exist_ok=True)
        fresh = target.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, "-std=c++20", "-O2", source, "-o", fresh], check=True)
        fresh.replace(target)
    return str(target)
