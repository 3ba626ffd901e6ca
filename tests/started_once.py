"""Clusters and servers that tests of several files share: each starts once in a run, when it is first needed.

It ends after the last test of its group (`tests/conftest.py`), rather than run beside all tests that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

__all__ = ["end_all", "started"]

T = TypeVar("T")

_running: dict[str, tuple[ExitStack, Any]] = {}


def started(name: str, start: Callable[[], AbstractContextManager[T]]) -> T:
    """Return what a group of tests shares by its name, started if it is not running."""
    if name not in _running:
        stack = ExitStack()
        _running[name] = stack, stack.enter_context(start())
    found: T = _running[name][1]
    return found


def end_all() -> None:
    """End whatever was started."""
    while _running:
        _, (stack, _) = _running.popitem()
        stack.close()
