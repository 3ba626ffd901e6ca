"""A folder with the weather data, and a shell in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .shell import DAYS, WEATHER, WEEK, Shell


@pytest.fixture
def tally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, content in (("weather.csv", WEATHER), ("days.csv", DAYS), ("week.csv", WEEK)):
        Path(name).write_text(content)
    return Shell(capfd, monkeypatch)


@pytest.fixture
def model(tally: Shell) -> str:
    tally.done("fit weather.csv --label play")
    return "weather.tally"
