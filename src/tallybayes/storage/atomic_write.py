"""Write a file atomically: it is complete or does not exist."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tallybayes.errors import BadOption, wanted

__all__ = ["replacing", "write"]


def write(content: bytes, path: str | os.PathLike[str], what: str) -> None:
    """Write bytes to a file; `what` names it in messages."""
    target = Path(path).expanduser()
    with replacing(target, f"{what} {str(target)!r}") as file:
        file.write(content)


@contextmanager
def replacing(target: Path, where: str) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces the target once it is complete; `where` begins messages."""
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = file.name
            yield file  # type: ignore[misc]
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise BadOption(wanted(where, "a place to write", str(error.strerror or error))) from None
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
