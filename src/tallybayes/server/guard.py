"""`Guard`: what every request passes first, a token or a local host name, and what every answer carries."""

from __future__ import annotations

import hmac
import time
from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tallybayes.errors import wanted
from tallybayes.server.metrics import Metrics
from tallybayes.server.problem import Problem, problem

__all__ = ["Guard"]

_SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_OPEN = ("/", "/healthz")  # and the page's files, which hold no data
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


class Guard:
    """Refuses strangers, counts requests, and adds the headers of safety.

    Parameters
    ----------
    app : ASGI application
        What answers.
    metrics : Metrics
        Where requests are counted.
    token : str, optional
        What requests must show as "Authorization: Bearer TOKEN". Without one, only requests to a local name are
        answered, so that a page elsewhere cannot reach the server under a name of its own (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, token: str | None) -> None:
        self._app, self._metrics = app, metrics
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"]
                headers.extend(_SAFE)
                if any(value.startswith(b"text/html") for name, value in headers if name == b"content-type"):
                    headers.append((b"content-security-policy", POLICY))
            await send(message)

        refused = self._refusal(scope)
        try:
            if refused is None:
                await self._app(scope, receive, sent)
            else:
                await problem(refused)(scope, receive, sent)
        finally:
            route = scope.get("route_name", "other") if refused is None else "refused"
            self._metrics.request(route, status, time.perf_counter() - began)

    def _refusal(self, scope: Scope) -> Problem | None:
        if self._token is None:
            host = _header(scope["headers"], b"host").decode("latin-1").lower()
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if name not in _LOCAL:
                return Problem(421, wanted("Host", f"one of {', '.join(_LOCAL)}", repr(host)))
            return None
        path = scope["path"]
        if path in _OPEN or path.startswith("/page/") or scope["method"] == "OPTIONS":
            return None
        given = _header(scope["headers"], b"authorization")
        if hmac.compare_digest(given, b"Bearer " + self._token):
            return None
        return Problem(401, wanted("Authorization", "Bearer and the server's token", "another" if given else "none"))


def _header(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> bytes:
    return next((value for key, value in headers if key == name), b"")
