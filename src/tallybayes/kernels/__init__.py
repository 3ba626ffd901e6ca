"""The hot loops: exact sums per class, scores, and the normaliser; arrays in, arrays out.

Every function is single-threaded and releases the GIL: the caller slices rows and runs the slices on its own threads.
Exact sums are returned as ``Limbs``, so the results of slices can be added in any order and give the same integers.
Types and shapes are checked strictly (``TypeError``, ``ValueError``), and no input can crash the process.

With n rows, C classes and F columns, arguments of one name are the same everywhere:

columns                 float64 or float32 (n, F), or F arrays (n,); NaN is missing. For codes: integers of any width.
sizes, low              F numbers; column f has the codes low, ..., low + sizes[f] - 1.
indptr, indices, data   a compressed sparse row (CSR) matrix; indices int32 or int64, data float64, float32, int32 or
                        int64. Row i has the entries indptr[i], ..., indptr[i + 1] - 1. indptr need not start at 0, so
                        slicing it slices rows.
column                  a pyarrow StringArray or LargeStringArray (n,); slices and nulls are supported.
classes                 int32 (n,), the class of each row in [0, n_classes).
weights                 float64 (n,), finite and not below 0; None means 1.
table                   float64 (sum(sizes), C), what to add for each value, columns concatenated.
out                     OUT, C-contiguous, what the results are added to: float64 (n, C) for scores.

``tests/kernels/reference.py`` has the same functions in plain NumPy: the specification of the compiled ones.
"""

from __future__ import annotations

from .buckets import (
    MOST_BUCKETS,
    BucketCodes,
    BucketCounts,
    NumberCounter,
    count_numbers,
    find_buckets,
    find_cells,
    join_buckets,
    ordered,
    unordered,
)
from .cells import (
    ChosenCells,
    bin_codes,
    choose_cells,
    code_terms,
    count_cells,
    cut_cells,
    cut_runs,
    pair_codes,
    pair_rows,
    pair_terms,
    shift_rows,
)
from .contributions import terms_codes, terms_dense
from .counts import add_columns, count_classes, count_codes, count_pairs, count_sparse, look_up_counts, power_sums
from .density import density_places, density_sums, density_terms
from .dict_rows import CellScores, NumberRows
from .elementwise import add_product, exp, log, log1p, log_gamma, logaddexp, power
from .experts import ExpertTerms, MixedExperts, expert_terms, mix_experts
from .hashes import hash_codes, hash_dense, hash_sparse, hash_texts, mix_words
from .instructions import choose
from .leave_one_out import Coefficients, leave_dense, leave_sparse
from .moments import add_limbs, exact_moments, to_float
from .normals import NormalSums
from .scores import (
    best_class,
    empty_table,
    log_norm,
    log_softmax,
    score_codes,
    score_gaussian,
    score_own_codes,
    score_sparse,
    score_student,
    softmax,
    temper,
)
from .structure import Interpolated, distances, interpolate, score_cells
from .types import BadEntry, BadIndex, Codes, Columns, Limbs, NotFinite, PowerSums, Words
from .weigh import CodedTerms, WeighedTerms, score_test, weigh_terms, weighted_sum
from .weight_fit import FittedTerms, FoundPrecisions, Groups, Limits, find_precisions, fit_terms, minimise

__all__ = [
    "MOST_BUCKETS",
    "BadEntry",
    "BadIndex",
    "BucketCodes",
    "BucketCounts",
    "CellScores",
    "ChosenCells",
    "CodedTerms",
    "Codes",
    "Coefficients",
    "Columns",
    "ExpertTerms",
    "FittedTerms",
    "FoundPrecisions",
    "Groups",
    "Interpolated",
    "Limbs",
    "Limits",
    "MixedExperts",
    "NormalSums",
    "NotFinite",
    "NumberCounter",
    "NumberRows",
    "PowerSums",
    "WeighedTerms",
    "Words",
    "add_columns",
    "add_limbs",
    "add_product",
    "best_class",
    "bin_codes",
    "choose_cells",
    "code_terms",
    "count_cells",
    "count_classes",
    "count_codes",
    "count_numbers",
    "count_pairs",
    "count_sparse",
    "cut_cells",
    "cut_runs",
    "density_places",
    "density_sums",
    "density_terms",
    "distances",
    "empty_table",
    "exact_moments",
    "exp",
    "expert_terms",
    "find_buckets",
    "find_cells",
    "find_precisions",
    "fit_terms",
    "hash_codes",
    "hash_dense",
    "hash_sparse",
    "hash_texts",
    "interpolate",
    "join_buckets",
    "leave_dense",
    "leave_sparse",
    "log",
    "log1p",
    "log_gamma",
    "log_norm",
    "log_softmax",
    "logaddexp",
    "look_up_counts",
    "minimise",
    "mix_experts",
    "mix_words",
    "ordered",
    "pair_codes",
    "pair_rows",
    "pair_terms",
    "power",
    "power_sums",
    "score_cells",
    "score_codes",
    "score_gaussian",
    "score_own_codes",
    "score_sparse",
    "score_student",
    "score_test",
    "shift_rows",
    "softmax",
    "temper",
    "terms_codes",
    "terms_dense",
    "to_float",
    "unordered",
    "weigh_terms",
    "weighted_sum",
]

choose()
