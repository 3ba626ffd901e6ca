"""The page's recipes for procmail, maildrop and Postfix, run by the real programs or as their commands."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tallybayes.mail import MailFilter
from tallybayes.mail.header import with_header

from .recipes import PROGRAMS, SOCKET, install_client, need, recipe, recipes
from .served import message

SPAM, HAM = message("spam", 501), message("ham", 502)


@pytest.fixture(params=["daemon", "no daemon"])
def place(request: pytest.FixtureRequest, address: Path, tmp_path: Path) -> Path:
    return address if request.param == "daemon" else tmp_path / "none"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("", ".Junk"):
        for part in ("cur", "new", "tmp"):
            (tmp_path / "Maildir" / name / part).mkdir(parents=True)
    install_client(tmp_path / "programs")
    return tmp_path


def folder(home: Path, name: str) -> list[bytes]:
    return sorted(one.read_bytes() for one in (home / "Maildir" / name / "new").iterdir())


def check(home: Path, place: Path, path: Path) -> None:
    """Assert that spam is in Junk, ham in the inbox, both with a field; without a daemon both as they came."""
    if place.exists():
        mail = MailFilter.load(path)
        assert folder(home, ".Junk") == [with_header(SPAM, mail.classify(SPAM))]
        assert folder(home, "") == [with_header(HAM, mail.classify(HAM))]
    else:
        assert folder(home, ".Junk") == []
        assert folder(home, "") == sorted([SPAM, HAM])


def test_procmail(home: Path, place: Path, path: Path) -> None:
    program = need("procmail")
    (home / "procmailrc").write_text(recipe("~/.procmailrc", place, home / "programs"))
    settings = [f"DEFAULT={home}/Maildir/", f"MAILDIR={home}", "UMASK=077"]
    for one in (SPAM, HAM):
        subprocess.run([program, *settings, str(home / "procmailrc")], input=one, cwd=home, check=True, timeout=60)
    check(home, place, path)


def test_maildrop(home: Path, place: Path, path: Path) -> None:
    program = need("maildrop")
    rules = home / "mailfilter"
    rules.write_text(f"DEFAULT={home}/Maildir/\n" + recipe("~/.mailfilter", place, home / "programs"))
    rules.chmod(0o600)
    for one in (SPAM, HAM):
        environment = os.environ | {"HOME": str(home)}
        subprocess.run([program, str(rules)], input=one, cwd=home, check=True, env=environment, timeout=60)
    check(home, place, path)


def test_the_content_filter_of_postfix(home: Path, place: Path, path: Path) -> None:
    """Postfix runs the command of master.cf; what it would give to sendmail is written down instead."""
    sendmail = home / "sendmail"
    sendmail.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {home}/arguments\ncat > {home}/sent\n')
    sendmail.chmod(0o755)
    script = recipe("/usr/local/lib/tally-mail/postfix", place, home / "programs")
    (home / "postfix").write_text(script.replace("/usr/sbin/sendmail", str(sendmail)))
    assert "argv=/usr/local/lib/tally-mail/postfix ${sender} ${recipient}" in recipes()["/etc/postfix/master.cf"]
    run = ["/bin/sh", str(home / "postfix"), "-x; rm $HOME@x.example", "ann@mail.example", "$(bob)@mail.example"]
    subprocess.run(run, input=SPAM, check=True, timeout=60)
    arguments = "-G|-i|-f|-x; rm $HOME@x.example|--|ann@mail.example|$(bob)@mail.example|"
    assert (home / "arguments").read_text() == arguments
    expected = with_header(SPAM, MailFilter.load(path).classify(SPAM)) if place.exists() else SPAM
    assert (home / "sent").read_bytes() == expected


@pytest.mark.parametrize("broken", ["sendmail", "programs/tally-mail"])
def test_postfix_is_asked_to_try_again_if_a_message_cannot_be_sent_on(home: Path, address: Path, broken: str) -> None:
    for name in ("sendmail", "programs/tally-mail"):
        (home / name).write_text("#!/bin/sh\n" + ("exit 1" if name == broken else "cat"))
        (home / name).chmod(0o755)
    script = recipe("/usr/local/lib/tally-mail/postfix", address, home / "programs")
    (home / "postfix").write_text(script.replace("/usr/sbin/sendmail", str(home / "sendmail")))
    run = subprocess.run(["/bin/sh", str(home / "postfix"), "a@x", "b@x"], input=SPAM, check=False, timeout=60)
    assert run.returncode == 75


def test_recipes_name_the_same_places() -> None:
    for name, content in recipes().items():
        if "tally-mail" in content and name.endswith((".sieve", "rc", ".mailfilter", "/postfix", ".service")):
            assert SOCKET in content, name
        if name.endswith(("rc", ".mailfilter", "/postfix", ".cf", ".conf")):
            assert PROGRAMS in content, name
