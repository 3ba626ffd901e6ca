"""Each row by all others: its scores had it never been counted, straight from the evidence of all."""

from __future__ import annotations

import numpy as np

from tallybayes import engines
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.inference.score import LeftOutRows
from tallybayes.model import Model
from tallybayes.validation.row_info import LocalRows

__all__ = ["each_left_out"]


def each_left_out(total: Model, rows: LocalRows, threads: int) -> tuple[Floats, Floats]:  # (n, C), (n,)
    """Each row's scores by all others, and how far they are believed."""
    evidence, choices = total.evidence, total._resolved_choices
    out, temperature = np.empty((len(rows), len(total.classes))), np.ones(len(rows))
    for first, batch in rows.pieces():
        # A class without any weight has rows that weigh nothing: to take them from another class changes nothing.
        classes = np.maximum(rows.classes[first : first + batch.num_rows], 0)
        weights = None if rows.weights is None else rows.weights[first : first + batch.num_rows]

        def work(at: slice) -> None:
            part = RowBatch(batch.slice(at.start, at.stop - at.start), first + at.start, total.schema.missing)  # noqa: B023
            w = None if weights is None else weights[at]  # noqa: B023
            left_out = LeftOutRows(evidence, part, classes[at], w)  # noqa: B023
            here = slice(first + at.start, first + at.stop)  # noqa: B023
            out[here] = left_out.scores(choices)
            if total._temperature is not None:
                temperature[here] = total._temperature.at(left_out.sizes)

        engines.map_rows(batch.num_rows, work, threads=threads, rows=max(8192, -(-batch.num_rows // threads)))
    return out, temperature
