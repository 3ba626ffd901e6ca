"""Rows of a sample with their classes and weights, ready to be left out of the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence, class_codes, row_weights
from tallybayes.evidence.row_sample import BottomKSample

__all__ = ["SampledRows"]


@dataclass(frozen=True)
class SampledRows:
    """Rows of a sample, sorted by content hash, so that the first of them are a sample too.

    Attributes
    ----------
    rows : RowBatch
        The rows.
    classes : ndarray of int32, shape (n,)
        Their classes, as positions among the classes of the evidence.
    weights : ndarray, shape (n,), or None
        Their weights.
    """

    rows: RowBatch
    classes: npt.NDArray[np.int32]
    weights: Floats | None

    @classmethod
    def of(cls, evidence: Evidence, sample: BottomKSample) -> SampledRows | None:
        """Return the sampled rows of classes that the evidence has; None if there is no sample."""
        batch, schema = sample.rows(), sample.schema
        if batch is None:
            return None
        rows = RowBatch(batch, 0, schema.missing)
        codes, found = class_codes(rows, schema.label)
        classes = evidence.classes.find(found.array).astype(np.int32)[codes]
        sampled = cls(rows, classes, row_weights(rows, schema.weight))
        return sampled if (classes >= 0).all() else sampled.take(np.flatnonzero(classes >= 0))

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def left(self) -> Floats | None:  # (n,)
        """What is left out of each row: one copy, where its weight stands for several; None for one of each."""
        return None if self.weights is None or (self.weights >= 1).all() else np.minimum(self.weights, 1.0)

    def take(self, index: npt.NDArray[np.intp]) -> SampledRows:
        """Return some of the rows."""
        batch = RowBatch(self.rows.batch.take(pa.array(index)), 0, self.rows.missing)
        return SampledRows(batch, self.classes[index], None if self.weights is None else self.weights[index])

    def with_others(self, evidence: Evidence, most: int) -> SampledRows:
        """Return the first rows that have weight, and are not the only one of their class."""
        one = np.ones(len(self)) if self.left is None else self.left
        left = evidence.rows.less((self.classes,), one)
        weight = one if self.weights is None else self.weights
        return self.take(np.flatnonzero((left > 0) & (weight > 0))[:most])
