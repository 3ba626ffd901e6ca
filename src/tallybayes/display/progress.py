"""A bar on standard error while something long is done: how much, how fast, how long still."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["busy", "counting", "watched"]

# What is done within a second needs no bar.
_PATIENCE = 1.0


@contextmanager
def counting(name: str, unit: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many of something are done, if standard error is a terminal.

    Parameters
    ----------
    name : str
        What is being done.
    unit : str
        What is counted.
    total : int or None
        How many there will be, where that is known.
    """
    if not watched():
        yield lambda done: None
        return
    begun, last, bar, task = time.monotonic(), 0, None, None

    def tell(done: int) -> None:
        nonlocal bar, task, last
        last = done
        if bar is None and time.monotonic() - begun > _PATIENCE:
            bar = _bar(unit)
            bar.start()
            task = bar.add_task(name, total=total, rate=0.0)
        if bar is not None:
            rate = done / (time.monotonic() - begun)
            bar.update(task, completed=done, total=None if total is None else max(total, done), rate=rate)

    try:
        yield tell
    finally:
        if bar is not None:
            bar.update(task, completed=last, total=last)
            bar.stop()


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show a spinner during work of unknown length, on terminals only."""
    if not watched():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def watched() -> bool:
    """Whether somebody may look at a bar: whether standard error is a terminal."""
    return sys.stderr.isatty()


def _bar(unit: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many, and how many in a second."""

        def render(self, task: Any) -> Text:
            rate = task.fields["rate"]
            return Text(f"{task.completed:,.0f} {unit}, {rate:,.{0 if rate >= 10 else 1}f}/s", style="cyan")

    columns = (TextColumn("{task.description}"), BarColumn(), Rate(), TimeRemainingColumn(elapsed_when_finished=True))
    return Progress(*columns, console=Console(stderr=True))
