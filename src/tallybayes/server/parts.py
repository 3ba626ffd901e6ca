"""`Parts`: an answer as the buffers that it was written in, and the response that sends them as they are."""

from __future__ import annotations

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

__all__ = ["Buffer", "Parts", "PartsResponse"]

Buffer = bytes | memoryview
_LEAST = 1 << 16  # bytes of a part that is kept as it is; sending a smaller one costs more than copying it


class Parts:
    """A file to be written, which keeps large buffers as they are and joins small ones.

    Examples
    --------
    >>> parts = Parts()
    >>> parts.write(b"ab"), parts.write(b"c")
    (2, 1)
    >>> parts.all()
    [b'abc']
    """

    closed = False

    def __init__(self) -> None:
        self._parts: list[Buffer] = []
        self._small = bytearray()

    def write(self, content: object) -> int:
        """Add a buffer, which nobody may change from now on."""
        view = memoryview(content).cast("B")  # type: ignore[arg-type]
        if len(view) < _LEAST:
            self._small += view
        else:
            self.flush()
            self._parts.append(view)
        return len(view)

    def flush(self) -> None:
        """End the part that small buffers are joined in."""
        if self._small:
            self._parts.append(bytes(self._small))
            self._small.clear()

    def all(self) -> list[Buffer]:
        """Return the parts."""
        self.flush()
        return self._parts


class PartsResponse(Response):
    """A response of several buffers, and work that is done once they are sent."""

    def __init__(self, parts: list[Buffer], media_type: str, after: Callable[[], object]) -> None:
        super().__init__(media_type=media_type)
        self._parts, self._after = parts, after
        self.headers["content-length"] = str(sum(map(len, parts)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the parts, as fast as the client takes them."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for part in self._parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        await run_in_threadpool(self._after)
