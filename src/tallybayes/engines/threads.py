"""Rows on this machine, as one partition, and work on its threads.

The compiled kernels release the interpreter's lock, so plain threads use all cores. Only a few batches are in flight
at a time, so a file of any size is folded in bounded memory.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, islice
from typing import Any, TypeVar

import pyarrow as pa

from tallybayes import sources
from tallybayes.engines.partitioned import HEAD_ROWS, Columns, MergeTask, Partitioned, PartitionInfo, Task
from tallybayes.errors import BadOption, wanted
from tallybayes.sources import Source
from tallybayes.sources.position import Spot, Trail

T = TypeVar("T")

# Bytes of a slice: large enough to pay for its thread, small enough that copies of it stay small.
SLICE_BYTES = 64 << 20
# Bytes of the slices that are counted at a time. Each slice has sums of its own, which cost a merge: with two threads
# and batches of 131,072 rows of 50 numbers, halves of batches took a third longer than whole ones.
_IN_FLIGHT = 256 << 20
_LEAST_ROWS, _LEAST_BYTES = 8192, 1 << 20
# Values times classes that are scored in about half a millisecond: starting threads would take as long.
_LEAST_SCORES = 1 << 21


def default_threads(threads: int | None) -> int:
    """Return the given number of threads, or one per core."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise BadOption(wanted("threads", "a whole number from 1", repr(threads)))
    return threads


def threads_to_score(values: int, classes: int, threads: int) -> int:
    """Return the number of threads worth using to score values under some number of classes."""
    return threads if values * classes > _LEAST_SCORES else 1


def fold(
    batches: Iterable[pa.RecordBatch],
    count: Callable[[pa.RecordBatch, int], T],
    merge: Callable[[T, T], T],
    zero: T,
    *,
    threads: int,
    slice_bytes: int = SLICE_BYTES,
    in_flight: int | None = None,
    least_rows: int = 1,
    before: int = 0,
    progress: Callable[[T, int], None] | None = None,
) -> T:
    """Count every slice of every batch and merge the results, in the order of the rows.

    Parameters
    ----------
    batches : iterable of RecordBatch
        The rows.
    count : callable
        Takes a slice and the number of rows before it.
    merge : callable
        Takes two results; their order must not matter.
    zero : object
        The result for no rows.
    threads : int
        The number of slices that are counted at a time.
    slice_bytes : int
        The approximate size of a slice.
    in_flight : int, optional
        The approximate size of the slices that are counted at a time.
    least_rows : int
        The fewest rows of a slice, where results are as large as rows and merging fewer would not pay.
    before : int
        The number of rows before these, which are already in `zero`.
    progress : callable, optional
        Called after each merge with the result so far and the number of rows in it.
    """

    def count_slice(batch: pa.RecordBatch, first: int) -> tuple[T, int]:
        return count(batch, first), first + batch.num_rows

    at_a_time = _IN_FLIGHT if in_flight is None else in_flight
    slices = _slices(batches, threads, slice_bytes, at_a_time, least_rows, before)
    total = zero
    for result, rows in in_threads(slices, count_slice, threads):
        total = merge(total, result)
        if progress is not None:
            progress(total, rows)
    return total


def map_rows(n: int, work: Callable[[slice], T], *, threads: int, rows: int) -> list[T]:
    """Return the results of work on n rows, in order, in slices of `rows`."""
    return list(_over_rows(n, work, threads, rows))


def fold_rows(n: int, work: Callable[[slice], T], merge: Callable[[T, T], T], *, threads: int, rows: int) -> T:
    """Return the merged results of work on n > 0 rows, in slices of `rows`."""
    return reduce(merge, _over_rows(n, work, threads, rows))


def _over_rows(n: int, work: Callable[[slice], T], threads: int, rows: int) -> Iterator[T]:
    return in_threads([(slice(at, min(at + rows, n)),) for at in range(0, n, rows)], work, threads)


