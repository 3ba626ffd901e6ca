"""The estimators, input validation included, compared with the scikit-learn classes they replace."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import tallybayes as ours
from benchmarks import workloads
from benchmarks.clock import best
from benchmarks.table import MISSED as MISSED
from benchmarks.table import Growing, seconds
from sklearn import naive_bayes as theirs

_COUNTS = ("MultinomialNB", "BernoulliNB", "ComplementNB")
_LEAST_SECONDS = 4.0  # of measuring, at least, for work that is not repeated


def run(repeat: int) -> str:
    """Measure everything and return the table; a cross marks a missed target."""
    table = Growing("work", "tallybayes", "scikit-learn", "ratio", "target")
    _pair(table, "GaussianNB", "1,000,000 × 50", *workloads.reals(), (11, 45), repeat)
    _pair(table, "CategoricalNB", "1,000,000 × 30", *workloads.codes(), (75, 22), repeat)
    X, y = workloads.texts()
    for name in _COUNTS:
        target = (10, 7) if name == "MultinomialNB" else (8, 3)
        _pair(table, name, f"CSR, {X.nnz / 1e6:.1f} M entries", X, y, target, repeat)
    _small(table, repeat)
    _many_classes(table)
    _import_time(table, repeat)
    return table.markdown()


def _pair(
    table: Growing, name: str, what: str, X: Any, y: Any, target: tuple[float, float], repeat: int, times: int = 1
) -> None:
    """Measure fit, then predict_proba; `times` in a row where one call is too short to measure."""
    estimators = [getattr(library, name)().fit(X, y) for library in (ours, theirs)]
    for work, arguments, want in (("fit", (X, y), target[0]), ("predict_proba", (X,), target[1])):
        calls = [partial(_repeat, times, getattr(estimator, work), arguments) for estimator in estimators]
        # Both sides alternate, so that other load affects both; short work gets more turns.
        turns: list[list[float]] = []
        while len(turns) < repeat or (times == 1 and np.sum(turns) < _LEAST_SECONDS):
            turns.append([best(call, 1).seconds / times for call in calls])
        _row(table, f"{name}, {what}: {work}", *np.min(turns, axis=0), want)


def _repeat(times: int, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    for _ in range(times):
        work(*arguments)


def _row(table: Growing, what: str, mine: float, peer: float, want: float) -> None:
    cross = "" if peer / mine >= want else f" {MISSED}"
    table.add(what, seconds(mine), seconds(peer), f"{peer / mine:.1f}×{cross}", f"{want:g}×")


def _small(table: Growing, repeat: int) -> None:
    """Measure small data, where the cost of a call matters more than that of a row."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 1000)
    reals, counts = rng.standard_normal((1000, 20)), rng.integers(0, 5, (1000, 20))
    for name, X in [("GaussianNB", reals), ("CategoricalNB", counts), *((name, counts) for name in _COUNTS)]:
        _pair(table, name, "1,000 × 20", X, y, (1, 1), repeat, times=20)
    for name in _COUNTS:
        _pair(table, name, "1,000 × 20 CSR", csr_matrix(counts.astype(float)), y, (1, 1), repeat, times=20)


_FIT = """
import numpy as np
from scipy.sparse import csr_matrix
from {module} import MultinomialNB
rng = np.random.default_rng(0)
n, C, F, k = 50_000, 5_000, 20_000, 100
indices, indptr = rng.integers(0, F, n * k, dtype=np.int32), np.arange(0, n * k + 1, k, dtype=np.int32)
X, y = csr_matrix((np.ones(n * k), indices, indptr), shape=(n, F)), rng.permutation(n) % C
MultinomialNB().fit(X[:9], y[:9])
def kilobytes(what):  # ru_maxrss would include the parent's memory before exec
    return int(next(line for line in open("/proc/self/status") if line.startswith(what)).split()[1])
before = kilobytes("VmRSS")
MultinomialNB().fit(X, y)
print((kilobytes("VmHWM") - before) * 1024, 8 * C * F)
"""


def _many_classes(table: Growing) -> None:
    """Measure the peak memory of a fit in its own process, relative to the counts."""
    mine, counts = _added("tallybayes")
    peer, _ = _added("sklearn.naive_bayes")
    cross = "" if mine <= 1.5 * counts else f" {MISSED}"
    table.add(
        f"MultinomialNB, 5,000 classes × 20,000 CSR: memory of fit ({counts / 1e6:.0f} MB of counts)",
        f"{mine / 1e6:.0f} MB",
        f"{peer / 1e6:.0f} MB",
        f"{mine / counts:.2f} × counts{cross}",
        "1.5 × counts",
    )


def _added(module: str) -> tuple[int, int]:
    code = _FIT.format(module=module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    added, counts = map(int, done.stdout.split())
    return added, counts


def _import_time(table: Growing, repeat: int) -> None:
    code = "import time; t = time.perf_counter(); import tallybayes; print(time.perf_counter() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(repeat)
    ]
    took = min(float(done.stdout) for done in runs)
    table.add("import tallybayes", seconds(took), "–", "" if took < 0.25 else MISSED, "250 ms")
