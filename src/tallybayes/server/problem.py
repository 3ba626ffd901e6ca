"""Errors as JSON: one sentence and its parts, never a stack trace."""

from __future__ import annotations

import orjson
from starlette.requests import Request
from starlette.responses import Response

from tallybayes.errors import (
    BadData,
    BadModelFile,
    BadOption,
    CannotMerge,
    DiskFull,
    JournalError,
    KeyReused,
    TallyError,
    fields,
)

__all__ = ["Problem", "answer", "problem", "unexpected"]

# The first class that an error is an instance of decides.
_STATUS: tuple[tuple[type[TallyError], int], ...] = (
    (DiskFull, 507),
    (JournalError, 503),
    (BadModelFile, 422),
    (CannotMerge, 409),
    (KeyReused, 409),
    (BadOption, 422),
    (BadData, 422),
)


class Problem(TallyError):
    """A request that cannot be answered, and the status that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def answer(content: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response."""
    return Response(orjson.dumps(content), status, headers, "application/json")


def problem(error: TallyError) -> Response:
    """Return the response to an error that a request caused."""
    if isinstance(error, Problem):
        status = error.status
    else:
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 422)
    said = fields(error) | {"status": status}
    if isinstance(error, Problem):
        said["error"] = "Problem"
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}.get(status, {})
    return answer(said, status, headers)


def unexpected(request: Request, error: Exception) -> Response:
    """Return the response to a fault of the server itself, which is logged."""
    sentence = "The server failed; its log says why."
    return answer({"error": "ServerError", "message": sentence, "status": 500}, 500)
