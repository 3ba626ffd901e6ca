"""Time work: the best of several runs, because other processes disturb single ones."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

TURN = 0.02  # seconds of a turn: shorter work is repeated


@dataclass(frozen=True)
class Measured:
    """Seconds, the megabytes by which the process grew, and the result."""

    seconds: float
    grown_mb: float
    result: Any


def best(work: Callable[[], Any], repeat: int = 5, least: float = 0.0) -> Measured:
    """Return the fastest of `repeat` runs, or more until they add up to `least` seconds."""
    fastest, grown, result, spent, runs = float("inf"), 0.0, None, 0.0, 0
    while runs < repeat or spent < least:
        result = None
        gc.collect()
        with _Watch() as watch:
            start = time.perf_counter()
            result = work()
            seconds = time.perf_counter() - start
        fastest = min(fastest, seconds)
        grown = max(grown, watch.grown_mb) if runs else watch.grown_mb
        spent += seconds
        runs += 1
    return Measured(fastest, grown, result)


def each(work: Callable[[], Any], repeat: int, turn: float = TURN) -> float:
    """Return the least seconds of one run, in turns of at least `turn` seconds.

    A single run of a millisecond, after a collection of garbage has emptied the caches, takes twice as long as one of
    many: the peers' thousand fits are never measured like that.
    """
    times = max(1, int(turn / max(best(work, 1).seconds, 1e-6)))
    return best(partial(often, work, times), repeat).seconds / times


def often(work: Callable[[], Any], times: int) -> None:
    """Do the work several times."""
    for _ in range(times):
        work()


def cpu(work: Callable[[], Any], repeat: int = 5, turn: float = TURN) -> float:
    """Return the least seconds of CPU, of all threads, in `repeat` runs: other processes hardly change it.

    Runs after the first repeat short work until it takes `turn` seconds, as `each` does.
    """
    least, times = float("inf"), 1
    for _ in range(repeat):
        gc.collect()
        start = time.process_time()
        often(work, times)
        spent = (time.process_time() - start) / times
        least, times = min(least, spent), max(1, int(turn / max(spent, 1e-6)))
    return least


class _Watch:
    """Samples the resident size every few milliseconds."""

    def __enter__(self) -> _Watch:
        self._before = self._most = resident_mb()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._done.wait(0.005):
            self._most = max(self._most, resident_mb())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.grown_mb = max(self._most, resident_mb()) - self._before


def resident_mb() -> float:
    """Return the resident size of this process, in megabytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
