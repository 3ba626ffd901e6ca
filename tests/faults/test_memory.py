"""Too little memory, and forks while threads work: an error or an answer, never a crash or a hang."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb

from .child import ended

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
MEGABYTE = 1 << 20


def used() -> int:
    """Return the bytes of address space of this process."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def test_failing_allocations_end_in_an_error() -> None:
    import resource

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50_000, 20)), rng.integers(0, 100, 50_000)
    tb.fit(X[:100], y[:100], calibrate=None, label_as_is=True, threads=1).predict_proba(
        X[:10], threads=1
    )  # everything is imported

    def work(room: int) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (used() + room, -1))
        model = tb.fit(X, y, events="gaussian", calibrate=None, label_as_is=True, threads=1)
        model.predict_proba(np.tile(X, (6, 1)), threads=1)  # 240 MB of answers

    codes = [ended(lambda room=room: work(room)) for room in range(0, 320 * MEGABYTE, 32 * MEGABYTE)]
    assert set(codes) <= {0, 1}, f"ended by a signal: {codes}"
    assert 1 in codes, "no allocation failed: nothing was tested"
    assert ended(lambda: work(4000 * MEGABYTE)) == 0


def test_a_child_forked_while_threads_work_answers() -> None:
    rows = {"x": list(range(50)) * 4, "s": list("abcde") * 40, "y": list("pq") * 100}
    model, stop = tb.fit(rows, "y"), threading.Event()

    def busy() -> None:
        while not stop.is_set():
            tb.fit(rows, "y", calibrate=None, threads=1).predict_proba(rows, threads=1)

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert ended(lambda: model.learn(rows, threads=1).predict_proba(rows, threads=1)) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
