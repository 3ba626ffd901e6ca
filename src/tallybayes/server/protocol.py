"""uvicorn's HTTP protocol, with a bound on the time that a client may take to send its headers."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["PatientProtocol"]


class PatientProtocol(HttpToolsProtocol):
    """Closes connections whose headers do not arrive: uvicorn waits for them for ever.

    Attributes
    ----------
    received : int
        The number of bytes of the present request's body so far.
    """

    patience: ClassVar[float] = 10.0  # seconds
    received = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._begin()

    def _begin(self) -> None:
        self._late: asyncio.TimerHandle | None = self.loop.call_later(self.patience, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of headers that have begun."""
        if self._late is None and (self.cycle is None or self.cycle.response_complete):
            self._begin()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Stop waiting: bodies have bounds of their own."""
        self._end()
        self.received, self.scope["protocol"] = 0, self  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count the bytes of the body."""
        self.received += len(body)
        super().on_body(body)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._end()
        super().connection_lost(exc)

    def _end(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if not self.transport.is_closing():
            self.transport.close()
