"""Commands run as by a user, in a folder with the weather data."""

from __future__ import annotations

import io
import mailbox
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tallybayes.cli.main import main
from tests.mail.messages import message

WEATHER = """\
outlook,temperature,humidity,windy,play
sunny,85,85,false,no
sunny,80,90,true,no
overcast,83,86,false,yes
rainy,70,96,false,yes
rainy,68,80,false,yes
rainy,65,70,true,no
overcast,64,65,true,yes
sunny,72,95,false,no
sunny,69,70,false,yes
rainy,75,80,false,yes
sunny,75,70,true,yes
overcast,72,90,true,yes
overcast,81,75,false,yes
rainy,71,91,true,no
"""
DAYS = "outlook,temperature,humidity,windy\nsunny,66,90,true\novercast,70,,false\n"
BAD = "outlook,play\nsunny,no\nrainy,yes,perhaps\novercast,yes\n"
WEEK = "\n".join(WEATHER.splitlines()[:6]) + "\n"


def write_mailboxes() -> None:
    """Write a mailbox for each class, and a message, into the current folder."""
    for kind in ("spam", "ham", "news"):
        box = mailbox.mbox(f"{kind}.mbox")
        for seed in range(40):
            box.add(message(kind, seed))
        box.close()
    Path("message.eml").write_bytes(message("spam", 77))


@dataclass(frozen=True)
class Ran:
    """A command's exit code and output."""

    code: int
    out: str
    err: str


class Shell:
    """A folder in which commands run."""

    def __init__(self, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capture, self._monkeypatch = capture, monkeypatch

    def __call__(self, line: str, stdin: bytes | None = None) -> Ran:
        """Run `tally` with the words of a line."""
        if stdin is not None:
            self._monkeypatch.setattr(sys, "stdin", _Stdin(stdin))
        self._capture.readouterr()
        code = main(shlex.split(line))
        said = self._capture.readouterr()
        return Ran(code, said.out, said.err)

    def done(self, line: str, **more: Any) -> str:
        """Return the output of a command that must succeed."""
        ran = self(line, **more)
        assert ran.code == 0, ran.err
        return ran.out

    def refused(self, line: str, **more: Any) -> str:
        """Return the error line of a command that must exit with 2 and print nothing else."""
        ran = self(line, **more)
        assert (ran.code, ran.out) == (2, ""), ran
        assert ran.err.startswith("tally: ")
        assert ran.err.count("\n") == 1, ran.err
        return ran.err.removeprefix("tally: ").rstrip("\n")


class _Stdin:
    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)

    def isatty(self) -> bool:
        return False


def run_line(line: str, run: Any, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the output of a command line on a page: standard output, then standard error."""
    if line.startswith("cat ") and " | " not in line:
        return Path(line.removeprefix("cat ")).read_text()
    if " | tally " in line:
        cat, line = line.split(" | tally ", 1)
        monkeypatch.setattr(sys, "stdin", _Stdin(Path(cat.removeprefix("cat ")).read_bytes()))
    capture.readouterr()
    run(shlex.split(line.removeprefix("tally ")))
    said = capture.readouterr()
    return said.out + said.err
