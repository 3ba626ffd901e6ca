"""`--sql` instead of DATA: every command that reads rows can read a query's."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
from pathlib import Path

import pytest

import tallybayes as tb

from .shell import WEATHER, Shell

WHOLE = "--sql \"select * from 'weather.csv'\""
LITE = "--sql 'select * from weather' --db sqlite:///weather.db"


@pytest.fixture
def database(tally: Shell) -> None:
    header, *rows = [line.split(",") for line in WEATHER.splitlines()]
    with sqlite3.connect("weather.db") as made:
        made.execute(f"CREATE TABLE weather ({header[0]}, {header[1]} INT, {header[2]} INT, windy, play)")
        made.executemany("INSERT INTO weather VALUES (?, ?, ?, ?, ?)", rows)
    made.close()


@pytest.mark.parametrize("rows", [WHOLE, LITE])
def test_fit_saves_the_model_of_the_query_and_says_how_to_go_on(tally: Shell, database: None, rows: str) -> None:
    ran = tally(f"fit {rows} --label play")
    assert ran.code == 0, ran.err
    assert ran.out.endswith("Saved to model.tally.\n")
    sql, url = [*shlex.split(rows), "--db", "duckdb"][1:4:2]
    assert tb.load("model.tally") == tb.fit(sql, "play", connection=url)
    assert ran.err.startswith("tally: next: tally show model.tally\ntally: next: tally validate --sql ")
    assert tally.done(ran.err.split("next: tally ")[2])


def test_every_command_that_reads_rows_takes_a_query(tally: Shell, database: None) -> None:
    tally.done(f"fit {LITE} --label play -o m.tally")
    for one in ("predict m.tally {} --json", "evaluate m.tally {}", "validate {} -l play --json", "query {} play=yes"):
        assert tally.done(one.format(LITE)) == tally.done(one.format("weather.csv")), one
    assert "the query: 14 rows, 5 columns" in tally.done(f"look {LITE}")
    assert "tally fit --sql 'select * from weather' --db sqlite:///weather.db --label play" in tally.done(
        f"look {LITE}"
    )
    first = "--sql \"select * from weather where outlook = 'overcast' limit 1\" --db sqlite:///weather.db"
    assert tally.done(f"explain m.tally {first}") == tally.done("explain m.tally weather.csv:3")
    assert json.loads(tally.done(f"report m.tally {LITE} --json"))
    tally.done(f"learn m.tally {LITE} --calibrate weather.csv -o more.tally")
    tally.done(f"forget more.tally {LITE} -o less.tally")
    assert tb.load("less.tally").evidence == tb.load("m.tally").evidence
    assert tally.done(f"compare {LITE} -l play --how 5-fold --json")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            f"fit weather.csv {WHOLE} -l play -o n.tally",
            "--sql: wanted no DATA, got 'weather.csv'. Name the files in",
        ),
        ("fit weather.csv --db duckdb -l play -o n.tally", "--db: wanted a query, got none. Add --sql."),
        (f"fit {WHOLE} --format csv -l play", "--format: wanted files, got a query."),
        ("fit --sql 'select 1 as a' -l play", "the query: wanted a column 'play' for --label, got none of that name."),
        ("fit --sql 'selec' -l play", "the query: wanted rows, got a database error ("),
        ("fit --sql 'select 1 as a' --db oracle://me:secret@h/d", "--db: wanted 'duckdb', "),
        ("query weather.csv", "QUESTION: wanted one after DATA"),
        (f"query weather.csv play=yes {WHOLE}", "--sql: wanted no DATA, got 'weather.csv'."),
        ("explain weather.tally", "ROW: wanted NAME=VALUE for some columns"),
        (f"explain weather.tally outlook=sunny {WHOLE}", "--sql: wanted no DATA, got 'outlook=sunny'."),
        (
            "explain weather.tally --sql 'select 1 as windy where false'",
            "the query: wanted rows, got none.",
        ),
        (f"validate -l play {WHOLE} --db sqlite:///gone.db", "gone.db: wanted a database, got no file at that path."),
    ],
)
def test_errors_of_a_query_are_one_line(tally: Shell, model: str, line: str, sentence: str) -> None:
    before = set(os.listdir())
    said = tally.refused(line)
    assert said.startswith(sentence)
    assert "secret" not in said
    assert set(os.listdir()) == before


@pytest.mark.parametrize("target", ["answers.csv", "answers.parquet", "answers.jsonl.gz"])
def test_a_query_that_fails_midway_leaves_no_file(tally: Shell, model: str, target: str) -> None:
    # Long enough, too, for DuckDB to begin a bar of its own.
    failing = (
        "case when i < 400000 then 'sunny' else error('out of luck') end as outlook, 66 as temperature, "
        "90 as humidity, true as windy from range(500000) t(i)"
    )
    before = set(os.listdir())
    assert "out of luck" in tally.refused(f'predict {model} --sql "select {failing}" -o {target}')
    assert "out of luck" in tally.refused(f'fit --sql "select i % 2 as play, {failing}" -l play -o broken.tally')
    assert set(os.listdir()) == before
    assert not Path(target).exists()
