"""Rows of a sample with their classes and weights, ready to be left out of the evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence, class_codes, row_weights
from tallybayes.evidence.row_hash import Hashes
from tallybayes.evidence.row_sample import BottomKSample, Part

__all__ = ["SampledRows", "at_most_one"]


@dataclass(frozen=True)
class SampledRows:
    """Rows of a sample, sorted by content hash, so that the first of them are a sample too; or with the order of that.

    Attributes
    ----------
    rows : RowBatch
        The rows.
    classes : ndarray of int32, shape (n,)
        Their classes, as positions among the classes of the evidence.
    weights : ndarray, shape (n,), or None
        Their weights.
    hashes : ndarray of int64, shape (n,), or None
        The hashes of their content, if they are known and do not depend on the weights.
    order : ndarray of int, shape (n,), or None
        What sorts the rows by content hash; None if they are.
    """

    rows: RowBatch
    classes: npt.NDArray[np.int32]
    weights: Floats | None
    hashes: Hashes | None = None
    order: npt.NDArray[np.intp] | None = None

    @classmethod
    def of(cls, evidence: Evidence, sample: BottomKSample, most: int | None = None) -> SampledRows | None:
        """Return the sampled rows of classes that the evidence has, or the first of them; None if there are none."""
        return cls._of(evidence, sample, sample.first(most))

    @classmethod
    def in_place(cls, evidence: Evidence, sample: BottomKSample, most: int) -> SampledRows | None:
        """Return the sampled rows as they came, which copies none of them.

        None unless they are one whole batch of at most `most` rows, of classes that the evidence has.
        """
        found = sample.in_place(most)
        if found is None:
            return None
        rows = cls._of(evidence, sample, found[0])
        return None if rows is None or len(rows) < len(found[1]) else replace(rows, order=found[1])

    @classmethod
    def _of(cls, evidence: Evidence, sample: BottomKSample, first: Part | None) -> SampledRows | None:
        schema = sample.schema
        if first is None:
            return None
        rows, hashes = RowBatch(first.batch, 0, schema.missing), first.hashes if schema.weight is None else None
        codes, found = class_codes(rows, schema.label)
        classes = evidence.classes.find(found.array).astype(np.int32)[codes]
        sampled = cls(rows, classes, row_weights(rows, schema.weight), hashes)
        return sampled if (classes >= 0).all() else sampled.take(np.flatnonzero(classes >= 0))

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def left(self) -> Floats | None:  # (n,)
        """What is left out of each row: one copy, where its weight stands for several; None for one of each."""
        return at_most_one(self.weights)

    def take(self, index: npt.NDArray[np.intp]) -> SampledRows:
        """Return some of the rows."""
        batch = RowBatch(self.rows.batch.take(pa.array(index)), 0, self.rows.missing)
        weights = None if self.weights is None else self.weights[index]
        return SampledRows(batch, self.classes[index], weights, None if self.hashes is None else self.hashes[index])

    def first(self, n: int) -> SampledRows:
        """Return the first n rows, or all."""
        if n >= len(self):
            return self
        if self.order is not None:
            return self.take(self.order[:n])
        rows = RowBatch(self.rows.batch.slice(0, n), 0, self.rows.missing)
        weights = None if self.weights is None else self.weights[:n]
        return SampledRows(rows, self.classes[:n], weights, None if self.hashes is None else self.hashes[:n])

    def with_others(self, evidence: Evidence, most: int) -> SampledRows:
        """Return the first rows that have weight, and are not the only one of their class."""
        one = np.ones(len(self)) if self.left is None else self.left
        left = evidence.rows.less((self.classes,), one)
        weight = one if self.weights is None else self.weights
        return self.take(np.flatnonzero((left > 0) & (weight > 0))[:most])


def at_most_one(weights: Floats | None) -> Floats | None:
    """Return the weight to leave out, at most 1; None for 1 of each row.

    A row of weight w > 1 stands for w copies; one of them is left out.
    """
    return None if weights is None or (weights >= 1).all() else np.minimum(weights, 1.0)
