"""The body of a request, with bounds on its size and its slowness."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from tallybayes.errors import wanted
from tallybayes.server.problem import Problem

__all__ = ["Limits", "read_body"]


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
    if int(request.headers.get("content-length", 0)) > limits.body:
        raise _too_long(limits)
    parts: list[bytes] = []
    size, clock = 0, asyncio.get_running_loop().time
    began = clock()
    try:
        async with asyncio.timeout(limits.patience) as bound:
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message["body"])
                size += len(message["body"])
                if size > limits.body:
                    raise _too_long(limits)
                if not message.get("more_body"):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
                bound.reschedule(min(clock(), began + size / limits.slowest) + limits.patience)
    except TimeoutError:
        want = f"at least {limits.slowest:,.0f} bytes a second"
        raise Problem(408, wanted("the request", want, f"{size:,} bytes in {clock() - began:.0f} s")) from None


def _too_long(limits: Limits) -> Problem:
    do = "Send fewer rows at a time, or start the server with a larger --max-body"
    return Problem(413, wanted("the request", f"at most {limits.body:,} bytes", "more", do))
