"""Fit and predict_proba for each kind of column, compared with scikit-learn's class for it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

import tallybayes as tb
from benchmarks import workloads
from benchmarks.clock import best
from benchmarks.table import Growing, seconds


def run(repeat: int) -> str:
    """Measure everything and return the table."""
    table = Growing("work", "tallybayes", "scikit-learn", "ratio", "target", "one pass", "memory added")
    X, y = workloads.reals()
    _pair(table, "Gaussian, 1,000,000 × 50 float64, 10 classes", X, y, GaussianNB(), (8, 20), repeat, estimate="mle")
    _pair(table, "the same, averaged over parameters (default)", X, y, None, (0, 0), repeat)
    X, y = workloads.codes()
    _pair(table, "categorical, 1,000,000 × 30, 10 values, 10 classes", X, y, CategoricalNB(), (80, 12), repeat)
    X, y = workloads.texts()
    what = f"CSR multinomial, 200,000 × 100,000, {X.nnz / 1e6:.1f} M entries, 20 classes"
    _pair(table, what, X, y, MultinomialNB(), (10, 3), repeat)
    _parquet(table, repeat)
    _one_row(table)
    return table.markdown()


def _pair(
    table: Growing, what: str, X: Any, y: Any, peer: Any, target: tuple[float, float], repeat: int, **choices: Any
) -> None:
    """Measure fit, then predict_proba."""
    event = {"C": "categorical", "M": "multinomial"}.get(type(peer).__name__[0], "gaussian")
    one_pass = best((X.data if hasattr(X, "indptr") else X).sum, repeat).seconds
    ours = best(lambda: tb.fit(X, y, events=event, **choices), repeat)
    theirs = best(lambda: type(peer)().fit(X, y), max(2, repeat // 2)) if peer is not None else None
    _row(table, f"{what}: fit", ours, theirs, target[0], one_pass)
    model = ours.result
    fitted = theirs.result if theirs is not None else None
    ours = best(lambda: model.predict_proba(X), repeat)
    theirs = best(lambda: fitted.predict_proba(X), max(2, repeat // 2)) if fitted is not None else None
    _row(table, f"{what}: predict_proba", ours, theirs, target[1], one_pass)


def _row(table: Growing, what: str, ours: Any, theirs: Any, target: float, one_pass: float) -> None:
    ratio = f"{theirs.seconds / ours.seconds:.1f}×" if theirs else "–"
    peer = seconds(theirs.seconds) if theirs else "–"
    want = f"{target:g}×" if target else "–"
    table.add(what, seconds(ours.seconds), peer, ratio, want, seconds(one_pass), f"{ours.grown_mb:.0f} MB")


def _parquet(table: Growing, repeat: int) -> None:
    """Measure fitting a file, compared with reading it."""
    with tempfile.TemporaryDirectory() as folder:
        path = workloads.parquet(Path(folder))
        what = "parquet of 1,000,000 × 50 float64 → model, beside pyarrow's read_table"
        first = [_first(_READ, path) for _ in range(repeat)], [_first(_FIT, path) for _ in range(repeat)]
        _beside_reading(table, f"{what}: first use in a process", min(first[1]), min(first[0]), "–")
        reading = best(lambda: pq.read_table(path), repeat)
        fitting = best(lambda: tb.fit(path, "label"), repeat)
        memory = f"{fitting.grown_mb:.0f} MB"
        _beside_reading(table, f"{what}: again and again", fitting.seconds, reading.seconds, memory)


_READ = """
import sys, time
import pyarrow.parquet as pq
start = time.perf_counter()
pq.read_table(sys.argv[1])
print(time.perf_counter() - start)
"""
_FIT = """
import sys, time
import tallybayes as tb
fit = tb.fit
start = time.perf_counter()
fit(sys.argv[1], "label")
print(time.perf_counter() - start)
"""


def _first(code: str, path: Path) -> float:
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _beside_reading(table: Growing, what: str, fitting: float, reading: float, memory: str) -> None:
    ratio = f"{fitting / reading:.2f} × reading"
    table.add(what, seconds(fitting), f"({seconds(reading)})", ratio, "1.3 × reading", "–", memory)


def _one_row(table: Growing, times: int = 300) -> None:
    """Measure the time of one row."""
    X, y = workloads.reals(10_000)
    model = tb.fit(X, y)
    peer = GaussianNB().fit(X, y)
    row = X[:1]
    weather = tb.fit({"outlook": ["sunny", "rainy"], "windy": [True, False], "play": ["no", "yes"]}, "play")
    day = [{"outlook": "sunny", "windy": True}]
    _latency(table, "predict_proba of one row of 50 numbers", model, row, peer, times)
    _latency(table, "predict_proba of one row given as a dict", weather, day, None, times)


def _latency(table: Growing, what: str, model: Any, row: Any, peer: Any, times: int) -> None:
    def per_call(work: Callable[[], Any]) -> float:
        return best(lambda: [work() for _ in range(times)], 5).seconds / times

    ours = per_call(lambda: model.predict_proba(row))
    theirs = per_call(lambda: peer.predict_proba(row)) if peer is not None else np.nan
    ratio = f"{theirs / ours:.1f}×" if peer is not None else "–"
    table.add(what, seconds(ours), seconds(theirs) if peer is not None else "–", ratio, "50 µs", "–", "–")
