"""Counts of the tokens of a column of texts."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact, SparsityPattern
from tallybayes.kernels.text import TextOptions, count_text, vectorise

__all__ = ["Found", "count_column"]


class Found(NamedTuple):
    """The tokens of a column, their occurrences in each class, and its texts that have them."""

    labels: Categories
    tokens: SparseExact  # (C, V)
    documents: SparseExact  # (C, V)


def count_column(
    column: pa.Array, classes: ClassCodes, n_classes: int, weights: Weights, options: TextOptions
) -> Found:
    """Count occurrences and document frequencies of every token."""
    if weights is None:
        counted = count_text(column, classes, n_classes, options)
        places = SparsityPattern(counted.starts, counted.classes, n_classes)
        numbers = (Exact.from_counts(counts) for counts in (counted.tokens, counted.documents))
        return Found(Categories(counted.vocabulary), *(SparseExact(places, values) for values in numbers))
    found = vectorise(column, options)
    csr = found.indptr, found.indices, found.data, len(found.vocabulary)
    sums = (kernels.count_sparse(*csr, classes, n_classes, weights=weights, binary=binary) for binary in (False, True))
    return Found(Categories(found.vocabulary), *(SparseExact.from_whole(Exact.from_limbs(limbs)) for limbs in sums))
