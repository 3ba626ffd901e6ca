"""The mail daemon: a filter in memory, asked over a Unix socket, learning through a journal.

A request is a line ``VERB [CLASS [CLASS]] LENGTH``, then that many bytes: the message. An answer is a line
``STATUS LENGTH``, then that many bytes. A connection takes any number of requests, one after the other.
docs/mail-server.md has the verbs and what they answer; ``cpp/client/tally_mail.cpp`` is a client.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tallybayes import __version__
from tallybayes.errors import BadData, BadOption, TallyError, wanted
from tallybayes.mail.header import with_header
from tallybayes.mail.journaled_filter import SNAPSHOT_EVERY, JournaledFilter, request
from tallybayes.mail.listen import listening
from tallybayes.storage.journal.open_journal import open_journal
from tallybayes.storage.journal.writer import Writer

__all__ = ["MOST_BYTES", "Daemon", "serve"]

MOST_BYTES = 256 << 20  # of a message: more than mail servers take
_PATIENCE = 60.0  # seconds that a client may be silent
_PARTING = 10.0  # seconds for requests in progress, once the daemon is terminated
_SWITCH = (
    0.0005  # seconds after which a thread that learns lets one that classifies go on; Python's own is ten times it
)
_CLASSES = {"classify": 0, "filter": 0, "explain": 0, "ping": 0, "learn": 1, "forget": 1, "move": 2}
DONE, ERROR = 0, 3


class Daemon:
    """Answers to requests: classification from memory, changes through the journal.

    Parameters
    ----------
    kept : JournaledFilter
        The filter.
    writer : Writer
        The thread that changes it.
    """

    def __init__(self, kept: JournaledFilter, writer: Writer[JournaledFilter]) -> None:
        self._kept, self._writer = kept, writer
        self._pool = ThreadPoolExecutor(thread_name_prefix="mail")
        self._clients: set[asyncio.Task[None]] = set()
        self._idle: set[asyncio.Task[None]] = set()
        self._stopping = False

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a client."""
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def stop(self) -> None:
        """Answer the requests in progress, and leave all clients."""
        self._stopping = True
        for task in self._idle:
            task.cancel()
        if self._clients:
            await asyncio.wait(self._clients, timeout=_PARTING)
        self._pool.shutdown(wait=False)

    async def answer(self, verb: str, classes: list[str], message: bytes) -> tuple[int, bytes]:
        """Return the status and the text of the answer to a request."""
        try:
            if verb in ("learn", "forget", "move"):
                return await self._change(verb, classes, message)
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, verb, message)
        except TallyError as error:
            return ERROR, str(error).encode()
        except Exception as error:  # a fault of ours costs one answer, not the daemon
            return ERROR, f"mail: {type(error).__name__}: {error}.".encode()

    def _read(self, verb: str, message: bytes) -> tuple[int, bytes]:
        mail = self._kept.mail
        if verb == "ping":
            return DONE, f"tallybayes {__version__}, record {self._kept.position}: {mail!r}\n".encode()
        if verb == "explain":
            found = mail.explain(message)
            return found.verdict.exit_code, f"{found}\n".encode()
        verdict = mail.classify(message)
        if verb == "filter":
            return DONE, with_header(message, verdict)
        return verdict.exit_code, f"{verdict.line}\n".encode()

    async def _change(self, verb: str, classes: list[str], message: bytes) -> tuple[int, bytes]:
        learn = None if verb == "forget" else classes[-1]
        forget = None if verb == "learn" else classes[0]
        if learn == forget:
            raise BadOption(wanted("move", "two classes", f"{learn!r} twice"))
        loop = asyncio.get_running_loop()
        change = await loop.run_in_executor(self._pool, lambda: request(message, learn=learn, forget=forget))
        receipt = await asyncio.wrap_future(self._writer.submit(change))
        return DONE, f"{receipt.operation} {receipt.position}\n".encode()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            while not self._stopping:
                self._idle.add(task)
                line = await asyncio.wait_for(reader.readline(), _PATIENCE)
                self._idle.discard(task)
                if not line:
                    break
                try:
                    verb, classes, length = parse(line)
                except TallyError as error:  # where the next request begins is not known
                    await _send(writer, ERROR, str(error).encode())
                    break
                message = await asyncio.wait_for(reader.readexactly(length), _PATIENCE)
                await _send(writer, *await self.answer(verb, classes, message))
        except (TimeoutError, ValueError, OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            ...  # the client has left, or says nothing: a request that is not whole is none
        finally:
            self._idle.discard(task)
            writer.close()


def parse(line: bytes) -> tuple[str, list[str], int]:
    """Return the verb, the classes and the length in the line of a request.

    Examples
    --------
    >>> parse(b"move spam ham 2048\\n")
    ('move', ['spam', 'ham'], 2048)
    """
    words = line.decode("ascii", "replace").split()
    want = "VERB [CLASS [CLASS]] LENGTH, such as 'learn spam 2048'"
    if len(words) < 2 or words[0] not in _CLASSES or len(words) != 2 + _CLASSES[words[0]] or not words[-1].isdecimal():
        raise BadData(wanted("request", want, repr(line[:80])))
    length = int(words[-1][:20])
    if length > MOST_BYTES:
        raise BadData(wanted("message", f"at most {MOST_BYTES:,} bytes", f"{length:,}"))
    return words[0], words[1:-1], length


async def _send(writer: asyncio.StreamWriter, status: int, content: bytes) -> None:
    writer.write(b"%d %d\n" % (status, len(content)))
    writer.write(content)
    await asyncio.wait_for(writer.drain(), _PATIENCE)


def serve(path: Path, address: Path, *, every: int = SNAPSHOT_EVERY) -> None:
    """Serve a filter at a socket until the process is interrupted or terminated.

    Parameters
    ----------
    path : Path
        The filter, a file that is never written. Beside it a folder NAME.journal has the journal and snapshots.
    address : Path
        The socket. One that a daemon has left behind is replaced.
    every : int
        The number of records between two snapshots.
    """
    folder = path.parent / f"{path.stem}.journal"
    with _private(), listening(address) as sock:
        folder.mkdir(parents=True, exist_ok=True)
        journal, follower = (open_journal(folder / "journal.sqlite", path.stem) for _ in range(2))
        try:
            kept = JournaledFilter(path, journal, folder, every=every)
            writer = Writer(kept, follower, _Warning())
            asyncio.run(_run(Daemon(kept, writer), sock, f"listening at {address}: {kept.mail!r}"))
            writer.close()
            kept.save_changes()
        finally:
            journal.close()
            follower.close()
    print(f"stopped at record {kept.position}", file=sys.stderr, flush=True)


@contextmanager
def _private() -> Iterator[None]:
    """Write files for their owner alone, as the journal tells what mail was about, and let threads take turns soon."""
    umask, interval = os.umask(0o077), sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        yield
    finally:
        os.umask(umask)
        sys.setswitchinterval(interval)


class _Warning:
    """Says on standard error that snapshots fail, once for each reason."""

    def __init__(self) -> None:
        self._last: TallyError | None = None

    def __call__(self, kept: JournaledFilter) -> None:
        if kept.snapshot_error is not None and kept.snapshot_error is not self._last:
            print(f"no snapshot: {kept.snapshot_error}", file=sys.stderr, flush=True)
        self._last = kept.snapshot_error


async def _run(daemon: Daemon, sock: socket.socket, announcement: str) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = await asyncio.start_unix_server(daemon.accept, sock=sock)
    print(announcement, file=sys.stderr, flush=True)
    await stop.wait()
    server.close()
    await daemon.stop()
