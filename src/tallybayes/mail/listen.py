"""Listen at a Unix socket that only its owner may use."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tallybayes.errors import BadOption, wanted

__all__ = ["default_address", "listening"]


def default_address() -> Path:
    """Return where daemon and client meet unless they are given a socket."""
    named, runtime = os.environ.get("TALLY_MAIL_SOCKET"), os.environ.get("XDG_RUNTIME_DIR")
    if named:
        return Path(named)
    if runtime:
        return Path(runtime, "tally-mail.sock")
    do = "Name one, or set TALLY_MAIL_SOCKET or XDG_RUNTIME_DIR"
    raise BadOption(wanted("--socket", "a path", "none", do))


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Open a socket of mode 0600; a file that no process listens at is replaced, and removed at the end."""
    where = f"socket {str(path)!r}"
    _remove_stale(path, where)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        before = os.umask(0o177)
        try:
            sock.bind(os.fspath(path))
            ours = path.stat().st_ino
        except OSError as error:
            got = "a name that is too long" if "too long" in str(error) else str(error.strerror or error)
            raise BadOption(wanted(where, "a place for a socket", got)) from None
        finally:
            os.umask(before)
        sock.listen(512)
        try:
            yield sock
        finally:
            if path.exists() and path.stat().st_ino == ours:  # another daemon may have replaced it
                path.unlink()


def _remove_stale(path: Path, where: str) -> None:
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise BadOption(wanted(where, "a free name, or a socket", "another file", "Choose another name"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadOption(wanted(where, "a place for a socket", str(error.strerror))) from None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(5)
        try:
            sock.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            raise BadOption(wanted(where, "a free name", f"one that cannot be tried ({error.strerror})")) from None
    raise BadOption(wanted(where, "a free name", "one where a daemon listens", "Stop it, or choose another name"))
