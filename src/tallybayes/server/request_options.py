"""Options of a request: parameters of its address, and the key that makes a change idempotent."""

from __future__ import annotations

import re

from starlette.requests import Request

from tallybayes.errors import BadOption, wanted
from tallybayes.inference.uncertainty import z_of
from tallybayes.server.answers import LEVEL

__all__ = ["flag", "given_level", "idempotency_key", "level_of", "whole"]

_LONGEST_KEY = 255  # characters


def flag(request: Request, name: str, *, default: bool = False) -> bool:
    """Return an option that is 0 or 1."""
    if not request.scope["query_string"]:
        return default
    value = request.query_params.get(name, "01"[default])
    if value not in ("0", "1"):
        raise BadOption(wanted(name, "0 or 1", repr(value)))
    return value == "1"


def level_of(request: Request) -> float:
    """Return the level of intervals, the usual one by default."""
    level = given_level(request)
    return LEVEL if level is None else level


def given_level(request: Request) -> float | None:
    """Return the level of intervals if one is given."""
    value = request.query_params.get("level") if request.scope["query_string"] else None
    if value is None:
        return None
    try:
        level = float(value)
    except ValueError:
        level = -1.0
    z_of(level)
    return level


def whole(request: Request, name: str, default: int, least: int, most: int) -> int:
    """Return an option that is a whole number."""
    value = request.query_params.get(name)
    if value is None:
        return default
    if not (value.isascii() and value.isdecimal() and len(value) < 20 and least <= int(value) <= most):
        raise BadOption(wanted(name, f"a whole number from {least} to {most}", repr(value)))
    return int(value)


def idempotency_key(request: Request) -> str | None:
    """Return the key under which a change is made once, if there is one."""
    key = request.headers.get("idempotency-key")
    if key is not None and (not 0 < len(key) <= _LONGEST_KEY or re.fullmatch("[!-~]+", key) is None):
        want = f"1 to {_LONGEST_KEY} printable characters without spaces"
        raise BadOption(wanted("Idempotency-Key", want, repr(key[:40])))
    return key
