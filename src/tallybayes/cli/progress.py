"""A bar on standard error while rows are read: how many, how fast, how long still. Silent where nobody watches."""

from __future__ import annotations

import glob
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa

from tallybayes import batches
from tallybayes.batches.chunks import CODECS

__all__ = ["busy", "estimated_rows", "watched"]

# What is done within a second needs no bar.
_PATIENCE = 1.0
_SAMPLE = 1 << 20


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Something that turns while work is done of which nobody can say how long it takes, where somebody watches."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def watched(source: batches.Source, paths: Sequence[str]) -> batches.Source:
    """The same rows; reading them moves a bar, if standard error is a terminal."""
    if not sys.stderr.isatty():
        return source

    def start() -> Iterator[pa.RecordBatch]:
        return _shown(source, source.name, source.rows or estimated_rows(paths))

    return replace(source, start=start)


def estimated_rows(paths: Sequence[str]) -> int | None:
    """About how many rows files of text have, by the length of their first ones; None where that cannot be told."""
    total = 0.0
    for path in (file for one in paths for file in (glob.glob(one) or [one])):
        if not os.path.isfile(path):
            return None
        size = os.path.getsize(path)
        codec = next((codec for ending, codec in CODECS.items() if path.lower().endswith(ending)), None)
        with open(path, "rb") as raw:
            stream = raw if codec is None else pa.input_stream(raw, compression=codec)
            lines = bytes(stream.read(_SAMPLE)).count(b"\n")
            total += lines * max(1.0, size / max(1, raw.tell()))
    return round(total) or None


def _shown(batches_: Iterable[pa.RecordBatch], name: str, total: int | None) -> Iterator[pa.RecordBatch]:
    begun, rows, bar, task = time.monotonic(), 0, None, None
    try:
        for batch in batches_:
            yield batch
            rows += batch.num_rows
            if bar is None and time.monotonic() - begun > _PATIENCE:
                bar = _bar()
                bar.start()
                task = bar.add_task(os.path.basename(name), total=total, rate=0.0)
            if bar is not None:
                rate = rows / (time.monotonic() - begun)
                bar.update(task, completed=rows, total=None if total is None else max(total, rows), rate=rate)
    finally:
        if bar is not None:
            bar.update(task, completed=rows, total=rows)
            bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rows, and rows in a second."""

        def render(self, task: Any) -> Text:
            return Text(f"{task.completed:,.0f} rows, {task.fields['rate']:,.0f}/s", style="cyan")

    columns = (TextColumn("{task.description}"), BarColumn(), Rate(), TimeRemainingColumn(elapsed_when_finished=True))
    return Progress(*columns, console=Console(stderr=True))
