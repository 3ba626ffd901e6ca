"""Encode rows for event models: a few plain rows without Arrow, record batches with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tallybayes.encoding import few_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Encoded
from tallybayes.events.likelihood import Likelihood
from tallybayes.schema.schema import Schema
from tallybayes.sources.to_arrow import is_scipy_sparse

__all__ = ["encode_rows"]


def encode_rows(rows: Any, schema: Schema, likelihoods: Sequence[Likelihood], unseen: str) -> Iterable[Encoded] | None:
    """Return the rows as each block's event model takes them; None if they must be read as a source first.

    Parameters
    ----------
    rows : RowBatch, list, array or sparse matrix
        The rows.
    schema : Schema
        The type of each column.
    likelihoods : sequence of Likelihood
        The likelihood of each block.
    unseen : {"smooth", "skip", "error"}
        Whether a value never seen in training is refused.
    """
    if isinstance(rows, RowBatch):
        pairs = zip(schema.blocks, likelihoods, strict=True)
        return (rows.encode(block, own.categories or None, unseen=unseen) for block, own in pairs)
    if is_scipy_sparse(rows):
        return few_rows.encode_sparse(rows, schema)
    if not isinstance(rows, np.ndarray | list) or getattr(rows, "ndim", 1) == 0:
        return None
    return few_rows.encode(rows, schema, likelihoods, unseen)
