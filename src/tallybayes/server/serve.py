"""Run the server: models found in files and folders, one process, until it is interrupted."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import uvicorn

from tallybayes.errors import BadOption, wanted
from tallybayes.server.app import build
from tallybayes.server.body import Limits
from tallybayes.server.protocol import PatientProtocol
from tallybayes.server.served_model import ServedModel
from tallybayes.storage.journal.journaled_model import SNAPSHOT_EVERY

__all__ = ["Options", "find_models", "serve"]

_SHORTEST_TOKEN = 16  # characters: fewer can be guessed
_SWITCH = 0.0005  # seconds after which a thread that learns lets one that predicts go on; Python's own is ten times it
_BACKLOG = 4096  # connections that wait to be accepted


@dataclass(frozen=True)
class Options:
    """How models are served.

    Attributes
    ----------
    host, port
        Where to listen; port 0 takes a free one.
    learn : bool
        Whether models may learn and forget.
    token_file : str or None
        The file whose first line requests must show; needed unless the host is loopback.
    journal : str or None
        A postgresql:// address; by default SQLite beside each model.
    snapshot_every : int
        The number of records between two snapshots.
    origins : sequence of str
        Origins of pages that may call the server.
    limits : Limits
        Bounds on requests.
    connections : int
        The most connections at a time; further ones are answered 503.
    """

    host: str = "127.0.0.1"
    port: int = 8017
    learn: bool = False
    token_file: str | None = None
    journal: str | None = None
    snapshot_every: int = SNAPSHOT_EVERY
    origins: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    connections: int = 16_384


def serve(paths: Sequence[str], options: Options) -> None:
    """Serve models until the process is interrupted or terminated."""
    token = _token(options)
    _allow_connections()
    sys.setswitchinterval(_SWITCH)
    warnings.simplefilter("ignore", UserWarning)  # answers carry what a client must know
    found = find_models(paths)
    how = {"learn": options.learn, "journal": options.journal, "every": options.snapshot_every}
    listening = _listen(options)
    # The first prediction needs it, and it takes about as long to import as a model to load.
    threading.Thread(target=import_module, args=("scipy.special",), daemon=True).start()
    models = [ServedModel(name, path, **how) for name, path in found.items()]  # type: ignore[arg-type]
    PatientProtocol.patience = options.limits.patience
    config = uvicorn.Config(
        build(models, token=token, origins=options.origins, limits=options.limits),
        http=PatientProtocol,
        ws="none",
        loop="uvloop" if sys.platform != "win32" else "asyncio",
        backlog=_BACKLOG,
        limit_concurrency=options.connections,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=10,
        access_log=False,
        log_level="warning",
        server_header=False,
    )
    _Announced(config).run([listening])


class _Announced(uvicorn.Server):
    """A server that says where it listens, once it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and print the address."""
        await super().startup(sockets)
        for one in sockets or ():
            host, port = one.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"tally: serving on http://{shown}:{port}", file=sys.stderr, flush=True)


def _listen(options: Options) -> socket.socket:
    """Return the socket of the server; raise if the address is taken or is none of this machine."""
    try:
        family = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((options.host, options.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        got = f"{options.host}:{options.port} ({error.strerror or error})"
        raise BadOption(wanted("--host and --port", "a free address of this machine", got)) from None


def find_models(paths: Sequence[str]) -> dict[str, Path]:
    """Return the model files by name: the files themselves, and those in folders.

    Examples
    --------
    >>> import tempfile, tallybayes as tb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y").save(f"{folder}/weather.tally")
    ...     list(find_models([folder]))
    ['weather']
    """
    found: dict[str, Path] = {}
    for one in paths:
        path = Path(one).expanduser()
        files = sorted(path.glob("*.tally")) if path.is_dir() else [path]
        if not files:
            raise BadOption(wanted(f"folder {one!r}", "models (*.tally)", "none"))
        for file in files:
            name = file.stem
            if "/" in name or not name.isprintable():
                raise BadOption(wanted(f"model {str(file)!r}", "a printable name", repr(name)))
            if name in found and found[name].resolve() != file.resolve():
                got = f"{str(found[name])!r} and {str(file)!r}"
                raise BadOption(wanted("models", "files of different names", got, "Rename one"))
            found[name] = file
    return found


def _token(options: Options) -> str | None:
    if options.token_file is None:
        if not _is_loopback(options.host):
            do = "Give --token-file, with a token that requests must show"
            raise BadOption(wanted("--host", "a loopback address without a token", repr(options.host), do))
        return None
    try:
        text = Path(options.token_file).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(wanted(f"--token-file {options.token_file!r}", "a text file", str(error))) from None
    token = (text.splitlines() or [""])[0].strip()
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        want = f"at least {_SHORTEST_TOKEN} printable characters in its first line"
        raise BadOption(wanted(f"--token-file {options.token_file!r}", want, f"{len(token)}"))
    return token


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _allow_connections() -> None:
    """Let the process open as many files as the system allows: each connection is one."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on Windows
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