def _slices(
    batches: Iterable[pa.RecordBatch], threads: int, slice_bytes: int, in_flight: int, least_rows: int, first: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    for batch, last in _with_last(batches):
        n, size = batch.num_rows, batch.nbytes
        pieces = max(1, -(-size // slice_bytes), -(-size * threads // in_flight))
        if last:
            pieces = -(-pieces // threads) * threads  # a multiple of the threads, so that none idles at the end
        least = min(_LEAST_ROWS, -(-n * _LEAST_BYTES // max(1, size)))  # few rows may be long texts
        rows = max(least, least_rows, -(-n // pieces))
        for start in range(0, n, rows):
            yield batch.slice(start, rows), first + start
        first += n


def _with_last(items: Iterable[T]) -> Iterator[tuple[T, bool]]:
    """Yield each item, and whether it is the last.

    Examples
    --------
    >>> list(_with_last("abc")), list(_with_last(""))
    ([('a', False), ('b', False), ('c', True)], [])
    """
    iterator = iter(items)
    held = next(iterator, None)
    while held is not None:
        following = next(iterator, None)
        yield held, following is None
        held = following


def in_threads(pieces: Iterable[tuple[Any, ...]], work: Callable[..., T], threads: int) -> Iterator[T]:
    """Yield the results in order, working a few pieces ahead; the first error cancels the rest."""
    if threads == 1:
        for piece in pieces:
            yield work(*piece)
        return
    if isinstance(pieces, Sequence) and 1 < len(pieces) <= threads:
        yield from _one_each(pieces, work, threads)
        return
    pieces = iter(pieces)
    first = list(islice(pieces, 2))
    if len(first) < 2:  # a single piece needs no thread
        yield from (work(*piece) for piece in first)
        return
    waiting: deque[Future[T]] = deque()
    with _pool(threads) as pool:
        try:
            for piece in chain(first, pieces):
                waiting.append(pool.submit(work, *piece))
                if len(waiting) > threads + 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()
            wait(waiting)


def _one_each(pieces: Sequence[tuple[Any, ...]], work: Callable[..., T], threads: int) -> list[T]:
    """Return the results of no more pieces than threads, this thread working too.

    To wake one thread more, and then this one, takes as long as a tenth of a short piece.
    """
    with _pool(threads) as pool:
        others = [pool.submit(work, *piece) for piece in pieces[1:]]
        try:
            return [work(*pieces[0]), *(one.result() for one in others)]
        except BaseException:
            for one in others:
                one.cancel()
            wait(others)
            raise


# Pools without work, by their number of threads. Weights are fitted in some fifty rounds of a millisecond, and starting
# threads for each would take a third as long. Two are kept: one may be needed by the work of another.
_idle: dict[int, list[ThreadPoolExecutor]] = {}
_MOST_IDLE = 2
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a forked process has none of the threads


@contextmanager
def _pool(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Return a pool of threads that nobody else uses meanwhile."""
    idle = _idle.setdefault(threads, [])
    try:
        pool = idle.pop()
    except IndexError:
        pool = ThreadPoolExecutor(threads, "tallybayes")
    try:
        yield pool
    finally:
        if len(idle) < _MOST_IDLE:
            idle.append(pool)
        else:
            pool.shutdown()


@dataclass(frozen=True, eq=False)
class Threads(Partitioned):
    """Rows on this machine: one partition, on which threads work."""

    source: Source
    _stream: list[Iterator[pa.RecordBatch]] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        """The name of the rows in messages."""
        return self.source.name

    @property
    def schema(self) -> pa.Schema:
        """The fields of the rows."""
        return self.source.schema

    @property
    def trail(self) -> Trail | None:
        """The reading position, for files."""
        return self.source.trail

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def may_lack_columns(self) -> bool:
        """True: a column that no row has is missing in every row."""
        return True

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the batches, from the first row on, or from where a resumed run begins."""
        resumed = self.trail is not None and self.trail.begin != Spot()
        return self._stream.pop() if self._stream and not resumed else iter(self.source)

    def head(self, rows: int = HEAD_ROWS) -> pa.RecordBatch | None:
        """Return the first batch; the next pass goes on from it, so that it is read once."""
        stream = iter(self)
        held = [batch for batch in [next(stream, None)] if batch is not None]
        self._stream.append(chain(held, stream))
        return held[0] if held else None

    def here(self) -> Source:
        """Return the rows, including those that `head` has read."""
        return replace(self.source, start=self.__iter__) if self._stream else self.source

    @property
    def missing_values(self) -> sources.MissingValues:
        """The texts that stand for a missing value."""
        return sources.AUTO if self.source.missing_values is None else self.source.missing_values

    @property
    def readings(self) -> sources.ColumnReadings | None:
        """How the columns were read."""
        return self.source.readings

    def read_as(self, readings: sources.ColumnReadings) -> Threads:
        """Return the same rows with their columns read, and without rows that have no class."""
        return Threads(readings.read(self.here()))

    def attach(self, name: str, values: Any) -> tuple[Threads, str]:
        """Return the rows with one more column, under a free name like `name`, and that name."""
        while name in self.schema.names:
            name += "_"
        return Threads(sources.attach(self.here(), name, values)), name

    def buffered(self) -> Threads:
        """Return the same rows, kept in memory on the first read if they fit."""
        return Threads(sources.buffered(self.here()))

    def fold(self, task: MergeTask[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> T:
        """Run a task on all rows."""
        return self.each(task, own=own, threads=threads)[0]

    def each(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> list[T]:
        """Run a task on all rows."""
        return [task.run(self.here(), PartitionInfo(0, None if own is None else own[0], threads))]

    def map(self, here: Callable[[Source], T], columns: Callable[[], Columns]) -> T:
        """Return the result of `here` on the rows."""
        return here(self.here())
