"""A bar on standard error while rows are read: how many, how fast, how long still. Silent where nobody watches."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from tallybayes import sources
from tallybayes.display.progress import counting
from tallybayes.sources.text_chunks import CODECS

__all__ = ["busy", "estimated_rows", "watched"]

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


def watched(source: sources.Source, paths: Sequence[str]) -> sources.Source:
    """The same rows; reading them moves a bar, if standard error is a terminal."""
    if not sys.stderr.isatty():
        return source

    def start() -> Iterator[pa.RecordBatch]:
        before = 0 if source.trail is None else source.trail.before
        return _shown(source, source.name, source.rows or estimated_rows(paths), before)

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


def _shown(batches_: Iterable[pa.RecordBatch], name: str, total: int | None, rows: int) -> Iterator[pa.RecordBatch]:
    with counting(os.path.basename(name), "rows", total) as tell:
        for batch in batches_:
            yield batch
            rows += batch.num_rows
            tell(rows)
