"""`tally` in processes forked from one that has imported it: imports take most of the time of a start.

A forked process is as real as any other: it has its own memory and files, and is killed like any other. What a start
from nothing does is tested too, by those tests that run the command itself.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any

_MOST = 1 << 16  # bytes of one request: words and environment
_MODULES = [
    "scipy.special",
    "tallybayes.cli.mail.command",
    "tallybayes.mail.daemon",
    "tallybayes.cli.serve",
    "tallybayes.server.serve",
    "uvloop",
]


class Forked:
    """A running `tally` with some words, called as `subprocess.Popen` is."""

    def __init__(self, *words: str, env: dict[str, str] | None = None) -> None:
        self.args = words
        errors, theirs = os.pipe()
        self._status, status = os.pipe()
        request = json.dumps({"words": words, "env": env or dict(os.environ), "cwd": os.getcwd()}).encode()
        server = _server()
        socket.send_fds(server, [request], [theirs, status])
        os.close(theirs)
        os.close(status)
        self.pid = int(server.recv(64))
        self.stderr: IO[str] | None = os.fdopen(errors, "r")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process, and return its exit code."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0.0)
            self._end()
        assert self.returncode is not None
        return self.returncode

    def _end(self) -> None:
        self.returncode = os.waitstatus_to_exitcode(int(os.read(self._status, 64)))
        os.close(self._status)

    def communicate(self, timeout: float | None = None) -> tuple[None, str]:
        """Wait for the end of the process, and return what it wrote to standard error."""
        self.wait(timeout)
        if self.stderr is None or self.stderr.closed:
            return None, ""
        with self.stderr:
            return None, self.stderr.read()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)


_started: dict[int, socket.socket] = {}  # by process: a copy of this one starts its own


def _server() -> socket.socket:
    """Return the connection to the process that forks, started when it is first needed."""
    if os.getpid() not in _started:
        mine, theirs = socket.socketpair(socket.AF_UNIX)
        with theirs:
            command = [sys.executable, "-m", "tests.forked", str(theirs.fileno())]
            process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=Path(__file__).parents[1])
        _started[os.getpid()] = mine
        atexit.register(process.wait)
        atexit.register(mine.close)  # runs first
    return _started[os.getpid()]


def _fork_until_closed(asked: socket.socket) -> dict[str, Any] | None:
    """Fork a process for each request; return it in the new process, and None at the end in the old one."""
    running: dict[int, int] = {}  # process → where its exit status is written
    woken, wake = socket.socketpair()
    woken.setblocking(False)
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    with closing(woken), closing(wake):
        while True:
            ready = select.select([asked, woken], [], [])[0]
            if woken in ready:
                woken.recv(4096)
                _report(running)
            if asked not in ready:
                continue
            content, passed, _, _ = socket.recv_fds(asked, _MOST, 2)
            if not content:
                return None
            errors, status = passed
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.dup2(errors, 2)
                for one in (errors, status, *running.values()):
                    os.close(one)
                asked.close()
                return dict(json.loads(content))
            running[pid] = status
            os.close(errors)
            asked.send(str(pid).encode())


def _report(running: dict[int, int]) -> None:
    """Write the exit status of each process that has ended."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        where = running.pop(pid)
        with suppress(BrokenPipeError):  # nobody wants to know
            os.write(where, str(status).encode())
        os.close(where)


def main() -> None:
    """Import the package, and fork until the tests end."""
    from importlib import import_module

    from tallybayes.cli import main as command

    command.keep_pandas_out()
    for name in _MODULES:
        import_module(name)
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        request = _fork_until_closed(asked)
    if request is None:
        return
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.argv = ["tally", *request["words"]]
    command.script()


if __name__ == "__main__":
    main()
