"""Writes that fail or stop short at any call or byte: one sentence, the old file whole, nothing left over."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tallybayes as tb
from tallybayes.storage.model_file import dump

from .child import ended

ROWS = {"x": [0.5, 1.5, 2.5, 4.0], "s": ["a", "b", "a", "c"], "y": ["p", "q", "p", "q"]}
# The calls of `os` by which a file gets its content, its mode and its name.
CALLS = ("fsync", "replace", "chmod", "open", "scandir")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int
) -> None:
    path = tmp_path / "m.tally"
    old, new = tb.fit(ROWS, "y", calibrate=None), tb.fit(ROWS, "y", calibrate=None, alpha=2.0)
    failures = 0
    for at in range(1, 9):
        old.save(path)
        with monkeypatch.context() as patched:
            patched.setattr(os, name, failing(getattr(os, name), at, code))
            said = refusal(lambda: new.save(path))
        failures += said is not None
        assert said is None or os.strerror(code) in said
        # A folder that cannot be synced is no failure: the file is complete, and has its name.
        assert tb.load(path) == (new if said is None else old)
        assert [one.name for one in tmp_path.iterdir()] == ["m.tally"]
    assert failures > 0, "the call is never made: nothing was tested"


def refusal(work: Callable[[], object]) -> str | None:
    """Return the sentence of a refusal, or None."""
    try:
        work()
    except tb.errors.TallyError as error:
        return str(error)
    return None


def failing(call: Callable[..., Any], at: int, code: int) -> Callable[..., Any]:
    """Return a function that fails at its n-th call."""
    calls = 0

    def work(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            raise OSError(code, os.strerror(code))
        return call(*args, **options)

    return work


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_disk_that_is_full_after_any_number_of_bytes_leaves_the_old_file(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "m.tally"
    old, new = tb.fit(ROWS, "y", calibrate=None), tb.fit(ROWS, "y", calibrate=None, alpha=2.0)
    size = len(dump(new))

    def save(room: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then the kernel writes what fits, and the next write fails
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            new.save(path)
        except tb.errors.TallyError:
            os._exit(3)

    for room in [*range(0, size, max(size // 40, 1)), size - 1, size]:
        old.save(path)
        assert ended(lambda room=room: save(room)) == (0 if room >= size else 3)
        assert tb.load(path) == (new if room >= size else old)
        assert [one.name for one in tmp_path.iterdir()] == ["m.tally"]
