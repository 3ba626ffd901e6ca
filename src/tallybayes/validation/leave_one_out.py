"""Leave-one-out: each row scored as if never counted, by subtraction from the evidence of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tallybayes import engines
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.inference.column_terms import ColumnTerms
from tallybayes.inference.leave_one_out import LeftOutRows
from tallybayes.inference.score import SCORED_ROWS, map_rows
from tallybayes.model import Model
from tallybayes.sources import Source
from tallybayes.storage.portable_models import PortableModels
from tallybayes.validation.row_info import PartitionRows, RowInfo, open_partition, pieces
from tallybayes.validation.split import IntCodes


def leave_each_out(
    total: Model, rows: engines.Partitioned, info: RowInfo, columns: Sequence[str], threads: int
) -> tuple[Floats, Floats | None]:  # (n, C)
    """Return each row's scores by all others, before and after calibration (None: the same)."""
    models = PortableModels(lambda: (total,))
    both = np.concatenate(rows.each(LeaveOneOut(models, columns), own=info.own(), threads=threads))
    return both[:, 0], both[:, 1] if models.calibrated else None


@dataclass(frozen=True)
class LeaveOneOut(engines.Task[Floats]):
    """The leave-one-out scores of a partition's rows, before and after calibration, where the model has one."""

    total: PortableModels  # the model of all rows
    columns: Sequence[str]  # the columns that were read to count them

    def run(self, rows: Source, info: engines.PartitionInfo) -> Floats:  # (n, 1 or 2, C)
        """Score the rows of one partition."""
        [total] = self.total.models
        assert total is not None
        rows, own = open_partition(rows, info.own, total.schema, total.evidence.classes)
        out = np.empty((own.place.shape[1], 1 + self.total.calibrated, len(total.classes)))
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
        return np.frombuffer(content).reshape(-1, 1 + self.total.calibrated, len(total.classes))


def _score(total: Model, batch: pa.RecordBatch, first: int, own: PartitionRows, out: Floats, threads: int) -> None:
    assert own.classes is not None
    evidence, choices, n = total._viewed, total._resolved_choices, batch.num_rows
    # Rows of a class without weight weigh nothing: subtracting them from another class changes nothing.
    classes = np.maximum(own.classes[first : first + n], 0)
    weights = None if own.weights is None else own.weights[first : first + n]
    temperature, found = total._temperature, total._weights

    def work(part: RowBatch, classes: IntCodes, weights: Floats | None, out: Floats) -> None:
        left_out = LeftOutRows(evidence, part, classes, weights)
        out[:, 0] = left_out.scores(choices)
        if temperature is not None:
            scores = out[:, 0] if total._token_weights is None else left_out.scores(choices, total._token_weights)
            out[:, 1] = scores * temperature.at(left_out.sizes)[:, None]
        elif found is not None:
            terms = ColumnTerms.of(evidence, choices, part, classes, weights, binned=False)
            corrections = found.corrections(total.belief, total.choices, evidence, part)
            out[:, 1] = np.where(np.isneginf(out[:, 0]), -np.inf, terms.scores(found, corrections))

    size = max(SCORED_ROWS, -(-n // threads))
    missing = total.schema.missing
    map_rows(batch, work, classes, weights, out, threads=threads, missing=missing, first=first, rows=size)
