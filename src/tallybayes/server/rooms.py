"""`Rooms`: memory for batches that are received, used again by later ones."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["Rooms"]

Room = npt.NDArray[np.uint8]
_LEAST = 1 << 20  # bytes of a room that is worth keeping
_MOST_ROOMS = 8  # of one request: more than batches that are scored at a time on most machines
_MOST_SPARE = 256 << 20  # bytes that are kept for later requests
_KEPT = 5.0  # seconds: requests that follow one another come sooner, and then the memory is given back


def _references(arrays: Sequence[Room]) -> list[int]:
    """Return the number of references to each array, those of this function included; each view is one more."""
    return [sys.getrefcount(one) for one in arrays]


_UNUSED = _references([np.empty(0, np.uint8)])[0]


class _Spare:
    """Rooms of requests that are over, for some seconds."""

    def __init__(self) -> None:
        self._rooms: list[Room] = []
        self._lock, self._turn = threading.Lock(), 0

    def take(self, size: int) -> Room | None:
        """Return the smallest room of at least `size` bytes; None if there is none."""
        with self._lock:
            fits = [k for k, one in enumerate(self._rooms) if len(one) >= size]
            return self._rooms.pop(min(fits, key=lambda k: len(self._rooms[k]))) if fits else None

    def give(self, rooms: Sequence[Room]) -> None:
        """Keep rooms as far as there is space for them, until none has been given for `_KEPT` seconds."""
        with self._lock:
            for one in rooms:
                if sum(map(len, self._rooms)) + len(one) <= _MOST_SPARE:
                    self._rooms.append(one)
            self._turn += 1
            forget = threading.Timer(_KEPT, self._forget, (self._turn,))
        forget.daemon = True
        forget.start()

    def _forget(self, turn: int) -> None:
        with self._lock:
            if turn == self._turn:
                self._rooms.clear()


_SPARE = _Spare()


class Rooms:
    """Memory for the batches of one request.

    Fresh memory has to be cleared by the system, which takes as long as receiving into it. NumPy asks for huge pages;
    Arrow's own pool does not.

    Examples
    --------
    >>> rooms = Rooms()
    >>> first = rooms.take(2_000_000)
    >>> second, at = rooms.take(2_000_000), first.ctypes.data
    >>> second.ctypes.data == at
    False
    >>> del first
    >>> rooms.take(2_000_000).ctypes.data == at
    True
    """

    def __init__(self) -> None:
        self._rooms: list[Room] = []

    def take(self, size: int) -> Room:
        """Return memory for some bytes, if possible that of a batch which is no longer used."""
        if size < _LEAST:
            return np.empty(size, np.uint8)
        for one, count in zip(self._rooms, _references(self._rooms), strict=True):
            if len(one) >= size and count == _UNUSED:
                return one[:size]
        room = _SPARE.take(size)
        if room is None:
            room = np.empty(size, np.uint8)
        if len(self._rooms) < _MOST_ROOMS:
            self._rooms.append(room)
        return room[:size]

    def close(self) -> None:
        """Leave what is no longer used to later requests."""
        counts = _references(self._rooms)
        _SPARE.give([one for one, count in zip(self._rooms, counts, strict=True) if count == _UNUSED])
        self._rooms.clear()
