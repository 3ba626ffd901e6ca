# The compiled module. Its wrappers (counts.py, scores.py, moments.py, ...) document the functions and add defaults.
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Limbs = tuple[NDArray[np.int64], int]
_Array = NDArray[Any]
_Columns = _Array | Sequence[_Array]
_Sizes = _Array | Sequence[int]

def use(name: str, /) -> str: ...
def available() -> list[str]: ...
def isa() -> str: ...
def count_classes(classes: _Array, out: _Array, /) -> None: ...
def power_sums(
    columns: _Columns,
    classes: _Array,
    n_classes: int,
    order: int,
    weights: _Array | None,
    seeds: _Array | None,
    out: _Array | None,
) -> tuple[_Limbs, _Limbs, _Limbs | None]: ...
def count_codes(
    columns: _Columns,
    classes: _Array,
    n_classes: int,
    sizes: _Sizes,
    low: int,
    weights: _Array | None,
    hashes: _Array | None,
    out: _Array | None,
) -> tuple[_Limbs, NDArray[np.int64]]: ...
def count_pairs(
    columns: _Columns, classes: _Array, n_classes: int, sizes: _Sizes, weights: _Array | None
) -> _Limbs: ...
def expert_terms(
    value: _Array,
    counts: _Array,
    sizes: _Sizes,
    nodes: _Array,
    n_nodes: _Sizes,
    alphas: _Array,
    omegas: _Array,
    chosen: bool,
    moments: _Array,
    whole: _Array,
    full: Sequence[_Array],
    less: Sequence[_Array],
    floor: float,
    out: _Array,
    lost: _Array,
    /,
) -> None: ...
def mix_experts(
    terms: _Array,
    counts: _Array,
    sizes: _Sizes,
    log_rows: _Array,
    tree: bool,
    student: bool,
    kernel: bool,
    chosen: bool,
    pairs: _Array,
    log_weights: _Array,
    mixed: _Array | None,
    left_out: _Array,
    /,
) -> None: ...
def density_places(
    sizes: _Sizes,
    low: _Array,
    value: _Array,
    high: _Array,
    pooled: _Array,
    steps: int,
    farthest: int,
    out: _Array,
    /,
) -> None: ...
def density(
    counts: _Array,
    sizes: _Sizes,
    places: _Array,
    n_places: int,
    shapes: _Array,
    masses: _Array,
    prior: _Array,
    chosen: bool,
    weights: _Array,
    out: _Array | None,
    sums: _Array | None,
    /,
) -> None: ...
def find_buckets(
    columns: _Columns, /
) -> tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def count_numbers(
    columns: _Columns, classes: _Array, n_classes: int, seeds: _Array | None, out: _Array | None, /
) -> tuple[_Limbs, _Limbs, _Limbs, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...

class NumberCounter:
    """What `count_numbers` returns, of several tables of as many columns and classes; of no use after an error."""

    def __init__(self, n_columns: int, n_classes: int, /) -> None: ...
    def add(self, columns: _Columns, classes: _Array, seeds: _Array | None, out: _Array | None, /) -> None: ...
    def finish(
        self,
    ) -> tuple[_Limbs, _Limbs, _Limbs, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...

def find_cells(columns: _Columns, edges: _Array, sizes: _Sizes, /) -> NDArray[np.uint8]: ...
def choose_cells(
    keys: _Array, sizes: _Sizes, shifts: _Array, weights: _Array, most: int, between: int, /
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def cut_cells(
    sizes: _Sizes,
    low: _Array,
    value: _Array,
    high: _Array,
    weights: _Array,
    leaves: int,
    depth: int,
    least: float,
    /,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
def count_cells(
    keys: _Array, sizes: _Sizes, shifts: _Array, weights: _Array, edges: _Array, cells: _Sizes, /
) -> NDArray[np.float64]: ...
def cut_runs(
    value: _Array, weights: _Array, sizes: _Sizes, bins: int, /
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]: ...
def pair_codes(
    columns: _Columns, sizes: _Sizes, classes: _Array, n_classes: int, low: int, last: bool, /
) -> NDArray[np.int32]: ...
def code_terms(columns: _Columns, values: _Array, sizes: _Sizes, /) -> NDArray[np.float64]: ...
def pair_terms(
    pairs: _Array, values: _Array, sizes: _Sizes, places: _Array | None, out: _Array, /
) -> _Array | None: ...
def weighted_sum(weights: _Array, terms: _Array, out: _Array, /) -> None: ...
def shift_rows(rows: _Array, by_class: bool, least: float, out: _Array, /) -> bool: ...
def pair_rows(by_pair: _Array, sizes: _Sizes, least: float, /) -> tuple[NDArray[np.float64], bool]: ...
def bin_codes(columns: _Columns, places: _Array, sizes: _Sizes, missing: _Array, /) -> NDArray[np.int32]: ...
def look_up_counts(counts: _Array, values: _Array, out: _Array, first: int, /) -> int: ...
def add_limbs(left: _Array, right: _Array, out: _Array, /) -> tuple[int, int]: ...
def add_columns(values: _Array, places: _Array, out: _Array, /) -> None: ...
def join_buckets(
    keys: _Array, sizes: _Sizes, shifts: _Array, other_keys: _Array, other_sizes: _Sizes, other_shifts: _Array, /
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def count_sparse(
    indptr: _Array,
    indices: _Array,
    data: _Array,
    n_columns: int,
    classes: _Array,
    n_classes: int,
    weights: _Array | None,
    binary: bool,
    seeds: _Array | None,
    out: _Array | None,
) -> _Limbs: ...
def score_gaussian(
    columns: _Columns, mean: _Array, scale: _Array, constant: _Array, out: _Array, rest: _Array | None, /
) -> bool: ...
def score_student(
    columns: _Columns,
    mean: _Array,
    scale: _Array,
    constant: _Array,
    power: _Array,
    out: _Array,
    rest: _Array | None,
    /,
) -> None: ...
def score_codes(columns: _Columns, table: _Array, sizes: _Sizes, out: _Array, low: int, last: bool, /) -> None: ...
def score_cells(
    columns: _Columns, lows: _Array, sizes: _Sizes, members: _Array, lengths: _Sizes, table: _Array, out: _Array, /
) -> None: ...
def interpolate(
    columns: _Columns, knots: _Array, heights: _Array, sizes: _Sizes, /
) -> tuple[NDArray[np.float64], bool]: ...
def distances(columns: _Columns, mean: _Array, root: _Array, out: _Array, /) -> None: ...
def score_own_codes(
    columns: _Columns, table: _Array, sizes: _Sizes, classes: _Array, out: _Array, low: int, /
) -> None: ...
def score_sparse(
    indptr: _Array, indices: _Array, data: _Array, table: _Array, out: _Array, lengths: _Array | None, /
) -> None: ...
def leave_sparse(
    indptr: _Array, indices: _Array, data: _Array, classes: _Array, counts: _Array, alpha: _Array, out: _Array, /
) -> None: ...
def terms_dense(
    columns: _Columns,
    mean: _Array,
    scale: _Array,
    constant: _Array,
    power: _Array | None,
    factors: _Array,
    out: _Array,
    rest: _Array | None,
    /,
) -> None: ...
def terms_codes(
    columns: _Columns, table: _Array, sizes: _Sizes, factors: _Array, out: _Array, low: int, last: bool, /
) -> None: ...
def elementwise(function: int, numbers: _Array, out: _Array, /) -> None: ...
def add_product(left: _Array, right: _Array, out: _Array, /) -> None: ...
def best_class(scores: _Array, best: _Array, /) -> bool: ...
def softmax(scores: _Array, out: _Array | None, log_norm: _Array, log: bool, /) -> None: ...
def to_float(limbs: _Array, base: int, out: _Array, /) -> None: ...
def exact_moments(
    n: _Array,
    n_base: int,
    s1: _Array,
    s1_base: int,
    s2: _Array,
    s2_base: int,
    out_n: _Array,
    out_mean: _Array,
    out_m2: _Array,
    out_rest: _Array,
    /,
) -> None: ...

_Integers = NDArray[np.int64]

def join_places(
    starts: _Array, rows: _Array, other_starts: _Array, other_rows: _Array, /
) -> tuple[_Integers, NDArray[np.int32], _Integers, _Integers]: ...
def find_places(starts: _Array, rows: _Array, of_rows: _Array, of_columns: _Array, /) -> _Integers: ...
def copy_ranges(values: _Array, starts: _Array, lengths: _Array, out: _Array, /) -> None: ...
def sum_cells(
    starts: _Array, columns: _Array, times: _Array, table: _Array, cells: _Array, at: _Array, out: _Array, /
) -> None: ...

_Strings = tuple[_Integers, NDArray[np.uint8]]  # offsets, bytes
_Parts = tuple[Any, ...]  # the parts of a column or of options: see text_normalise.py and text.py
_Csr = tuple[_Integers, NDArray[np.int32], _Integers, _Integers]

class TextCharacters: ...
class TextLookup: ...

def text_characters(word: _Array, space: _Array, lower: _Array, many: _Array, starts: _Array, /) -> TextCharacters: ...
def text_survey(column: _Parts, prepare: int, /) -> tuple[bool, _Integers]: ...
def text_count(
    column: _Parts, characters: TextCharacters | None, options: _Parts, classes: _Array, n_classes: int, spill: int, /
) -> tuple[_Strings, _Integers, NDArray[np.int32], _Integers, _Integers, _Integers]: ...
def text_lookup(vocabulary: _Parts, options: _Parts, /) -> TextLookup: ...
def text_score(
    lookup: TextLookup,
    column: _Parts,
    characters: TextCharacters | None,
    table: _Array,
    out: _Array,
    unknown: _Array | None,
    distinct: bool,
    /,
) -> _Integers: ...
def text_learn_vectors(
    column: _Parts, characters: TextCharacters | None, options: _Parts, /
) -> tuple[_Strings, _Csr]: ...
def text_find_vectors(column: _Parts, characters: TextCharacters | None, lookup: TextLookup, /) -> _Csr: ...
def text_merge(left: _Parts, right: _Parts, /) -> tuple[_Strings, _Integers, _Integers]: ...
def leave_dense(
    columns: Any, classes: Any, moments: Any, whole: Any, full: Any, less: Any, floor: float, student: bool, out: Any
) -> list[int]: ...
def hash_dense(columns: Any, seeds: Any, out: Any) -> None: ...
def hash_codes(columns: Any, hashes: Any, sizes: Any, out: Any, low: int) -> int: ...
def mix_words(words: Any, /) -> None: ...
def hash_sparse(indptr: Any, indices: Any, data: Any, n_columns: int, seed: int, out: Any) -> None: ...
def hash_texts(column: Any, seed: int, out: Any) -> None: ...
def temper_rows(scores: Any, own: Any, logs: Any, weights: Any, u: float, v: float, loss: Any, slopes: Any) -> None: ...
def temper_sums(logs: Any, weights: Any, loss: Any, slopes: Any) -> tuple[float, float, float, float, float, float]: ...
def score_test(
    columns: _Columns,
    full: _Array,
    less: _Array,
    sizes: _Sizes,
    classes: _Array,
    p: _Array,
    slope_weights: _Array,
    curve_weights: _Array,
    out: _Array,
) -> None: ...
def find_precisions(
    groups: tuple[Any, ...], curvature: _Array, numbers: _Array, precision: _Array, kinds: Sequence[int], /
) -> tuple[_Array, float]: ...
def minimise(
    function: Any, start: _Array, value: float, slope: _Array, steps: int, gain: float, least: float, /
) -> _Array: ...
def fit_terms(
    terms: tuple[Any, ...],
    target: _Array,
    first: _Array,
    groups: tuple[Any, ...],
    kinds: Sequence[int],
    start: _Array,
    precision: _Array,
    steps: _Array,
    rounds: Sequence[tuple[int, float, float]],
    wall: float,
    function: Any,
    /,
) -> tuple[_Array, _Array, _Array, float]: ...
def weigh_terms(
    base: Any,
    terms: Any,
    numbers: Any,
    coded: tuple[Any, ...],
    classes: Any,
    weights: Any,
    share: Any,
    scale: Any,
    bias: Any,
    table: Any,
    out: Any,
    first: int,
    end: int,
    sloped: bool,
    curved: bool,
    p: Any,
) -> None: ...

class NormalSums:
    """Exact sums of the columns with these names, class by class, changed in place; a row is a dict of numbers.

    None, NaN or no entry is a missing value. A row with any other value than finite numbers, or with none of the
    columns, is not plain: nothing is done, and the answer is False.
    """

    def __init__(self, names: tuple[str, ...], /) -> None: ...
    def load(
        self, n_classes: int, missing: _Limbs, weight: _Limbs, first: _Limbs, second: _Limbs, rows: _Limbs, /
    ) -> None:
        """Add the sums of classes, (C, F) each and (C,) for rows."""

    def change(self, row: object, c: int, weight: float, minus: bool, /) -> bool | None:
        """Add a row to class c (C: a new class), or take it away; None if no rows could have what that leaves."""

    def score(
        self, row: object, alpha: _Array, floor: float, ddof: int, student: bool, learned_prior: bool, out: _Array, /
    ) -> bool:
        """Add to `out` (C,) the row's log-density under each class, and the log of the class's share of the rows."""

    def rows(self, c: int, /) -> float:
        """Return the weight of the rows of class c."""

    def limbs(self) -> tuple[_Limbs, _Limbs, _Limbs, _Limbs, _Limbs]:
        """Return the sums: missing, weight, first and second (C, F), and rows (C, 1)."""

class NumberRows:
    """Rows of the columns with these names, and their classes; each number is between -most and most.

    A row is a dict that is plain as for `NormalSums`.
    """

    def __init__(self, names: tuple[str, ...], most: float, /) -> None: ...
    def append(self, row: object, label: object, /) -> bool:
        """Keep a row and its class; False if the row is not plain, and nothing is done."""

    def values(self) -> NDArray[np.float64]:
        """Return the rows, (n, F) with NaN where a value is missing."""

    def labels(self) -> list[Any]:
        """Return the classes of the rows."""

    def clear(self) -> None:
        """Keep none of them."""

    def __len__(self) -> int: ...

class CellScores:
    """Terms of the cells of numeric columns, for one row after another; a row is a dict as for `NormalSums`.

    `sizes` (F,) are the numbers of cells, `edges` lie between the cells of a column, `table` (sum(sizes), C) has their
    terms, and `prior` (C,) is what these are added to.
    """

    def __init__(
        self, names: tuple[str, ...], edges: _Array, sizes: _Array, table: _Array, prior: _Array, /
    ) -> None: ...
    def probabilities(self, row: object, out: _Array, /) -> bool:
        """Write the probability of each class (C,); False if the row is not plain, or is impossible."""

class MailTokens:
    """The token hashes of some messages, sorted and distinct within each group (0 header, 1 body) of a message."""

    def __len__(self) -> int: ...
    def group(self, group: int, /) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where each message begins, and the hashes of all."""

    def ids(self) -> NDArray[np.int64]:
        """Return a number for each message, equal for messages with the same tokens."""

    def left_out(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bytes of each message beyond a bound, and those of attachments."""

class MailCounts:
    """In how many messages of each class each token is; changes in place, and may be scored by many threads."""

    def __init__(self, n_classes: int, /) -> None: ...
    def size(self, group: int, /) -> int:
        """Return the number of distinct tokens of a group."""

    def add(self, tokens: MailTokens, classes: _Array, /) -> None:
        """Add messages, each to its class."""

    def subtract(self, tokens: MailTokens, classes: _Array, strict: bool, /) -> int:
        """Take messages away; strict: return the first that was never there, and change nothing, or −1."""

    def score(self, tokens: MailTokens, own: _Array | None, /) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return n × C scores of messages, each left out of the class `own`, and the messages of each class."""

    def totals(self) -> NDArray[np.int64]:
        """Return the messages of each class."""

    def load_totals(self, messages: _Array, /) -> None:
        """Add messages to each class, beside the tokens that `load` adds."""

    def find(self, group: int, hashes: _Array, /) -> NDArray[np.int64]:
        """Return the counts of tokens, n × C numbers."""

    def items(self, group: int, /) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Return the tokens of a group, sorted, and their counts: starts, classes and values of entries."""

    def load(self, group: int, keys: _Array, starts: _Array, classes: _Array, values: _Array, /) -> None:
        """Add tokens as `items` returns them."""

    def extend(self, n_classes: int, /) -> None:
        """Add classes, which have no message yet, after the others."""

    def keep_most_frequent(self, most: int, /) -> int:
        """Keep the tokens that most messages have, ties by hash; return how many were dropped."""

def mail_tokens(messages: Sequence[bytes], /) -> MailTokens: ...
def mail_message(header: _Array, body: _Array, /) -> MailTokens: ...
def release_memory() -> None: ...
def mail_select(batches: Sequence[MailTokens], which: _Array, rows: _Array, /) -> MailTokens: ...
def mail_read(
    message: bytes, /
) -> tuple[tuple[list[bytes], NDArray[np.int64]], tuple[list[bytes], NDArray[np.int64]], int, int]: ...
