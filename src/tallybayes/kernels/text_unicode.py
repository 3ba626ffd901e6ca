"""Tables of all characters: part of a word, space, lower case.

Unicode grows with every version of Python, and tokens must be those that ``re`` finds. So the tables are not compiled
in but made from this Python, once per process, for the first text that is not ASCII (about 0.1 s).
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
    """Return the tables as the compiled module reads them."""
    everything = "".join(map(chr, range(N)))
    lower, many, starts = _lower(everything)
    return _native.text_characters(_where(r"\w+", everything), _where(r"\s+", everything), lower, many, starts)


def _where(pattern: str, text: str) -> NDArray[np.uint8]:
    """Return 1 for every character that the pattern matches, else 0."""
    out = np.zeros(len(text), np.uint8)
    for match in re.finditer(pattern, text):
        out[match.start() : match.end()] = 1
    return out


def _lower(everything: str) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return each character's lower case; -1 - k if it is many[starts[k]:starts[k + 1]]."""
    lower = np.arange(N, dtype=np.int32)
    many: list[int] = []
    starts = [0]
    for first in range(0, N, PAGE):
        page = everything[first : first + PAGE]
        if page.lower() == page:
            continue
        for c in page:  # one by one: the lower case of a capital sigma depends on its neighbours
            lowered = c.lower()
            if len(lowered) == 1:
                lower[ord(c)] = ord(lowered)
            else:
                lower[ord(c)] = -len(starts)
                many += map(ord, lowered)
                starts.append(len(many))
    return lower, np.array(many, np.int32), np.array(starts, np.int64)
