"""Memory: what is freed is kept for the next array, and what would not fit is refused before it is taken.

A fit makes some hundred arrays of a few megabytes, one after the other. The C library of Linux maps each into new
memory and gives it back when it is freed, until a larger one has been freed: from then on it keeps as much, and the
system need not clear the pages of the next array. In a process that has not, a tenth of a fit is spent on pages. An
array of that size, never touched and freed at once, takes some 50 µs and no memory. Where MALLOC_MMAP_THRESHOLD_ is set
in the environment, nothing changes.

Linux promises more memory than there is, and ends a process that takes it, often after minutes without an answer.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np

from tallybayes.errors import BadData, wanted

__all__ = ["check_memory", "keep_freed_memory"]

_LARGEST = (32 << 20) - (8 << 10)  # bytes: the C library learns nothing from an array of 32 MB, its header included


@cache
def keep_freed_memory() -> None:
    """Have the C library keep up to 64 MB of what is freed, twice the largest array; once for each process."""
    if sys.platform == "linux":
        np.empty(_LARGEST, np.uint8)


_LITTLE = 1 << 30  # bytes: not worth a look
_FREE = Path("/proc/meminfo")  # of the machine
_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container


def check_memory(needed: float, where: str, got: str, do: str) -> None:
    """Raise if an array of this many bytes would not fit into memory; where the system does not tell, do nothing."""
    free = _free_memory() if needed > _LITTLE else None
    if free is not None and needed > free:
        got = f"{got}, which take {needed / 1e9:,.0f} GB, where {free / 1e9:,.0f} are free"
        raise BadData(wanted(where, "what fits into memory", got, do))


def _free_memory() -> int | None:
    """Return the bytes that this process may still take."""
    known = []
    try:
        lines = dict(line.split(":") for line in _FREE.read_text().splitlines())
        known.append(int(lines["MemAvailable"].split()[0]) << 10)
        known.append(int(_LIMIT.read_text()))
    except (OSError, ValueError, KeyError):  # another system, or no limit ("max")
        pass
    return min(known, default=None)
