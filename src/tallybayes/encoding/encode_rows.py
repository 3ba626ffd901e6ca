"""Rows as event models take them: a few plain rows by the short way, record batches by the ordinary one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tallybayes.encoding import few_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Encoded
from tallybayes.events.likelihood import Likelihood
from tallybayes.schema.schema import Schema

__all__ = ["encode_rows"]


def encode_rows(rows: Any, schema: Schema, likelihoods: Sequence[Likelihood], unseen: str) -> Iterable[Encoded] | None:
    """Return the rows as the event model of each block takes them; None for plain rows that have to be opened first.

    Parameters
    ----------
    rows : RowBatch, list or array
        The rows.
    schema : Schema
        What each column is.
    likelihoods : sequence of Likelihood
        The likelihood of each block.
    unseen : {"smooth", "skip", "error"}
        Whether a value never seen in training is refused.
    """
    if isinstance(rows, RowBatch):
        pairs = zip(schema.blocks, likelihoods, strict=True)
        return (rows.encode(block, own.categories or None, unseen=unseen) for block, own in pairs)
    if not isinstance(rows, np.ndarray | list) or len(rows) > few_rows.MOST_ROWS:
        return None
    return few_rows.encode(rows, schema, likelihoods, unseen)
