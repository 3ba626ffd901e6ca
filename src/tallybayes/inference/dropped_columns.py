"""Rows from which columns are dropped at random, by their content: rows to be answered may lack any of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.evidence.row_hash import Hashes, mix, row_hashes
from tallybayes.schema.schema import Schema

__all__ = ["DroppedColumns", "row_keys"]

_ODD = 0x9E3779B97F4A7C15 - (1 << 64)  # 2^64 over the golden ratio: keys of neighbours differ in many bits


@dataclass(frozen=True)
class DroppedColumns:
    """Some rows, and what each of them keeps.

    Attributes
    ----------
    rows : ndarray of int, shape (k,)
        The rows.
    left : ndarray of bool, shape (k, F)
        The columns that each keeps.
    kept : ndarray of bool, shape (U, k)
        The terms that it keeps: those whose columns it has all.
    """

    rows: npt.NDArray[np.intp]
    left: npt.NDArray[np.bool_]
    kept: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        keys: npt.NDArray[np.uint64],
        each: int,
        present: npt.NDArray[np.bool_],
        made_of: Sequence[tuple[int, ...]],
    ) -> DroppedColumns:
        """Drop columns of one row in `each`, by the rows' keys, given the columns that terms are made of."""
        rows, F = np.flatnonzero(keys % np.uint64(each) == 0), present.shape[1]
        left = present[rows] & _some_columns(keys[rows], F)
        if tuple(made_of) == tuple((u,) for u in range(F)):
            return cls(rows, left, left.T)
        return cls(rows, left, np.stack([left[:, list(parts)].all(axis=1) for parts in made_of]))

    def take(self, index: slice) -> DroppedColumns:
        """Return some of the rows."""
        return DroppedColumns(self.rows[index], self.left[index], self.kept[:, index])


def row_keys(rows: RowBatch, schema: Schema, hashes: Hashes | None) -> npt.NDArray[np.uint64]:  # (n,)
    """Return a random number for each row that depends on its content, and on which of its copies it is.

    Hashes are those of `row_hashes` without weights, if they are known.
    """
    keys = row_hashes(rows, replace(schema, weight=None)) if hashes is None else hashes.copy()
    if not (keys[1:] > keys[:-1]).all():  # rows of a sample are sorted, and as a rule no two are the same
        order = np.argsort(keys, kind="stable")
        copy = np.arange(len(keys)) - np.searchsorted(keys[order], keys[order])
        keys[order] += copy * _ODD
    return mix(keys).view(np.uint64)


def _some_columns(keys: npt.NDArray[np.uint64], columns: int) -> npt.NDArray[np.bool_]:  # (n, F)
    """Return which columns each row keeps when some are dropped: from one to all of them, by the row's key."""
    draws = mix(keys.view(np.int64)[:, None] + np.arange(1, columns + 2) * _ODD).view(np.uint64)
    last = (draws[:, :1] % np.uint64(columns)).astype(np.intp)
    return np.asarray(draws[:, 1:] <= np.take_along_axis(np.sort(draws[:, 1:], axis=1), last, axis=1))
