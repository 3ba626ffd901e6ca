"""Programs that exported models run in. One that is absent skips its tests; with CI=true they fail."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tallybayes.export import html

JAVASCRIPT = Path(html.__file__).parent / "page" / "tally-score.js"
_RUN = """
const score = require(process.argv[1]), fs = require("fs");
const {card, rows} = JSON.parse(fs.readFileSync(0, "utf8"));
const scorer = score(card);
const answer = row => { try { return scorer(row); } catch (e) { return {error: e.message}; } };
process.stdout.write(JSON.stringify(rows.map(answer)));
"""


def absent(what: str) -> None:
    """Skip a test for want of a program, or fail where CI needs it."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def node(card: str, rows: pa.Table | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what tally-score.js says of rows under node."""
    found = shutil.which("node")
    if found is None:
        absent("no node is here: install Debian's nodejs")
    listed = rows.to_pylist() if isinstance(rows, pa.Table) else rows
    given = json.dumps({"card": json.loads(card), "rows": [{k: plain(v) for k, v in row.items()} for row in listed]})
    done = subprocess.run([str(found), "-e", _RUN, str(JAVASCRIPT)], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def statements(script: str) -> tuple[list[str], str]:
    """Return the statements before a query, and the query."""
    *before, query = getattr(script, "statements", [script])
    return before, query


def named(found: Any) -> list[dict[str, Any]]:
    """Return rows that a cursor has found, by the names of their columns."""
    names = [one[0] for one in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def in_duckdb(script: str, rows: pa.Table) -> list[dict[str, Any]]:
    """Run a query over a table "rows" in DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("arrow", rows)
        connection.execute("CREATE TABLE rows AS SELECT * FROM arrow")
        before, query = statements(script)
        for one in before:
            connection.execute(one)
        # Not connection.sql, which parses and plans a query of half a megabyte twice: to name its columns, and to run.
        return named(connection.execute(query))


def in_sqlite(script: str, rows: pa.Table) -> list[dict[str, Any]]:
    """Run a query over a table "rows" in SQLite."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows.column_names)
        connection.execute(f"CREATE TABLE rows ({names})")
        marks = ", ".join("?" * rows.num_columns)
        listed = [[plain(value) for value in row.values()] for row in rows.to_pylist()]
        connection.executemany(f"INSERT INTO rows VALUES ({marks})", listed)
        before, query = statements(script)
        for one in before:
            connection.execute(one)
        return named(connection.execute(query))


def in_postgres(url: str) -> Any:
    """Return a function that runs a query over a table "rows" in PostgreSQL."""
    import adbc_driver_postgresql.dbapi

    def run(script: str, rows: pa.Table) -> list[dict[str, Any]]:
        before, query = statements(script)
        with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS rows")
            cursor.adbc_ingest("rows", rows, mode="create")
            for one in before:
                cursor.execute(one)  # undone at the end: nothing is committed
            cursor.execute(query)
            found: list[dict[str, Any]] = cursor.fetch_arrow_table().to_pylist()
            return found

    return run


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    return None if isinstance(value, float) and math.isnan(value) else value


def probabilities(answers: list[dict[str, Any]]) -> np.ndarray:
    """Return the probabilities of answers, which must all be answers."""
    assert not [one["error"] for one in answers if "error" in one]
    return np.array([one["probabilities"] for one in answers])
