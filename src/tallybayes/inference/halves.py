"""Halves of rows: where rows are few for their columns, what one half chooses is tried on the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.event import Weights
from tallybayes.events.folds import Folds
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.row_hash import Hashes, row_hashes

__all__ = ["halves", "has_few_rows"]

# Event models choose how to believe each column by the rows left out, too. Where rows are fewer than some for each
# column, that would tell their classes: it is chosen by the half of the rows that a row is not in. Five folds in place
# of two gained a thousandth of a nat in twice the time, and twenty rows for each column, in place of five, a hundredth
# of a nat on the rows between, which then take three times as long to fit.
_FEW_FOR_COLUMNS, _HALVES = 5, 2
_FEWEST = 8  # rows: half of fewer choose nothing


def has_few_rows(evidence: Evidence, few: int) -> bool:
    """Return whether rows are so few for the columns that halves choose what event models choose.

    Fewer rows than `few` have one weight, which a few columns hardly mislead: only more columns than rows do.
    """
    rows = float(evidence.rows.sum().to_float())
    return rows < (1 if rows < few else _FEW_FOR_COLUMNS) * len(evidence.schema.columns)


def halves(rows: RowBatch, evidence: Evidence, hashes: Hashes | None, weights: Weights) -> Folds | None:
    """Return the half that each row is in, by its content: all copies are in one. None for a handful of rows.

    Hashes are those of `row_hashes` without weights, if they are known.
    """
    keys = row_hashes(rows, replace(evidence.schema, weight=None)) if hashes is None else hashes
    different = np.unique(keys if weights is None else keys[weights > 0])
    if len(different) < _FEWEST:
        return None
    half = np.searchsorted(different, keys) * _HALVES // len(different)
    return Folds(np.minimum(half, _HALVES - 1).astype(np.int32), weights)
