"""Exported models beside `predict_proba`: a query of DuckDB, a graph in onnxruntime, and the size of JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pyarrow as pa

import tallybayes as tb
from benchmarks.clock import best, cpu
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds

QUERY_ROWS, ROWS, COLUMNS, FITTED = 1_000_000, 100_000, 50, 20_000
QUERY_SECONDS, TIMES, MEGABYTES = 10.0, 5.0, 1.0  # the bounds
WORDS = 20_000


def run(repeat: int) -> str:
    """Measure the targets and return the table; a cross marks a missed bound."""
    table, few = Growing("work", "exported", "predict_proba", "ratio", "bound"), min(repeat, 3)
    models = {name: _model(name) for name in ("histogram", "gaussian", "categorical")}
    for name, (model, rows) in models.items():
        _graph(table, name, model, rows.slice(0, ROWS), repeat)
    model, rows = models["histogram"]
    _query(table, f"DuckDB, {QUERY_ROWS:,} × {COLUMNS} histogram", model, rows, few, QUERY_SECONDS)
    texts, documents = _texts()
    _query(table, f"DuckDB, {len(documents):,} documents of 50 words", texts, documents, few)
    for name, (model, _) in models.items():
        size = len(model.to_json()) / 1e6
        bound = f"at most {MEGABYTES:g} MB"
        table.add(f"JSON, {COLUMNS} columns, {name}", f"{size:.2f} MB{_cross(size <= MEGABYTES)}", "–", "–", bound)
    return table.markdown()


def _graph(table: Growing, name: str, model: tb.Model, rows: pa.Table, repeat: int) -> None:
    """Compare the CPU time of onnxruntime, which is given columns of NumPy; both on one thread, since others spin."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = model.to_onnx().SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    given = {one: np.asarray(rows.column(one).to_numpy())[:, None] for one in rows.column_names}
    mine, theirs = _both(lambda: session.run(None, given), lambda: model.predict_proba(rows, threads=1), repeat)
    ratio = mine / theirs
    what, bound = f"onnxruntime, {ROWS:,} × {COLUMNS} {name}, CPU", f"at most {TIMES:g}×"
    table.add(what, seconds(mine), seconds(theirs), f"{ratio:.1f}×{_cross(ratio <= TIMES)}", bound)


def _both(first: Callable[[], Any], second: Callable[[], Any], repeat: int) -> tuple[float, float]:
    """Return the least seconds of CPU of both, which take turns."""
    pairs = [(cpu(first, 1), cpu(second, 1)) for _ in range(repeat)]
    return min(one for one, _ in pairs), min(two for _, two in pairs)


def _query(table: Growing, what: str, model: tb.Model, rows: pa.Table, repeat: int, most: float | None = None) -> None:
    with duckdb.connect() as connection:
        connection.register("arrow", rows)
        connection.execute("CREATE TABLE rows AS SELECT * FROM arrow")
        *setup, query = model.to_sql("duckdb", "rows", keep=[]).statements
        for statement in setup:
            connection.execute(statement)
        query = f"CREATE OR REPLACE TABLE answers AS {query}"
        mine = best(lambda: connection.execute(query), repeat).seconds
    theirs = best(lambda: model.predict_proba(rows), repeat).seconds
    cross, bound = (_cross(mine <= most), f"at most {seconds(most)}") if most else ("", "–")
    table.add(what, f"{seconds(mine)}{cross}", seconds(theirs), f"{mine / theirs:.0f}×", bound)


def _cross(kept: bool) -> str:
    return "" if kept else f" {MISSED}"


def _model(event: str) -> tuple[tb.Model, pa.Table]:
    """Return a calibrated model of fifty columns that tell two classes apart, and rows to score."""
    rng = np.random.default_rng(0)
    n = QUERY_ROWS if event == "histogram" else ROWS
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, COLUMNS)) + y[:, None] * rng.normal(size=COLUMNS) * 0.5
    columns = {f"x{k}": np.ascontiguousarray(X[:, k]) for k in range(COLUMNS)}
    if event == "categorical":
        names = np.array([f"value {k}" for k in range(10)], object)
        columns = {name: names[np.clip(x * 2 + 5, 0, 9).astype(int)] for name, x in columns.items()}
    rows = pa.table(columns)
    fitted = rows.slice(0, FITTED).append_column("y", pa.array(np.where(y[:FITTED], "yes", "no")))
    return tb.fit(fitted, "y", events=dict.fromkeys(columns, event)), rows


def _texts() -> tuple[tb.Model, pa.Table]:
    """Return a model of many words, and documents to score."""
    rng = np.random.default_rng(0)
    n, words = 20_000, np.array([f"word{k}" for k in range(WORDS)])
    drawn = np.minimum(rng.zipf(1.3, (n, 50)) - 1, WORDS - 1)
    y = rng.integers(0, 2, n)
    drawn[y == 1, ::10] = rng.integers(50, 90, (int(y.sum()), 5))
    documents = [" ".join(words[row]) for row in drawn]
    model = tb.fit(documents, np.where(y, "yes", "no"))
    return model, pa.table({"text": documents})
