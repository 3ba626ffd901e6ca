"""What this Python says of every character: is it part of a word, is it space, what is its lower case.

Unicode grows with every version of Python, and tokens must be those that ``re`` finds. So nothing is compiled in:
Python is asked once per process, when the first text that is not ASCII is met (some 0.1 s).
"""

from __future__ import annotations

import re
import sys
from functools import cache

import numpy as np
from numpy.typing import NDArray

from . import _native

N = sys.maxunicode + 1
PAGE = 256


@cache
def characters() -> _native.TextCharacters:
    """The compiled tables."""
    everything = "".join(map(chr, range(N)))
    lower, many, starts = _lower(everything)
    return _native.text_characters(_where(r"\w+", everything), _where(r"\s+", everything), lower, many, starts)


def _where(pattern: str, text: str) -> NDArray[np.uint8]:
    """1 for every character that the pattern matches."""
    out = np.zeros(len(text), np.uint8)
    for match in re.finditer(pattern, text):
        out[match.start() : match.end()] = 1
    return out


def _lower(everything: str) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The lower case of each character; -1 - k where it is many[starts[k]:starts[k + 1]]."""
    lower = np.arange(N, dtype=np.int32)
    many: list[int] = []
    starts = [0]
    for first in range(0, N, PAGE):
        page = everything[first : first + PAGE]
        if page.lower() == page:
            continue
        for c in page:  # one by one: a capital sigma would feel its neighbours
            lowered = c.lower()
            if len(lowered) == 1:
                lower[ord(c)] = ord(lowered)
            else:
                lower[ord(c)] = -len(starts)
                many += map(ord, lowered)
                starts.append(len(many))
    return lower, np.array(many, np.int32), np.array(starts, np.int64)
