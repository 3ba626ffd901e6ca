"""`Writer`: one thread that commits the changes of many, as many at a time as wait."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, Protocol, TypeAlias, TypeVar

from tallybayes.errors import JournalError, TallyError
from tallybayes.storage.journal.journal import Journal
from tallybayes.storage.journal.record import Change, Receipt

__all__ = ["Answered", "Journaled", "Writer", "set_futures"]

# Changes and bytes in one transaction: more would not be quicker, and would keep the first one waiting.
_MOST_CHANGES, _MOST_BYTES = 1024, 64 << 20
_GATHER = 0.002  # seconds for further changes to come, while several do
_LOOK_EVERY = 1.0  # seconds between looks at the journal, where no notification comes

AnyFuture: TypeAlias = "Future[Receipt] | asyncio.Future[Receipt]"
Answered: TypeAlias = "tuple[AnyFuture, Receipt | TallyError]"
_Waiting: TypeAlias = tuple[Change, AnyFuture]


class Journaled(Protocol):
    """A model whose every change is in a journal before it is made."""

    position: int

    def change(self, changes: Sequence[Change], /) -> list[Receipt | TallyError]:
        """Commit changes in one transaction; return a receipt, or the reason for a refusal, for each."""

    def follow(self) -> bool:
        """Make the changes that others have appended; return whether there were any."""


J = TypeVar("J", bound=Journaled)


def set_futures(answered: Sequence[Answered]) -> None:
    """Set the result or the exception of futures that still wait."""
    for future, answer in answered:
        if future.done():  # the client has left
            continue
        if isinstance(answer, Receipt):
            future.set_result(answer)
        else:
            future.set_exception(answer)


class Writer(Generic[J]):
    """A thread that owns a journaled model, commits changes and follows those of other processes.

    Parameters
    ----------
    kept : JournaledModel or another Journaled
        The model; nothing else may use it from now on.
    follower : Journal, optional
        A second connection to the same journal, which waits for the changes of others.
    changed : callable
        Called with the journaled model, in the writer's thread, after each transaction that changed it.
    deliver : callable
        Called with the futures and answers of each transaction; by default sets them, in the writer's thread.
    """

    def __init__(
        self,
        kept: J,
        follower: Journal | None = None,
        changed: Callable[[J], object] = id,
        deliver: Callable[[Sequence[Answered]], object] | None = None,
    ) -> None:
        self._kept, self._follower, self._changed = kept, follower, changed
        self._deliver = deliver or set_futures
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._looking = threading.Event()  # a look at the journal is in the queue
        self._threads = [threading.Thread(target=self._write, name="journal", daemon=True)]
        if follower is not None:
            self._threads.append(threading.Thread(target=self._follow, name="journal-follower", daemon=True))
        for thread in self._threads:
            thread.start()

    def submit(self, change: Change) -> Future[Receipt]:
        """Return a future that has the receipt once the change is committed, or the reason why it is not."""
        future: Future[Receipt] = Future()
        self.put(change, future)
        return future

    def put(self, change: Change, future: AnyFuture) -> None:
        """Submit a change whose answer is delivered to a future."""
        self._queue.put((change, future))

    def waiting(self) -> int:
        """Return about how many changes wait."""
        return self._queue.qsize()

    def close(self) -> None:
        """Commit what waits, and end the threads."""
        self._stop.set()
        self._queue.put(None)
        for thread in self._threads:
            thread.join(2 * _LOOK_EVERY + 30)

    def _write(self) -> None:
        while True:
            group = self._take()
            before = self._kept.position
            try:
                answers = self._kept.change([change for change, _ in group]) if group else []
                if not group:
                    self._kept.follow()
            except TallyError as error:
                answers = [error] * len(group)
            except Exception as error:  # a fault of ours must not leave clients waiting for ever
                answers = [JournalError(f"journal: {type(error).__name__}: {error}.")] * len(group)
            self._deliver([(future, answer) for (_, future), answer in zip(group, answers, strict=True)])
            if self._kept.position != before:
                self._changed(self._kept)
            if self._stop.is_set() and not self._queue.qsize():
                return
            if len(group) > 1:  # others come at the same time: one sync may serve more of them
                self._stop.wait(_GATHER)

    def _take(self) -> list[_Waiting]:
        """Return all changes that wait, at least one, or none if there is only the journal to look at."""
        group: list[_Waiting] = []
        size, one = 0, self._queue.get()
        while True:
            if one is None:
                self._looking.clear()
            elif not one[1].cancelled():  # otherwise the client has left
                group.append(one)
                size += sum(len(part) for part in (one[0].learned, one[0].forgotten) if part is not None)
            if len(group) >= _MOST_CHANGES or size >= _MOST_BYTES:
                return group
            try:
                one = self._queue.get_nowait()
            except queue.Empty:
                return group

    def _follow(self) -> None:
        assert self._follower is not None
        while not self._stop.is_set():
            self._follower.wait(self._stop, _LOOK_EVERY)
            if not self._looking.is_set():
                self._looking.set()
                self._queue.put(None)
