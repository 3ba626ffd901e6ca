"""Memory and calls as columns, classes, values and words grow tenfold: both grow at most so, without a clock."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallybayes as tb

SMALL, LARGE = 200, 2000
MOST = 15.0  # the largest ratio for ten times as much; a quadratic cost has a hundred


def columns(n: int, folder: Path) -> Callable[[], Any]:
    """Fit and predict a csv file of n columns."""
    path = folder / f"{n}.csv"
    path.write_text(",".join([*(f"c{k}" for k in range(n)), "y"]) + "\n" + "1," * n + "p\n" + "2," * n + "q\n")
    return lambda: tb.fit(path, "y", calibrate=None, threads=1).predict_proba(path, threads=1)


def classes(n: int, _: Path) -> Callable[[], Any]:
    """Fit n classes of two rows each, and predict a few rows."""
    events = {"x": "gaussian"}
    rows = {"x": np.arange(2.0 * n), "s": ["a", "b"] * n, "y": [f"c{k % n}" for k in range(2 * n)]}
    return lambda: tb.fit(rows, "y", events=events, calibrate=None, threads=1).predict([{"x": 1.0, "s": "a"}])


def values(n: int, _: Path) -> Callable[[], Any]:
    """Fit a column of n values, and predict."""
    rows = {"s": [f"v{k}" for k in range(n)] * 2, "y": ["p", "q"] * n}
    return lambda: tb.fit(rows, "y", keep=["s"], calibrate=None, threads=1).predict(rows, threads=1)


def words(n: int, _: Path) -> Callable[[], Any]:
    """Fit n documents of words of their own, and predict."""
    texts = [" ".join(f"w{k}x{j}" for j in range(20)) for k in range(n)]
    rows = {"t": texts, "y": ["p", "q"] * (n // 2)}
    return lambda: tb.fit(rows, "y", events={"t": "text"}, calibrate=None, alpha=1, threads=1).predict(rows, threads=1)


def peak(work: Callable[[], Any]) -> int:
    """Return the most bytes that Python and NumPy held at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def calls(work: Callable[[], Any]) -> int:
    """Return the number of calls of functions, Python's and those compiled."""
    seen = 0

    def count(*_: object) -> None:
        nonlocal seen
        seen += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("grow", [columns, classes, values, words])
def test_ten_times_as_much_costs_ten_times_as_much(
    grow: Callable[[int, Path], Callable[[], Any]], tmp_path: Path
) -> None:
    small, large = grow(SMALL, tmp_path), grow(LARGE, tmp_path)
    small()  # imports and caches are paid for
    for measure in (peak, calls):
        assert measure(large) < MOST * measure(small), measure.__name__
