"""Hashes of the cells of a block, added up row by row: while they are counted, or in a pass of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.events.inputs import Codes, Dense, Encoded, Sparse

__all__ = ["CellHashes", "hash_values"]


@dataclass(frozen=True)
class CellHashes:
    """Where the hashes of a block's cells go.

    Attributes
    ----------
    seeds : ndarray, shape (F,)
        A number of each column, so that equal values of different columns differ; one for all columns of sparse rows.
    out : ndarray, shape (n,)
        The hash of each row so far: what is added wraps around, so the order of blocks and columns does not matter.
    """

    seeds: kernels.Words
    out: kernels.Words

    def add(self, data: Encoded) -> None:
        """Add the hashes of all cells."""
        if isinstance(data, Dense):
            kernels.hash_dense(data.columns, self.seeds, self.out)
        elif isinstance(data, Sparse):
            kernels.hash_sparse(*data.parts(), data.width, int(self.seeds[0]), self.out)
        elif isinstance(data, Codes):
            self._add_codes(data)
        else:
            for column, seed in zip(data.columns, self.seeds, strict=True):
                kernels.hash_texts(column, int(seed), self.out)

    def _add_codes(self, data: Codes) -> None:
        hashes, added = self.of_values(data), self.out if data.settle is None else np.zeros_like(self.out)
        outside = kernels.hash_codes(data.columns, hashes, data.sizes, added, low=data.low)
        if data.settle is None:
            return
        if outside:  # the span guessed from the first rows was too small
            self._add_codes(data.settle())
        else:
            np.add(self.out, added, out=self.out)

    def of_values(self, data: Codes) -> kernels.Words:  # (Σ sizes,)
        """Return the hash of each value that codes stand for."""
        each, before, texts = [np.zeros(0, np.int64)], None, None
        for labels, seed in zip(data.labels, self.seeds.tolist(), strict=True):
            if labels is not before:  # the columns of a matrix share theirs
                before, texts = labels, _texts(labels)
            each.append(_hash(texts, seed))
        return np.concatenate(each)


def hash_values(labels: Categories, seed: int) -> kernels.Words:
    """Return the hash of each value of a column."""
    return _hash(_texts(labels), seed)


def _texts(labels: Categories) -> pa.Array:
    return pc.cast(labels.array, pa.string())


def _hash(texts: pa.Array, seed: int) -> kernels.Words:
    out = np.zeros(len(texts), np.int64)
    kernels.hash_texts(texts, seed, out)
    return out
