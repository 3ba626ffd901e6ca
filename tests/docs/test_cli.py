"""docs/cli.md and docs/messages.md: their commands run, in order, and print what they show; nothing is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallybayes.cli.main import COMMANDS, main, program

from .pages import ROOT, text_of

PAGE, MESSAGES = ROOT / "docs" / "cli.md", ROOT / "docs" / "messages.md"
NAMES = [name for section in COMMANDS.values() for name in section]
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def transcripts(page: Path) -> Iterator[tuple[str, str]]:
    """Return each command line of a page and the output below it."""
    for block in _CONSOLE.finditer(text_of(page)):
        for part in re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]:
            line, _, printed = part.partition("\n")
            yield line, printed


@pytest.mark.parametrize("page", [PAGE, MESSAGES], ids=lambda page: page.stem)
def test_the_page_prints_what_the_commands_print(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from tests.cli.shell import BAD, DAYS, WEATHER, WEEK, run_line

    monkeypatch.chdir(tmp_path)
    for name, content in (("weather.csv", WEATHER), ("days.csv", DAYS), ("week.csv", WEEK), ("bad.csv", BAD)):
        Path(name).write_text(content)
    shown = 0
    for line, printed in transcripts(page):
        assert rounded(run_line(line, main, capfd, monkeypatch)) == rounded(printed), line
        shown += bool(printed)
    assert shown > 10


def rounded(text: str) -> str:
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


def quoted_messages() -> list[str]:
    """Return the parts of messages in the first column of the tables of docs/messages.md."""
    rows = re.findall(r"^\| (`.*?) \| ", text_of(MESSAGES), re.MULTILINE)
    return [part for row in rows for quoted in re.findall(r"`([^`]+)`", row) for part in quoted.split(" ... ")]


def test_every_message_on_the_page_is_in_the_program() -> None:
    program_text = " ".join(text_of(path) for path in (ROOT / "src" / "tallybayes").rglob("*.py"))
    known = re.sub(r"\{[^{}]*\}", "", re.sub(r'"\s*f?"', "", program_text))
    for part in quoted_messages():
        plain = re.sub(r"^(wanted|got) |, got .*$", "", part).replace(" 2 ", "  ")
        assert plain in known or part in known, part


def test_every_warning_has_its_line_on_the_page() -> None:
    for path in (ROOT / "src" / "tallybayes").rglob("*.py"):
        for name in re.findall(r"^class (\w+)\(UserWarning\)", text_of(path), re.MULTILINE):
            assert f"| `{name}` |" in text_of(MESSAGES), name
