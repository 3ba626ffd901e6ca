"""Freed memory stays with the process, up to a bound: the system need not clear the pages of the next array.

A fit makes some hundred arrays of a few megabytes, one after the other. The C library of Linux maps each into new
memory and gives it back when it is freed, until a larger one has been freed: from then on it keeps as much. In a
process that has not, a tenth of a fit is spent on pages. An array of that size, never touched and freed at once, takes
some 50 µs and no memory. Where MALLOC_MMAP_THRESHOLD_ is set in the environment, nothing changes.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np

__all__ = ["keep_freed_memory"]

_LARGEST = (32 << 20) - (8 << 10)  # bytes: the C library learns nothing from an array of 32 MB, its header included


@cache
def keep_freed_memory() -> None:
    """Have the C library keep up to 64 MB of what is freed, twice the largest array; once for each process."""
    if sys.platform == "linux":
        np.empty(_LARGEST, np.uint8)
