"""Sampled rows that are part of the evidence, ready to be left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence, class_codes, row_weights
from tallybayes.evidence.row_hash import Hashes
from tallybayes.evidence.row_sample import BottomKSample

__all__ = ["SampledRows"]


class SampledRows(NamedTuple):
    """Rows of a sample whose classes are in the evidence, with classes, weights and hashes of their content."""

    rows: RowBatch
    classes: npt.NDArray[np.int32]
    weights: Floats | None
    hashes: Hashes | None  # None where they depend on the weights too

    @classmethod
    def of(cls, evidence: Evidence, sample: BottomKSample, most: int | None = None) -> SampledRows | None:
        """Return all rows of a sample, or the first of them; None if there are none."""
        first, schema = sample.first(most), sample.schema
        if first is None:
            return None
        rows, hashes = RowBatch(first.batch, 0, schema.missing), first.hashes if schema.weight is None else None
        codes, found = class_codes(rows, schema.label)
        classes = evidence.classes.find(found.array).astype(np.int32)[codes]
        weights = row_weights(rows, schema.weight)
        counted = classes >= 0
        if not counted.all():  # rows of a class that is not in the evidence
            rows, classes = RowBatch(first.batch.filter(counted), 0, schema.missing), classes[counted]
            weights = None if weights is None else weights[counted]
            hashes = None if hashes is None else hashes[counted]
        return cls(rows, classes, weights, hashes)

    def first(self, n: int) -> SampledRows:
        """Return the first n rows, or all: a random sample, since they are in the order of hashes."""
        if n >= len(self.classes):
            return self
        rows = RowBatch(self.rows.batch.slice(0, n), 0, self.rows.missing)
        weights = None if self.weights is None else self.weights[:n]
        return SampledRows(rows, self.classes[:n], weights, None if self.hashes is None else self.hashes[:n])
