"""`DirectBody`: a long body that a thread reads from the connection itself, while others are scored."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import time
from typing import TYPE_CHECKING

import httptools
import numpy as np
import numpy.typing as npt
from starlette.requests import ClientDisconnect, Request

from tallybayes.server.body import Limits, too_slow
from tallybayes.server.receive_buffers import ReceiveBuffers

if TYPE_CHECKING:
    from tallybayes.server.protocol import PatientProtocol

__all__ = ["DirectBody"]

_LEAST = 1 << 20  # bytes still to come that are worth a thread of their own
_SCRATCH = 1 << 18  # bytes at a time, of those that nobody wants
_ENOUGH = 1 << 20  # bytes worth waking for: each time costs about as much as copying 50,000
_LOOK = 1.0  # seconds after which fewer are taken: a client may send slowly, within its limits


class DirectBody:
    """The rest of a body as a file, whose bytes are never copied.

    They go from the connection to where Arrow reads them.

    The event loop would copy each of them four times, and all in one thread. It does not read from the connection
    until the request is answered; its parser of HTTP is made anew, since it has not seen the body.

    Parameters
    ----------
    protocol : PatientProtocol
        The connection, which has begun to read the body.
    first : bytes
        What the request has received of it.
    length : int
        The number of bytes of the whole body.
    limits : Limits
        Bounds on the time.
    """

    closed = False

    def __init__(self, protocol: PatientProtocol, first: bytes, length: int, limits: Limits) -> None:
        protocol.flow.pause_reading()
        cycle = protocol.cycle
        self._first, cycle.body = memoryview(first + bytes(cycle.body)), bytearray()
        self._at, self._left = 0, length - protocol.received
        self._protocol, self._limits, self._length = protocol, limits, length
        self._socket = socket.socket(fileno=os.dup(protocol.transport.get_extra_info("socket").fileno()))
        self._began = time.monotonic()
        self._waiting = select.poll()
        self._waiting.register(self._socket, select.POLLIN)
        self._buffers = ReceiveBuffers()

    @staticmethod
    def possible(request: Request, length: int) -> bool:
        """Return whether enough of a body of known length is still to come."""
        protocol = request.scope.get("protocol")
        return sys.platform != "win32" and protocol is not None and length - protocol.received >= _LEAST

    def read(self, size: int) -> npt.NDArray[np.uint8]:
        """Return as many bytes as asked for; fewer at the end."""
        size = min(size, len(self._first) - self._at + self._left)
        found = self._buffers.take(size)
        n = min(size, len(self._first) - self._at)
        room = memoryview(found.data)
        room[:n] = self._first[self._at : self._at + n]
        self._at += n
        while n < size:
            n += self._receive(room[n:])
        return found

    def _receive(self, room: memoryview) -> int:
        """Wait for some bytes within the limits, and return their number."""
        size = self._length - self._left
        now = time.monotonic()
        until = min(now, self._began + size / self._limits.slowest) + self._limits.patience
        self._wake_at(min(len(room), _ENOUGH))
        self._waiting.poll(1000 * max(0.0, min(until - now, _LOOK)))
        try:
            n = self._socket.recv_into(room)
        except BlockingIOError:  # nothing yet
            if time.monotonic() < until:
                return 0
            raise too_slow(self._limits, size, now - self._began) from None
        except OSError:
            n = 0
        if not n:
            raise ClientDisconnect
        self._left -= n
        return n

    def _wake_at(self, size: int) -> None:
        with contextlib.suppress(OSError):  # where the system has no such option it wakes at once
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)

    def close(self) -> None:
        """Read what nobody wanted, so that the client can read the answer, and give the connection back."""
        try:
            scratch = memoryview(bytearray(min(_SCRATCH, self._left)))
            while self._left:
                self._receive(scratch[: self._left])
            self._protocol.parser = httptools.HttpRequestParser(self._protocol)
        except Exception:
            self._protocol.cycle.keep_alive = False
            raise
        finally:
            self._buffers.close()
            self._protocol.cycle.more_body = False
            self._wake_at(1)  # the connection is the same, and its next request may be short
            self._socket.close()
