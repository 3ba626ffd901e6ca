"""`--where`: every command that reads rows filters them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .shell import WEATHER, Shell


@pytest.fixture
def warm(tally: Shell) -> str:
    header, *rows = WEATHER.splitlines()
    kept = [row for row in rows if int(row.split(",")[1]) >= 70]
    Path("warm.csv").write_text("\n".join([header, *kept]) + "\n")
    return "warm.csv"


@pytest.mark.parametrize(
    "line",
    [
        "validate {} -l play --json",
        "predict weather.tally {} --json",
        "evaluate weather.tally {}",
        "query {} play=yes",
        "explain weather.tally {}",
        "compare {} -l play --partner none --json",
    ],
)
def test_every_command_reads_the_rows_of_which_it_is_true(tally: Shell, model: str, warm: str, line: str) -> None:
    row = ":2" if "explain" in line else ""
    asked = f"weather.csv{row} --where 'temperature >= 70'"
    some, same = (tally.done(line.format(one)) for one in (asked, f"{warm}{row}"))
    assert re.sub(r'"seconds": [\d.e-]+', "", some) == re.sub(r'"seconds": [\d.e-]+', "", same)


def test_fit_learns_from_them_and_says_how_to_go_on(tally: Shell, warm: str) -> None:
    ran = tally("fit weather.csv -l play --where 'temperature >= 70' -o some.tally")
    assert "10 rows" in ran.out
    assert ran.err.endswith("tally validate weather.csv --where 'temperature >= 70' --label play\n")
    tally.done(f"fit {warm} -l play -o same.tally")
    assert Path("some.tally").read_bytes() == Path("same.tally").read_bytes()
    tally.done("report weather.csv -l play --where 'temperature >= 70' -o some.html")
    assert "temperature &gt;= 70" in Path("some.html").read_text()


def test_a_predicate_that_cannot_be_used_is_refused(tally: Shell) -> None:
    assert tally.refused("fit weather.csv -l play --where 'temp > 3'") == (
        "weather.csv: wanted a column 'temp', got none of that name. Did you mean 'temperature'?"
    )
    assert tally.refused("fit weather.csv -l play --where 'temperature >'").startswith(
        "--where: wanted comparisons such"
    )
    assert tally.refused("fit weather.csv -l play --where 'temperature > 200'") == (
        "weather.csv: wanted rows to learn from, got none."
    )
