"""The hot loops: exact sums per class, scores, and the normaliser; arrays in, arrays out.

Every function is single-threaded and releases the GIL: the caller slices rows and runs the slices on its own threads.
Exact sums are returned as ``Limbs``, so the results of slices can be added in any order and give the same integers.
Types and shapes are checked strictly (``TypeError``, ``ValueError``), and no input can crash the process.

``reference`` has the same functions in plain NumPy. It is the specification that tests compare the compiled ones with.
"""

from __future__ import annotations

from .contributions import terms_codes, terms_dense
from .counts import count_codes, count_pairs, count_sparse, power_sums
from .hashes import hash_codes, hash_dense, hash_sparse, hash_texts
from .instructions import choose
from .leave_one_out import Coefficients, leave_dense
from .moments import exact_moments, to_float
from .scores import (
    log_softmax,
    score_codes,
    score_gaussian,
    score_own_codes,
    score_sparse,
    score_student,
    softmax,
    temper,
)
from .types import BadEntry, Codes, Columns, Limbs, NotFinite, PowerSums
from .weigh import WeighedTerms, score_test, weigh_terms

__all__ = [
    "BadEntry",
    "Codes",
    "Coefficients",
    "Columns",
    "Limbs",
    "NotFinite",
    "PowerSums",
    "WeighedTerms",
    "count_codes",
    "count_pairs",
    "count_sparse",
    "exact_moments",
    "hash_codes",
    "hash_dense",
    "hash_sparse",
    "hash_texts",
    "leave_dense",
    "log_softmax",
    "power_sums",
    "score_codes",
    "score_gaussian",
    "score_own_codes",
    "score_sparse",
    "score_student",
    "score_test",
    "softmax",
    "temper",
    "terms_codes",
    "terms_dense",
    "to_float",
    "weigh_terms",
]

choose()
