"""On a real terminal: tables, no more rows than fit, and a bar that leaves the answer alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tallybayes as tb

from .shell import WEATHER, Shell

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
CODE = "from tallybayes.cli.main import script; script()"


def on_terminal(*words: str) -> str:
    """Return what a command writes to a terminal, without colours."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": "100", "TERM": "xterm-256color"}
    process = subprocess.Popen([sys.executable, "-c", CODE, *words], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # so Linux says that the other side is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    assert process.wait() == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", b"".join(parts).decode()).replace("\r\n", "\n")


@pytest.mark.usefixtures("tally")
def test_answers_are_a_table_of_the_first_rows(model: str) -> None:
    head, *rows = WEATHER.splitlines()
    Path("many.csv").write_text("\n".join([head, *(rows * 3)]) + "\n")
    shown = on_terminal("predict", model, "many.csv").splitlines()
    assert shown[0].split() == ["predicted", "P(no)", "P(yes)", "outlook", "temperature", "humidity", "windy", "play"]
    loaded = tb.load(model)
    predicted, (no, yes) = loaded.predict("many.csv")[0], loaded.predict_proba("many.csv")[0]
    assert shown[2].split() == [predicted, f"{no:.4f}", f"{yes:.4f}", "sunny", "85", "85", "false", "no"]
    assert len(shown) == 2 + 20 + 1
    assert shown[-1] == "And 22 more rows; write them to a file with -o."


@pytest.mark.usefixtures("tally")
def test_only_the_columns_that_fit_are_shown_after_the_answers(model: str) -> None:
    head, *rows = WEATHER.splitlines()
    wide = [f"{head},{','.join(f'number {k}' for k in range(20))}", *(row + ",7" * 20 for row in rows)]
    Path("wide.csv").write_text("\n".join(wide) + "\n")
    shown = on_terminal("predict", model, "wide.csv").splitlines()
    assert shown[0].split()[:4] == ["predicted", "P(no)", "P(yes)", "outlook"]
    assert all(len(line) <= 100 for line in shown)
    assert "number 0" in shown[0]
    assert shown[-1] == "And 18 more columns; choose some with --columns, or write all with -o."
    chosen = on_terminal("predict", model, "wide.csv", "--columns", "*number 19").splitlines()
    assert chosen[0].split() == ["predicted", "P(no)", "P(yes)", "number", "19"]


@pytest.mark.usefixtures("tally")
def test_results_are_the_same_tables_as_in_a_pipe(tally: Shell, model: str) -> None:
    piped = tally.done(f"show {model} --column outlook")
    shown = on_terminal("show", model, "--column", "outlook")
    assert [line.rstrip() for line in shown.splitlines()] == piped.splitlines()


@pytest.mark.usefixtures("tally")
def test_work_in_parts_shows_a_bar_that_is_erased() -> None:
    shown = on_terminal("compare", "weather.csv", "--label", "play", "--how", "2-fold", "--partner", "none")
    assert "comparing" in shown
    assert "Comparison of 'play' by 2-fold" in shown
