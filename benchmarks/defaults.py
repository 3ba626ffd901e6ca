"""The default fit, which calibrates, beside the plain one and calibrated peers: CPU time of all threads.

A person who calls `tb.fit` pays for calibration. Compared like with like: scikit-learn's class gives no such
probabilities without `CalibratedClassifierCV`, and logistic regression is what people take for them. A second table
compares fits of a million rows with scikit-learn's plain ones, and the answers for a hundred rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tallybayes as tb
from benchmarks import workloads
from benchmarks.clock import cpu
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds

ROWS = (100, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = 20
LARGEST = int(os.environ.get("DEFAULTS_ROWS", "1000000"))  # fewer for a quick look
# The bounds of a default fit: seconds of few rows; times the plain fit, and seconds more; times faster than peers.
FEW_ROWS, FEW_SECONDS = 100, 0.005
MANY_ROWS, TIMES_PLAIN, MORE_SECONDS = 100_000, 3.0, 0.030
FASTER_THAN_CALIBRATED, FASTER_THAN_LOGISTIC = 2.0, 1.0
# Of a million rows: times faster than scikit-learn's fit on as many cores, and at most times the plain fit.
FASTER = {"numbers": 5.0, "numbers, gaussian": 8.0, "numbers, plain": 11.0, "values": 40.0, "values, plain": 75.0}
MOST_PLAIN = 2.5
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(repeat: int) -> str:
    """Measure all and return both tables; a cross marks a missed bound."""
    return f"{growing_rows(repeat)}\n\n{many_rows(max(2, repeat // 2))}"


def many_rows(repeat: int) -> str:
    """Compare fits of a million rows, and predictions for a hundred, with scikit-learn's; theirs use one core."""
    table = Growing("work", "tallybayes", "scikit-learn", "on one core", f"on {CORES} cores", "bounds")
    n = min(LARGEST, 1_000_000)
    X, y = workloads.reals(n)
    codes = workloads.codes(n)
    works: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "numbers, plain": (partial(tb.fit, X, y, events="gaussian", calibrate=None), partial(GaussianNB().fit, X, y)),
        "numbers": (partial(tb.fit, X, y), partial(GaussianNB().fit, X, y)),
        "numbers, gaussian": (partial(tb.fit, X, y, events="gaussian"), partial(GaussianNB().fit, X, y)),
        "values, plain": (partial(_values, *codes, calibrate=None), partial(CategoricalNB().fit, *codes)),
        "values": (partial(_values, *codes), partial(CategoricalNB().fit, *codes)),
    }
    plain = 0.0
    for name, work in works.items():
        mine, theirs = (cpu(one, repeat) for one in work)
        plain, ratio, bound = mine if name == "numbers, plain" else plain, theirs / mine, FASTER[name]
        said = f"{bound:g}×" + ("" if CORES * ratio >= bound else f" {MISSED}")
        if name == "numbers":
            said += f", at most {MOST_PLAIN:g} × plain" + ("" if mine <= MOST_PLAIN * plain else f" {MISSED}")
        width = 50 if name.startswith("numbers") else 30
        what = f"fit {n:,} × {width} {name}, 10 classes"
        table.add(what, seconds(mine), seconds(theirs), f"{ratio:.1f}×", f"{CORES * ratio:.1f}×", said)
    X, y = _rows(FEW_ROWS)
    for name, options in {"plain": {"events": "gaussian", "calibrate": None}, "default": {}}.items():
        ours, peer = tb.fit(X, y, **options), GaussianNB().fit(X, y)
        mine, theirs = (cpu(partial(_often, partial(one.predict, X)), repeat) / OFTEN for one in (ours, peer))
        said = "1×" + ("" if theirs >= mine else f" {MISSED}")
        what = f"predict {FEW_ROWS} × {COLUMNS} numbers, {name}"
        table.add(what, seconds(mine), seconds(theirs), f"{theirs / mine:.1f}×", "–", said)
    return table.markdown()


OFTEN = 200  # calls timed together: one is too short for the clock


def _often(work: Callable[[], Any]) -> None:
    for _ in range(OFTEN):
        work()


def _values(X: Any, y: Any, **options: Any) -> tb.Model:
    return tb.fit(X, y, events="categorical", **options)


def growing_rows(repeat: int) -> str:
    """Measure each number of rows and return the table."""
    table = Growing("rows × 20 numbers", "default", "plain", "GaussianNB", "calibrated, cv=5", "logistic", "bounds")
    for n in (n for n in ROWS if n <= LARGEST):
        X, y = _rows(n)
        works: list[Callable[[], Any]] = [
            partial(tb.fit, X, y),
            partial(tb.fit, X, y, events="gaussian", calibrate=None),
            partial(GaussianNB().fit, X, y),
            partial(CalibratedClassifierCV(GaussianNB(), cv=5).fit, X, y),
            partial(make_pipeline(StandardScaler(), LogisticRegression()).fit, X, y),
        ]
        spent = [cpu(work, repeat if n <= 10_000 else max(2, repeat // 2)) for work in works]
        table.add(f"{n:,}", *map(seconds, spent), _missed(n, *spent))
    return table.markdown()


def _rows(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return columns that tell two classes apart, some more than others."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, COLUMNS)) + y[:, None] * rng.normal(size=COLUMNS) * 0.5, y


def _missed(n: int, mine: float, plain: float, _: float, calibrated: float, logistic: float) -> str:
    """Return the bounds of a default fit of n rows, each with a cross if it is missed."""
    bounds = []
    if n <= FEW_ROWS:
        bounds.append((f"at most {seconds(FEW_SECONDS)}", mine <= FEW_SECONDS))
    if n <= MANY_ROWS:
        most = TIMES_PLAIN * plain + MORE_SECONDS
        bounds.append((f"at most {TIMES_PLAIN:g} × plain + {seconds(MORE_SECONDS)}", mine <= most))
    if n > FEW_ROWS:
        bounds.append((f"{FASTER_THAN_CALIBRATED:g}× calibrated", calibrated / mine >= FASTER_THAN_CALIBRATED))
        bounds.append((f"{FASTER_THAN_LOGISTIC:g}× logistic", logistic / mine >= FASTER_THAN_LOGISTIC))
    return ", ".join(name if kept else f"{name} {MISSED}" for name, kept in bounds)
