"""Wrappers of the row-hash kernels, which add to ``out`` modulo 2**64.

``out`` is always an int64 array of shape (n,). A row's hash is the sum of its cells' hashes: it does not depend on the
row's position, its neighbours or the order of its columns. A missing value adds nothing. Seeds are int64, one
per column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .text_normalise import take_apart
from .types import Codes, Columns, Integers, Sizes, Words


def hash_dense(columns: Columns, seeds: Words, out: Words) -> None:
    """Add a hash of each number, seeded by column; -0.0 hashes as 0.0.

    Examples
    --------
    >>> out = np.zeros(3, np.int64)
    >>> hash_dense(np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]), np.array([5, 7]), out)
    >>> bool(out[0] == out[1]), bool(out[0] == out[2])
    (True, False)
    """
    _native.hash_dense(columns, seeds, out)


def hash_codes(columns: Codes, hashes: Words, sizes: Sizes, out: Words, *, low: int = 0) -> int:
    """Add the hashes (sum(sizes),) that a row's codes point to, and return how many codes are out of range.

    Those add nothing.

    Examples
    --------
    >>> out = np.zeros(2, np.int64)
    >>> hash_codes(np.array([[1, 0], [0, 7]]), np.array([10, 20, 300]), [2, 1], out)
    1
    >>> out.tolist()
    [320, 10]
    """
    return int(_native.hash_codes(columns, hashes, sizes, out, low))


def hash_sparse(
    indptr: Integers, indices: Integers, data: NDArray[np.generic], n_columns: int, seed: int, out: Words
) -> None:
    """Add a hash of each entry that is not 0.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> x, out = csr_array(np.array([[2, 0], [0, 0], [2, 0]])), np.zeros(3, np.int64)
    >>> hash_sparse(x.indptr, x.indices, x.data, 2, 0, out)
    >>> bool(out[0] == out[2]), int(out[1])
    (True, 0)
    """
    _native.hash_sparse(indptr, indices, data, n_columns, seed, out)


def hash_texts(column: Any, seed: int, out: Words) -> None:
    """Add a hash of each text; null adds nothing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> out = np.zeros(3, np.int64)
    >>> hash_texts(pa.array(["to be", "to be", None]), 0, out)
    >>> bool(out[0] == out[1]), int(out[2])
    (True, 0)
    """
    _native.hash_texts(take_apart(column, "column"), seed, out)


def mix_words(words: Words) -> None:
    """Mix each word in place: afterwards every bit depends on all bits that it had.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.array([0, 1, 2])
    >>> mix_words(words)
    >>> int(words[0]), len(set((words[1:] >> 32).tolist()))
    (0, 2)
    """
    _native.mix_words(words)
