"""docs/mail.md: its commands run, in order, and print what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallybayes.cli.mail.command import COMMANDS
from tallybayes.cli.main import main

from .pages import ROOT, text_of
from .test_cli import rounded, transcripts

PAGE = ROOT / "docs" / "mail.md"
SHORT = b"Subject: winner\nFrom: offer <x@spam2.example.org>\n\nCheap watches, free! Click.\n"


def test_the_page_prints_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from tests.cli.shell import run_line, write_mailboxes

    monkeypatch.chdir(tmp_path)
    write_mailboxes()
    Path("short.eml").write_bytes(SHORT)
    shown = 0
    for line, printed in transcripts(PAGE):
        assert rounded(run_line(line, main, capfd, monkeypatch)) == rounded(printed), line
        shown += bool(printed)
    assert shown > 6


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_on_the_page(name: str) -> None:
    assert f"tally mail {name}" in text_of(PAGE) + text_of(ROOT / "docs" / "mail-server.md")
