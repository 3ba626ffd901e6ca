"""Probabilities of one row after another under a model that stays the same for a while."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.encoding.few_rows import takes_plain_rows
from tallybayes.events.histogram import HistogramTable
from tallybayes.events.inputs import Floats
from tallybayes.kernels import CellScores
from tallybayes.model import Model
from tallybayes.online.tally import Row, one_row

__all__ = ["OneRow"]


class OneRow:
    """A model that answers for single rows.

    Histograms without calibration look up the cells of a plain row in a kernel; every other row goes through the model.
    Both give the same bits.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._tables = _tables(model)
        self._classes = len(model.classes)

    def predict_proba(self, row: Row) -> Floats:  # (C,)
        """Return the probability of each class."""
        if self._tables is not None:
            out = np.empty(self._classes)
            if self._tables.probabilities(row, out):
                return out
        return one_row(self._model, row)


def _tables(model: Model) -> CellScores | None:
    """Return the tables of a model of one block of histograms, not calibrated; None for any other."""
    schema = model.schema
    plain = schema.missing == "skip" and not schema.products and takes_plain_rows(schema)
    if not model.classes or len(schema.blocks) != 1 or not plain or model._has_calibrated_scores:
        return None
    belief: Any = model._calibrated_belief.plain
    [likelihood] = belief.likelihoods
    if not isinstance(likelihood, HistogramTable):
        return None
    cells, names = likelihood.experts.cells, tuple(schema.blocks[0].columns)
    return CellScores(names, cells.edges, cells.sizes, likelihood.log, belief.log_prior)
