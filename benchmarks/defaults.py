"""The default fit, which calibrates, beside the plain one and calibrated peers: CPU time of all threads.

A person who calls `tb.fit` pays for calibration. Compared like with like: scikit-learn's class gives no such
probabilities without `CalibratedClassifierCV`, and logistic regression is what people take for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tallybayes as tb
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


def run(repeat: int) -> str:
    """Measure each number of rows and return the table; a cross marks a missed bound."""
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
