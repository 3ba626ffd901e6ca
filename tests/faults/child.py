"""Work in a forked child: killed at a random moment, or under limits of the kernel."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from random import Random

MOST_SECONDS = 120  # a child that takes longer hangs


def killed(work: Callable[[], object], rng: Random, most: float = 0.05) -> None:
    """Repeat some work in a child, and kill it within `most` seconds of its start."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, b"!")
            while True:
                work()
        finally:
            os._exit(99)  # only reached if the work fails
    os.read(reader, 1)
    os.close(reader)
    os.close(writer)
    time.sleep(rng.random() * most)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the work failed before it was killed"


def ended(work: Callable[[], object]) -> int:
    """Run some work in a child; return 0 if it answers, 1 if it raises, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    limit = time.monotonic() + MOST_SECONDS
    while time.monotonic() < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")
