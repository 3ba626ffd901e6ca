"""A real server in a process of its own, which tests start, kill and ask."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from tests.forked import Forked

_PATIENCE = 60.0  # seconds for a server to start on a busy machine
_TLS = False  # not used here, and loading all certificates would take longer than most answers


class Server:
    """`tally serve` with some words, on a free port."""

    def __init__(self, *words: str | Path, env: dict[str, str] | None = None, preexec: Any = None) -> None:
        self._words = [str(word) for word in words]
        self._env, self._preexec = {**os.environ, **(env or {})}, preexec
        self.process: subprocess.Popen[str] | Forked | None = None
        self.log: list[str] = []
        self.url = ""

    def start(self) -> Server:
        port = re.sub(r".*:", "", self.url) or "0"  # after a restart, the same
        words = ["serve", "--port", port, *self._words]
        if self._preexec is None and hasattr(os, "fork"):
            self.process = Forked(*words, env=self._env)
        else:
            command = [sys.executable, "-c", "from tallybayes.cli.main import script; script()", *words]
            self.process = subprocess.Popen(
                command, stderr=subprocess.PIPE, text=True, env=self._env, preexec_fn=self._preexec
            )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"serving on (http://\S+)", line)
            if found:
                self.url = found[1]
                return self
        self.process.wait()
        self._drain()
        raise RuntimeError("".join(self.log))

    def kill(self) -> None:
        """End the process as a power failure would, without a chance to tidy up."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._drain()

    def stop(self) -> str:
        """Ask the process to end, and return what it printed."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(_PATIENCE)
        self._drain()
        return "".join(self.log)

    def _drain(self) -> None:
        if self.process is not None and self.process.stderr is not None:
            self.log += self.process.stderr.readlines()
            self.process.stderr.close()
            self.process.stderr = None

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def get(self, path: str, **how: Any) -> httpx.Response:
        return httpx.get(self.url + path, timeout=_PATIENCE, verify=_TLS, **how)

    def post(self, path: str, rows: Any = None, **how: Any) -> httpx.Response:
        body = {} if rows is None else {"json": rows}
        return httpx.post(self.url + path, timeout=_PATIENCE, verify=_TLS, **body, **how)


def wait_until(holds: Any, seconds: float = 30.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)
