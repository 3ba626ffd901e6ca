"""The sums of one column of texts, out of those of its block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tallybayes.categories import Categories
from tallybayes.events.statistic import Statistic
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact

__all__ = ["Column", "columns_of"]


@dataclass(frozen=True)
class Column:
    """The sums of one column of texts."""

    tokens: SparseExact  # (C, V)
    documents: SparseExact  # (C, V)
    present: Exact  # (C,)
    labels: Categories


def columns_of(statistic: Statistic) -> Iterator[Column]:
    """Yield the sums of each column."""
    present, sums = statistic.present(), statistic.sums
    tokens, documents = sums["tokens"], sums["documents"]
    assert isinstance(tokens, SparseExact)
    assert isinstance(documents, SparseExact)
    for f, labels in enumerate(statistic.labels):
        texts = present.take(np.array([f]), axis=1).reshape((present.shape[0],))
        at = statistic.values_of(f)
        yield Column(tokens.columns(at), documents.columns(at), texts, labels)
