"""The cached property: computed once, kept, and free of locks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tallybayes
from tallybayes.cached_property import cached_property


class Slow:
    """An object whose value takes until it is released."""

    def __init__(self, released: threading.Event, entered: threading.Event) -> None:
        self.released, self.entered, self.times = released, entered, 0

    @cached_property
    def value(self) -> int:
        """A value."""
        self.times += 1
        self.entered.set()
        assert self.released.wait(60)
        return 7


def ready() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


def test_a_value_is_computed_once_and_documented() -> None:
    one = Slow(ready(), ready())
    assert (one.value, one.value, one.times) == (7, 7, 1)
    assert Slow.value.__doc__ == "A value."


def test_an_instance_does_not_wait_for_another() -> None:
    blocked, entered = threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: Slow(blocked, entered).value)
    other.start()
    assert entered.wait(60)
    assert Slow(ready(), ready()).value == 7  # with a lock for the class, this waits for the other
    blocked.set()
    other.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_a_thread_computes_does_not_hang() -> None:
    """Fork in a process of its own, since this one may have other threads."""
    code = """
import os, threading
from tests.test_cached_property import Slow, ready
blocked, entered = threading.Event(), threading.Event()
threading.Thread(target=lambda: Slow(blocked, entered).value, daemon=True).start()
entered.wait()
child = os.fork()
if child == 0:
    os._exit(Slow(ready(), ready()).value)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
blocked.set()
os._exit(code)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60, cwd=Path(__file__).parents[1])
    assert done.returncode == 7


def test_no_module_uses_the_property_with_a_lock() -> None:
    folder = Path(tallybayes.__file__).parent
    users = [path.name for path in folder.rglob("*.py") if "functools import cached_property" in path.read_text()]
    assert users == ["cached_property.py"]
