"""Encode rows for event models: a few plain rows without Arrow, record batches with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tallybayes.encoding import few_rows
from tallybayes.encoding.part_codes import encode_interactions
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Encoded
from tallybayes.events.interaction import Interaction
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
        return _encode_batch(rows, schema, likelihoods, unseen)
    if is_scipy_sparse(rows):
        return few_rows.encode_sparse(rows, schema)
    if not isinstance(rows, np.ndarray | list) or getattr(rows, "ndim", 1) == 0:
        return None
    return few_rows.encode(rows, schema, likelihoods, unseen)


def _encode_batch(rows: RowBatch, schema: Schema, likelihoods: Sequence[Likelihood], unseen: str) -> Iterator[Encoded]:
    """Yield the rows block by block; those of columns are kept for interactions."""
    columns: dict[int, Encoded] = {}
    cells: Iterator[Encoded] | None = None
    for b, (block, own) in enumerate(zip(schema.blocks, likelihoods, strict=True)):
        if isinstance(block.event, Interaction):
            cells = cells or iter(encode_interactions(rows, schema, columns))
            yield next(cells)
            continue
        data = rows.encode(block, own.categories or None, unseen=unseen)
        if schema.products:
            columns[b] = data
        yield data
