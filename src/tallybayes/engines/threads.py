"""Rows on this machine, and work on its threads: fold, map, and the one partition that a local source is.

The compiled kernels release the interpreter's lock, so plain threads use all cores. At most a few batches are in
flight at a time: a file of any size is folded in bounded memory.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa

from tallybayes import sources
from tallybayes.engines.partitioned import LOOKED_AT, Columns, Partitioned, PartitionInfo, Task
from tallybayes.errors import BadOption, wanted
from tallybayes.sources import Source
from tallybayes.sources.position import Trail

__all__ = ["SLICE_BYTES", "Threads", "default_threads", "fold", "fold_rows", "in_threads", "map_rows"]

T = TypeVar("T")

# Slices are large enough to pay for their thread and small enough that copies made of one stay small.
SLICE_BYTES = 64 << 20
_LEAST_ROWS, _LEAST_BYTES = 8192, 1 << 20


def default_threads(threads: int | None) -> int:
    """The number of threads asked for, or one per core."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise BadOption(wanted("threads", "a whole number from 1", repr(threads)))
    return threads


def fold(
    batches: Iterable[pa.RecordBatch],
    count: Callable[[pa.RecordBatch, int], T],
    merge: Callable[[T, T], T],
    zero: T,
    *,
    threads: int,
    slice_bytes: int = SLICE_BYTES,
    before: int = 0,
    tell: Callable[[T, int], None] | None = None,
) -> T:
    """Count every slice of every batch and merge the results, in the order of the rows.

    Parameters
    ----------
    batches : iterable of RecordBatch
        The rows.
    count : callable
        Takes a slice and the number of rows before it.
    merge : callable
        Takes two results; must not care for their order.
    zero : object
        The result for no rows.
    threads : int
        How many slices are counted at a time.
    slice_bytes : int
        About how many bytes of rows make a slice.
    before : int
        How many rows come before the first of these, and are in `zero`.
    tell : callable, optional
        Is told, after each merge, the result so far and of how many rows it is: the first ones.
    """

    def counted(batch: pa.RecordBatch, first: int) -> tuple[T, int]:
        return count(batch, first), first + batch.num_rows

    total = zero
    for result, rows in in_threads(_slices(batches, threads, slice_bytes, before), counted, threads):
        total = merge(total, result)
        if tell is not None:
            tell(total, rows)
    return total


def map_rows(n: int, work: Callable[[slice], T], *, threads: int, rows: int) -> list[T]:
    """The results of work on every slice of so many of n rows, in order."""
    return list(_over_rows(n, work, threads, rows))


def fold_rows(n: int, work: Callable[[slice], T], merge: Callable[[T, T], T], *, threads: int, rows: int) -> T:
    """The results of work on every slice of so many of n rows (at least one), merged as they come."""
    return reduce(merge, _over_rows(n, work, threads, rows))


def _over_rows(n: int, work: Callable[[slice], T], threads: int, rows: int) -> Iterator[T]:
    return in_threads(((slice(at, min(at + rows, n)),) for at in range(0, n, rows)), work, threads)


def _slices(
    batches: Iterable[pa.RecordBatch], threads: int, slice_bytes: int, first: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    for batch in batches:
        n = batch.num_rows
        pieces = max(1, -(-batch.nbytes // slice_bytes))
        pieces = -(-pieces // threads) * threads  # a whole number of rounds, so that no thread idles in the last
        least = min(_LEAST_ROWS, -(-n * _LEAST_BYTES // max(1, batch.nbytes)))  # few rows may be long texts
        size = max(least, -(-n // pieces))
        for start in range(0, n, size):
            yield batch.slice(start, size), first + start
        first += n


def in_threads(pieces: Iterable[tuple[Any, ...]], work: Callable[..., T], threads: int) -> Iterator[T]:
    """The results, in order; no more than a few pieces ahead, and at the first error the rest is left undone."""
    if threads == 1:
        for piece in pieces:
            yield work(*piece)
        return
    pool: ThreadPoolExecutor | None = None
    waiting: deque[Future[T]] = deque()
    pieces = iter(pieces)
    head = next(pieces, None)
    if head is None:
        return
    second = next(pieces, None)
    if second is None:  # one piece is no reason to start a thread
        yield work(*head)
        return
    try:
        pool = ThreadPoolExecutor(threads)
        waiting.extend([pool.submit(work, *head), pool.submit(work, *second)])
        for piece in pieces:
            waiting.append(pool.submit(work, *piece))
            if len(waiting) > threads + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, eq=False)
class Threads(Partitioned):
    """Rows on this machine: one partition, on which threads work.

    Attributes
    ----------
    source : Source
        The rows.
    """

    source: Source
    _looked_at: list[Iterator[pa.RecordBatch]] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        """What messages call the rows."""
        return self.source.name

    @property
    def schema(self) -> pa.Schema:
        """The fields of the rows."""
        return self.source.schema

    @property
    def trail(self) -> Trail | None:
        """Of files, where a pass over them is."""
        return self.source.trail

    @property
    def count(self) -> int:
        """One."""
        return 1

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The batches, from the first row on."""
        return self._looked_at.pop() if self._looked_at else iter(self.source)

    def head(self, rows: int = LOOKED_AT) -> pa.RecordBatch | None:
        """Return the first batch; a stream begins with it all the same."""
        if self.source.again:
            return next(iter(self.source), None)
        stream = iter(self)
        held = [batch for batch in [next(stream, None)] if batch is not None]
        self._looked_at.append(chain(held, stream))
        return held[0] if held else None

    def here(self) -> Source:
        """Return the rows, those of a stream that were looked at among them."""
        return replace(self.source, start=self.__iter__) if self._looked_at else self.source

    def attach(self, name: str, values: Any) -> tuple[Threads, str]:
        """Return the rows with one more column, under a free name like `name`, and that name."""
        while name in self.schema.names:
            name += "_"
        return Threads(sources.attach(self.here(), name, values)), name

    def buffered(self) -> Threads:
        """Return the same rows, kept in memory as they are first read if they are few."""
        return Threads(sources.buffered(self.here()))

    def fold(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> T:
        """Run a task on all rows."""
        return self.each(task, own=own, threads=threads)[0]

    def each(self, task: Task[T], *, own: Sequence[Any] | None = None, threads: int = 1) -> list[T]:
        """Run a task on all rows."""
        return [task.run(self.here(), PartitionInfo(0, None if own is None else own[0], threads))]

    def map(self, here: Callable[[Source], T], columns: Callable[[], Columns]) -> T:
        """Return what `here` makes of the rows."""
        return here(self.here())
