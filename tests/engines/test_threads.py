"""Rows on this machine: how batches are cut for threads, and how often rows are read."""

from __future__ import annotations

import itertools
import operator
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from tallybayes import engines
from tallybayes.engines import threads as local
from tallybayes.sources import Source
from tallybayes.sources.position import Spot, Trail


def _batches(sizes: list[int]) -> list[pa.RecordBatch]:
    ends = np.cumsum([0, *sizes])
    return [pa.record_batch({"x": np.arange(a, b)}) for a, b in itertools.pairwise(ends)]


def _counted(sizes: list[int], threads: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the sum of all rows, and the first row and length of each slice."""
    seen: list[tuple[int, int]] = []

    def count(batch: pa.RecordBatch, first: int) -> int:
        assert batch.column(0)[0].as_py() == first
        seen.append((first, len(batch)))
        return int(batch.column(0).to_numpy().sum())

    return engines.fold(_batches(sizes), count, operator.add, 0, threads=threads), sorted(seen)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("sizes", [[], [1], [70_000], [70_000, 9, 1], [200_000, 200_000, 200_000]])
def test_every_row_is_counted_once(sizes: list[int], threads: int) -> None:
    total, seen = _counted(sizes, threads)
    n = sum(sizes)
    assert total == n * (n - 1) // 2
    assert [first for first, _ in seen] == np.cumsum([0, *(length for _, length in seen)])[:-1].tolist()


def test_only_the_last_batch_is_shared_among_threads() -> None:
    assert _counted([300_000] * 3, 2)[1] == [(0, 300_000), (300_000, 300_000), (600_000, 150_000), (750_000, 150_000)]


def test_many_threads_do_not_hold_a_large_batch_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_IN_FLIGHT", 8 * 300_000)
    assert {length for first, length in _counted([300_000] * 3, 4)[1]} == {75_000}


def test_threads_are_used_again_and_alone() -> None:
    def outer(rows: slice) -> tuple[int, set[int]]:
        return threading.get_ident(), set(local.map_rows(4, lambda _: threading.get_ident(), threads=2, rows=1))

    for mine, inner in local.map_rows(2, outer, threads=2, rows=1):
        assert mine not in inner  # work inside work has threads of its own
    before = threading.active_count()
    for _ in range(20):
        local.map_rows(4, lambda rows: rows.start, threads=2, rows=1)
    assert all(len(pools) <= 2 for pools in local._idle.values())
    assert threading.active_count() <= before + 4  # a kept pool starts its second thread when it needs it


def test_an_error_ends_the_work_and_the_threads_work_on() -> None:
    done: list[int] = []

    def work(rows: slice) -> int:
        if rows.start == 1:
            raise ValueError("one")
        done.append(rows.start)
        return rows.start

    with pytest.raises(ValueError, match="one"):
        local.map_rows(1000, work, threads=2, rows=1)
    assert len(done) < 10
    assert local.map_rows(5, lambda rows: rows.start, threads=2, rows=1) == [0, 1, 2, 3, 4]


def test_this_thread_works_on_the_first_of_as_many_pieces_as_threads() -> None:
    found = local.map_rows(3, lambda rows: (rows.start, threading.get_ident()), threads=3, rows=1)
    assert [start for start, _ in found] == [0, 1, 2]
    assert [thread == threading.get_ident() for _, thread in found] == [True, False, False]


@pytest.mark.parametrize("wrong", [0, 1])
def test_an_error_waits_for_the_work_of_others(wrong: int) -> None:
    done: list[int] = []

    def work(rows: slice) -> None:
        if rows.start == wrong:
            raise ValueError("one")
        time.sleep(0.01)
        done.append(rows.start)

    with pytest.raises(ValueError, match="one"):
        local.map_rows(2, work, threads=2, rows=1)
    assert done in ([1 - wrong], [])  # perhaps not begun


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    code = (
        "import os, signal\n"
        "from tallybayes.engines import map_rows\n"
        "work = lambda: map_rows(4, lambda rows: rows.start, threads=2, rows=1)\n"
        "work()\n"
        "if os.fork() == 0:\n"
        "    signal.alarm(20)\n"
        "    os._exit(0 if work() == [0, 1, 2, 3] else 1)\n"
        "print(os.wait()[1])\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


class _Opened:
    """Rows that count how often they are opened."""

    def __init__(self, trail: Trail | None = None) -> None:
        self.times, self.read = 0, 0
        self.rows = engines.read(Source(pa.schema({"x": pa.int64()}), None, True, "rows", self._start, trail=trail))

    def _start(self) -> Iterator[pa.RecordBatch]:
        self.times += 1
        for batch in _batches([3, 2]):
            self.read += 1
            yield batch


def test_a_look_at_the_first_rows_does_not_read_them_twice() -> None:
    opened = _Opened()
    first = opened.rows.head()
    again = opened.rows.head()
    assert first is not None
    assert again is not None
    assert first.equals(again)
    assert (opened.times, opened.read) == (1, 1)
    assert [len(batch) for batch in opened.rows] == [3, 2]
    assert (opened.times, opened.read) == (1, 2)
    assert [len(batch) for batch in opened.rows.here()] == [3, 2]
    assert opened.times == 2


def test_a_resumed_run_does_not_go_on_from_the_first_rows() -> None:
    trail = Trail([], {}, {})
    opened = _Opened(trail)
    opened.rows.head()
    trail.begin = Spot(0, 3, 3)
    assert [len(batch) for batch in opened.rows] == [3, 2]  # opened anew, where a file would begin at the spot
    assert opened.times == 2
