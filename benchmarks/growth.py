"""Growth: the CPU time of a fit as each axis grows tenfold, default beside plain beside scikit-learn.

A second table has the largest numbers of classes by default, whose memory must not grow with their square.

Where work is linear, ten times as much of one axis takes at most ten times as long. A step that takes more than
`_MOST_STEP` is marked: below that are the effects of caches, above it an algorithm is not linear.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import tallybayes as tb
from benchmarks.clock import cpu
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds
from sklearn import naive_bayes

_MOST_STEP = 16.0  # times, for ten times as much
_LEAST = 2e-3  # seconds: below, fixed costs are most of the time


class Point(NamedTuple):
    """One size of one axis: the rows, their event model, and scikit-learn's class for them."""

    axis: str
    size: int
    X: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]
    events: str
    peer: Callable[[], Any]


def run(repeat: int) -> str:
    """Measure every axis, and return the table; a cross marks a step that is not linear."""
    table = Growing("axis", "plain", "step", "predict_proba", "step", "default", "step", "scikit-learn")
    before: dict[str, tuple[str, float]] = {}
    for point in points():
        fit = partial(tb.fit, point.X, point.y, events=point.events, label_as_is=True)
        model = fit(calibrate=None)
        few = repeat if point.X.size < 1 << 20 else 3  # a first call makes what later ones use
        cells = []
        for name, work in (
            ("plain", partial(fit, calibrate=None)),
            ("predict", partial(model.predict_proba, point.X[: 1 << 16])),
            ("default", fit),
        ):
            spent = cpu(work, few, turn=0)  # again and again, small tables would be in a cache, and large ones not
            axis, last = before.get(name, ("", float("nan")))
            before[name] = point.axis, spent
            cells += [seconds(spent), _step(spent, last) if axis == point.axis else "–"]
        peer = cpu(lambda p=point: p.peer().fit(p.X, p.y), few, turn=0)  # type: ignore[misc]
        table.add(f"{point.size:,} {point.axis}", *cells, seconds(peer))
    return f"{table.markdown()}\n\n{many_classes()}"


_MANY_CLASSES = """
import time, warnings
import numpy as np
import tallybayes as tb
warnings.simplefilter("ignore")
X, y = np.random.default_rng(0).normal(size=(20_000, 20)), np.arange(20_000) % {classes}
tb.fit(X[:100], y[:100] % 3)
start = time.process_time()
tb.fit(X, y, label_as_is=True)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time() - start, int(peak.split()[1]) / 1e3)
"""


def many_classes() -> str:
    """Measure default fits of many classes, each in a process of its own, and return the table."""
    table = Growing("classes × 20,000 rows × 20 numbers, by default", "CPU time", "peak memory", "bounds")
    for classes, most, most_mb in ((1_000, 4.3, 1_000), (10_000, 10.0, 1_000)):
        code = _MANY_CLASSES.format(classes=classes)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        spent, peak = map(float, done.stdout.split())
        cells = (seconds(spent), spent <= most), (f"{peak:.0f} MB", peak <= most_mb)
        bounds = f"at most {most:g} s, {most_mb:,} MB"
        table.add(f"{classes:,}", *(cell if kept else f"{cell} {MISSED}" for cell, kept in cells), bounds)
    return table.markdown()


def _step(spent: float, last: float) -> str:
    """Return how many times as long ten times as much took."""
    if not np.isfinite(spent / last):
        return "–"
    return f"{spent / last:.1f}×" + (
        f" {MISSED}" if spent > _LEAST and spent / max(last, _LEAST / 10) > _MOST_STEP else ""
    )


def points() -> Iterator[Point]:
    """Yield the sizes of each axis."""
    rng = np.random.default_rng(0)
    gaussian = naive_bayes.GaussianNB
    for n in (100, 1_000, 10_000, 100_000, 1_000_000):
        yield Point("rows × 20 numbers", n, rng.normal(size=(n, 20)), np.arange(n) % 2, "gaussian", gaussian)
    for d in (10, 100, 1_000, 10_000, 100_000):
        yield Point(
            "columns of numbers × 200 rows", d, rng.normal(size=(200, d)), np.arange(200) % 2, "gaussian", gaussian
        )
    for d in (10, 100, 1_000, 10_000):
        X = rng.integers(0, 4, (2_000, d))
        peer = partial(naive_bayes.CategoricalNB, min_categories=4)
        yield Point("columns of 4 values × 2,000 rows", d, X, np.arange(2_000) % 3, "categorical", peer)
    for c in (10, 100, 1_000, 10_000):
        X, y = rng.normal(size=(20_000, 20)), np.arange(20_000) % c
        yield Point("classes × 20,000 rows × 20 numbers", c, X, y, "gaussian", gaussian)
    for v in (10, 100, 1_000, 10_000, 100_000, 1_000_000):
        X = rng.integers(0, v, (200_000, 1))
        peer = partial(naive_bayes.CategoricalNB, min_categories=v)
        yield Point("values of one column × 200,000 rows", v, X, np.arange(200_000) % 3, "categorical", peer)
