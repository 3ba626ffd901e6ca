"""`--bad-lines skip`: the run continues, and skipped lines are reported once on standard error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tallybayes as tb

from .shell import WEATHER, Shell

SAID = "tally: skipped 1 of 15 lines: {} line 4 has 2 values instead of 5.\n"


@pytest.fixture
def dirty(tally: Shell) -> str:
    lines = WEATHER.splitlines()
    return "\n".join([*lines[:3], "sunny,80", *lines[3:]]) + "\n"


@pytest.mark.parametrize(
    "line",
    [
        "look {}",
        "fit {} -l play -f -o new.tally",
        "validate {} -l play --how 2x5",
        "evaluate weather.tally {}",
        "predict weather.tally {}",
        "query {} play=yes",
        "learn weather.tally {} -o more.tally",
        "report {} -l play -f -o r.html",
        "compare {} -l play --partner none",
        "explain weather.tally {}:2",
    ],
)
def test_every_command_that_reads_rows_goes_on_and_says_so_once(
    tally: Shell, model: str, dirty: str, line: str
) -> None:
    Path("dirty.csv").write_text(dirty)
    assert "got 2 in row 3: 'sunny,80'" in tally.refused(line.format("dirty.csv"))
    ran = tally(f"{line.format('dirty.csv')} --bad-lines skip")
    assert ran.code == 0, ran.err
    if not line.startswith("explain"):  # which reads no further than the row
        assert ran.err.count("skipped") == 1
        assert SAID.format("dirty.csv") in ran.err


def test_the_model_is_that_of_the_good_lines(tally: Shell, model: str, dirty: str) -> None:
    Path("dirty.csv").write_text(dirty)
    ran = tally("fit dirty.csv -l play --bad-lines skip -o new.tally")
    assert Path("new.tally").read_bytes() == Path("weather.tally").read_bytes()
    assert ran.err.endswith("tally validate dirty.csv --bad-lines skip --label play\n")


def test_standard_input_is_called_so(tally: Shell, dirty: str) -> None:
    ran = tally("fit - -l play --bad-lines skip -o new.tally", stdin=dirty.encode())
    assert ran.code == 0
    assert SAID.format("standard input") in ran.err


def test_json_lines_are_skipped_too(tally: Shell) -> None:
    rows = [json.dumps({"a": k, "y": "no" if k % 2 else "yes"}) for k in range(9)]
    Path("a.jsonl").write_text("\n".join([*rows, '{"a": 1, "y"']))
    ran = tally("fit a.jsonl -l y --bad-lines skip")
    assert ran.err.startswith(
        """tally: skipped 1 of 10 lines: a.jsonl line 10 has '{"a": 1, "y"', not a JSON object.\n"""
    )
    assert tb.load("a.tally").evidence.rows.to_float().sum() == 9


def test_a_file_of_nothing_but_bad_lines_is_refused(tally: Shell) -> None:
    Path("bad.csv").write_text("a,b\n1\n2\n")
    assert tally.refused("fit bad.csv -l b --bad-lines skip") == (
        "bad.csv: wanted at least one valid line, got 2 bad ones (first: line 2 has 1 value instead of 2)."
    )
