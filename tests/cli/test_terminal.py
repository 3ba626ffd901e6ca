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


def on_terminal(*words: str, width: int = 100) -> str:
    """Return what a command writes to a terminal, without colours."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": str(width), "TERM": "xterm-256color"}
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


@pytest.mark.usefixtures("tally")
@pytest.mark.parametrize("width", [80, 140])
def test_of_many_long_classes_only_the_predicted_one_has_its_probability(width: int) -> None:
    names = [f"a class with a rather long name, number {k}" for k in range(6)]
    rows = [f"{k % 6},{k % 4},{names[k % 6]}" for k in range(120)]
    Path("long.csv").write_text(
        "x,probability,kind\n" + "\n".join(f'{a},{b},"{c}"' for a, b, c in (row.split(",", 2) for row in rows)) + "\n"
    )
    model = tb.fit("long.csv", "kind")
    model.save("long.tally")
    shown = on_terminal("predict", "long.tally", "long.csv", "--columns", "x,probability", width=width).splitlines()
    assert shown[0].split() == ["predicted", "P(predicted)", "x", "probability"]
    assert all(len(line) <= width for line in shown)
    predicted, p = model.predict("long.csv"), model.predict_proba("long.csv").max(axis=1)
    for line, name, chance in zip(shown[2:22], predicted, p, strict=False):
        assert line.startswith(name[:39])
        assert f" {chance:.4f} " in line
    assert shown[-1] == "With -o, the probabilities of all 6 classes are written."
    one = on_terminal("predict", "long.tally", "long.csv", "--columns", "x", "--abstain", "1", width=width)
    assert one.splitlines()[0].split() == ["predicted", "probability", "x"]


@pytest.mark.usefixtures("tally")
def test_a_narrow_terminal_shows_one_example_of_each_column() -> None:
    wide, narrow = on_terminal("look", "weather.csv", width=140), on_terminal("look", "weather.csv", width=80)
    assert "sunny, overcast, rainy" in wide
    assert "sunny" in narrow
    assert "overcast" not in narrow.partition("'play' looks like")[0]
    assert all(len(line) <= 80 for line in narrow.splitlines())
