"""Fit and predict_proba for each kind of column, compared with scikit-learn's class for it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

import tallybayes as tb
from benchmarks import workloads
from benchmarks.clock import best
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds

_MOST_MEMORY = 120.0  # MB that a calibrated fit may add
_TIMES_READING = 2.0  # of a warm default fit of a parquet file: two cores cannot be below about 1.5
_ONE_ROW = 50e-6  # seconds of predict_proba


def run(repeat: int) -> str:
    """Measure everything and return the table."""
    table = Growing("work", "tallybayes", "scikit-learn", "ratio", "target", "one pass", "memory added")
    X, y = workloads.reals()
    what = "numbers, 1,000,000 × 50 float64, 10 classes"
    plain = {"Gaussian, no calibration": (11.0, {"events": "gaussian", "calibrate": None})}
    called = {"Gaussian": (8.0, {"events": "gaussian"}), "default": (5.0, {})}
    _fits(table, what, X, y, GaussianNB(), plain | called, 45, repeat)
    X, y = workloads.codes()
    what, event = "values, 1,000,000 × 30, 10 values, 10 classes", {"events": "categorical"}
    _fits(table, what, X, y, CategoricalNB(), _both(event, 75, 40), 22, repeat)
    X, y = workloads.texts()
    what, event = f"CSR, 200,000 × 100,000, {X.nnz / 1e6:.1f} M entries, 20 classes", {"events": "multinomial"}
    _fits(table, what, X, y, MultinomialNB(), _both(event, 10, 4), 7, repeat)
    _parquet(table, repeat)
    _one_row(table)
    return table.markdown()


def _both(event: dict[str, Any], plain: float, default: float) -> dict[str, tuple[float, dict[str, Any]]]:
    """Return the fit without calibration and the one that people call, each with its target."""
    return {"no calibration": (plain, {**event, "calibrate": None}), "default": (default, event)}


def _fits(
    table: Growing,
    what: str,
    X: Any,
    y: Any,
    peer: Any,
    fits: dict[str, tuple[float, dict[str, Any]]],
    scored: float,
    repeat: int,
) -> None:
    """Measure each fit by its options, then predict_proba of the first, compared with one peer."""
    few = max(2, repeat // 2)
    one_pass = best((X.data if hasattr(X, "indptr") else X).sum, repeat).seconds
    theirs = best(lambda: type(peer)().fit(X, y), few)
    models = []
    for name, (target, options) in fits.items():
        ours = best(partial(tb.fit, X, y, **options), repeat)
        models.append(ours.result)
        most = _MOST_MEMORY if options.get("calibrate", "auto") is not None else float("inf")
        _row(table, f"{what}: fit, {name}", ours, theirs, target, one_pass, most)
    ours, theirs = (best(partial(fitted.predict_proba, X), few) for fitted in (models[0], theirs.result))
    _row(table, f"{what}: predict_proba, {next(iter(fits))}", ours, theirs, scored, one_pass)


def _row(
    table: Growing, what: str, ours: Any, theirs: Any, target: float, one_pass: float, most_mb: float = float("inf")
) -> None:
    ratio = theirs.seconds / ours.seconds
    faster = f"{ratio:.1f}×" + ("" if ratio >= target else f" {MISSED}")
    memory = f"{ours.grown_mb:.0f} MB" + ("" if ours.grown_mb <= most_mb else f" {MISSED}")
    table.add(what, seconds(ours.seconds), seconds(theirs.seconds), faster, f"{target:g}×", seconds(one_pass), memory)


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
    ratio = f"{fitting / reading:.2f} × reading" + ("" if fitting <= _TIMES_READING * reading else f" {MISSED}")
    table.add(what, seconds(fitting), f"({seconds(reading)})", ratio, f"{_TIMES_READING:g} × reading", "–", memory)


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
    ratio += "" if ours <= _ONE_ROW else f" {MISSED}"
    table.add(what, seconds(ours), seconds(theirs) if peer is not None else "–", ratio, seconds(_ONE_ROW), "–", "–")
