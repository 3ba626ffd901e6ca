"""A progress bar on standard error: amount done, rate, and time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 1.0  # seconds; shorter work needs no bar


@contextmanager
def counting(
    name: str, unit: str, total: int | None, share: Callable[[], float | None] | None = None
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar while the block runs, if standard error is a terminal.

    Call the function it yields with the number of units done so far. `share` returns the share of the work that is
    done, where that is known better than the total.
    """
    if not watched():
        yield lambda done: None
        return
    if (outer := _BAR.get()) is not None:  # one bar at a time: this work is a part of a longer one
        yield lambda done: outer.show(_part(done, total, share))
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
            part = _part(done, total, share)
            bar.update(task, completed=done, total=None if part is None else round(done / part), rate=rate)

    try:
        yield update
    finally:
        if bar is not None:
            bar.update(task, completed=last, total=last)
            bar.stop()


def _part(done: int, total: int | None, share: Callable[[], float | None] | None) -> float | None:
    """Return the share of the work that is done; None if unknown."""
    found = None if share is None else share()
    found = done / max(total, done) if found is None and total else found
    return None if not found or not done else min(found, 1.0)


class _Bar:
    """A bar of work in parts, each with a span of it."""

    def __init__(self, name: str) -> None:
        self.name, self.span = name, (0.0, 1.0)
        self._bar: Any = None
        self._task: Any = None

    def show(self, share: float | None) -> None:
        """Show that a share of the current span is done."""
        if self._bar is None:
            self._bar = _share_bar()
            self._bar.start()
            self._task = self._bar.add_task(self.name, total=1.0)
        if self._bar is not None and share is not None:
            low, high = self.span
            self._bar.update(self._task, completed=low + (high - low) * share, description=self.name)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=1.0)
            self._bar.stop()


_BAR: ContextVar[_Bar | None] = ContextVar("the bar that is shown", default=None)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a bar of the parts of the work in the block, on terminals only."""
    if not watched() or _BAR.get() is not None:
        yield
        return
    bar = _Bar(what)
    token = _BAR.set(bar)
    try:
        bar.show(0.0)
        yield
    finally:
        _BAR.reset(token)
        bar.end()


@contextmanager
def span(low: float, high: float) -> Iterator[None]:
    """Take the block as the work between two shares of that of the caller."""
    bar = _BAR.get()
    if bar is None:
        yield
        return
    whole = bar.span
    width = whole[1] - whole[0]
    bar.span = (whole[0] + width * low, whole[0] + width * high)
    try:
        bar.show(0.0)
        yield
        bar.show(1.0)
    finally:
        bar.span = whole


def parts(items: Sequence[T], total: int | None = None, offset: int = 0) -> Iterator[T]:
    """Yield the items; each is an equal part of the work.

    `total` is the number of all parts, if there are more than these, and `offset` the number of those before.
    """
    total = len(items) if total is None else total
    for k, item in enumerate(items, offset):
        with span(k / total, min(1.0, (k + 1) / total)):
            yield item


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


def _share_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
