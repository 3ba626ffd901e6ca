"""Write a file atomically: it is complete or does not exist."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tallybayes.arguments import shown
from tallybayes.errors import BadOption, wanted

__all__ = ["local_path", "remove_temporaries", "replacing", "write"]

# Seconds without a write after which a temporary file belongs to a process that was killed.
_OLD = 86_400.0
# Bytes of a name that leave room for the rest of a temporary's name; file systems allow 255.
_LONGEST = 200


def write(content: bytes, path: str | os.PathLike[str], what: str) -> None:
    """Write bytes to a file; `what` names it in messages."""
    target = local_path(path, what)
    with replacing(target, f"{what} {str(target)!r}") as file:
        file.write(content)


def local_path(path: str | os.PathLike[str], what: str) -> Path:
    """Return a path with its home folder expanded; raise BadOption if no file can have that name."""
    got = None
    try:
        found = Path(path).expanduser()
        if b"\0" in os.fsencode(found):
            got = "a zero byte"
    except TypeError:
        raise BadOption(wanted(what, "the name of a file", shown(path))) from None
    except UnicodeEncodeError:
        got = "characters that are no Unicode"
    except RuntimeError:
        got = "an unknown home folder"
    if got is not None:
        raise BadOption(wanted(f"{what} {str(path)!a}", "the name of a file", got))
    return found


@contextmanager
def replacing(target: Path, where: str) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces the target once it is complete; `where` begins messages.

    A link is followed, an earlier file's mode is kept, and anything but a regular file is refused.
    """
    temporary = None
    try:
        target = Path(os.path.realpath(target)) if target.is_symlink() else target
        if target.is_symlink():
            raise BadOption(wanted(where, "a file to write", "a link that leads to itself"))
        earlier = target.stat() if target.exists() else None
        if earlier is not None and not stat.S_ISREG(earlier.st_mode) and not stat.S_ISDIR(earlier.st_mode):
            raise BadOption(wanted(where, "a file to write", "a device, a pipe or a socket"))
        remove_temporaries(target, older=_OLD)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=_prefix(target), delete=False) as file:
            temporary = file.name
            yield file  # type: ignore[misc]
            file.flush()
            os.fsync(file.fileno())
        _set_mode(temporary, earlier)
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            if isinstance(error, FileNotFoundError):
                raise BadOption(f"{where}: no such folder. Make it first.") from None
            raise BadOption(wanted(where, "a place to write", str(error.strerror or error))) from None
        raise


def remove_temporaries(target: Path, *, older: float = 0.0) -> None:
    """Remove temporary files of processes that were killed while they wrote the target."""
    pattern, before = re.compile(re.escape(_prefix(target)) + "[a-z0-9_]{8}"), time.time() - older
    for entry in os.scandir(target.parent):
        if pattern.fullmatch(entry.name):
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime <= before:
                    os.unlink(entry.path)


def _prefix(target: Path) -> str:
    name = target.name
    if len(os.fsencode(name)) > _LONGEST:
        name = f"{name[:40]}.{hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()}"
    return f".{name}."


def _set_mode(path: str, earlier: os.stat_result | None) -> None:
    if earlier is None:
        os.chmod(path, 0o666 & ~_umask())
        return
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may give a file away
            os.chown(path, earlier.st_uid, earlier.st_gid)
    os.chmod(path, stat.S_IMODE(earlier.st_mode))


def _sync_folder(folder: Path) -> None:
    """Make a new name survive a power failure, where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
