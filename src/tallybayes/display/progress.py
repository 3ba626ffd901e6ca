"""A progress bar on standard error: amount done, rate, and time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 1.0  # seconds; shorter work needs no bar


@contextmanager
def counting(name: str, unit: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar while the block runs, if standard error is a terminal.

    Call the function it yields with the number of units done so far.
    """
    if not watched():
        yield lambda done: None
        return
    start, last, bar, task = time.monotonic(), 0, None, None

    def update(done: int) -> None:
        nonlocal bar, task, last
        last = done
        if bar is None and time.monotonic() - start > _PATIENCE:
            bar = _bar(unit)
            bar.start()
            task = bar.add_task(name, total=total, rate=0.0)
        if bar is not None:
            rate = done / (time.monotonic() - start)
            bar.update(task, completed=done, total=None if total is None else max(total, done), rate=rate)

    try:
        yield update
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
    """Return whether standard error is a terminal, so that a bar can be seen."""
    return sys.stderr.isatty()


def _bar(unit: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """A column with the number of units done, and the rate per second."""

        def render(self, task: Any) -> Text:
            rate = task.fields["rate"]
            return Text(f"{task.completed:,.0f} {unit}, {rate:,.{0 if rate >= 10 else 1}f}/s", style="cyan")

    columns = (TextColumn("{task.description}"), BarColumn(), Rate(), TimeRemainingColumn(elapsed_when_finished=True))
    return Progress(*columns, console=Console(stderr=True))
