"""The body of a request, with bounds on its size and its slowness."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from starlette.requests import ClientDisconnect, Request

from tallybayes.errors import wanted
from tallybayes.server.problem import Problem

__all__ = ["BodyStream", "Limits", "read_body", "read_parts"]


@dataclass(frozen=True)
class Limits:
    """Bounds on what one client may ask of the server.

    Attributes
    ----------
    body : int
        Bytes of a request.
    patience : float
        Seconds that a client may be silent, or behind `slowest`.
    slowest : float
        Bytes per second that a client must send after its first seconds.
    """

    body: int = 256 << 20
    patience: float = 10.0
    slowest: float = 10_000.0


async def read_body(request: Request, limits: Limits) -> bytes:
    """Return the body of a request; raise if it is too long, or comes too slowly."""
    parts = [part async for part in read_parts(request, limits)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def read_parts(request: Request, limits: Limits) -> AsyncIterator[bytes]:
    """Yield the body of a request as it comes, within the same bounds."""
    if int(request.headers.get("content-length", 0)) > limits.body:
        raise _too_long(limits)
    size, clock = 0, asyncio.get_running_loop().time
    began = clock()
    more = True
    while more:
        try:
            async with asyncio.timeout_at(min(clock(), began + size / limits.slowest) + limits.patience):
                message = await request.receive()
        except TimeoutError:
            want = f"at least {limits.slowest:,.0f} bytes a second"
            raise Problem(408, wanted("the request", want, f"{size:,} bytes in {clock() - began:.0f} s")) from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        size += len(message["body"])
        if size > limits.body:
            raise _too_long(limits)
        more = bool(message.get("more_body"))
        yield message["body"]


class BodyStream:
    """A body that a thread reads as a file while it still comes."""

    closed = False

    def __init__(self) -> None:
        self._parts: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._part, self._at, self._ended = b"", 0, False

    def feed(self, part: bytes | None) -> None:
        """Add a part; None ends the body."""
        self._parts.put(part)

    def read(self, size: int) -> npt.NDArray[np.uint8]:
        """Return as many bytes as asked for; fewer at the end.

        Parts are copied as they come into memory of Arrow's pool: joined at last, they would be copied while others
        wait, into memory that the system has to clear first.
        """
        found = np.empty(size, np.uint8)
        room, at = memoryview(found), 0
        while at < size and not self._ended:
            if self._at == len(self._part):
                part = self._parts.get()
                self._part, self._at, self._ended = part or b"", 0, part is None
            n = min(size - at, len(self._part) - self._at)
            room[at : at + n] = memoryview(self._part)[self._at : self._at + n]
            self._at += n
            at += n
        return found[:at]


def _too_long(limits: Limits) -> Problem:
    do = "Send fewer rows at a time, or start the server with a larger --max-body"
    return Problem(413, wanted("the request", f"at most {limits.body:,} bytes", "more", do))
