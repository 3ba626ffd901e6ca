"""The hot loops: exact sums per class, scores, and the normaliser. All arrays in, all arrays out.

Every function is single-threaded and releases the GIL: the caller slices rows and runs the slices on its own threads.
Exact sums come back as ``Limbs``, so that what slices give can be added in any order and gives the same integers.
"""

from __future__ import annotations

from .reference import (
    count_codes,
    count_sparse,
    exact_moments,
    log_softmax,
    power_sums,
    score_codes,
    score_gaussian,
    score_own_codes,
    score_sparse,
    score_student,
    softmax,
    to_float,
)
from .types import BadEntry, Codes, Columns, Limbs, NotFinite, PowerSums

__all__ = [
    "BadEntry",
    "Codes",
    "Columns",
    "Limbs",
    "NotFinite",
    "PowerSums",
    "count_codes",
    "count_sparse",
    "exact_moments",
    "log_softmax",
    "power_sums",
    "score_codes",
    "score_gaussian",
    "score_own_codes",
    "score_sparse",
    "score_student",
    "softmax",
    "to_float",
]
