"""`ReceiveBuffers`: memory for batches that are received, used again by later ones."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["ReceiveBuffers"]

Buffer = npt.NDArray[np.uint8]
_LEAST = 1 << 20  # bytes of a buffer that is worth keeping
_MOST_BUFFERS = 8  # of one request: more than batches that are scored at a time on most machines
_MOST_SPARE = 256 << 20  # bytes that are kept for later requests
_KEPT = 5.0  # seconds: requests that follow one another come sooner, and then the memory is given back


def _references(arrays: Sequence[Buffer]) -> list[int]:
    """Return the number of references to each array, those of this function included; each view is one more."""
    return [sys.getrefcount(one) for one in arrays]


_UNUSED = _references([np.empty(0, np.uint8)])[0]


class _Spare:
    """Buffers of requests that are over, for some seconds."""

    def __init__(self) -> None:
        self._buffers: list[Buffer] = []
        self._lock, self._turn = threading.Lock(), 0

    def take(self, size: int) -> Buffer | None:
        """Return the smallest buffer of at least `size` bytes; None if there is none."""
        with self._lock:
            fits = [k for k, one in enumerate(self._buffers) if len(one) >= size]
            return self._buffers.pop(min(fits, key=lambda k: len(self._buffers[k]))) if fits else None

    def give(self, buffers: Sequence[Buffer]) -> None:
        """Keep buffers as far as there is space for them, until none has been given for `_KEPT` seconds."""
        with self._lock:
            for one in buffers:
                if sum(map(len, self._buffers)) + len(one) <= _MOST_SPARE:
                    self._buffers.append(one)
            self._turn += 1
            forget = threading.Timer(_KEPT, self._forget, (self._turn,))
        forget.daemon = True
        forget.start()

    def _forget(self, turn: int) -> None:
        with self._lock:
            if turn == self._turn:
                self._buffers.clear()


_SPARE = _Spare()


class ReceiveBuffers:
    """Memory for the batches of one request.

    Fresh memory has to be cleared by the system, which takes as long as receiving into it. NumPy asks for huge pages;
    Arrow's own pool does not.

    Examples
    --------
    >>> buffers = ReceiveBuffers()
    >>> first = buffers.take(2_000_000)
    >>> second, at = buffers.take(2_000_000), first.ctypes.data
    >>> second.ctypes.data == at
    False
    >>> del first
    >>> buffers.take(2_000_000).ctypes.data == at
    True
    """

    def __init__(self) -> None:
        self._buffers: list[Buffer] = []

    def take(self, size: int) -> Buffer:
        """Return memory for some bytes, if possible that of a batch which is no longer used."""
        if size < _LEAST:
            return np.empty(size, np.uint8)
        for one, count in zip(self._buffers, _references(self._buffers), strict=True):
            if len(one) >= size and count == _UNUSED:
                return one[:size]
        buffer = _SPARE.take(size)
        if buffer is None:
            buffer = np.empty(size, np.uint8)
        if len(self._buffers) < _MOST_BUFFERS:
            self._buffers.append(buffer)
        return buffer[:size]

    def close(self) -> None:
        """Leave what is no longer used to later requests."""
        counts = _references(self._buffers)
        _SPARE.give([one for one, count in zip(self._buffers, counts, strict=True) if count == _UNUSED])
        self._buffers.clear()
