"""The body of a request, with bounds on its size and its slowness."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from tallybayes.errors import wanted
from tallybayes.server.problem import Problem

__all__ = ["BodyStream", "Limits", "check_length", "read_body", "read_parts", "too_slow"]


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
    check_length(request, limits)
    size, clock = 0, asyncio.get_running_loop().time
    began = clock()
    more = True
    while more:
        try:
            async with asyncio.timeout_at(min(clock(), began + size / limits.slowest) + limits.patience):
                message = await request.receive()
        except TimeoutError:
            raise too_slow(limits, size, clock() - began) from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        size += len(message["body"])
        if size > limits.body:
            raise _too_long(limits)
        more = bool(message.get("more_body"))
        yield message["body"]


def check_length(request: Request, limits: Limits) -> int:
    """Return the length that a request declares, 0 if it does not; raise if it is too long."""
    length = int(request.headers.get("content-length", 0))
    if length > limits.body:
        raise _too_long(limits)
    return length


def too_slow(limits: Limits, size: int, seconds: float) -> Problem:
    """Return the answer to a client that sends too slowly."""
    want = f"at least {limits.slowest:,.0f} bytes a second"
    return Problem(408, wanted("the request", want, f"{size:,} bytes in {seconds:.0f} s"))


class BodyStream:
    """A body that a thread reads as a file while it still comes."""

    closed = False

    def __init__(self) -> None:
        self._parts: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._part, self._at, self._ended = b"", 0, False

    def feed(self, part: bytes | None) -> None:
        """Add a part; None ends the body."""
        self._parts.put(part)

    def read(self, size: int) -> bytes:
        """Return as many bytes as asked for; fewer at the end."""
        found, left = [], size
        while left > 0 and not self._ended:
            if self._at == len(self._part):
                part = self._parts.get()
                self._part, self._at, self._ended = part or b"", 0, part is None
            piece = memoryview(self._part)[self._at : self._at + left]
            found.append(piece)
            self._at += len(piece)
            left -= len(piece)
        return b"".join(found)


def _too_long(limits: Limits) -> Problem:
    do = "Send fewer rows at a time, or start the server with a larger --max-body"
    return Problem(413, wanted("the request", f"at most {limits.body:,} bytes", "more", do))
