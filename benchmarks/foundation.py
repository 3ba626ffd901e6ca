"""Fit and predict_proba for each kind of column, by default and plain, compared with scikit-learn's class for it.

Plain is what scikit-learn's class does: no calibration, and for numbers the normal density of maximum likelihood.
"""

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
from benchmarks.table import Growing, marked, seconds

_MOST_MEMORY = 120.0  # MB that a calibrated fit may add
# A warm fit of a parquet file, plain and by default, in times of reading it: two cores cannot be below about 1.5.
_READING = {"plain": (1.6, {"events": "gaussian", "calibrate": None}), "default": (2.0, {})}
_ONE_ROW = 50e-6  # seconds of predict_proba


def run(repeat: int) -> str:
    """Measure everything and return the table."""
    table = Growing("work", "tallybayes", "scikit-learn", "ratio", "target", "one pass", "memory added")
    X, y = workloads.reals()
    what = "numbers, 1,000,000 × 50 float64, 10 classes"
    plain = {"plain": (11.0, {"events": "gaussian", "estimate": "mle", "calibrate": None})}
    called = {"Gaussian, calibrated": (8.0, {"events": "gaussian"}), "default": (5.0, {})}
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
    """Return the plain fit and the one that people call, each with its target."""
    return {"plain": (plain, {**event, "calibrate": None}), "default": (default, event)}


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
    """Measure each fit by its options, then predict_proba of each, compared with one peer; plain has a target."""
    few = max(2, repeat // 2)
    one_pass = best((X.data if hasattr(X, "indptr") else X).sum, repeat).seconds
    theirs = best(lambda: type(peer)().fit(X, y), few)
    models = []
    for name, (target, options) in fits.items():
        ours = best(partial(tb.fit, X, y, **options), repeat)
        models.append(ours.result)
        most = _MOST_MEMORY if options.get("calibrate", "auto") is not None else float("inf")
        _row(table, f"{what}: fit, {name}", ours, theirs, target, one_pass, most)
    theirs = best(partial(theirs.result.predict_proba, X), few)
    for name, model in zip(fits, models, strict=True):
        ours = best(partial(model.predict_proba, X), few)
        _row(table, f"{what}: predict_proba, {name}", ours, theirs, scored if name == "plain" else None, one_pass)


def _row(
    table: Growing,
    what: str,
    ours: Any,
    theirs: Any,
    target: float | None,
    one_pass: float,
    most_mb: float = float("inf"),
) -> None:
    ratio = theirs.seconds / ours.seconds
    faster = marked(f"{ratio:.1f}×", target is None or ratio >= target)
    memory = marked(f"{ours.grown_mb:.0f} MB", ours.grown_mb <= most_mb)
    want = "–" if target is None else f"{target:g}×"
    table.add(what, seconds(ours.seconds), seconds(theirs.seconds), faster, want, seconds(one_pass), memory)


def _parquet(table: Growing, repeat: int) -> None:
    """Measure fitting a file, compared with reading it."""
    with tempfile.TemporaryDirectory() as folder:
        path = workloads.parquet(Path(folder))
        what = "parquet of 1,000,000 × 50 float64 → model, beside pyarrow's read_table"
        first = [_first(_READ, path) for _ in range(repeat)], [_first(_FIT, path) for _ in range(repeat)]
        _beside_reading(table, f"{what}: first use in a process, default", min(first[1]), min(first[0]), None, "–")
        reading = best(lambda: pq.read_table(path), repeat)
        for name, (most, options) in _READING.items():
            fitting = best(partial(tb.fit, path, "label", **options), repeat)
            memory = f"{fitting.grown_mb:.0f} MB"
            _beside_reading(table, f"{what}: again and again, {name}", fitting.seconds, reading.seconds, most, memory)


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


def _beside_reading(table: Growing, what: str, fitting: float, reading: float, most: float | None, memory: str) -> None:
    ratio = marked(f"{fitting / reading:.2f} × reading", most is None or fitting <= most * reading)
    want = "–" if most is None else f"{most:g} × reading"
    table.add(what, seconds(fitting), f"({seconds(reading)})", ratio, want, "–", memory)


def _one_row(table: Growing, times: int = 300) -> None:
    """Measure the time of one row."""
    X, y = workloads.reals(10_000)
    model, plain = tb.fit(X, y), tb.fit(X, y, events="gaussian", estimate="mle", calibrate=None)
    peer = GaussianNB().fit(X, y)
    row = X[:1]
    weather = tb.fit({"outlook": ["sunny", "rainy"], "windy": [True, False], "play": ["no", "yes"]}, "play")
    day = [{"outlook": "sunny", "windy": True}]
    _latency(table, "predict_proba of one row of 50 numbers, plain", plain, row, peer, times)
    _latency(table, "predict_proba of one row of 50 numbers, default", model, row, peer, times)
    _latency(table, "predict_proba of one row given as a dict", weather, day, None, times)


def _latency(table: Growing, what: str, model: Any, row: Any, peer: Any, times: int) -> None:
    def per_call(work: Callable[[], Any]) -> float:
        return best(lambda: [work() for _ in range(times)], 5).seconds / times

    ours = per_call(lambda: model.predict_proba(row))
    theirs = per_call(lambda: peer.predict_proba(row)) if peer is not None else np.nan
    ratio = f"{theirs / ours:.1f}×" if peer is not None else "–"
    ratio = marked(ratio, ours <= _ONE_ROW)
    table.add(what, seconds(ours), seconds(theirs) if peer is not None else "–", ratio, seconds(_ONE_ROW), "–", "–")
