"""Leave-one-out: each row scored as if never counted, by subtraction from the evidence of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tallybayes import engines
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.inference.leave_one_out import LeftOutRows
from tallybayes.inference.score import SCORED_ROWS, map_rows
from tallybayes.model import Model
from tallybayes.sources import Source
from tallybayes.storage.transit import Models
from tallybayes.validation.row_info import PartitionRows, RowInfo, open_partition, pieces
from tallybayes.validation.split import IntCodes

__all__ = ["leave_each_out"]


def leave_each_out(
    total: Model, rows: engines.Partitioned, info: RowInfo, columns: Sequence[str], threads: int
) -> tuple[Floats, Floats]:  # (n, C), (n,)
    """Return each row's scores by all others, and each row's temperature."""
    both = np.concatenate(rows.each(LeaveOneOut(Models((total,)), columns), own=info.own(), threads=threads))
    return both[:, :-1], both[:, -1]


@dataclass(frozen=True)
class LeaveOneOut(engines.Task[Floats]):
    """The leave-one-out scores of a partition's rows, with their temperature in the last column.

    Attributes
    ----------
    total : Models
        The model of all rows.
    columns : sequence of str
        The columns that were read to count them.
    """

    total: Models
    columns: Sequence[str]

    def run(self, rows: Source, info: engines.PartitionInfo) -> Floats:  # (n, C + 1)
        """Score the rows of one partition."""
        [total] = self.total.models
        assert total is not None
        rows, own = open_partition(rows, info.own, total.schema, total.evidence.classes)
        out = np.ones((own.place.shape[1], len(total.classes) + 1))
        for at, batch in pieces(rows):
            _score(total, batch, at.start, own, out[at], info.threads)
        return out

    def pack(self, result: Floats) -> bytes:
        """Return the numbers as bytes."""
        return result.tobytes()

    def unpack(self, content: bytes) -> Floats:
        """Return the numbers that were packed."""
        [total] = self.total.models
        assert total is not None
        return np.frombuffer(content).reshape(-1, len(total.classes) + 1)


def _score(total: Model, batch: pa.RecordBatch, first: int, own: PartitionRows, out: Floats, threads: int) -> None:
    assert own.classes is not None
    evidence, choices, n = total._viewed, total._resolved_choices, batch.num_rows
    # Rows of a class without weight weigh nothing: subtracting them from another class changes nothing.
    classes = np.maximum(own.classes[first : first + n], 0)
    weights = None if own.weights is None else own.weights[first : first + n]

    def work(part: RowBatch, classes: IntCodes, weights: Floats | None, out: Floats) -> None:
        left_out = LeftOutRows(evidence, part, classes, weights)
        out[:, :-1] = left_out.scores(choices, total._token_weights)
        if total._temperature is not None:
            out[:, -1] = total._temperature.at(left_out.sizes)

    size = max(SCORED_ROWS, -(-n // threads))
    missing = total.schema.missing
    map_rows(batch, work, classes, weights, out, threads=threads, missing=missing, first=first, rows=size)
