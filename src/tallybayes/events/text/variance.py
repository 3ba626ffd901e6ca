"""The posterior variance of the scores of texts, which are rolls of a die of tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tallybayes.events.families.bag import ShareVariance
from tallybayes.events.inputs import Floats, Sparse
from tallybayes.exact.array import Exact
from tallybayes.kernels.text import Lookup

__all__ = ["TokenVariance"]


@dataclass(frozen=True)
class TokenVariance:
    """The variance of the log-shares of tokens; with `smooth`, of one more token, never seen."""

    lookup: Lookup
    die: ShareVariance
    distinct: bool
    smooth: bool

    @classmethod
    def of(cls, lookup: Lookup, counts: Exact, alpha: float, *, distinct: bool, smooth: bool) -> TokenVariance:
        """Return the variances, given each class's counts (C, V) and the pseudo-count of a token."""
        numbers = counts.to_float().T
        if smooth:
            numbers = np.pad(numbers, ((0, 1), (0, 0)))
        die = ShareVariance.of(numbers, counts.sum(axis=1).to_float(), np.full(len(numbers), alpha))
        return cls(lookup, die, distinct, smooth)

    def add(self, column: pa.Array, out: Floats, weigh: Callable[[Sparse, Floats], Sparse] | None = None) -> None:
        """Add the variance of each text's score; a missing text adds nothing.

        `weigh` takes the texts and their lengths, and returns them with other numbers of occurrences.
        """
        found = self.lookup.vectorise(column)
        times = np.ones(len(found.data)) if self.distinct else found.data.astype(np.float64)
        texts = Sparse(found.indptr, found.indices, times, len(self.lookup))
        if weigh is not None:
            texts = weigh(texts, np.bincount(texts.entries()[0], times, minlength=len(texts)).astype(np.float64))
        self.die.add(self._with_unknown(texts, column) if self.smooth else texts, out)

    def _with_unknown(self, texts: Sparse, column: pa.Array) -> Sparse:
        """Return the texts with one more token, which stands for all outside the vocabulary."""
        times = np.zeros((len(texts), 1))
        self.lookup.score(column, np.zeros((texts.width, 1)), times, unknown=np.ones(1), distinct=self.distinct)
        ends = texts.indptr[1:]
        indices = np.insert(texts.indices, ends, texts.width)
        indptr = texts.indptr + np.arange(len(texts) + 1)
        return Sparse(indptr, indices, np.insert(texts.data, ends, times[:, 0]), texts.width + 1)
