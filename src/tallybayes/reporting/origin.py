"""How a page was made: its command, the version, the options, and a hash of each file."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tallybayes
from tallybayes import sources
from tallybayes.arguments import text
from tallybayes.reporting.data import Origin


def origin_of(
    rows: Any, called: str, source: str, command: str | None, seed: int, options: Mapping[str, Any]
) -> Origin:
    """Return the data needed to reproduce a page; `called` is the call in Python, without options."""
    source = text("source", source)
    command = None if command is None else text("command", command)
    written = {
        name: repr(value) if isinstance(value, str | int | float | dict) else str(value)
        for name, value in options.items()
    }
    called = "".join([called.removesuffix(")"), *(f", {name}={value}" for name, value in written.items()), ")"])
    return Origin(source, command or called, tallybayes.__version__, seed, _hashes(rows), written)


def _hashes(rows: Any) -> dict[str, str]:
    """Return the SHA-256 of each file of rows, by its name."""
    if not sources.is_path(rows):
        return {}
    paths = [os.fspath(path) for path in (rows if isinstance(rows, list | tuple) else [rows])]
    files = [Path(file) for path in paths for file in (sorted(glob.glob(path)) if glob.has_magic(path) else [path])]
    found = {}
    for file in files:
        if file.is_file():
            with file.open("rb") as stream:
                found[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found
