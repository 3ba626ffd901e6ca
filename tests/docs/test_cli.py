"""docs/cli.md: its commands run, in order, and print what it shows; every command and option is on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallybayes.cli.main import COMMANDS, main, program

from .pages import ROOT, text_of

PAGE = ROOT / "docs" / "cli.md"
NAMES = [name for section in COMMANDS.values() for name in section]
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def transcripts() -> Iterator[tuple[str, str]]:
    """Return each command line of the page and the output below it."""
    for block in _CONSOLE.finditer(text_of(PAGE)):
        for part in re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]:
            line, _, printed = part.partition("\n")
            yield line, printed


def test_the_page_prints_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from tests.cli.shell import BAD, DAYS, WEATHER, WEEK, run_line

    monkeypatch.chdir(tmp_path)
    for name, content in (("weather.csv", WEATHER), ("days.csv", DAYS), ("week.csv", WEEK), ("bad.csv", BAD)):
        Path(name).write_text(content)
    shown = 0
    for line, printed in transcripts():
        assert _rounded(run_line(line, main, capfd, monkeypatch)) == _rounded(printed), line
        shown += bool(printed)
    assert shown > 10


def _rounded(text: str) -> str:
    """Drop the last digits of numbers, which may differ on another machine."""
    return re.sub(r"\d+\.\d{7,}", lambda found: f"{float(found[0]):.6f}", text)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_is_on_the_page(name: str) -> None:
    assert f"`tally {name}" in text_of(PAGE) or name == "look"


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_on_the_page(name: str) -> None:
    group: Any = program()
    for option in group.get_command(None, name).params:
        spelled = [word for word in option.opts if word.startswith("-")]
        if spelled:
            assert any(re.search(rf"{word}\b", text_of(PAGE)) for word in spelled), f"{name}: {spelled}"
