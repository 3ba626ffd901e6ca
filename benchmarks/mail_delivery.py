"""One delivery: a message through the client of the mail daemon, beside one call of bogofilter."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["deliver"]

DELIVERIES = 200
_SERVE = "from tallybayes.cli.main import script; script()"


def deliver(path: Path, messages: Sequence[str], words: str | None) -> list[float | None]:
    """Return the median seconds of a delivery by ours and by bogofilter; None for what is not installed.

    Parameters
    ----------
    path : Path
        A filter.
    messages : sequence of str
        The files of messages to deliver.
    words : str or None
        bogofilter's folder.
    """
    client = shutil.which("tally-mail", path=sysconfig.get_path("scripts")) or shutil.which("tally-mail")
    ours = None
    if client is not None:
        with _served(path) as address:
            ours = _median([client, "--socket", str(address), "filter"], messages)
    theirs = None if words is None else _median(["bogofilter", "-d", words, "-e", "-p"], messages)
    return [ours, theirs]


def _median(command: Sequence[str], messages: Sequence[str]) -> float:
    seconds = []
    for message in messages[:DELIVERIES]:
        with Path(message).open("rb") as file:
            began = time.perf_counter()
            done = subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=False)
            seconds.append(time.perf_counter() - began)
        assert done.returncode == 0, done
    return statistics.median(seconds)


@contextmanager
def _served(path: Path) -> Iterator[Path]:
    address = path.with_suffix(".sock")
    command = [sys.executable, "-c", _SERVE, "mail", "serve", str(path), "--socket", str(address)]
    daemon = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert daemon.stderr is not None
    assert daemon.stderr.readline().startswith(b"listening"), daemon.stderr.read()
    try:
        yield address
    finally:
        daemon.terminate()
        daemon.communicate(timeout=60)
